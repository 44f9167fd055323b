//! What several clients say, one after another.

use proptest::collection::vec;
use proptest::prelude::BoxedStrategy;
use proptest::prelude::Just;
use proptest::prelude::Strategy;
use proptest::strategy::Union;

use super::families::connection;
use super::families::groups;
use super::families::keys;
use super::families::pubsub;
use super::families::setup;
use super::families::streams;
use super::families::strings;
use super::families::tracking;
use super::families::transactions;
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

/// How many clients there are.
pub(super) const CLIENTS: usize = 3;

/// Makes sequences. Nobody waits in them for long: what waits is unblocked at once.
pub(super) fn sequences() -> BoxedStrategy<Vec<Step>> {
    let setup = Union::new_weighted(vec![
        (50, step(setup::FORMS, [1, 0, 0])),
        (1, many_entries()),
    ]);
    let setup = vec(setup, 0..SETUP_STEPS_MAX);
    let start = vec(step(setup::START, [1, 0, 0]), 0..=1);
    (start, setup, vec(any_step(), 1..STEPS_MAX))
        .prop_map(|(start, setup, steps)| [start, setup, steps].concat())
        .boxed()
}

fn any_step() -> BoxedStrategy<Step> {
    Union::new_weighted(vec![
        (30, step(streams::FORMS, [8, 1, 1])),
        (34, step(groups::FORMS, [8, 1, 1])),
        (12, step(keys::FORMS, [8, 1, 1])),
        (12, step(strings::FORMS, [8, 1, 1])),
        (3, transaction()),
        (5, step(transactions::FORMS, [6, 3, 1])),
        (4, step(pubsub::FORMS, [1, 2, 7])),
        (3, step(connection::FORMS, [4, 3, 3])),
        (3, step(tracking::FORMS, [3, 4, 3])),
    ])
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
    let queued = Union::new_weighted(vec![
        (3, one_of(streams::FORMS)),
        (3, one_of(groups::FORMS)),
        (1, one_of(keys::FORMS)),
        (1, one_of(strings::FORMS)),
    ]);
    vec(queued, 1..QUEUED_MAX)
        .prop_map(|queued| {
            let mut commands = vec![vec![b"MULTI".to_vec()]];
            commands.extend(queued.into_iter().flatten());
            commands.push(vec![b"EXEC".to_vec()]);
            Step {
                client: 0,
                commands,
            }
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
    for step in steps {
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
    let is_turn = ["MULTI", "EXEC", "DISCARD", "RESET", "QUIT", "@PASS"].contains(&&*name);
    let refers = |word: &Vec<u8>| word.starts_with(MADE_BY_CLOCK.as_bytes());
    is_turn || name.ends_with("SUBSCRIBE") || may_wait(command) || command.iter().any(refers)
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
