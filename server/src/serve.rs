//! Parks commands that wait, and serves them once something changed or their time is up.
//!
//! After every command (or the whole of an `EXEC`) the engine drains the list of changes: events are
//! published, watched keys break transactions, and the waiters of each key that signals are attempted, longest waiting
//! first. An attempt is the whole command again, with the deadline and the IDs that it had.

use std::collections::HashSet;

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::Change;
use tailrace_storage::Event;
use tailrace_storage::GroupReader;
use tailrace_storage::Instant;
use tailrace_storage::Now;
use tailrace_storage::Signal;
use tailrace_storage::WaiterId;

use crate::call::Call;
use crate::call::Waiting;
use crate::client::ClientId;
use crate::command_log::CallBytes;
use crate::dispatch;
use crate::double::faults;
use crate::double::hooks;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::resume::Resumed;
use crate::spec::Spec;
use crate::state::Parked;
use crate::state::State;

/// Lets a command wait.
pub(crate) fn park(
    state: &mut State,
    client: ClientId,
    spec: &'static Spec,
    db: usize,
    command: Box<dyn Waiting>,
    request: Request<'_>,
) {
    let wants = command.wants(db);
    for key in &wants.keys {
        state.store.observe(db, key);
    }
    let waiter = state.waits.insert(wants, command.deadline());
    state.clients.at(client).waiter = Some(waiter);
    let parked = Parked {
        client,
        spec,
        db,
        command,
        request: request.to_owned(),
        request_bytes: state.request_bytes,
    };
    state.parked.insert(waiter, parked);
}

/// Reacts to everything that changed since the last call, and gives those their turn whose commands the
/// gate held and was opened for.
///
/// Nothing is done while a script is over its time: that it is whole is what scripts are for.
pub(crate) fn settle(state: &mut State, now: Now) {
    if state.scripts.is_busy() {
        return;
    }
    if let Some(cluster) = &state.cluster
        && cluster.is_behind()
    {
        state.follow_cluster(now);
    }
    react(state, now);
    while let Some(held) = state.gate.take_released() {
        if let Some(client) = state.clients.get_mut(held.client) {
            client.is_let_go = true;
        }
        state.resumed.push_back(Resumed::Held(held));
    }
}

fn react(state: &mut State, now: Now) {
    while state.store.has_changes() {
        state.publish_events();
        state.published = 0;
        let mut changes = std::mem::take(&mut state.changes);
        state.store.take_changes(&mut changes);
        put_leaving_first(&mut changes);
        let mut signalled: Vec<(usize, Box<[u8]>)> = Vec::new();
        for Change { db, key, event } in changes.drain(..) {
            if event.breaks_watch() {
                state.break_watches(db, &key, event);
            } else if event == Event::New {
                state.note_watched(db, &key);
            }
            if event.signal() == Signal::None {
                continue;
            }
            if event != Event::Xadd {
                state.waits.on_replaced(db, &key);
            }
            let is_last = |(at, last): &(usize, Box<[u8]>)| *at == db && *last == key;
            if !signalled.last().is_some_and(is_last) {
                signalled.push((db, key));
            }
        }
        state.changes = changes;
        serve_keys(state, &signalled, now);
    }
}

/// A key leaves its old place before it comes to its new one, whatever the order of the events is.
fn put_leaving_first(changes: &mut [Change]) {
    for at in 1..changes.len() {
        let leaves = matches!(changes[at].event, Event::RenameFrom | Event::MoveFrom);
        if leaves && changes[at - 1].event == Event::New {
            changes.swap(at - 1, at);
        }
    }
}

/// Serves those who wait for keys, each key once, in the order in which they were first named.
fn serve_keys(state: &mut State, keys: &[(usize, Box<[u8]>)], now: Now) {
    let mut served = HashSet::new();
    for (db, key) in keys {
        if keys.len() == 1 || served.insert((*db, &**key)) {
            serve_key(state, *db, key, now);
        }
    }
}

/// Answers those whose time is up.
pub(crate) fn expire(state: &mut State, now: Now) {
    while let Some(waiter) = state.waits.overdue(now.mono) {
        give_up(state, waiter, now);
    }
}

/// Ends a wait as if its time were up.
pub(crate) fn give_up(state: &mut State, waiter: WaiterId, now: Now) {
    answer(state, waiter, now, |command, call, reply| {
        call.state.slot_stats.on_wait_in_vain();
        command.give_up(call, reply);
        Ok(true)
    });
}

