//! What the tests share: a client that speaks raw RESP, the player of transcripts, and connections in
//! memory ([`pipe()`], [`Caller`]) that a test cuts, slows and ends where it likes.
//!
//! # Transcripts
//!
//! A transcript is a conversation with a server, written down: `tests/transcripts/*.txt`. The same file
//! is played to Tailrace and, when one is given, to the reference server; both must say the same.
//!
//! ```text
//! # Comments and blank lines stay as they are.
//! a> XADD s 1-1 field "two words"      client `a` says this
//! "1-1"                                and this is the reply
//! b> XREAD BLOCK 0 STREAMS s $
//! (waiting)                            the client is blocked (or held back by CLIENT PAUSE)
//! a> XADD s * f v
//! $id1                                 an id made by the clock: a symbol, bound at first sight
//! b< [["s" [[$id1 ["f" "v"]]]]]        what `b` receives later, or `a` beyond its first reply
//! ```
//!
//! A client is one TCP connection, opened when its name is first used. **Words** of a command are bare or
//! quoted; `"..."` knows `\r \n \t \" \\ \xHH`. In a bare word `$name` is replaced by the symbol's text and
//! `<x*5000>` is `x` five thousand times.
//!
//! **Replies** are written so that their type shows. Several lines are one reply when all but the first
//! are indented or begin with a closing bracket.
//!
//! | on the wire | here | | on the wire | here |
//! | --- | --- | --- | --- | --- |
//! | `$3 abc` | `"abc"` | | `$-1` | `nil` |
//! | `+OK` | `OK` or `+"two words"` | | `*-1` | `nil-array` |
//! | `-ERR no` | `!ERR no` (`!"..."` inside of others) | | `_` (RESP3) | `null` |
//! | `:5` | `5` | | `%` | `{"key" "value"}` |
//! | `*` | `[...]` | | `~` | `~{...}` |
//! | `,1.5` | `1.5d` | | `>` | `push >[...]` |
//! | `#t` | `true` | | `=txt:` | `=txt:"..."` |
//! | `(5` | `5n` | | a bar, attributes | `attribute {...}` before its value |
//!
//! In place of a reply: `(waiting)`, `(nothing)` when no reply comes at all (CLIENT REPLY OFF), and
//! `a< (closed)` when the server closed the connection. A name can be used again after that.
//!
//! **What may differ from run to run:** `$name` matches anything at first and from then on only the same;
//! `...` in a text matches any characters, as an element any number of elements, alone any reply;
//! `~120` is a number of milliseconds that depends on the clock (exact when the clock is a manual one, else
//! within [`Target::tolerance_ms`]); `~now`, `~now+50`, `~unix-10` are wall-clock times in ms and in seconds.
//!
//! **Directives**
//!
//! | line | meaning |
//! | --- | --- |
//! | `@advance 50` | 50 ms go by; a manual clock is moved, for the reference they really pass |
//! | `@clock 1000` | sets the wall clock, in ms (manual clocks only) |
//! | `@resp3 a` | `a` speaks RESP3 from here on |
//! | `@close a`, `@half-close a` | closes `a`, or its writing half only |
//! | `@raw a "bytes"` | sends bytes as they are; all replies follow as `a<` lines |
//! | `@pipeline a PING | GET k` | sends these commands in one piece; all replies follow as `a<` lines |
//! | `@repeat a 1000 XADD s {n}-1 f v` | sends that a thousand times, n from 1, before it reads the first reply |
//! | `@config name value` | CONFIG SET through a connection that the transcript does not see |
//! | `@cluster` | the server is a cluster of one node that has all slots |
//! | `@testdouble` | the server is a test double, whose clock stands still; the reference does not play along. Goes with `@cluster` |
//! | `@tailrace-only reason` | from here to the end of the file only Tailrace plays along, and only with a manual clock |
//!
//! `UPDATE=1 cargo test -p tailrace-tests` writes down what was really said, by the reference if
//! `TAILRACE_REFERENCE` names its binary and else by Tailrace; read the diff as you would read code.
//! `TAILRACE_ADDR` names a Tailrace that runs elsewhere; it loses its data.
//! `TRANSCRIPT=part-of-a-name` plays only those files.

mod caller;
mod client;
mod control;
mod embedded;
pub mod fuzz;
mod lex;
mod pattern;
mod pipe;
mod player;
mod record;
mod reference;
mod remote;
mod render;
mod script;
mod target;
mod value;

pub use caller::Caller;
pub use caller::settle;
pub use caller::start;
pub use caller::start_cluster;
pub use caller::start_with;
pub use client::Arrival;
pub use client::Client;
pub use client::encode;
pub use embedded::Embedded;
pub use pipe::Far;
pub use pipe::Near;
pub use pipe::pipe;
pub use player::Difference;
pub use player::Played;
pub use player::play;
pub use reference::Reference;
pub use remote::Remote;
pub use target::Target;
pub use value::Value;
