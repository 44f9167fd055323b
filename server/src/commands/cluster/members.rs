//! `CLUSTER MEET host port`, `FORGET id`, `REPLICATE id`, `RESET [HARD|SOFT]`, `FAILOVER [FORCE|TAKEOVER]`
//!
//! Who is in the cluster, and who is whose replica.
//!
//! Behaviour worth knowing:
//! - Only nodes of this process can meet. Each knows all others when it starts.
//! - A node that is forgotten by one is forgotten by all, and forgets them.
//! - A replica shares the data of its primary, so it can take over at any time and loses nothing; it cannot become
//!   the replica of another.

use tailrace_protocol::ReplyWriter;

use tailrace_protocol::number::parse_i64;

use super::ADMIN;
use super::CHANGING;
use super::has_no_keys;
use super::of;
use super::seat;
use super::seat::Seat;
use super::seat::change;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::cluster::NodeIndex;
use crate::cluster::View;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::sockets;
use crate::spec::Flags;
use crate::spec::Spec;

pub(super) const FAILOVER: Spec = Spec {
    name: "cluster|failover",
    arity: -2,
    syntax: "[options(FORCE|TAKEOVER)]",
    flags: CHANGING,
    summary: "Makes this replica the primary.",
    since: "3.0.0",
    ..of(fail_over)
};

pub(super) const FORGET: Spec = Spec {
    name: "cluster|forget",
    arity: 3,
    syntax: "node-id",
    flags: CHANGING,
    summary: "Removes a node from the cluster.",
    since: "3.0.0",
    ..of(forget)
};

pub(super) const MEET: Spec = Spec {
    name: "cluster|meet",
    arity: -4,
    syntax: "ip port:integer [cluster-bus-port:integer@4.0.0]",
    flags: CHANGING,
    summary: "Adds a node to the cluster.",
    since: "3.0.0",
    history: &[("4.0.0", "Takes the port of the bus.")],
    ..of(meet)
};

pub(super) const REPLICATE: Spec = Spec {
    name: "cluster|replicate",
    arity: -3,
    syntax: "args(node-id | no-one@9.0.0(NO ONE))",
    flags: CHANGING,
    summary: "Makes this node a replica of another.",
    since: "3.0.0",
    history: &[("9.0.0", "Takes `NO ONE`, which makes a replica a primary.")],
    ..of(replicate)
};

pub(super) const RESET: Spec = Spec {
    name: "cluster|reset",
    arity: -2,
    syntax: "[reset-type(HARD|SOFT)]",
    flags: ADMIN.and(Flags::NOSCRIPT),
    summary: "Takes this node out of the cluster.",
    since: "3.0.0",
    complexity: "O(N), N being the number of nodes.",
    ..of(reset)
};

fn fail_over(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let is_forced = !args.is_empty();
    while !args.is_empty() {
        if !args.keyword("force") && !args.keyword("takeover") {
            return Err(CommandError::Syntax);
        }
    }
    if !seat.is_replica() {
        return Err(ClusterError::FailoverOfPrimary.into());
    }
    if !is_forced && seat.is_down(seat.primary_of(seat.face)) {
        return Err(ClusterError::PrimaryDown.into());
    }
    change(call, |view| view.promote(seat.face));
    reply.ok();
    Ok(Flow::Done)
}

fn forget(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let id = args.bytes()?;
    let Some(node) = seat.find(seat.face, id) else {
        // As good as done if that was a node once.
        let was_there = seat.nodes.iter().any(|node| node.id.as_bytes() == id);
        return match was_there {
            true => done(reply),
            false => Err(ClusterError::UnknownNode(id.to_vec()).into()),
        };
    };
    if node == seat.face {
        return Err(ClusterError::ForgetMyself.into());
    }
    if seat.node(seat.face).replica_of == Some(node) {
        return Err(ClusterError::ForgetPrimary.into());
    }
    change(call, |view| view.leave(node));
    done(reply)
}

