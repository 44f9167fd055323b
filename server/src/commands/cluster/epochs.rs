//! `CLUSTER BUMPEPOCH`, `SET-CONFIG-EPOCH epoch`, `SAVECONFIG`
//!
//! Epochs decide who is right where nodes of the reference do not agree. Here all nodes of a process agree always, so
//! they are only shown. There is no file either that the cluster would be written to.

use tailrace_protocol::ReplyWriter;

use super::CHANGING;
use super::UNSTEADY;
use super::of;
use super::seat;
use super::seat::change;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::spec::Spec;

pub(super) const BUMPEPOCH: Spec = Spec {
    name: "cluster|bumpepoch",
    arity: 2,
    flags: CHANGING,
    tips: UNSTEADY,
    summary: "Advances the configuration epoch.",
    since: "3.0.0",
    ..of(bump)
};

pub(super) const SAVECONFIG: Spec = Spec {
    name: "cluster|saveconfig",
    arity: 2,
    flags: CHANGING,
    summary: "Writes the configuration of the cluster to disk.",
    since: "3.0.0",
    ..of(save)
};

pub(super) const SET_CONFIG_EPOCH: Spec = Spec {
    name: "cluster|set-config-epoch",
    arity: 3,
    syntax: "config-epoch:integer",
    flags: CHANGING,
    summary: "Sets the configuration epoch of a new node.",
    since: "3.0.0",
    ..of(set)
};

fn bump(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let face = seat(call)?.face;
    let bumped = change(call, |view| (view.bump_epoch(face), view.node(face).epoch));
    let (is_new, epoch) = bumped.unwrap_or_default();
    let word = if is_new { "BUMPED" } else { "STILL" };
    reply.simple(&format!("{word} {epoch}"));
    Ok(Flow::Done)
}

fn save(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    seat(call)?;
    reply.ok();
    Ok(Flow::Done)
}

fn set(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let seat = seat(call)?;
    let epoch = args.integer()?;
    let face = seat.face;
    let number = u64::try_from(epoch).map_err(|_| ClusterError::Epoch(epoch))?;
    if seat.known_to(face).count() > 1 {
        return Err(ClusterError::EpochNotAlone.into());
    }
    if seat.node(face).epoch != 0 {
        return Err(ClusterError::EpochSet.into());
    }
    change(call, |view| {
        view.node_mut(face).epoch = number;
        view.epoch = view.epoch.max(number);
    });
    reply.ok();
    Ok(Flow::Done)
}
