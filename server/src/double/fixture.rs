//! Fixtures: lines of commands that put data in, all of them or none.
//!
//! A fixture has commands on keys only, since those can be undone: when a line is wrong, the data are what they were,
//! and nobody has heard of anything.

use std::fmt;
use std::sync::Arc;

use tailrace_protocol::OwnedRequest;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_protocol::Version;
use tailrace_storage::Now;
use tailrace_storage::key_slot;

use super::stage::Stage;
use crate::admission;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::client::ClientId;
use crate::client::Clients;
use crate::command_table::Lookup;
use crate::config::split_option;
use crate::config::system_message;
use crate::engine::Engine;
use crate::error::CommandError;
use crate::listener;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// What is wrong with a fixture, and where.
#[derive(Debug, PartialEq)]
pub(crate) struct WrongLine {
    /// Counted from 1.
    pub(crate) number: usize,
    pub(crate) line: String,
    pub(crate) reason: String,
}

/// Executes the commands of a fixture for a client, from its database on, or none of them. Gives how many they were.
///
/// No change of before may be waiting to be heard of.
pub(crate) fn load(
    state: &mut State,
    id: ClientId,
    script: &[u8],
    now: Now,
) -> Result<u64, WrongLine> {
    execute(state, id, script, now, Attempt::Real)
}

/// As [`load`], for nobody in particular: on all nodes, each of which executes what is about keys of its own slots.
///
/// # Errors
///
/// What is wrong, and what has become of the rest.
pub(crate) fn load_everywhere(stage: &Stage, db: usize, script: &[u8]) -> Result<u64, String> {
    let engines = stage.engines();
    let execute_on = |engine: &Arc<Engine>, attempt| {
        engine.with(|state, now| {
            let id = listener::add_own_client(state, now);
            state.clients.at(id).db = db;
            let loaded = execute(state, id, script, now, attempt);
            state.remove_client(id);
            loaded
        })
    };
    // No node can undo what others have heard of, so where there are several each tries it first.
    if let [_, _, ..] = engines.as_slice() {
        let tries = engines.iter();
        let wrong = tries.filter_map(|engine| execute_on(engine, Attempt::Trial).err());
        if let Some(first) = wrong.min_by_key(|wrong| wrong.number) {
            return Err(first.undone());
        }
    }
    let mut count = 0;
    for (done, engine) in engines.iter().enumerate() {
        let loaded = execute_on(engine, Attempt::Real);
        count = count.max(loaded.map_err(|wrong| match done {
            0 => wrong.undone(),
            _ => format!(
                "{wrong}; data changed meanwhile, and other nodes have executed their lines"
            ),
        })?);
    }
    match engines.len() {
        0 | 1 => Ok(count),
        _ => Ok(commands(script).count() as u64),
    }
}

/// Whether what a fixture does stays.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Attempt {
    /// It stays, unless something is wrong.
    Real,
    /// It is undone, and nobody hears of it.
    Trial,
}

fn execute(
    state: &mut State,
    id: ClientId,
    script: &[u8],
    now: Now,
    attempt: Attempt,
) -> Result<u64, WrongLine> {
    let before = state.store.snapshot();
    let db = state.clients.at(id).db;
    state.in_exec = true;
    let loaded = run_lines(state, id, script, now);
    state.in_exec = false;
    state.clients.at(id).db = db;
    if loaded.is_err() || attempt == Attempt::Trial {
        drop(state.store.roll_back(before));
    }
    loaded
}

/// Executes the fixture that the configuration names, before anybody is connected. Of the nodes of a cluster each
/// executes what is about keys of its own slots.
///
/// # Errors
///
/// What is wrong, where, and what to do about it.
pub(crate) fn load_at_start(state: &mut State) -> Result<(), String> {
    let settings = state.config.settings();
    if settings.fixture.is_empty() {
        return Ok(());
    }
    if !settings.testdouble {
        return Err("--fixture is for test doubles; add --testdouble, or leave it out".to_owned());
    }
    let path = settings.fixture.clone();
    let script = std::fs::read(&path).map_err(|error| {
        let why = system_message(&error);
        format!("cannot read the fixture {path}: {why}; check what --fixture names")
    })?;
    let now = state.clock.now();
    state.store.set_now(now.unix());
    let id = listener::add_own_client(state, now);
    let loaded = load(state, id, &script, now);
    // The next client is the first.
    state.clients = Clients::default();
    state.store.take_changes(&mut Vec::new());
    state.store.reset_stats();
    match loaded {
        Ok(_) => Ok(()),
        Err(wrong) => Err(format!(
            "fixture {path}, {wrong}; mend that line, or start without --fixture"
        )),
    }
}