fn meet(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let (host, port) = (args.bytes()?, args.bytes()?);
    let number = parse_i64(port).ok_or_else(|| ClusterError::BasePort(port.to_vec()))?;
    let number = u16::try_from(number).ok().filter(|number| *number > 0);
    let number = number.ok_or(ClusterError::PortRange)?;
    let bus = match args.peek() {
        None => i64::from(number) + 10_000,
        Some(bus) => parse_i64(bus).ok_or_else(|| ClusterError::BusPort(bus.to_vec()))?,
    };
    if args.len() > 1 {
        return Err(CommandError::subcommand_syntax(call.spec, args.request()));
    }
    let is_address = |text: &str| text.parse::<std::net::IpAddr>().is_ok();
    if !std::str::from_utf8(host).is_ok_and(is_address) {
        return Err(ClusterError::Address(host.to_vec(), port.to_vec()).into());
    }
    let nodes = seat.nodes.iter();
    let is_meant =
        |address: &crate::cluster::Address| [address.port, address.listened_on].contains(&number);
    let place = nodes
        .enumerate()
        .find(|(_, node)| node.engine.is_some() && is_meant(&node.address));
    let (place, _) = place.ok_or_else(|| match (1..=65_535).contains(&bus) {
        true => ClusterError::Stranger,
        false => ClusterError::BusPortRange,
    })?;
    change(call, |view| view.join(seat.face, NodeIndex::new(place)));
    done(reply)
}

fn replicate(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let id = args.bytes()?;
    if !args.is_empty() {
        return match crate::args::is_word(id, "no") && args.keyword("one") && args.is_empty() {
            false => Err(CommandError::subcommand_syntax(call.spec, args.request())),
            true if seat.is_replica() => part(call, &seat, reply),
            true => done(reply),
        };
    }
    let node = seat.look_up(id)?;
    if node == seat.face {
        return Err(ClusterError::ReplicateMyself.into());
    }
    if seat.node(node).replica_of.is_some() {
        return Err(ClusterError::ReplicateReplica.into());
    }
    if seat.node(seat.face).replica_of == Some(node) {
        return done(reply);
    }
    if !seat.is_replica() && (seat.slots_of(seat.face) > 0 || !has_no_keys(call)) {
        return Err(ClusterError::ReplicateNotEmpty.into());
    }
    if seat.node(node).engine.is_none() {
        return Err(ClusterError::ReplicateElsewhere.into());
    }
    change(call, |view| view.replicate(seat.face, node));
    done(reply)
}

/// Makes a replica an empty primary that is a shard of its own.
fn part(
    call: &mut Call<'_>,
    seat: &Seat,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let engines = seat.engines(call);
    let has_parted = change(call, |view| {
        let has_parted = view.part(seat.face, engines);
        if has_parted {
            view.node_mut(seat.face).shard = sockets::random_id();
        }
        has_parted
    });
    match has_parted {
        Some(true) => done(reply),
        _ => Err(ClusterError::NoEngine.into()),
    }
}

fn reset(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let is_hard = args.keyword("hard");
    if !is_hard && !args.is_empty() && !args.keyword("soft") {
        return Err(CommandError::Syntax);
    }
    if !args.is_empty() {
        return Err(CommandError::subcommand_syntax(call.spec, args.request()));
    }
    if !seat.is_replica() && !has_no_keys(call) {
        return Err(ClusterError::ResetWithKeys.into());
    }
    let engines = seat.engines(call);
    let is_reset = change(call, |view| {
        let is_primary = !seat.is_replica() || view.part(seat.face, engines);
        if is_primary {
            start_anew(view, seat.face, is_hard);
        }
        is_primary
    });
    match is_reset {
        Some(true) => done(reply),
        _ => Err(ClusterError::NoEngine.into()),
    }
}

/// Lets a node be as if it had never met another.
fn start_anew(view: &mut View, index: NodeIndex, is_hard: bool) {
    view.leave(index);
    for (first, last) in view.ranges_of(index) {
        (first..=last).for_each(|slot| view.set_owner(slot, None));
    }
    let is_only = view.nodes.len() == 1;
    let node = view.node_mut(index);
    node.take_open_slots();
    node.shard = sockets::random_id();
    if is_hard {
        node.id = sockets::random_id();
        node.epoch = 0;
        if is_only {
            view.epoch = 0;
        }
    }
}

fn done(reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    reply.ok();
    Ok(Flow::Done)
}
