// A stream server in the hands of a test.

export { findBinary, platformPackages } from "./binary";
export { Caller, type Carrier } from "./caller";
export { TailraceAssertionError, type Patience, type Promised, type Readers } from "./conditions";
export type { Call, Kept, LedgerSums } from "./data";
export { Fault, Snapshot, Space, TestDouble } from "./double";
export type { Clock, Fill, RestartOptions, SpaceOptions } from "./double";
export { ReplyError, toRecord, type Reply } from "./resp";
export { attachOrStart, Server, start, type StartOptions } from "./server";
export { addReport, within } from "./within";
export type { CallFilter, CallQuery, Count, Effect, FaultOptions } from "./words";
