// Where the binary is.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * The path of the binary: `TAILRACE_BINARY` if it is set, else that of the package for this platform, else
 * `tailrace` on the path.
 */
export function findBinary(): string {
  const told = process.env.TAILRACE_BINARY;
  if (told) {
    return told;
  }
  const wanted = platformPackages();
  const found = wanted.map(binaryOf).find((path) => path !== undefined) ?? onPath();
  if (found === undefined) {
    throw new Error(
      `there is no binary of Tailrace: neither ${wanted.join(" nor ")} is installed (did npm leave out optional ` +
        "dependencies?), nor is tailrace on the path; TAILRACE_BINARY can say where it is",
    );
  }
  return found;
}

/** The packages that have a binary for this platform, the best first. */
export function platformPackages(): string[] {
  const base = `@tailrace/${process.platform}-${process.arch}`;
  if (process.platform !== "linux") {
    return [base];
  }
  // What is linked with musl is static, so it runs where glibc is, too.
  return isGlibc() ? [`${base}-gnu`, `${base}-musl`] : [`${base}-musl`];
}

function isGlibc(): boolean {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime !== undefined;
}

function binaryOf(name: string): string | undefined {
  try {
    return require.resolve(`${name}/bin/tailrace`);
  } catch {
    return undefined;
  }
}

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, "tailrace")).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
