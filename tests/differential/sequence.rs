//! What several clients say, one after another.

use proptest::collection::vec;
use proptest::prelude::BoxedStrategy;
use proptest::prelude::Just;
use proptest::prelude::Strategy;
use proptest::prelude::any;
use proptest::strategy::Union;

use super::families::connection;
use super::families::groups;
use super::families::keys;
use super::families::pubsub;
use super::families::scripts;
use super::families::server;
use super::families::setup;
use super::families::streams;
use super::families::strings;
use super::families::tracking;
use super::families::transactions;
use super::families::watchers;
use super::grammar::Words;
use super::grammar::one_of;
use super::symbols::MADE_BY_CLOCK;
use super::talk::is;

/// Commands that one client says together.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) client: usize,
    pub(super) commands: Vec<Words>,
}

/// How many clients there are. The last one mostly looks on.
pub(super) const CLIENTS: usize = 4;

/// Makes sequences. Nobody waits in them for long: what waits is unblocked at once.
pub(super) fn sequences() -> BoxedStrategy<Vec<Step>> {
    let setup = Union::new_weighted(vec![
        (50, step(setup::FORMS, [1, 0, 0, 0])),
        (1, many_entries()),
    ]);
    let setup = vec(setup, 0..SETUP_STEPS_MAX);
    let start = vec(step(setup::START, [1, 0, 0, 0]), 0..=1);
    let watching = vec(watching(), 0..=1).prop_map(|steps| steps.concat());
    let steps = vec(any_steps(), 1..STEPS_MAX).prop_map(|steps| steps.concat());
    (start, setup, watching, steps)
        .prop_map(|(start, setup, watching, steps)| [start, setup, watching, steps].concat())
        .boxed()
}

fn any_steps() -> BoxedStrategy<Vec<Step>> {
    let one = |forms, weights| step(forms, weights).prop_map(|step| vec![step]).boxed();
    Union::new_weighted(vec![
        (60, one(streams::FORMS, [8, 1, 1, 0])),
        (68, one(groups::FORMS, [8, 1, 1, 0])),
        (24, one(keys::FORMS, [8, 1, 1, 0])),
        (24, one(strings::FORMS, [8, 1, 1, 0])),
        (6, transaction().prop_map(|step| vec![step]).boxed()),
        (10, one(transactions::FORMS, [6, 3, 1, 0])),
        (2, watched()),
        (8, one(pubsub::FORMS, [1, 2, 7, 1])),
        (6, one(connection::FORMS, [4, 3, 3, 1])),
        (6, one(tracking::FORMS, [3, 4, 3, 0])),
        (8, one(scripts::FORMS, [6, 2, 1, 1])),
        (8, one(server::FORMS, [6, 2, 2, 1])),
        (3, one(watchers::FORMS, [0, 0, 1, 9])),
        (2, silent().prop_map(|step| vec![step]).boxed()),
        (1, starved().prop_map(|step| vec![step]).boxed()),
        (3, keys_of().prop_map(|step| vec![step]).boxed()),
    ])
    .boxed()
}

/// Makes whatever can be said.
fn anything() -> BoxedStrategy<Vec<Words>> {
    Union::new_weighted(vec![
        (6, one_of(streams::FORMS)),
        (6, one_of(groups::FORMS)),
        (3, one_of(keys::FORMS)),
        (2, one_of(strings::FORMS)),
        (1, one_of(pubsub::FORMS)),
        (1, one_of(connection::FORMS)),
        (1, one_of(scripts::FORMS)),
        (1, one_of(server::FORMS)),
        (1, one_of(transactions::FORMS)),
    ])
    .boxed()
}

/// Makes somebody who looks on from the beginning, and settings that show something.
fn watching() -> BoxedStrategy<Vec<Step>> {
    let settings = step(server::SHOWING, [1, 0, 0, 0]);
    let watcher = step(watchers::FORMS, [0, 0, 1, 9]);
    (vec(settings, 0..=2), vec(watcher, 1..=2))
        .prop_map(|(settings, watchers)| [settings, watchers].concat())
        .boxed()
}

