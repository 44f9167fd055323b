//! Steps of several clients that wait for each other.

use proptest::collection::vec;
use proptest::prelude::BoxedStrategy;
use proptest::prelude::Just;
use proptest::prelude::Strategy;
use proptest::prelude::any;
use proptest::strategy::Union;

use super::families::setup;
use super::families::waiting;
use super::grammar::Words;
use super::grammar::one_of;

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
    let act = Union::new_weighted(vec![
        (40, wait.boxed()),
        (50, say(waiting::ACTING).boxed()),
        (4, waiter().prop_map(Act::Leave).boxed()),
        (
            4,
            (waiter(), any::<bool>())
                .prop_map(|(client, error)| Act::Unblock(client, error))
                .boxed(),
        ),
        (3, Just(Act::Deadlines).boxed()),
    ]);
    let start = vec(say(setup::START), 0..=1);
    (start, vec(act, 1..ACTS_MAX))
        .prop_map(|(start, acts)| [start, acts].concat())
        .boxed()
}

const ACTS_MAX: usize = 40;
