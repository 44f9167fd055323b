// What options mean in the words of TESTDOUBLE.

type Words = (string | number)[];

/** Which calls are meant. What is not said may be anything. */
export interface CallFilter {
  /** A key, with `*` and `?`. */
  key?: string;
  group?: string;
  consumer?: string;
  /** The name or the number of a client. */
  client?: string | number;
  /** A node of a cluster, counted from 0. */
  node?: number;
}

/** What a fault does. */
export type Effect =
  /** The connection ends (`close`) or breaks (`rst`). */
  | "close"
  | "rst"
  /** It is kept back until it is released, or for ever. */
  | "hold"
  | "stall"
  /** Another reply. */
  | "nil"
  | { reply: string }
  | { moved: string }
  | { ask: string }
  /** An error, by its text or by a word for it. */
  | { error: string }
  | "loading"
  | "readonly"
  | "oom"
  | "clusterdown"
  | "masterdown"
  | "tryagain"
  | "busy"
  | "nogroup"
  /** It comes so many milliseconds of the test's clock later. */
  | { delay: number }
  /** So many bytes of it come, and then the connection ends. */
  | { cut: number }
  /** So many bytes of it come at once, and more each `every` milliseconds. */
  | { drip: number; every: number };

/** A fault: `before` the command is executed, or `after` it was, so that only the reply suffers. */
export type FaultOptions = CallFilter & {
  /** What the fault goes by; one is made up if there is none. */
  name?: string;
  /** How often it strikes: once if it is not said. */
  times?: number | "always";
  /** How many calls it lets pass first. */
  skip?: number;
  /** How likely each call is struck, from 0 to 1; which ones are goes by the seed of the server. */
  probability?: number;
} & (
    | { before: Effect; after?: undefined; push?: undefined }
    | { after: Effect; before?: undefined; push?: undefined }
    /** It is what is pushed to a client that is lost: a `message`, `pmessage` or `smessage`, or what tells a cache. */
    | { push: "drop"; before?: undefined; after?: undefined }
  );

/** Which calls are wanted. */
export interface CallQuery extends CallFilter {
  /** A command, or a category such as `@write`. */
  command?: string;
  /** Those with greater numbers. */
  since?: number;
  onlyErrors?: boolean;
  /** The last so many. */
  limit?: number;
}

/** How many: exactly, or as in `">= 2"`. */
export type Count = number | string;

/** `count` as words. */
export function countWords(count: Count): Words {
  return typeof count === "number" ? [count] : count.trim().split(/\s+/);
}

/** `filter` as words, for faults, calls and waits. */
export function filterWords(filter: CallFilter): Words {
  const names = ["key", "group", "consumer", "client", "node"] as const;
  return names.flatMap((name) => {
    const value = filter[name];
    return value === undefined ? [] : [name.toUpperCase(), value];
  });
}

/** `query` as words. */
export function queryWords(query: CallQuery): Words {
  return [
    ...(query.since === undefined ? [] : ["SINCE", query.since]),
    ...(query.command === undefined || query.command === "*" ? [] : ["CMD", query.command]),
    ...filterWords(query),
    ...(query.onlyErrors ? ["ERRORS"] : []),
    ...(query.limit === undefined ? [] : ["LIMIT", query.limit]),
  ];
}

/** What comes behind the name in `TD FAULT ADD`. */
export function faultWords(command: string, options: FaultOptions): Words {
  const { times, skip, probability, before, after, push } = options;
  const stage = push !== undefined ? "PUSH" : before === undefined ? "AFTER" : "BEFORE";
  return [
    ...(command === "*" ? [] : ["CMD", command]),
    ...filterWords(options),
    ...(skip === undefined ? [] : ["SKIP", skip]),
    ...(times === undefined ? [] : times === "always" ? ["ALWAYS"] : ["TIMES", times]),
    ...(probability === undefined ? [] : ["PROB", probability]),
    stage,
    ...effectWords(push ?? before ?? after),
  ];
}

function effectWords(effect: Effect | "drop" | undefined): Words {
  if (typeof effect === "string") {
    return [effect.toUpperCase()];
  }
  if (effect === undefined) {
    throw new TypeError('a fault says what it does: { before: "hold" } or { after: "close" }');
  }
  if ("drip" in effect) {
    return ["DRIP", effect.drip, effect.every];
  }
  return Object.entries(effect).flatMap(([name, value]) => [name.toUpperCase(), value as string | number]);
}
