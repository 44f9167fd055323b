//! `PUBSUB CHANNELS | NUMSUB | NUMPAT | SHARDCHANNELS | SHARDNUMSUB | HELP`: who listens to what.

mod channels;
mod help;
mod numpat;
mod numsub;

use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    group: Group::PubSub,
    summary: "Tells who listens to what.",
    since: "2.8.0",
    ..Spec::container(
        "pubsub",
        &[
            &channels::SHARDCHANNELS,
            &channels::SPEC,
            &help::SPEC,
            &numpat::SPEC,
            &numsub::SHARDNUMSUB,
            &numsub::SPEC,
        ],
    )
};

const FLAGS: Flags = Flags::PUBSUB.and(Flags::LOADING).and(Flags::STALE);
