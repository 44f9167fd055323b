//! `CLUSTER NODES`, `REPLICAS id`, `SLAVES id`, `MYID`, `MYSHARDID`, `LINKS`, `COUNT-FAILURE-REPORTS id`
//!
//! The nodes as the caller's node sees them, one line each. There are no links between nodes of a process, and none
//! that could fail.

use std::fmt::Write;

use tailrace_protocol::ReplyWriter;

use super::ADMIN;
use super::READING;
use super::UNSTEADY;
use super::of;
use super::seat;
use super::seat::Seat;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::cluster::NodeIndex;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::spec::Audience;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const COUNT_FAILURE_REPORTS: Spec = Spec {
    name: "cluster|count-failure-reports",
    arity: 3,
    syntax: "node-id",
    flags: ADMIN,
    tips: UNSTEADY,
    summary: "Counts the nodes that report a node as failing.",
    since: "3.0.0",
    history: &[(
        "9.0.0",
        "Reports on a node that is known to have failed are not taken any more.",
    )],
    complexity: "O(N), N being the number of reports.",
    ..of(count_reports)
};

pub(super) const LINKS: Spec = Spec {
    name: "cluster|links",
    arity: 2,
    flags: Flags::STALE,
    tips: UNSTEADY,
    summary: "Lists the links between this node and the others.",
    since: "7.0.0",
    complexity: "O(N), N being the number of nodes.",
    ..of(links)
};

pub(super) const MYID: Spec = Spec {
    name: "cluster|myid",
    arity: 2,
    flags: READING,
    summary: "Tells this node's ID.",
    since: "3.0.0",
    ..of(my_id)
};

pub(super) const MYSHARDID: Spec = Spec {
    name: "cluster|myshardid",
    arity: 2,
    flags: READING,
    tips: UNSTEADY,
    summary: "Tells the ID of this node's shard.",
    since: "7.2.0",
    ..of(my_shard)
};

pub(super) const NODES: Spec = Spec {
    name: "cluster|nodes",
    arity: 2,
    flags: READING,
    tips: UNSTEADY,
    summary: "Describes all nodes as this one sees them.",
    since: "3.0.0",
    complexity: "O(N), N being the number of nodes.",
    ..of(nodes)
};

pub(super) const REPLICAS: Spec = Spec {
    name: "cluster|replicas",
    arity: 3,
    syntax: "node-id",
    flags: ADMIN,
    tips: UNSTEADY,
    summary: "Lists the replicas of a node.",
    since: "5.0.0",
    complexity: "O(N), N being the number of replicas.",
    ..of(replicas)
};

pub(super) const SLAVES: Spec = Spec {
    name: "cluster|slaves",
    arity: 3,
    syntax: "node-id",
    flags: ADMIN,
    tips: UNSTEADY,
    summary: "Lists the replicas of a node, by its old name.",
    since: "3.0.0",
    complexity: "O(N), N being the number of replicas.",
    audience: Audience::Old {
        since: "5.0.0",
        replacement: "`CLUSTER REPLICAS`",
    },
    ..of(replicas)
};

fn count_reports(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    seat(call)?.look_up(args.bytes()?)?;
    reply.integer(0);
    Ok(Flow::Done)
}

fn links(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    seat(call)?;
    reply.array(0);
    Ok(Flow::Done)
}

fn my_id(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    reply.bulk(seat.node(seat.face).id.as_bytes());
    Ok(Flow::Done)
}

fn my_shard(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    reply.bulk(seat.node(seat.face).shard.as_bytes());
    Ok(Flow::Done)
}

fn nodes(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let mut text = String::new();
    for (index, _) in seat.known_to(seat.face) {
        text.push_str(&line(call, &seat, index));
        text.push('\n');
    }
    reply.verbatim(text.as_bytes());
    Ok(Flow::Done)
}

fn replicas(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let node = seat.look_up(args.bytes()?)?;
    if seat.node(node).replica_of.is_some() {
        return Err(ClusterError::NotAPrimary.into());
    }
    let lines: Vec<String> = seat
        .replicas_of(node)
        .map(|replica| line(call, &seat, replica))
        .collect();
    reply.array(lines.len());
    lines.iter().for_each(|line| reply.bulk(line.as_bytes()));
    Ok(Flow::Done)
}

/// A node as a line: its id, where it is, what it is, whose replica, when it was heard of, its epoch, its slots.
fn line(call: &Call<'_>, seat: &Seat, index: NodeIndex) -> String {
    let node = seat.node(index);
    let endpoint = seat.endpoint(call, index);
    let is_myself = index == seat.face;
    let mut line = format!(
        "{} {}:{}@{}",
        node.id, endpoint.ip, endpoint.port, node.address.bus_port
    );
    if !endpoint.host_name.is_empty() {
        line.push(',');
        line.push_str(&endpoint.host_name);
    }
    line.push_str(if is_myself { " myself," } else { " " });
    let primary = node.replica_of.map(|primary| seat.node(primary));
    let role = if primary.is_some() { "slave" } else { "master" };
    line.push_str(role);
    let down_since = seat.down_since(index).filter(|_| !is_myself);
    line.push_str(if down_since.is_some() { ",fail " } else { " " });
    line.push_str(primary.map_or("-", |primary| &primary.id));
    // What is in this process was heard of just now, unless it is down.
    let heard_at = if is_myself { 0 } else { call.now.unix().0 };
    let (asked_at, heard_at, link) = match down_since {
        Some(since) => (since, since, "disconnected"),
        None => (0, heard_at, "connected"),
    };
    let epoch = seat.epoch_of(index);
    // A string takes everything.
    let _ = write!(line, " {asked_at} {heard_at} {epoch} {link}");
    for (first, last) in seat.ranges_of(index) {
        let _ = match first == last {
            true => write!(line, " {first}"),
            false => write!(line, " {first}-{last}"),
        };
    }
    if is_myself {
        let open = seat.node(seat.primary_of(index));
        let migrating = open.migrating.iter().map(|(slot, to)| (*slot, "->-", *to));
        let importing = open
            .importing
            .iter()
            .map(|(slot, from)| (*slot, "-<-", *from));
        let mut moves: Vec<_> = migrating.chain(importing).collect();
        moves.sort_unstable();
        for (slot, arrow, peer) in moves {
            let _ = write!(line, " [{slot}{arrow}{}]", seat.node(peer).id);
        }
    }
    line
}