/// Makes a transaction of one client that watches what another one may change.
fn watched() -> BoxedStrategy<Vec<Step>> {
    let say = |client, commands| Step { client, commands };
    let watch = one_of(&[
        "WATCH $key ...",
        "!SELECT 1 ; WATCH s k ; SELECT 0",
        "!WATCH s",
    ]);
    (watch, vec(anything(), 0..=2), vec(anything(), 0..=2))
        .prop_map(move |(watch, others, queued)| {
            let mut own = vec![vec![b"MULTI".to_vec()]];
            own.extend(queued.concat());
            own.push(vec![b"EXEC".to_vec()]);
            vec![say(0, watch), say(1, others.concat()), say(0, own)]
        })
        .boxed()
}

/// Makes commands that are said while replies are off.
fn silent() -> BoxedStrategy<Step> {
    let reply = |how: &str| {
        ["CLIENT", "REPLY", how]
            .map(|word| word.as_bytes().to_vec())
            .to_vec()
    };
    (0..CLIENTS, any::<bool>(), vec(anything(), 0..=3))
        .prop_map(move |(client, is_off, said)| {
            let mut commands = vec![reply(if is_off { "OFF" } else { "SKIP" })];
            let is_fit = |said: &Vec<Words>| !said.iter().any(ends_silence);
            commands.extend(said.into_iter().filter(is_fit).flatten());
            commands.push(reply("ON"));
            Step { client, commands }
        })
        .boxed()
}

/// Makes commands that are said while memory is used up. One key that stays sees to that in either server.
fn starved() -> BoxedStrategy<Step> {
    let begin = one_of(&["!DISCARD ; SELECT 9 ; SET full v ; SELECT 0 ; CONFIG SET maxmemory 1"]);
    let end = one_of(&["!CONFIG SET maxmemory 0"]);
    let stays = |command: &Words| {
        let ends = [
            "FLUSHALL", "FLUSHDB", "SWAPDB", "CONFIG", "MULTI", "MONITOR",
        ]
        .iter();
        let subscribes = command[0].to_ascii_uppercase().ends_with(b"SUBSCRIBE");
        !subscribes && !ends.into_iter().any(|name| is(command, 0, name))
    };
    (begin, vec(anything(), 0..=4), end)
        .prop_map(move |(begin, said, end)| {
            let said = said.into_iter().flatten().filter(stays).collect();
            Step {
                client: 0,
                commands: [begin, said, end].concat(),
            }
        })
        .boxed()
}

/// Asks for the keys of a command.
fn keys_of() -> BoxedStrategy<Step> {
    let forms = ["!COMMAND GETKEYS", "!COMMAND GETKEYSANDFLAGS"];
    (one_of(&forms), anything())
        .prop_map(|(question, commands)| {
            let asked = |command: Words| [question[0].clone(), command].concat();
            let commands = commands
                .into_iter()
                .filter(|command| command[0] != b"@pass");
            Step {
                client: 0,
                commands: commands.map(asked).collect(),
            }
        })
        .boxed()
}

/// Makes a stream of several nodes, as large as nodes are unless CONFIG SET says otherwise.
fn many_entries() -> BoxedStrategy<Step> {
    let add = || {
        ["XADD", "s", "1-*", "f", "v"]
            .map(|word| word.as_bytes().to_vec())
            .to_vec()
    };
    (0..ENTRIES_MAX)
        .prop_map(move |count| Step {
            client: 0,
            commands: (0..count).map(|_| add()).collect(),
        })
        .boxed()
}

/// Makes whole transactions, most of which are executed.
fn transaction() -> BoxedStrategy<Step> {
    (
        Union::new_weighted(vec![(9, Just(0)), (1, Just(2))]),
        vec(anything(), 1..QUEUED_MAX),
    )
        .prop_map(|(client, queued)| {
            let mut commands = vec![vec![b"MULTI".to_vec()]];
            commands.extend(queued.into_iter().flatten());
            commands.push(vec![b"EXEC".to_vec()]);
            Step { client, commands }
        })
        .boxed()
}

