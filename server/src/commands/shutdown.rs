//! `SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [SAFE] [FAILOVER] [ABORT]`
//!
//! Ends the server in order. There is no reply: the connection is closed.
//!
//! Behaviour worth knowing:
//! - Data lives in memory only. `SAVE`, which insists on saving, fails, unless with `FORCE`.
//! - Nothing is waited for, so there is never an end under way that `ABORT` could stop.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ScriptError;
use crate::error::ServerError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "shutdown",
    history: &[
        ("7.0.0", "Takes `NOW`, `FORCE` and `ABORT`."),
        ("9.0.0", "Takes `SAFE` and `FAILOVER`."),
    ],
    syntax: "[abort-selector(save-selector-block([save-selector(NOSAVE|SAVE)] [NOW@7.0.0] \
             [FORCE@7.0.0] [SAFE@9.0.0] [FAILOVER@9.0.0]) | ABORT@7.0.0)]",
    flags: Flags::ADMIN
        .and(Flags::NOSCRIPT)
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::NO_MULTI)
        .and(Flags::ALLOW_BUSY),
    group: Group::Server,
    summary: "Ends the server.",
    ..Spec::of(run)
};

fn run(call: &mut Call<'_>, args: Args<'_>, _: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    let options = Options::parse(args)?;
    if options.failover && call.state.cluster.is_none() {
        return Err(ServerError::FailoverOutsideCluster.into());
    }
    if options.abort {
        return Err(ServerError::NoShutdown.into());
    }
    if call.state.scripts.is_busy() {
        if !options.nosave {
            return Err(ScriptError::busy(call.state.config.settings().compat).into());
        }
        call.state.scripts.kill();
    }
    if options.save && !options.force {
        tracing::warn!(
            "SHUTDOWN SAVE: data lives in memory only; use SHUTDOWN NOSAVE to end without saving"
        );
        return Err(ServerError::ShutdownFailed.into());
    }

    call.state.is_ending = true;
    let client = call.client();
    client.closing = true;
    // As with the model, what was asked before in one piece with it is not answered either.
    client.link.kill();
    Ok(Flow::Done)
}

#[derive(Default)]
struct Options {
    save: bool,
    nosave: bool,
    force: bool,
    failover: bool,
    abort: bool,
    /// One that only says how to hurry.
    other: bool,
}

impl Options {
    fn parse(mut args: Args<'_>) -> Result<Self, CommandError> {
        let mut options = Self::default();
        while !args.is_empty() {
            if args.keyword("save") {
                options.save = true;
            } else if args.keyword("nosave") {
                options.nosave = true;
            } else if args.keyword("force") {
                options.force = true;
            } else if args.keyword("failover") {
                options.failover = true;
            } else if args.keyword("abort") {
                options.abort = true;
            } else if args.keyword("now") || args.keyword("safe") {
                options.other = true;
            } else {
                return Err(CommandError::Syntax);
            }
        }
        let Self {
            save,
            nosave,
            force,
            failover,
            abort,
            other,
        } = options;
        let goes_on = save || nosave || force || failover || other;
        if save && nosave || abort && goes_on {
            return Err(CommandError::Syntax);
        }
        Ok(options)
    }
}
