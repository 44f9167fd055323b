// A space for a test, and what is known of it if the test fails.

import type { Space, SpaceOptions, TestDouble } from "./double";

/** Runs `test` with a space of its own. If it throws, the error ends with the report of the space. */
export async function within<T>(
  server: TestDouble,
  test: (td: Space) => T | Promise<T>,
  options: SpaceOptions = {},
): Promise<T> {
  const space = await server.space(options);
  try {
    return await test(space);
  } catch (error) {
    await addReport(error, space);
    throw error;
  } finally {
    await space.free();
  }
}

/** Lets an error end with the report of a space. */
export async function addReport(error: unknown, space: TestDouble): Promise<void> {
  addText(error, await space.report());
}

/** Lets an error end with more text, wherever runners look for it. */
export function addText(error: unknown, text: string): void {
  if (typeof error !== "object" || error === null || !("message" in error)) {
    return;
  }
  const { message, stack } = error as Error;
  const longer = `${message}\n\n${text}\n`;
  // The stack repeats the message as it was when the error was made.
  const traced = typeof stack === "string" && stack.includes(message) ? stack.replace(message, () => longer) : stack;
  Object.assign(error, { message: longer, stack: traced });
}