/// Ends a wait with the error of `CLIENT UNBLOCK ... ERROR`.
pub(crate) fn unblock_with_error(state: &mut State, waiter: WaiterId, now: Now) {
    answer(state, waiter, now, |_, call, _| {
        call.state.slot_stats.on_wait_in_vain();
        Err(ClientError::Unblocked.into())
    });
}

/// Ends a wait with an error: the key is served elsewhere now.
pub(crate) fn refuse(state: &mut State, waiter: WaiterId, now: Now, error: CommandError) {
    answer(state, waiter, now, |_, call, _| {
        call.state.slot_stats.on_wait_in_vain();
        Err(error)
    });
}

/// Ends a wait, in which all others stood still for so long, with what `write` has to say.
pub(crate) fn conclude(
    state: &mut State,
    waiter: WaiterId,
    now: Now,
    took_micros: u64,
    write: impl FnOnce(&mut Call<'_>, &mut ReplyWriter<'_>) -> Result<(), CommandError>,
) {
    answer(state, waiter, now, |command, call, reply| {
        command.note_took(took_micros);
        write(call, reply).map(|()| true)
    });
}

/// Takes a waiter out without an answer: its client is gone.
pub(crate) fn abandon(state: &mut State, waiter: WaiterId) {
    if let Some(parked) = state.parked.remove(&waiter)
        && parked.command.counts_when_over()
    {
        let now = state.clock.now();
        let counted = state.begin_late_slot_cost(&parked);
        count(state, &parked, now, now.mono, 0);
        state.slot_stats.current = counted;
    }
    forget(state, waiter);
}

/// Attempts those who wait for `key`, and notes for the groups whose readers wait on that they were
/// looked at: the reference attempts every waiter, which resets the idle time of its consumer and
/// creates the consumer again if it was deleted.
fn serve_key(state: &mut State, db: usize, key: &[u8], now: Now) {
    remember_keys_of_waiting(state, db, key);
    let mut round = state.waits.round(db, key);
    loop {
        let store = &state.store;
        let next = state
            .waits
            .next_of(&mut round, db, key, |group| match group {
                Some(group) => store.may_serve_group(db, key, group),
                None => store.may_serve_readers(db, key),
            });
        let Some(waiter) = next else {
            break;
        };
        if let Err(error) = state.route_again(waiter) {
            refuse(state, waiter, now, error.into());
            continue;
        }
        answer(state, waiter, now, |command, call, reply| {
            command.attempt(call, reply)
        });
    }
    if state.store.may_serve_readers(db, key) {
        // All who wait were attempted, by the reference's lights.
        state.waits.stand_again(db, key);
    }
    for group in state.waits.groups(db, key) {
        if !state.store.may_serve_group(db, key, &group) {
            let spared = state.waits.single_readers(db, key, &group);
            state.store.count_spared_attempts(spared);
        }
        // Where the group is gone, so are those who waited for it: they got the error.
        let _ = state.store.note_attempt(db, key, &group);
        if state.waits.take_consumer_deleted(db, key, &group) {
            for consumer in state.waits.consumers(db, key, &group) {
                let _ = state.store.create_consumer(db, key, &group, consumer);
            }
        }
    }
}

/// Before a stream gets another place, or a copy: what attempts in vain did to the consumers that wait
/// for it becomes their own, and goes with them.
pub(crate) fn keep_attempts(state: &mut State, db: usize, key: &[u8]) {
    for group in state.waits.groups(db, key) {
        for consumer in state.waits.consumers(db, key, &group) {
            // Neither may be there: nobody has looked yet.
            let _ = state.store.end_wait(db, key, &group, consumer);
        }
    }
}

/// Notes for clients that track what the readers of `key` read: each attempt reads it again, also in vain.
fn remember_keys_of_waiting(state: &mut State, db: usize, key: &[u8]) {
    if state.caches.clients() == 0
        || state
            .store
            .peek(db, key)
            .is_none_or(|value| value.as_stream().is_err())
    {
        return;
    }
    for waiter in state.waits.readers(db, key) {
        let Some(parked) = state.parked.remove(&waiter) else {
            continue;
        };
        state.remember_keys(parked.client, parked.spec, parked.request.as_request());
        state.parked.insert(waiter, parked);
    }
}

type Answer<'a> = dyn FnOnce(&mut dyn Waiting, &mut Call<'_>, &mut ReplyWriter<'_>) -> Result<bool, CommandError>
    + 'a;

