//! `MSETEX numkeys key value [key value ...] [NX|XX] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL]`
//!
//! Sets several strings and when they expire. `NX` and `XX` insist that none or all of the keys are there.
//! Replies with 1, or with 0 if that does not hold.
//!
//! Behaviour worth knowing:
//! - Keys with a deadline in the past are set, and are due at once.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::number::parse_i64;
use tailrace_storage::Compat;
use tailrace_storage::SetExpiry;
use tailrace_storage::SetOptions;

use super::expiry_args::ExpiryArg;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::spec::Acl;
use crate::spec::Begin;
use crate::spec::Find;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "msetex",
    arity: -4,
    syntax: "numkeys:integer data(key value)... [condition(NX|XX)] \
             [expiration(EX seconds:integer | PX milliseconds:integer | \
             EXAT unix-time-seconds:unix-time | PXAT unix-time-milliseconds:unix-time | \
             KEEPTTL)]",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::MOVABLEKEYS),
    acl: Acl::STRING,
    keys: &[KeySpec {
        notes: None,
        flags: &["OW", "update"],
        begin: Begin::Index(1),
        find: Find::Number {
            number_at: 0,
            first: 1,
            step: 2,
        },
    }],
    tips: &[
        "request_policy:multi_shard",
        "response_policy:all_succeeded",
    ],
    group: Group::String,
    summary: "Sets several strings and when they expire.",
    since: "9.1.0",
    complexity: "O(N), N being the number of keys.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let compat = call.store().settings().compat;
    let count = key_count(args.bytes()?, compat)?;
    if args.len() / 2 < count {
        return Err(match compat {
            Compat::Valkey => CommandError::Syntax,
            Compat::Redis => KeyspaceError::PairCountOfRedis.into(),
        });
    }
    let pairs = args;
    for _ in 0..count * 2 {
        args.bytes()?;
    }
    let (must, expiry) = options(args)?;
    let options = SetOptions {
        expiry: match expiry {
            None | Some(ExpiryArg::Persist) => SetExpiry::Clear,
            Some(ExpiryArg::Keep) => SetExpiry::Keep,
            Some(ExpiryArg::Set(deadline, text)) => {
                SetExpiry::AtEvenIfPast(deadline.parse(text, call)?)
            }
        },
        ..SetOptions::default()
    };

    let db = call.db;
    let store = call.store();
    let mut keys = pairs.step_by(2).take(count);
    let holds = match must {
        Must::Anything => true,
        Must::AllBeMissing => keys.all(|key| store.lookup(db, key).is_none()),
        Must::AllExist => keys.all(|key| store.lookup(db, key).is_some()),
    };
    if holds {
        let mut rest = pairs;
        for _ in 0..count {
            let (key, value) = (rest.bytes()?, rest.bytes()?);
            store.set(db, key, value, options)?;
        }
    }

    reply.integer(holds.into());
    Ok(Flow::Done)
}

/// What is asked of the keys before.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Must {
    Anything,
    AllBeMissing,
    AllExist,
}

fn key_count(text: &[u8], compat: Compat) -> Result<usize, CommandError> {
    let count = parse_i64(text).and_then(|count| i32::try_from(count).ok());
    let count = count.and_then(|count| usize::try_from(count).ok());
    Ok(count.filter(|&count| count > 0).ok_or(match compat {
        Compat::Valkey => KeyspaceError::KeyCount,
        Compat::Redis => KeyspaceError::KeyCountOfRedis,
    })?)
}

fn options(mut args: Args<'_>) -> Result<(Must, Option<ExpiryArg<'_>>), CommandError> {
    let mut must = Must::Anything;
    let mut expiry = None;
    while !args.is_empty() {
        let asked = if args.keyword("nx") {
            Must::AllBeMissing
        } else if args.keyword("xx") {
            Must::AllExist
        } else if ExpiryArg::take(&mut expiry, &mut args)?
            || ExpiryArg::take_keep(&mut expiry, &mut args)?
        {
            continue;
        } else {
            return Err(CommandError::Syntax);
        };
        if must != Must::Anything && must != asked {
            return Err(CommandError::Syntax);
        }
        must = asked;
    }
    Ok((must, expiry))
}
