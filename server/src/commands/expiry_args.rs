//! Times to live, as the commands on strings take them: `[EX s|PX ms|EXAT s|PXAT ms|KEEPTTL|PERSIST]`.

use tailrace_protocol::number::parse_i64;
use tailrace_storage::UnixMillis;

use crate::args::Args;
use crate::call::Call;
use crate::error::CommandError;
use crate::error::KeyspaceError;

/// What is asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ExpiryArg<'a> {
    /// `KEEPTTL`
    Keep,
    /// `PERSIST`
    Persist,
    /// `EX` and so on, and its value.
    Set(Deadline, &'a [u8]),
}

/// How a deadline is given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Deadline {
    /// `EX`: seconds from now.
    Seconds,
    /// `PX`: milliseconds from now.
    Millis,
    /// `EXAT`: seconds since the Unix epoch.
    UnixSeconds,
    /// `PXAT`: milliseconds since the Unix epoch.
    UnixMillis,
}

impl<'a> ExpiryArg<'a> {
    /// Takes one option and its value, if one stands next, into `chosen`. An option may repeat, and
    /// the last value counts; two different ones exclude each other.
    pub(super) fn take(
        chosen: &mut Option<Self>,
        args: &mut Args<'a>,
    ) -> Result<bool, CommandError> {
        for (word, deadline) in DEADLINES {
            if args.keyword_with(word, 1) {
                return choose(chosen, Self::Set(*deadline, args.bytes()?));
            }
        }
        Ok(false)
    }

    /// Takes `KEEPTTL`, if it stands next.
    pub(super) fn take_keep(
        chosen: &mut Option<Self>,
        args: &mut Args<'a>,
    ) -> Result<bool, CommandError> {
        if args.keyword("keepttl") {
            return choose(chosen, Self::Keep);
        }
        Ok(false)
    }

    /// Takes `PERSIST`, if it stands next.
    pub(super) fn take_persist(
        chosen: &mut Option<Self>,
        args: &mut Args<'a>,
    ) -> Result<bool, CommandError> {
        if args.keyword("persist") {
            return choose(chosen, Self::Persist);
        }
        Ok(false)
    }

    fn is_like(self, other: Self) -> bool {
        match (self, other) {
            (Self::Set(one, _), Self::Set(other, _)) => one == other,
            (one, other) => one == other,
        }
    }
}

fn choose<'a>(
    chosen: &mut Option<ExpiryArg<'a>>,
    arg: ExpiryArg<'a>,
) -> Result<bool, CommandError> {
    if chosen.is_some_and(|chosen| !chosen.is_like(arg)) {
        return Err(CommandError::Syntax);
    }
    *chosen = Some(arg);
    Ok(true)
}

const DEADLINES: &[(&str, Deadline)] = &[
    ("ex", Deadline::Seconds),
    ("px", Deadline::Millis),
    ("exat", Deadline::UnixSeconds),
    ("pxat", Deadline::UnixMillis),
];

impl Deadline {
    /// Reads a deadline. Only what lies after the epoch, and before the end of time, is one.
    pub(super) fn parse(self, text: &[u8], call: &Call<'_>) -> Result<UnixMillis, CommandError> {
        let value = parse_i64(text).ok_or(CommandError::NotAnInteger)?;
        let error = KeyspaceError::ExpireTime(call.spec.name);
        Ok(self.resolve(value, call.now.unix()).ok_or(error)?)
    }

    fn resolve(self, value: i64, now: UnixMillis) -> Option<UnixMillis> {
        let value = if value > 0 { value } else { return None };
        let millis = match self {
            Self::Seconds | Self::UnixSeconds => value.checked_mul(1_000)?,
            Self::Millis | Self::UnixMillis => value,
        };
        let base = match self {
            Self::Seconds | Self::Millis => i64::try_from(now.0).ok()?,
            Self::UnixSeconds | Self::UnixMillis => 0,
        };
        let at = millis.checked_add(base)?;
        u64::try_from(at).ok().map(UnixMillis)
    }
}