fn run_lines(state: &mut State, id: ClientId, script: &[u8], now: Now) -> Result<u64, WrongLine> {
    let mut count = 0;
    for (number, line) in commands(script) {
        let ran = run_line(state, id, line, now).map_err(|reason| WrongLine {
            number,
            line: shown(line),
            reason,
        })?;
        count += u64::from(ran);
    }
    Ok(count)
}

/// The lines of a fixture that say something, with their numbers.
fn commands(script: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = script.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    (1..)
        .zip(lines)
        .filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"))
}

/// Executes a line, unless it is for another node of the cluster. Whether it did.
fn run_line(state: &mut State, id: ClientId, line: &[u8], now: Now) -> Result<bool, String> {
    let words = split_option(line).map_err(|_| "unbalanced quotes".to_owned())?;
    let request: OwnedRequest = words.iter().collect();
    let request = request.as_request();
    let spec = find(state, request).map_err(|error| reason(&error.wire()))?;
    if state.cluster.is_some() && !is_of_one_slot(spec, request) {
        return Err("its keys are in several slots, which no node serves together".to_owned());
    }
    if !is_own(state, spec, request) {
        return Ok(false);
    }
    if !is_undoable(spec) {
        let name = spec.name.replace('|', " ").to_ascii_uppercase();
        return Err(format!(
            "{name} is not for fixtures, which have commands that read and write keys, and SELECT"
        ));
    }
    let mut out = Vec::new();
    let mut reply = ReplyWriter::new(&mut out, Version::Resp2);
    let db = state.clients.at(id).db;
    state.store.set_from_script(false);
    let mut call = Call {
        state,
        id,
        spec,
        now,
        db,
    };
    let first = spec.words();
    match (spec.run)(&mut call, Args::new(request, first), &mut reply) {
        Err(error) => Err(reason(&error.wire())),
        Ok(Flow::Wait(_)) => Err("this would wait".to_owned()),
        Ok(Flow::Done) => match out.strip_prefix(b"-") {
            Some(error) => Err(reason(error)),
            None => Ok(true),
        },
    }
}

fn find(state: &State, request: Request<'_>) -> Result<&'static Spec, CommandError> {
    let spec = match state.commands.look_up(request) {
        Lookup::Found(spec) => spec,
        Lookup::UnknownSubcommand(container) => {
            return Err(admission::unknown_subcommand(request, container));
        }
        Lookup::Unknown => {
            let compat = state.store.settings().compat;
            return Err(admission::unknown_command(request, compat));
        }
    };
    match spec.fits(request.len()) {
        true => Ok(spec),
        false => Err(CommandError::arity(spec)),
    }
}

/// Whether the keys of a command are all in one hash slot.
fn is_of_one_slot(spec: &'static Spec, request: Request<'_>) -> bool {
    let keys = spec.keys_of(request).unwrap_or_default();
    let mut slots = keys
        .iter()
        .filter_map(|key| request.get(key.position))
        .map(key_slot);
    let first = slots.next();
    slots.all(|slot| Some(slot) == first)
}

/// Whether a command is for this node of a cluster: its first key is, or it has none.
fn is_own(state: &State, spec: &'static Spec, request: Request<'_>) -> bool {
    let keys = spec.keys_of(request).unwrap_or_default();
    let key = keys.first().and_then(|key| request.get(key.position));
    key.is_none_or(|key| state.is_own(key))
}

/// Whether all that a command does is done to keys of this server, or to the database of its caller.
fn is_undoable(spec: &Spec) -> bool {
    let is_of_keys = spec.flags.has(Flags::WRITE | Flags::READONLY);
    let reaches_further = spec.flags.has(Flags::RUNS_SCRIPT) || spec.name == "migrate";
    spec.name == "select" || (is_of_keys && !reaches_further)
}

/// An error as it stands on the wire, without what every error begins with.
fn reason(wire: &[u8]) -> String {
    let wire = wire.strip_prefix(b"ERR ").unwrap_or(wire);
    String::from_utf8_lossy(wire.trim_ascii_end()).into_owned()
}

/// As much of a line as helps to find it.
fn shown(line: &[u8]) -> String {
    match line.get(..LINE_SHOWN) {
        Some(front) => format!("{}...", String::from_utf8_lossy(front)),
        None => String::from_utf8_lossy(line).into_owned(),
    }
}

impl WrongLine {
    /// What is wrong, for who loads it into a server that runs.
    pub(crate) fn undone(&self) -> String {
        format!("{self}; nothing was changed")
    }
}

impl fmt::Display for WrongLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            number,
            line,
            reason,
        } = self;
        write!(f, "line {number}, {line}: {reason}")
    }
}

/// How many bytes of a line an error shows.
const LINE_SHOWN: usize = 80;
