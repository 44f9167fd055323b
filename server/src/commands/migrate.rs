//! `MIGRATE host port key|"" destination-db timeout [COPY] [REPLACE] [AUTH password] [AUTH2 username password] [KEYS key ...]`
//!
//! Moves keys to another server by its RESTORE, and removes them here as far as it took them. Replies with `OK`, or with
//! `NOKEY` if there is none of them.
//!
//! Behaviour worth knowing:
//! - Nobody's commands are executed until it is over, or the timeout is.
//! - If the other server refuses some keys, the others have moved all the same.
//! - Each call connects anew.

use std::time::Duration;

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_protocol::number::parse_i64;

use crate::args::Args;
use crate::args::is_word;
use crate::args::text;
use crate::call::Call;
use crate::call::Flow;
use crate::call::Waiting;
use crate::error::CommandError;
use crate::error::MigrateError;
use crate::migration::Cargo;
use crate::migration::Migration;
use crate::serve;
use crate::spec::Acl;
use crate::spec::Begin;
use crate::spec::Find;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "migrate",
    arity: -6,
    syntax: "host port:integer key-selector(key | empty-string:'\"\"') destination-db:integer \
             timeout:integer [COPY@3.0.0] [REPLACE@3.0.0] \
             [authentication(AUTH auth<password>@4.0.7 | AUTH2 auth2@6.0.0(username password))] \
             [KEYS keys:key#1<key>@3.0.6...]",
    flags: Flags::WRITE.and(Flags::MOVABLEKEYS),
    acl: Acl::KEYSPACE.and(Acl::DANGEROUS),
    keys: &[
        KeySpec::at(3, &["RW", "access", "delete"]),
        KeySpec {
            notes: None,
            flags: &["RW", "access", "delete", "incomplete"],
            begin: Begin::Keyword("KEYS", -2),
            find: Find::Range {
                last: -1,
                step: 1,
                limit: 0,
            },
        },
    ],
    find_keys: Some(find_keys),
    tips: &["nondeterministic_output"],
    summary: "Moves keys to another server.",
    since: "2.6.0",
    history: &[
        ("3.0.0", "Takes `COPY` and `REPLACE`."),
        ("3.0.6", "Takes `KEYS`."),
        ("4.0.7", "Takes `AUTH`."),
        ("6.0.0", "Takes `AUTH2`."),
    ],
    complexity: "O(N), N being the size of the values, and what it takes to send them.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let ask = MigrateArgs::parse(args)?;
    let mut cargo = ask.cargo();
    for key in ask.keys.iter().copied() {
        if let Some(request) = restore(call, key, ask.replaces) {
            cargo.requests.extend(request);
            cargo.keys.push(key.into());
        }
    }
    if cargo.keys.is_empty() {
        reply.simple("NOKEY");
        return Ok(Flow::Done);
    }
    let (copies, keys) = (ask.copies, cargo.keys.clone());

    let launch = call.state.launch_migration.as_ref();
    let Some(launch) = launch.filter(|_| !call.in_exec()) else {
        // Whoever runs commands in a row stands still for the whole of it, and so does everybody.
        cargo.carry().end(call, &keys, copies, reply)?;
        return Ok(Flow::Done);
    };
    launch(cargo).map_err(|_| MigrateError::Connecting)?;
    call.state.migration = Some(Migration {
        client: call.id,
        db: call.db,
        keys,
        copies,
        began: call.now.mono,
    });
    call.state.gate.set_busy(true);
    call.state.on_gate(call.now.mono);
    Ok(Flow::Wait(Box::new(Migrating::default())))
}

/// Writes the request that makes a key elsewhere; nothing if it is not here.
fn restore(call: &mut Call<'_>, key: &[u8], replaces: bool) -> Option<Vec<u8>> {
    let (db, now) = (call.db, call.now.unix());
    serve::keep_attempts(call.state, db, key);
    let payload = call.store().payload(db, key)?;
    let deadline = call.store().stored_at(db, key)?.deadline;
    let ttl_ms = deadline.map_or(0, |at| at.0.saturating_sub(now.0).max(1));
    let ttl = ttl_ms.to_string();
    // In a cluster the key goes where its slot is still on its way to.
    let name = match call.state.cluster {
        Some(_) => &b"RESTORE-ASKING"[..],
        None => b"RESTORE",
    };
    let mut words = vec![name, key, ttl.as_bytes(), &payload];
    if replaces {
        words.push(b"REPLACE");
    }
    Some(request(&words))
}

fn request(words: &[&[u8]]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
    out
}

/// A client that waits for the end of its migration.
#[derive(Default)]
struct Migrating {
    took_micros: u64,
}

impl Waiting for Migrating {
    fn give_up(&mut self, _: &mut Call<'_>, reply: &mut ReplyWriter<'_>) {
        reply.null();
    }

