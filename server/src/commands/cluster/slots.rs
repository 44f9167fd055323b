//! `CLUSTER SLOTS`
//!
//! Ranges of slots, each with the node that serves it and the replicas of that one.

use tailrace_protocol::ReplyWriter;

use super::READING;
use super::UNSTEADY;
use super::of;
use super::seat;
use super::seat::Seat;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::cluster::NodeIndex;
use crate::config::EndpointKind;
use crate::error::CommandError;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "cluster|slots",
    arity: 2,
    flags: READING,
    tips: UNSTEADY,
    summary: "Tells which nodes serve which slots.",
    since: "3.0.0",
    history: &[
        ("4.0.0", "Shows the IDs of nodes."),
        ("7.0.0", "Shows where else nodes can be reached."),
        ("9.1.0", "Shows there the `availability-zone` too."),
    ],
    complexity: "O(N), N being the number of nodes.",
    ..of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let mut ranges = seat.ranges();
    ranges.retain(|(first, ..)| seat.owner(seat.face, *first).is_some());
    reply.array(ranges.len());
    for (first, last, owner) in ranges {
        let replicas = seat.replicas_of(owner);
        let replicas: Vec<NodeIndex> = replicas.filter(|node| !seat.is_down(*node)).collect();
        reply.array(3 + replicas.len());
        reply.unsigned(first.into());
        reply.unsigned(last.into());
        write_node(call, &seat, owner, reply);
        for replica in replicas {
            write_node(call, &seat, replica, reply);
        }
    }
    Ok(Flow::Done)
}

/// Where a node is, its id, and what else is known of where it is.
fn write_node(call: &Call<'_>, seat: &Seat, node: NodeIndex, reply: &mut ReplyWriter<'_>) {
    let kind = call.state.config.settings().cluster.endpoint;
    let endpoint = seat.endpoint(call, node);
    reply.array(4);
    match kind {
        EndpointKind::Unknown => reply.null(),
        _ => reply.bulk(endpoint.preferred(kind).as_bytes()),
    }
    reply.unsigned(endpoint.port.into());
    reply.bulk(seat.node(node).id.as_bytes());
    let has_name = kind != EndpointKind::HostName && !endpoint.host_name.is_empty();
    let zone = &seat.node(node).address.zone;
    let known = [
        ("ip", endpoint.ip.as_bytes(), kind != EndpointKind::Ip),
        ("hostname", endpoint.host_name.as_bytes(), has_name),
        ("availability-zone", zone, !zone.is_empty()),
    ];
    let known: Vec<_> = known.iter().filter(|(_, _, is_shown)| *is_shown).collect();
    reply.map(known.len());
    for (name, value, _) in known {
        reply.bulk(name.as_bytes());
        reply.bulk(value);
    }
}