/// Lets `write` answer a waiting command. If it does, or fails, the wait is over.
fn answer(
    state: &mut State,
    waiter: WaiterId,
    now: Now,
    write: impl FnOnce(
        &mut dyn Waiting,
        &mut Call<'_>,
        &mut ReplyWriter<'_>,
    ) -> Result<bool, CommandError>,
) {
    answer_dyn(state, waiter, now, Box::new(write));
}

fn answer_dyn(state: &mut State, waiter: WaiterId, now: Now, write: Box<Answer<'_>>) {
    let Some(mut parked) = state.parked.remove(&waiter) else {
        return;
    };
    let id = parked.client;
    crate::panic::set_command(parked.spec.name);
    let caller = state.caller.replace(id);
    let began = state.clock.mono();
    let counted = state.begin_late_slot_cost(&parked);
    let client = state.clients.at(id);
    state.store.set_no_touch(client.no_touch);
    state.store.set_import_source(client.import_source);
    let mut out = std::mem::take(&mut client.out);
    let noted = hooks::note_client(state, id.number);
    let client = state.clients.at(id);
    let start = out.len();
    let mut reply = ReplyWriter::new(&mut out, client.version);
    let mut call = Call {
        state,
        id,
        spec: parked.spec,
        now,
        db: parked.db,
    };
    let result = write(&mut *parked.command, &mut call, &mut reply);
    let is_unblocked = matches!(result, Err(CommandError::Client(ClientError::Unblocked)));
    let over = match result {
        Ok(over) => over,
        Err(error) => {
            match error {
                CommandError::Client(ClientError::Unblocked) | CommandError::Cluster(_) => {
                    state.stats.on_rejected(Some(parked.spec), &error);
                }
                _ => state.stats.on_failed(parked.spec, &error),
            }
            out.truncate(start);
            let version = state.clients.at(id).version;
            ReplyWriter::new(&mut out, version).error(error.wire());
            true
        }
    };
    if over {
        let reply_bytes = out.len() - start;
        if is_unblocked && parked.command.counts_when_over() {
            count(state, &parked, now, began, reply_bytes);
        }
        count(state, &parked, now, began, reply_bytes);
        state.clients.at(id).pushed_bytes = 0;
        if state.double.is_some() {
            faults::on_late_reply(state, &parked, now, start, &mut out);
        }
        dispatch::finish(state, id, start, &mut out);
        forget(state, waiter);
    } else {
        state.parked.insert(waiter, parked);
    }
    let client = state.clients.at(id);
    client.out = out;
    state.caller = caller;
    if let Some(noted) = noted {
        hooks::note_client(state, noted);
    }
    state.slot_stats.current = counted;
    // Whoever is attempted next hears of it before a reply.
    if state.store.has_changes() {
        state.publish_events();
    }
    if over {
        resume(state, id);
    }
}

/// Counts a command that waited, logs it if it stands out, and counts what its end took, which `began` then.
/// The time of a wait is not one that it took.
fn count(state: &mut State, parked: &Parked, now: Now, began: Instant, reply_bytes: usize) {
    let (id, spec) = (parked.client, parked.spec);
    state.stats.on_call(spec);
    let client = state.clients.at(id);
    client.commands += 1;
    let request = parked.request.as_request();
    let bytes = CallBytes {
        request: parked.request_bytes,
        reply: reply_bytes,
        pushed: client.pushed_bytes,
    };
    let micros = state.micros_since(began) + parked.command.took_micros();
    state.stats.by_command.on_measured(spec, micros * 1_000);
    state.slot_stats.on_time(micros);
    state.count_slot_input(Some(spec), bytes.request);
    state.count_slot_output(id, bytes.reply);
    state.log_if_slow(id, spec, request, now, micros);
    state.log_if_large(id, spec, request, now, bytes);
}

/// Lets a client whose wait is over go on with what it sent meanwhile, when its turn comes.
fn resume(state: &mut State, id: ClientId) {
    state.touch(id);
    let client = state.clients.at(id);
    client.waiter = None;
    client.argument_bytes = 0;
    if !client.backlog.is_empty() {
        state.resumed.push_back(Resumed::Waiter(id));
    }
}

/// Takes a waiter off the list. What its group's readers were attempted for stays with its consumer.
fn forget(state: &mut State, waiter: WaiterId) {
    let Some(wants) = state.waits.remove(waiter) else {
        return;
    };
    for key in &wants.keys {
        if let Some(GroupReader { group, consumer }) = &wants.reader {
            // The group may be what went away.
            let _ = state.store.end_wait(wants.db, key, group, consumer);
        }
        state.store.unobserve(wants.db, key);
    }
}
