//! `RESTORE key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]`, and `RESTORE-ASKING`, which
//! is the same for a slot that is on its way to this node
//!
//! Makes a key of what DUMP wrote, here or on another server. Replies with `OK`.
//!
//! Behaviour worth knowing:
//! - A `ttl` of 0 is none; it counts from now, or with `ABSTTL` from the Unix epoch. One that is over makes no key, and
//!   with `REPLACE` takes away the one that is there.
//! - What Redis has written since it parted from Valkey is read, too, which Valkey itself refuses.
//! - A value that contradicts itself is refused before anything changes.
//! - `FREQ` is looked at and means nothing, as nobody counts.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::number::parse_i64;
use tailrace_storage::KeyExists;
use tailrace_storage::Millis;
use tailrace_storage::RestoreError;
use tailrace_storage::RestoreOptions;
use tailrace_storage::UnixMillis;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::KeyspaceError;
use crate::spec::Acl;
use crate::spec::Audience;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const RESTORE: Spec = Spec {
    name: "restore",
    arity: -4,
    syntax: "key ttl:integer serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] \
             [IDLETIME seconds:integer@5.0.0] [FREQ frequency:integer@5.0.0]",
    flags: Flags::WRITE.and(Flags::DENYOOM),
    acl: Acl::KEYSPACE.and(Acl::DANGEROUS),
    keys: &[KeySpec::first(&["OW", "update"])],
    summary: "Makes a key of what DUMP has written.",
    since: "2.6.0",
    history: &[
        ("3.0.0", "Takes `REPLACE`."),
        ("5.0.0", "Takes `ABSTTL`."),
        ("5.0.0", "Takes `IDLETIME` and `FREQ`."),
    ],
    complexity: "O(N*log(M)), N being the size of the value and M its pending entries.",
    ..Spec::of(run)
};

pub(super) const RESTORE_ASKING: Spec = Spec {
    name: "restore-asking",
    flags: RESTORE.flags.and(Flags::ASKING),
    group: Group::Server,
    audience: Audience::System,
    summary: "Makes a key in a slot that is on its way to this node.",
    since: "3.0.0",
    ..RESTORE
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, ttl, payload) = (args.bytes()?, args.bytes()?, args.bytes()?);
    let ask = RestoreArgs::parse(args)?;
    let db = call.db;
    call.store().check_restorable(db, key, ask.replace)?;
    let ttl = parse_i64(ttl).ok_or(CommandError::NotAnInteger)?;
    if ttl < 0 {
        return Err(KeyspaceError::RestoreTtl.into());
    }
    let versions = call.state.config.settings().rdb_versions;
    let value = call.store().value_of(payload, versions)?;
    let options = RestoreOptions {
        deadline: ask.deadline(ttl, call.now.unix()),
        idle: ask.idle(),
        replace: ask.replace,
    };

    call.store().restore(db, key, value, options)?;

    reply.ok();
    Ok(Flow::Done)
}

#[derive(Default)]
struct RestoreArgs {
    replace: bool,
    is_absolute: bool,
    idle_s: Option<u64>,
    has_frequency: bool,
}

impl RestoreArgs {
    fn parse(mut args: Args<'_>) -> Result<Self, CommandError> {
        let mut parsed = Self::default();
        while !args.is_empty() {
            if args.keyword("replace") {
                parsed.replace = true;
            } else if args.keyword("absttl") {
                parsed.is_absolute = true;
            } else if !parsed.has_frequency && args.keyword_with("idletime", 1) {
                let idle_s = u64::try_from(args.integer()?);
                parsed.idle_s = Some(idle_s.map_err(|_| KeyspaceError::RestoreIdle)?);
            } else if parsed.idle_s.is_none() && args.keyword_with("freq", 1) {
                u8::try_from(args.integer()?).map_err(|_| KeyspaceError::RestoreFrequency)?;
                parsed.has_frequency = true;
            } else {
                return Err(CommandError::Syntax);
            }
        }
        Ok(parsed)
    }

    fn deadline(&self, ttl: i64, now: UnixMillis) -> Option<UnixMillis> {
        let from = if self.is_absolute {
            0
        } else {
            now.0.cast_signed()
        };
        // The sum may run over, and lies in the past then, as in the reference.
        let at = u64::try_from(ttl.wrapping_add(from)).unwrap_or(0);
        (ttl != 0).then_some(UnixMillis(at))
    }

    fn idle(&self) -> Millis {
        Millis((self.idle_s.unwrap_or(0) & IDLE_S_MASK) * 1_000)
    }
}

impl From<KeyExists> for CommandError {
    fn from(KeyExists: KeyExists) -> Self {
        KeyspaceError::BusyKey.into()
    }
}

impl From<RestoreError> for CommandError {
    fn from(error: RestoreError) -> Self {
        KeyspaceError::Payload(error).into()
    }
}

/// The reference keeps 24 bits of the seconds.
const IDLE_S_MASK: u64 = 0xFF_FFFF;
