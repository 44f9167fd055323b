//! `DEBUG subcommand ...`: what tests of clients and servers ask for.
//!
//! Behaviour worth knowing:
//! - Nobody may use it unless `enable-debug-command` says so.
//! - What the reference's own tests switch and Tailrace does not have is accepted and does nothing:
//!   see [`SWITCHES`]. What would look into data structures of the reference is unknown.

mod digest;
mod help;
mod object;
mod populate;
mod protocol;
mod sleep;

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Case;
use tailrace_storage::glob_matches;

use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ServerError;
use crate::sockets;
use crate::spec::Audience;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "debug",
    arity: -2,
    flags: Flags::ADMIN
        .and(Flags::NOSCRIPT)
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::PROTECTED),
    group: Group::Server,
    summary: "Does what tests ask for.",
    complexity: "Depends on subcommand.",
    audience: Audience::System,
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let name = args.bytes()?.to_ascii_lowercase();
    match (name.as_slice(), args.len()) {
        (b"sleep", 1) => return sleep::run(call, args, reply),
        (b"object", 1 | 2) => return object::run(call, args, reply),
        (b"populate", 1..=3) => return populate::run(call, args, reply),
        (b"protocol", 1) => return protocol::run(call, args, reply),
        (b"digest", 0) => return digest::all(call, reply),
        (b"digest-value", _) => return digest::values(call, args, reply),
        (b"reload", _) => reload(call, args)?,
        (b"replybuffer", 2) => check_reply_buffer(call, args)?,
        (b"help", 0) => {
            help::write(reply);
            return Ok(Flow::Done);
        }
        (b"error", 1) => {
            // It counts as no error.
            let error = CommandError::from(ServerError::Chosen(args.bytes()?.to_vec()));
            reply.error(error.wire());
            return Ok(Flow::Done);
        }
        (b"panic", _) => panic!("DEBUG PANIC was called"),
        (b"stringmatch-test", 0) => {
            match_random_patterns();
            reply.simple("Apparently the server did not crash: test passed");
            return Ok(Flow::Done);
        }
        (b"set-active-expire", 1) => call.state.is_active_expiry_off = !is_on(args.bytes()?),
        (b"set-disable-deny-scripts", 1) => {
            call.state.scripts.is_deny_off = is_on(args.bytes()?);
        }
        (b"change-repl-id", 0) => call.state.info.replication_id = sockets::random_id(),
        (b"log", 1) => {
            let message = String::from_utf8_lossy(args.bytes()?);
            tracing::warn!("DEBUG LOG: {message}");
        }
        (b"quicklist-packed-threshold", 1) => check_threshold(args.bytes()?)?,
        (name, 1) if SWITCHES.iter().any(|switch| switch.as_bytes() == name) => {}
        _ => return Err(CommandError::subcommand_syntax(call.spec, args.request())),
    }
    reply.ok();
    Ok(Flow::Done)
}

/// Data that was written and read again would be the same, but for keys that are due.
fn reload(call: &mut Call<'_>, args: Args<'_>) -> Result<(), CommandError> {
    let mut is_saved = true;
    for arg in args {
        if is_word(arg, "nosave") {
            is_saved = false;
        } else if !is_word(arg, "merge") && !is_word(arg, "noflush") {
            return Err(ServerError::ReloadOption.into());
        }
    }
    if !is_saved {
        return Err(ServerError::NothingToReload.into());
    }
    call.store().expire_due(usize::MAX);
    Ok(())
}

/// Replies are kept in chunks that go as soon as they are sent, so there is nothing to resize.
fn check_reply_buffer(call: &mut Call<'_>, mut args: Args<'_>) -> Result<(), CommandError> {
    let malformed = CommandError::subcommand_syntax(call.spec, args.request());
    if args.keyword("peak-reset-time") {
        if !args.keyword("never") && !args.keyword("reset") {
            args.integer()?;
        }
        Ok(())
    } else if args.keyword("resizing") {
        Ok(())
    } else {
        Err(malformed)
    }
}

/// What the reference takes as true: any number but zero.
fn is_on(text: &[u8]) -> bool {
    let digits = text.trim_ascii_start();
    let digits = digits.strip_prefix(b"-").unwrap_or(digits);
    let number = digits.iter().take_while(|byte| byte.is_ascii_digit());
    number.into_iter().any(|&digit| digit != b'0')
}

fn check_threshold(text: &[u8]) -> Result<(), CommandError> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_unit = UNITS
        .iter()
        .any(|unit| text[digits..].eq_ignore_ascii_case(unit.as_bytes()));
    if digits > 0 && is_unit {
        Ok(())
    } else {
        Err(ServerError::Threshold.into())
    }
}

/// Matches many random patterns; one that the matcher cannot bear would end the process.
fn match_random_patterns() {
    let mut rng = tailrace_storage::Rng::from_seed(1);
    let mut word = |bytes: &[u8]| -> Vec<u8> {
        let len = rng.below(16);
        (0..len).map(|_| bytes[rng.below(bytes.len())]).collect()
    };
    for _ in 0..10_000 {
        let (pattern, text) = (word(b"ab*?[]^-\\"), word(b"ab-]"));
        let _ = glob_matches(&pattern, &text, Case::Sensitive);
    }
}

const UNITS: &[&str] = &["", "b", "k", "kb", "m", "mb", "g", "gb"];

/// Switches of things that are not here, so that either position is true.
const SWITCHES: &[&str] = &[
    "aof-flush-sleep",
    "client-enforce-reply-list",
    "delay-rdb-client-free-seconds",
    "dict-resizing",
    "hashtable-can-abort-shrink",
    "pause-after-fork",
    "pause-cron",
    "set-skip-checksum-validation",
];

#[cfg(test)]
mod tests {
    use super::is_on;

    #[test]
    fn a_switch_is_on_unless_its_number_is_zero() {
        for on in ["1", "-1", " 10", "2x"] {
            assert!(is_on(on.as_bytes()), "{on}");
        }
        for off in ["0", "", "yes", "-0", "00"] {
            assert!(!is_on(off.as_bytes()), "{off}");
        }
    }
}
