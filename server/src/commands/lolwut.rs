//! `LOLWUT [VERSION version] [...]`
//!
//! Replies with a drawing, and the version below it.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::server_info;
use crate::server_info::Identity;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "lolwut",
    syntax: "[VERSION version:integer]",
    flags: Flags::READONLY.and(Flags::FAST),
    acl: Acl::NONE,
    group: Group::Server,
    summary: "Draws something, and tells the version.",
    since: "5.0.0",
    complexity: "",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if args.keyword_with("version", 1) {
        args.integer()?;
    }

    let identity = Identity::of(call.state.config.settings());
    let name = match identity.server {
        "redis" => "Redis",
        _ => "Valkey",
    };
    let (tailrace, version) = (server_info::VERSION, identity.version);
    let text = format!("{WHEEL}\nTailrace {tailrace}, which behaves as {name} ver. {version}\n");
    reply.verbatim(text.as_bytes());
    Ok(Flow::Done)
}

/// A mill wheel, and the race that leads the water away from it.
const WHEEL: &str = r"
         _.---._
  ~~~\ .' \ | / '.
      ~:---(o)---:
       '. / | \ .'
         '-~-~-' ~~~~ ~~~ ~~~~ ~~ ~~~~ >
  ___________~~~~~ ~~ ~~~ ~~~~~ ~~~ ~~ >
";
