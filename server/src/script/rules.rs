//! Which commands a script may call.

use tailrace_protocol::Request;
use tailrace_storage::Compat;

use super::run::Job;
use crate::admission;
use crate::call::Call;
use crate::client::ClientId;
use crate::command_table::Lookup;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::error::ScriptError;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// What a run may do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// It may not write, nor publish.
    is_read_only: bool,
    /// Memory was used up when it began, and it does not say that this does not matter.
    is_out_of_memory: bool,
}

/// A command that a script may not call, if there is such a command, and the text of the error.
pub(super) type Refused = (Option<&'static Spec>, Vec<u8>);

impl Rules {
    /// Checks whether the script may run at all.
    pub(super) fn of(call: &Call<'_>, job: &Job<'_>) -> Result<Self, CommandError> {
        let script = call.state.scripts.cache.get(job.slot);
        let flags = script.ok_or(ScriptError::NoScript)?.flags;
        if let Some(cluster) = &call.state.cluster {
            if flags.no_cluster && !flags.says_nothing {
                return Err(ClusterError::ScriptNoCluster.into());
            }
            let is_free = flags.says_nothing || flags.allow_cross_slot;
            cluster.begin_script(is_free, job.keys);
        }
        let limit = call.state.config.settings().maxmemory_bytes;
        let is_full = limit > 0 && call.state.limited_bytes() > limit;
        if !flags.says_nothing && !flags.no_writes {
            if job.is_read_only {
                return Err(ScriptError::WritesUnderReadOnly.into());
            }
            if is_full && !flags.allow_oom {
                return Err(ScriptError::OutOfMemory.into());
            }
        }
        Ok(Self {
            is_read_only: job.is_read_only || flags.no_writes,
            is_out_of_memory: is_full && !flags.allow_oom,
        })
    }

    /// Checks whether the script may call a command; otherwise which one, if there is one, and the
    /// text of the error.
    pub(super) fn admit(
        self,
        state: &State,
        id: ClientId,
        has_written: bool,
        request: Request<'_>,
    ) -> Result<&'static Spec, Refused> {
        let is_redis = state.store.settings().compat == Compat::Redis;
        let words = |valkey: &str, redis: &str| if is_redis { redis } else { valkey }.into();
        let spec = match state.commands.look_up(request) {
            Lookup::Found(spec) => spec,
            Lookup::UnknownSubcommand(container) if !is_redis => {
                let error = admission::unknown_subcommand(request, container);
                return Err((None, error.wire()));
            }
            Lookup::UnknownSubcommand(_) | Lookup::Unknown => {
                return Err((None, words(UNKNOWN_COMMAND, UNKNOWN_COMMAND_OF_REDIS)));
            }
        };
        let refused = |text| Err((Some(spec), text));
        if !spec.fits(request.len()) {
            return refused(words(WRONG_COUNT, WRONG_COUNT_OF_REDIS));
        }
        if spec.flags.has(Flags::NOSCRIPT) && !state.scripts.may_call(spec) {
            return refused(words(NOT_ALLOWED, NOT_ALLOWED_OF_REDIS));
        }
        let is_refused = self.is_out_of_memory && !has_written;
        if is_refused && spec.flags.has(Flags::DENYOOM) {
            return refused(CommandError::OutOfMemory.wire());
        }
        let may_write = spec.flags.has(Flags::WRITE | Flags::MAY_REPLICATE);
        if self.is_read_only && may_write {
            return refused(READ_ONLY.into());
        }
        if state.cluster.is_some() {
            let routed = state.route_in_script(id, spec, request);
            routed.map_err(|error| (Some(spec), CommandError::from(error).wire()))?;
        }
        Ok(spec)
    }
}

const UNKNOWN_COMMAND: &str = "ERR Unknown command called from script";
const UNKNOWN_COMMAND_OF_REDIS: &str = "ERR Unknown Redis command called from script";
const WRONG_COUNT: &str = "ERR Wrong number of args calling command from script";
const WRONG_COUNT_OF_REDIS: &str = "ERR Wrong number of args calling Redis command from script";
const NOT_ALLOWED: &str = "ERR This Valkey command is not allowed from script";
const NOT_ALLOWED_OF_REDIS: &str = "ERR This Redis command is not allowed from script";
const READ_ONLY: &str = "ERR Write commands are not allowed from read-only scripts.";
