//! `CLUSTER INFO`
//!
//! Tells whether the cluster serves all slots, how many nodes there are, and what the bus has sent, which is nothing:
//! there is none.

use std::fmt::Write;

use tailrace_protocol::ReplyWriter;

use super::READING;
use super::UNSTEADY;
use super::of;
use super::seat;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "cluster|info",
    arity: 2,
    flags: READING,
    tips: UNSTEADY,
    summary: "Tells of the state of the cluster.",
    since: "3.0.0",
    ..of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    reply.verbatim(text(call)?.as_bytes());
    Ok(Flow::Done)
}

/// The lines, which `INFO cluster_info` has too.
pub(in crate::commands) fn text(call: &Call<'_>) -> Result<String, CommandError> {
    let seat = seat(call)?;
    let cluster = call.state.cluster.as_ref();
    let is_whole = cluster.is_some_and(|cluster| cluster.is_whole(seat.face));
    let known = seat.known_to(seat.face);
    let nodes: Vec<(usize, bool)> = known
        .map(|(index, _)| (seat.slots_of(index), seat.is_down(index)))
        .collect();
    let down = || nodes.iter().filter(|(_, is_down)| *is_down);
    let assigned: usize = nodes.iter().map(|(slots, _)| slots).sum();
    let failed: usize = down().map(|(slots, _)| slots).sum();
    let size = nodes.iter().filter(|(slots, _)| *slots > 0).count();
    let mut text = String::new();
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        // A string takes everything.
        let _ = write!(text, "{name}:{value}\r\n");
    };
    line("cluster_state", &if is_whole { "ok" } else { "fail" });
    line("cluster_slots_assigned", &assigned);
    line("cluster_slots_ok", &(assigned - failed));
    // Nobody suspects a node: that it is down is known to all at once.
    line("cluster_slots_pfail", &0);
    line("cluster_slots_fail", &failed);
    line("cluster_nodes_pfail", &0);
    line("cluster_nodes_fail", &down().count());
    line("cluster_voting_nodes_pfail", &0);
    let voting = down().filter(|(slots, _)| *slots > 0).count();
    line("cluster_voting_nodes_fail", &voting);
    line("cluster_known_nodes", &nodes.len());
    line("cluster_size", &size);
    line("cluster_current_epoch", &seat.epoch);
    line("cluster_my_epoch", &seat.epoch_of(seat.face));
    for nothing in [
        "cluster_stats_messages_sent",
        "cluster_stats_messages_received",
        "cluster_stats_bytes_sent",
        "cluster_stats_bytes_received",
        "cluster_stats_pubsub_bytes_sent",
        "cluster_stats_pubsub_bytes_received",
        "cluster_stats_module_bytes_sent",
        "cluster_stats_module_bytes_received",
        "total_cluster_links_buffer_limit_exceeded",
    ] {
        line(nothing, &0);
    }
    Ok(text)
}
