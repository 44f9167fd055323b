//! `PUBSUB HELP`

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::commands::encode;
use crate::error::CommandError;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "pubsub|help",
    arity: 2,
    flags: Flags::LOADING.and(Flags::STALE),
    group: Group::PubSub,
    summary: "Lists the subcommands.",
    since: "6.2.0",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    encode::help(
        reply,
        "PUBSUB",
        &[
            (
                "CHANNELS [<pattern>]",
                "The channels that somebody listens to.",
            ),
            ("NUMPAT", "How many patterns somebody listens to."),
            (
                "NUMSUB [<channel> ...]",
                "How many listen to each channel by its name.",
            ),
            (
                "SHARDCHANNELS [<pattern>]",
                "The channels of shards that somebody listens to.",
            ),
            (
                "SHARDNUMSUB [<shardchannel> ...]",
                "How many listen to each channel of a shard.",
            ),
        ],
    );
    Ok(Flow::Done)
}