    fn note_took(&mut self, micros: u64) {
        self.took_micros = micros;
    }

    fn took_micros(&self) -> u64 {
        self.took_micros
    }
}

#[derive(Default)]
struct MigrateArgs<'a> {
    host: &'a [u8],
    port: &'a [u8],
    db: i64,
    timeout_ms: i64,
    copies: bool,
    replaces: bool,
    user: Option<&'a [u8]>,
    password: Option<&'a [u8]>,
    keys: Vec<&'a [u8]>,
}

impl<'a> MigrateArgs<'a> {
    fn parse(mut args: Args<'a>) -> Result<Self, CommandError> {
        let (host, port, key) = (args.bytes()?, args.bytes()?, args.bytes()?);
        let (db, timeout) = (args.bytes()?, args.bytes()?);
        let mut parsed = Self {
            host,
            port,
            keys: vec![key],
            ..Self::default()
        };
        while !args.is_empty() {
            if args.keyword("keys") {
                if !key.is_empty() {
                    return Err(MigrateError::KeyBesideKeys.into());
                }
                parsed.keys = args.collect();
                break;
            }
            parsed.take_option(&mut args)?;
        }
        parsed.timeout_ms = parse_i64(timeout).ok_or(CommandError::NotAnInteger)?;
        parsed.db = parse_i64(db).ok_or(CommandError::NotAnInteger)?;
        Ok(parsed)
    }

    fn take_option(&mut self, args: &mut Args<'a>) -> Result<(), CommandError> {
        if args.keyword("copy") {
            self.copies = true;
        } else if args.keyword("replace") {
            self.replaces = true;
        } else if args.keyword_with("auth", 1) {
            self.password = Some(args.bytes()?);
        } else if args.keyword_with("auth2", 2) {
            self.user = Some(args.bytes()?);
            self.password = Some(args.bytes()?);
        } else {
            return Err(CommandError::Syntax);
        }
        Ok(())
    }

    /// What is to be sent before the keys.
    fn cargo(&self) -> Cargo {
        let mut requests = Vec::new();
        if let Some(password) = self.password {
            let words = [Some(&b"AUTH"[..]), self.user, Some(password)];
            let words: Vec<&[u8]> = words.into_iter().flatten().collect();
            requests.extend(request(&words));
        }
        requests.extend(request(&[b"SELECT", self.db.to_string().as_bytes()]));
        let timeout_ms = u64::try_from(self.timeout_ms).ok().filter(|ms| *ms > 0);
        Cargo {
            host: String::from_utf8_lossy(text(self.host)).into_owned(),
            port: port(self.port),
            timeout: Duration::from_millis(timeout_ms.unwrap_or(TIMEOUT_MS)),
            requests,
            preludes: 1 + usize::from(self.password.is_some()),
            keys: Vec::new(),
        }
    }
}

/// Reads as much of a port as is a number, as the reference does; none if it is negative.
fn port(text: &[u8]) -> Option<u16> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let number = digits.fold(0_u32, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(u32::from(digit - b'0'))
    });
    let is_negative = matches!(text, [b'-', b'1'..=b'9', ..]);
    (!is_negative).then(|| u16::try_from(number).unwrap_or(0))
}

/// Where the keys of a request are: in one place, or behind `KEYS`.
fn find_keys(request: Request<'_>) -> Option<Vec<usize>> {
    let mut at = OPTIONS_AT;
    while let Some(word) = request.get(at) {
        if is_word(word, "keys") {
            let is_wrong = request.get(KEY_AT).is_some_and(|key| !key.is_empty());
            return Some(if is_wrong {
                Vec::new()
            } else {
                (at + 1..request.len()).collect()
            });
        }
        at += 1 + arguments_of(word);
    }
    Some(vec![KEY_AT])
}

/// Whether an argument is a user or a password, as far as the command is read: that ends at its first fault.
pub(crate) fn is_secret(request: Request<'_>, index: usize) -> bool {
    let mut at = OPTIONS_AT;
    while at < index
        && let Some(word) = request.get(at)
    {
        let count = arguments_of(word);
        let is_whole = at + count < request.len();
        let is_known = count > 0 || is_word(word, "copy") || is_word(word, "replace");
        if !is_known || !is_whole {
            return false;
        }
        if index <= at + count {
            return true;
        }
        at += 1 + count;
    }
    false
}

/// How many arguments belong to an option.
fn arguments_of(option: &[u8]) -> usize {
    match option {
        _ if is_word(option, "auth") => 1,
        _ if is_word(option, "auth2") => 2,
        _ => 0,
    }
}

const KEY_AT: usize = 3;
const OPTIONS_AT: usize = 6;
/// How long it may take if the caller does not say.
const TIMEOUT_MS: u64 = 1_000;
