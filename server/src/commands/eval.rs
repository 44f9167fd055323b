//! `EVAL script numkeys [key ...] [arg ...]`, `EVALSHA sha1 numkeys [key ...] [arg ...]`, and
//! `EVAL_RO` and `EVALSHA_RO`, whose scripts change nothing
//!
//! Run a script in Lua: one that is sent along, or one of the cache. Its commands run like those of
//! `EXEC`, with nobody else's between them.
//!
//! Behaviour worth knowing:
//! - A script that was sent along stays in the cache until 500 others were used after it; one that was
//!   loaded stays until `SCRIPT FLUSH`.
//! - Commands that would wait answer as if their time were up.
//! - Monitors see the call first, and then the commands of the script.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ScriptError;
use crate::script;
use crate::script::Job;
use crate::script::SHA_LEN;
use crate::script::Slot;
use crate::spec::Acl;
use crate::spec::Begin;
use crate::spec::Find;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const EVAL: Spec = Spec {
    name: "eval",
    syntax: "script numkeys:integer [key...] [arg...]",
    flags: FLAGS.and(Flags::MAY_REPLICATE),
    keys: &[KEYS
        .noted("We cannot tell how the keys will be used so we assume the worst, RW and UPDATE")],
    summary: "Runs a script.",
    since: "2.6.0",
    ..of(eval)
};

pub(super) const EVAL_RO: Spec = Spec {
    name: "eval_ro",
    syntax: "script numkeys:integer [key...] [arg...]",
    flags: FLAGS.and(Flags::READONLY),
    keys: &[KEYS_READ
        .noted("We cannot tell how the keys will be used so we assume the worst, RO and ACCESS")],
    summary: "Runs a script that changes nothing.",
    ..of(eval)
};

pub(super) const EVALSHA: Spec = Spec {
    name: "evalsha",
    syntax: "sha1 numkeys:integer [key...] [arg...]",
    flags: FLAGS.and(Flags::MAY_REPLICATE),
    keys: &[KEYS],
    summary: "Runs a script of the cache.",
    since: "2.6.0",
    ..of(evalsha)
};

pub(super) const EVALSHA_RO: Spec = Spec {
    name: "evalsha_ro",
    syntax: "sha1 numkeys:integer [key...] [arg...]",
    flags: FLAGS.and(Flags::READONLY),
    keys: &[KEYS_READ],
    summary: "Runs a script of the cache that changes nothing.",
    ..of(evalsha)
};

const fn of(run: crate::spec::Handler) -> Spec {
    Spec {
        arity: -3,
        acl: Acl::SCRIPTING,
        group: Group::Scripting,
        since: "7.0.0",
        complexity: "Depends on the script.",
        find_keys: Some(find_keys),
        ..Spec::of(run)
    }
}

/// The positions of the keys. As in the reference, their number ends at what is no digit, and may have
/// zeros in front, though the command itself refuses such.
fn find_keys(request: Request<'_>) -> Option<Vec<usize>> {
    let digits = request.get(2)?.trim_ascii_start();
    let digits = digits.strip_prefix(b"+").unwrap_or(digits);
    let len = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let number: usize = std::str::from_utf8(&digits[..len]).ok()?.parse().ok()?;
    let is_valid = (1..=request.len().checked_sub(3)?).contains(&number);
    is_valid.then(|| (3..3 + number).collect())
}

fn eval(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    show(call, args);
    let text = args.bytes()?;
    let keys = count_keys(&mut args)?;
    let slot = call.state.scripts.load(text, false)?;
    run(call, slot, keys, args, reply)
}

fn evalsha(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    show(call, args);
    let unknown = ScriptError::no_script(call.state.config.settings().compat);
    let digest = args.bytes()?;
    if digest.len() != SHA_LEN {
        return Err(unknown.into());
    }
    let keys = count_keys(&mut args)?;
    let slot = call.state.scripts.find(digest).ok_or(unknown)?;
    run(call, slot, keys, args, reply)
}

/// Shows the call to monitors, before its commands are shown.
fn show(call: &mut Call<'_>, args: Args<'_>) {
    let Call { state, id, now, .. } = call;
    if !state.monitors.is_empty() {
        state.show_call(*id, args.request(), *now);
    }
}

fn count_keys(args: &mut Args<'_>) -> Result<usize, CommandError> {
    let count = args.integer()?;
    let left = i64::try_from(args.len()).unwrap_or(i64::MAX);
    if count > left {
        return Err(ScriptError::TooManyKeys.into());
    }
    usize::try_from(count).map_err(|_| ScriptError::NegativeKeys.into())
}

fn run(
    call: &mut Call<'_>,
    slot: Slot,
    keys: usize,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let words = args.rest();
    let job = Job {
        slot,
        keys: words.first(keys),
        args: words.skip(keys),
        is_read_only: call.spec.flags.has(Flags::READONLY),
    };
    script::run(call, &job, reply)?;
    Ok(Flow::Done)
}

const FLAGS: Flags = Flags::NOSCRIPT
    .and(Flags::STALE)
    .and(Flags::SKIP_MONITOR)
    .and(Flags::NO_MANDATORY_KEYS)
    .and(Flags::MOVABLEKEYS)
    .and(Flags::RUNS_SCRIPT);

const KEYS: KeySpec = keys(&["RW", "access", "update"]);
const KEYS_READ: KeySpec = keys(&["RO", "access"]);

const fn keys(flags: &'static [&'static str]) -> KeySpec {
    KeySpec {
        notes: None,
        flags,
        begin: Begin::Index(2),
        find: Find::Number {
            number_at: 0,
            first: 1,
            step: 1,
        },
    }
}
