//! `TESTDOUBLE LEDGER [ON [stream] | OFF [stream] | WORKED stream group id [id ...] | stream group [id]]`
//!
//! Keeps, for each group, what became of each entry: who got it when, who acknowledged it, how it left. Replies with
//! the sums of a group, or with the history of an entry. `ASSERT` and `WAIT` go by it.
//!
//! Behaviour worth knowing:
//! - `ON` begins anew, for all streams or for one, with what is there: entries that a group has settled before are none of
//!   its ledger's, and what is pending counts as delivered so often as the group says.
//! - `WORKED` says that the work of entries is done, for assertions that ask for that.
//! - In a cluster it is about all nodes, and what is said of a stream about the node that has its slot.
//! - A group that is destroyed keeps its ledger, and goes on with it if it is created again.

use std::collections::BTreeSet;

use tailrace_protocol::ReplyWriter;
use tailrace_storage::GroupLedger;
use tailrace_storage::StreamId;

use super::FLAGS;
use super::help;
use super::wait;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::double::ledger;
use crate::double::nodes;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;
use crate::state::State;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|ledger",
    arity: -2,
    syntax: "[action] [argument...]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Tells what became of entries.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let Some(action) = args.peek() else {
        return tell(call, reply);
    };
    match action.to_ascii_lowercase().as_slice() {
        b"help" if args.len() == 1 => {
            help::write(reply, HELP);
            Ok(Flow::Done)
        }
        b"on" if args.len() <= 2 => switch(call, args, reply, true),
        b"off" if args.len() <= 2 => switch(call, args, reply, false),
        b"worked" => note_worked(call, args, reply),
        _ if args.len() < 2 => Err(no_group(action)),
        _ => report(call, args, reply),
    }
}

/// What to say where a group is missing, or the word for what to do is wrong.
fn no_group(action: &[u8]) -> CommandError {
    let action = String::from_utf8_lossy(action);
    super::fail(format!(
        "'{action}' alone is not known of LEDGER; that of a stream is LEDGER {action} <group>; try TD LEDGER HELP"
    ))
}

/// Begins to keep account, or ends it, of one stream or of all.
fn switch(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
    is_on: bool,
) -> Result<Flow, CommandError> {
    args.bytes()?;
    let db = call.db;
    let stream = args.next().map(<[u8]>::to_vec);
    Ok(nodes::everywhere(call, reply, move |state| {
        match (is_on, &stream) {
            (true, None) => state.store.start_ledger(),
            (true, Some(stream)) => state.store.start_ledger_of(db, stream),
            (false, None) => state.store.stop_ledger(),
            (false, Some(stream)) => state.store.stop_ledger_of(db, stream),
        }
    }))
}

fn note_worked(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    args.bytes()?;
    let place = wait::place(&mut args)?;
    if args.is_empty() {
        return Err(CommandError::Syntax);
    }
    let ids: Vec<StreamId> = args.ids()?;
    let db = call.db;
    let stream = place.stream.clone();
    nodes::on_owner(call, reply, &stream, move |state, reply| {
        ledger::find(state, db, &place)?;
        let ledger = state.store.ledger_mut();
        let known = ledger.map_or(0, |ledger| {
            ledger.note_worked(db, &place.stream, &place.group, &ids)
        });
        reply.unsigned(known);
        Ok(())
    })
}

/// Replies with whether there is a ledger, and of what.
fn tell(call: &mut Call<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    let db = call.db;
    let look = move |state: &State| {
        let ledger = state.store.ledger();
        let scope = match ledger.map(tailrace_storage::Ledger::is_for_all) {
            None => "off",
            Some(true) => "all",
            Some(false) => "some",
        };
        let streams = ledger.map_or_else(Vec::new, |ledger| {
            ledger.streams(db).map(<[u8]>::to_vec).collect()
        });
        let records = ledger.map_or(0, tailrace_storage::Ledger::records);
        (scope, streams, records as u64)
    };
    nodes::tell_of_all(call, reply, look, |nodes, reply| {
        // It is switched on all nodes at once.
        let scope = nodes.first().map_or("off", |(scope, ..)| scope);
        // A stream that has moved is known where it was, too.
        let streams = nodes.iter().flat_map(|(_, streams, _)| streams);
        let streams: BTreeSet<&Vec<u8>> = streams.collect();
        reply.map(3);
        reply.bulk(b"mode");
        reply.bulk(scope.as_bytes());
        reply.bulk(b"streams");
        reply.array(streams.len());
        streams.iter().for_each(|name| reply.bulk(name));
        reply.bulk(b"records");
        reply.unsigned(nodes.iter().map(|(_, _, records)| records).sum());
        Ok(())
    })
}

fn report(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let place = wait::place(&mut args)?;
    let id = match args.is_empty() {
        true => None,
        false => Some(args.id()?),
    };
    args.end()?;
    let db = call.db;
    let stream = place.stream.clone();
    nodes::on_owner(call, reply, &stream, move |state, reply| {
        let (stream, group) = ledger::find(state, db, &place)?;
        match id {
            None => sum_up(group, reply),
            Some(id) => {
                let told = ledger::histories(stream, group, id);
                reply.array(told.len());
                told.iter().for_each(|line| reply.bulk(line.as_bytes()));
            }
        }
        Ok(())
    })
}

fn sum_up(group: &GroupLedger, reply: &mut ReplyWriter<'_>) {
    let sums = group.summary();
    let counts: [(&[u8], u64); 11] = [
        (b"added", sums.added),
        (b"delivered-once", sums.delivered_once),
        (b"redelivered", sums.redelivered),
        (b"acked", sums.acknowledged),
        (b"acked-undelivered", sums.acknowledged_undelivered),
        (b"unacked", sums.unacknowledged),
        (b"pending", sums.pending),
        (b"never-delivered", sums.undelivered),
        (b"lost", sums.lost),
        (b"most-deliveries", sums.most_deliveries),
        (b"forgotten", sums.forgotten),
    ];
    reply.map(counts.len() + 1);
    for (name, count) in counts {
        reply.bulk(name);
        reply.unsigned(count);
    }
    reply.bulk(b"consumers");
    let consumers = group.consumers();
    reply.map(consumers.len());
    for consumer in consumers {
        reply.bulk(&consumer.name);
        reply.map(3);
        reply.bulk(b"deliveries");
        reply.unsigned(consumer.deliveries);
        reply.bulk(b"acks");
        reply.unsigned(consumer.acknowledgements);
        reply.bulk(b"pending");
        reply.unsigned(consumer.pending);
    }
}

pub(super) const HELP: &[&str] = &[
    "LEDGER ON [stream] | OFF [stream]",
    "    Begins, anew, to note what becomes of each entry, of all streams or of one; ends it.",
    "LEDGER",
    "    Tells of which streams.",
    "LEDGER <stream> <group> [<id>]",
    "    Sums up what was delivered and acknowledged, or tells all that is known of an entry.",
    "LEDGER WORKED <stream> <group> <id> [<id> ...]",
    "    Notes that the work of entries is done.",
    "    ASSERT and WAIT go by it:",
    "    AT-LEAST-ONCE: each was delivered, and acknowledged since by somebody it was delivered to.",
    "    EXACTLY-ONCE: likewise, and delivered no more than once. WORKED: its work was done before it was acknowledged.",
    "    NO-LOSS: none was trimmed or deleted before it was delivered.",
    "    NO-LEAK: none is pending or dropped, and nobody acknowledged what was not delivered to it.",
];
