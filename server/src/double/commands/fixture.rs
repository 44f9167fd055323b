//! `TESTDOUBLE FIXTURE LOAD script`
//!
//! Executes lines of commands, as redis-cli reads them. Replies with the number of commands.
//!
//! Behaviour worth knowing:
//! - All or none: the first error stops it, says which line it is, and all data are what they were.
//! - It begins with the caller's database, and `SELECT` holds until its end. Lines that are empty or begin with `#` say
//!   nothing.
//! - Commands that read or write keys, and `SELECT`: what others do could not be undone. None waits.
//! - In a cluster each node executes what is about keys of its slots. All of them try it first, so that still all is done
//!   or nothing; only who changes data in that moment can come between.
//! - Who waits for what the fixture brings is served when all of it is there.

use std::sync::Arc;

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use super::double;
use super::fail;
use super::help;
use super::syntax;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::double::fixture;
use crate::double::jobs::Outcome;
use crate::double::nodes;
use crate::double::stage::Stage;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|fixture",
    arity: -3,
    syntax: "action [script]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Executes lines of commands, all or none.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let action = args.bytes()?;
    match action.to_ascii_lowercase().as_slice() {
        b"help" => {
            args.end()?;
            help::write(reply, HELP);
        }
        b"load" => {
            let script = args.bytes()?;
            args.end()?;
            super::refuse_amid_script(call)?;
            if !double(call).stage.is_alone() {
                let (db, script) = (call.db, script.to_vec());
                return Ok(nodes::beside(call, async move |stage: Arc<Stage>| {
                    match fixture::load_everywhere(&stage, db, &script) {
                        Ok(count) => Outcome::Count(count),
                        Err(reason) => Outcome::Failed(reason),
                    }
                }));
            }
            let loaded = fixture::load(call.state, call.id, script, call.now);
            let count = loaded.map_err(|wrong| fail(wrong.undone()))?;
            reply.unsigned(count);
        }
        _ => return Err(syntax::unknown("FIXTURE", action, "TD FIXTURE HELP")),
    }
    Ok(Flow::Done)
}

pub(super) const HELP: &[&str] = &[
    "FIXTURE LOAD <lines>",
    "    Executes the command in each line, all or none. --fixture <file> does so when the server starts.",
];
