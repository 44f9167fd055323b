//! `CLUSTER SHARDS`
//!
//! Each primary with its replicas, and the slots that they serve.

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
use crate::error::CommandError;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "cluster|shards",
    arity: 2,
    flags: READING,
    tips: UNSTEADY,
    summary: "Tells which shards serve which slots.",
    since: "7.0.0",
    history: &[(
        "9.1.0",
        "Shows the `id` of a shard and the `availability-zone` of a node.",
    )],
    complexity: "O(N), N being the number of nodes.",
    ..of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let known = seat.known_to(seat.face);
    let primaries = known.filter(|(_, node)| node.replica_of.is_none());
    let primaries: Vec<NodeIndex> = primaries.map(|(index, _)| index).collect();
    reply.array(primaries.len());
    for primary in primaries {
        reply.map(3);
        reply.bulk(b"slots");
        let ranges = seat.ranges_of(primary);
        reply.array(2 * ranges.len());
        for (first, last) in ranges {
            reply.unsigned(first.into());
            reply.unsigned(last.into());
        }
        reply.bulk(b"nodes");
        let replicas: Vec<NodeIndex> = seat.replicas_of(primary).collect();
        reply.array(1 + replicas.len());
        write_node(call, &seat, primary, reply);
        for replica in replicas {
            write_node(call, &seat, replica, reply);
        }
        reply.bulk(b"id");
        reply.bulk(seat.node(primary).shard.as_bytes());
    }
    Ok(Flow::Done)
}

fn write_node(call: &Call<'_>, seat: &Seat, index: NodeIndex, reply: &mut ReplyWriter<'_>) {
    let node = seat.node(index);
    let endpoint = seat.endpoint(call, index);
    let kind = call.state.config.settings().cluster.endpoint;
    let zone = &node.address.zone;
    reply.map(7 + usize::from(!endpoint.host_name.is_empty()) + usize::from(!zone.is_empty()));
    reply.bulk(b"id");
    reply.bulk(node.id.as_bytes());
    reply.bulk(b"port");
    reply.unsigned(endpoint.port.into());
    reply.bulk(b"ip");
    reply.bulk(endpoint.ip.as_bytes());
    reply.bulk(b"endpoint");
    reply.bulk(endpoint.preferred(kind).as_bytes());
    if !endpoint.host_name.is_empty() {
        reply.bulk(b"hostname");
        reply.bulk(endpoint.host_name.as_bytes());
    }
    reply.bulk(b"role");
    let is_replica = node.replica_of.is_some();
    reply.bulk(if is_replica { b"replica" } else { b"master" });
    reply.bulk(b"replication-offset");
    reply.integer(seat.offset(index));
    reply.bulk(b"health");
    let is_down = seat.is_down(index);
    reply.bulk(if is_down { b"fail" } else { b"online" });
    if !zone.is_empty() {
        reply.bulk(b"availability-zone");
        reply.bulk(zone);
    }
}
