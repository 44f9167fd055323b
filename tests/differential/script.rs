//! Steps of several clients that wait for each other.

use proptest::collection::vec;
use proptest::prelude::BoxedStrategy;
use proptest::prelude::Just;
use proptest::prelude::Strategy;
use proptest::prelude::any;
use proptest::sample::subsequence;
use proptest::strategy::Union;

use super::families::setup;
use super::families::tracking;
use super::families::waiting;
use super::grammar::Words;
use super::grammar::one_of;
use super::talk::is;

/// One step.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// A client says something, which may be that it waits.
    Say(usize, Vec<Words>),
    /// A client closes its connection, waiting or not; another one takes its place.
    Leave(usize),
    /// A client is unblocked, with an error or as if its time were up.
    Unblock(usize, bool),
    /// The deadlines pass of all that wait for [`SHORT`].
    Deadlines,
    /// Writes are held back from here on.
    Pause,
    /// They go on.
    Unpause,
    /// For a moment everything is held back, and these clients say something meanwhile.
    Hush(Vec<(usize, Words)>),
    /// Keys of these names expire, and nobody touches them.
    Fade(Vec<Vec<u8>>),
}

/// How many clients there are. The last one is who makes things happen; it never waits.
pub(super) const CLIENTS: usize = 5;

/// A number of milliseconds that is waited for. What happens before has to happen sooner.
pub(super) const SHORT: &[u8] = b"30";

/// Makes scripts.
pub(super) fn scripts() -> BoxedStrategy<Vec<Act>> {
    let actor = CLIENTS - 1;
    let say = |forms: &[&str]| one_of(forms).prop_map(move |commands| Act::Say(actor, commands));
    let waiter = || 0..actor;
    let wait = (waiter(), one_of(waiting::WAITING))
        .prop_map(|(client, commands)| Act::Say(client, commands));
    let track = (waiter(), one_of(tracking::AMONG_OTHERS))
        .prop_map(|(client, commands)| Act::Say(client, commands));
    let act = Union::new_weighted(vec![
        (40, wait.boxed()),
        (10, track.boxed()),
        (50, say(waiting::ACTING).boxed()),
        (4, waiter().prop_map(Act::Leave).boxed()),
        (
            4,
            (waiter(), any::<bool>())
                .prop_map(|(client, error)| Act::Unblock(client, error))
                .boxed(),
        ),
        (3, Just(Act::Deadlines).boxed()),
        (3, Just(Act::Pause).boxed()),
        (4, Just(Act::Unpause).boxed()),
        (1, hush().prop_map(Act::Hush).boxed()),
        (2, fade().prop_map(Act::Fade).boxed()),
    ]);
    let start = vec(say(setup::START), 0..=1);
    (start, vec(act, 1..ACTS_MAX))
        .prop_map(|(start, acts)| with_one_key_swapped([start, acts].concat()))
        .boxed()
}

/// Where databases are swapped, the reference serves those who wait for several keys in the order of a hash table:
/// there is one key only then that anybody waits for.
fn with_one_key_swapped(mut acts: Vec<Act>) -> Vec<Act> {
    let says_swap = |words: &Words| is(words, 0, "SWAPDB");
    let swaps = |act: &Act| matches!(act, Act::Say(_, commands) if commands.iter().any(says_swap));
    if acts.iter().any(swaps) {
        let said = acts.iter_mut().flat_map(|act| match act {
            Act::Say(_, commands) => commands.iter_mut().collect(),
            Act::Hush(said) => said.iter_mut().map(|(_, words)| words).collect(),
            _ => Vec::new(),
        });
        let keys = said.flatten().filter(|word| word[..] == *b"t");
        keys.for_each(|key| *key = b"s".to_vec());
    }
    acts
}

/// Makes single commands of several clients, each its own.
fn hush() -> BoxedStrategy<Vec<(usize, Words)>> {
    let numbers: Vec<usize> = (0..CLIENTS - 1).collect();
    let said = one_of(waiting::SINGLE).prop_map(|commands| commands.concat());
    (subsequence(numbers, 1..=3).prop_shuffle(), vec(said, 3))
        .prop_map(|(clients, said)| clients.into_iter().zip(said).collect())
        .boxed()
}

fn fade() -> BoxedStrategy<Vec<Vec<u8>>> {
    let names = ["s", "t", "u"].map(|name| name.as_bytes().to_vec());
    subsequence(names.to_vec(), 1..=3).boxed()
}

const ACTS_MAX: usize = 40;