/// Makes a command of one of these forms, said by each client as often as its weight tells.
fn step(forms: &[&str], weights: [u32; CLIENTS]) -> BoxedStrategy<Step> {
    let clients = weights
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight > 0);
    let clients = Union::new_weighted(clients.map(|(at, weight)| (*weight, Just(at))).collect());
    (clients, one_of(forms))
        .prop_map(|(client, commands)| Step { client, commands })
        .boxed()
}

/// Commands that are sent in one piece: the longest runs for which it is known how many replies follow.
pub(super) fn batches(steps: &[Step]) -> Vec<Step> {
    let mut batches: Vec<Step> = Vec::new();
    let mut is_open = false;
    for step in steps.iter().filter(|step| !step.commands.is_empty()) {
        if is_silence(&step.commands[0], &["OFF", "SKIP"]) {
            batches.push(step.clone());
            is_open = false;
            continue;
        }
        for command in &step.commands {
            let is_alone = stands_alone(command);
            let begins = is_alone || is_silence(command, &["OFF", "SKIP"]);
            match batches.last_mut() {
                Some(last) if is_open && !begins && last.client == step.client => {
                    last.commands.push(command.clone());
                }
                _ => batches.push(Step {
                    client: step.client,
                    commands: vec![command.clone()],
                }),
            }
            is_open = !is_alone && !is_silence(command, &["ON"]);
        }
    }
    batches
}

/// Whether what comes before or after a command depends on what is answered.
fn stands_alone(command: &Words) -> bool {
    let name = String::from_utf8_lossy(&command[0]).to_ascii_uppercase();
    let is_turn = [
        "MULTI", "EXEC", "DISCARD", "RESET", "QUIT", "MONITOR", "@PASS",
    ]
    .contains(&&*name);
    // Whoever is ended by it has to have what was theirs before.
    let is_turn = is_turn || is(command, 1, "KILL");
    let refers = |word: &Vec<u8>| word.starts_with(MADE_BY_CLOCK.as_bytes());
    is_turn || name.ends_with("SUBSCRIBE") || may_wait(command) || command.iter().any(refers)
}

/// Whether nobody could tell where replies end if this was said while there are none.
fn ends_silence(command: &Words) -> bool {
    let is_one_of = |names: &[&str]| names.iter().any(|name| is(command, 0, name));
    is_one_of(&["MULTI", "EXEC", "RESET", "QUIT", "@pass"])
        || may_wait(command)
        || is(command, 1, "KILL")
        // What is left and joined is told all the same, each by itself.
        || command[0].to_ascii_uppercase().ends_with(b"SUBSCRIBE")
        // Nobody would learn which id the clock made.
        || command.iter().any(|word| word == b"*")
        || command
            .iter()
            .any(|word| word.starts_with(MADE_BY_CLOCK.as_bytes()))
        || is_silence(command, &["ON", "OFF", "SKIP"])
}

/// Whether a command is the CLIENT REPLY of one of these. While replies are off nobody can tell which is whose.
fn is_silence(command: &Words, kinds: &[&str]) -> bool {
    is(command, 0, "CLIENT")
        && is(command, 1, "REPLY")
        && kinds.iter().any(|kind| is(command, 2, kind))
}

/// Whether a command may be one that waits.
pub(super) fn may_wait(command: &Words) -> bool {
    command
        .iter()
        .any(|word| word.eq_ignore_ascii_case(b"BLOCK") || word.eq_ignore_ascii_case(b"WAIT"))
}

const SETUP_STEPS_MAX: usize = 14;
/// More than two nodes full.
const ENTRIES_MAX: usize = 250;
const STEPS_MAX: usize = 90;
const QUEUED_MAX: usize = 5;
