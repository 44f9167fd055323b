//! Looks for sequences that two servers answer differently, from one seed.

use std::env;
use std::fmt::Debug;
use std::panic;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use proptest::prelude::BoxedStrategy;
use proptest::prelude::Strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::Config;
use proptest::test_runner::RngAlgorithm;
use proptest::test_runner::TestRng;
use proptest::test_runner::TestRunner;
use tailrace_tests::Embedded;
use tailrace_tests::Reference;
use tailrace_tests::Remote;
use tailrace_tests::Target;

use super::clock;
use super::judge;
use super::report;
use super::side::Side;
use super::talk::Exchange;
use super::talk::OBSERVER;

/// The two servers.
pub(super) struct Sides {
    pub(super) reference: Side,
    pub(super) tailrace: Side,
    pub(super) version: &'static str,
    /// Starts the reference again, which some commands end by a fault of its own.
    pub(super) restart: Box<dyn Fn() -> Side>,
}

/// How sequences of one kind are made and played.
pub(super) struct Mode<S> {
    pub(super) name: &'static str,
    pub(super) sequences: BoxedStrategy<S>,
    /// What one server replies.
    pub(super) play: fn(&mut Side, &'static str, &S) -> Played,
    /// Of all that are said, the share that is said in this mode, in a hundred.
    pub(super) percent: u64,
    pub(super) clients: usize,
}

/// Plays sequences until enough was said, in RESP2 and in RESP3, and fails with those that differ.
///
/// # Panics
///
/// If one differs.
pub(super) fn hunt<S: Debug + Sync>(mode: &Mode<S>) {
    let Some(binary) = Reference::binary() else {
        return super::skip();
    };
    let seed = number("TAILRACE_SEED", SEED);
    let chosen = env::var("TAILRACE_RESP").ok();
    let is_chosen = |version: &&str| chosen.as_ref().is_none_or(|chosen| chosen == version);
    let versions: Vec<&str> = ["2", "3"].into_iter().filter(is_chosen).collect();
    let commands_min = number("TAILRACE_COMMANDS", COMMANDS) * mode.percent / 100;
    let commands_min = (commands_min / versions.len() as u64).max(1);
    for version in versions {
        let (program, clients) = (binary.clone(), mode.clients);
        let start = move || Side::new(Box::new(reference(&program)), version, clients);
        let mut sides = Sides {
            reference: start(),
            restart: Box::new(start),
            tailrace: Side::new(tailrace(), version, mode.clients),
            version,
        };
        let mut said = 0;
        let mut found = String::new();
        let mut count = 0;
        let mut seeds = seed..;
        let mut progress = Progress::new(mode.name, version);
        while said < commands_min && count < FOUND_MAX {
            let seed = seeds.next().expect("there is no end of numbers");
            let (commands, difference) = one(mode, &mut sides, seed);
            said += commands;
            progress.show(said, seed);
            if let Some(story) = difference {
                count += 1;
                let story = format!(
                    "RESP{version}, again: TAILRACE_SEED={seed} TAILRACE_COMMANDS=1\n{story}\n"
                );
                println!("{story}");
                found += &story;
            }
        }
        println!(
            "{}: RESP{version}, seed {seed}, {said} commands in {} sequences",
            mode.name, progress.sequences
        );
        assert!(found.is_empty(), "\n{found}");
    }
}

/// Says now and then how far a long run has come.
struct Progress {
    what: String,
    begin: Instant,
    sequences: u64,
    shown: u64,
}

impl Progress {
    fn new(name: &str, version: &str) -> Self {
        Self {
            what: format!("{name}: RESP{version}"),
            begin: now(),
            sequences: 0,
            shown: 0,
        }
    }

    fn show(&mut self, said: u64, seed: u64) {
        self.sequences += 1;
        let seconds = self.begin.elapsed().as_secs();
        if seconds >= self.shown + PROGRESS_SECONDS {
            self.shown = seconds;
            println!(
                "{}, seed {seed}: {said} commands, {} sequences, {} commands a second",
                self.what,
                self.sequences,
                said / seconds
            );
        }
    }
}

/// Plays the sequence of one seed. Gives how many commands were said, and, if the replies differ, the smallest
/// sequence found for which they do.
fn one<S: Debug + Sync>(mode: &Mode<S>, sides: &mut Sides, seed: u64) -> (u64, Option<String>) {
    let mut tree = made(&mode.sequences, seed);
    let (commands, mut smallest) = sides.play(mode, &tree.current());
    if smallest.is_none() {
        return (commands, None);
    }
    let begin = now();
    let mut is_smaller = tree.simplify();
    for _ in 0..SHRINKS_MAX {
        if !is_smaller || begin.elapsed() > SHRINK_TIME_MAX {
            break;
        }
        let (_, difference) = sides.play(mode, &tree.current());
        is_smaller = if difference.is_some() {
            smallest = difference;
            tree.simplify()
        } else {
            tree.complicate()
        };
    }
    (commands, smallest)
}

#[expect(
    clippy::disallowed_methods,
    reason = "how fast servers of the host's time are compared is measured by that time"
)]
fn now() -> Instant {
    Instant::now()
}

/// What is made of a seed, whole at first.
pub(super) fn made<S: Debug>(sequences: &BoxedStrategy<S>, seed: u64) -> impl ValueTree<Value = S> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    sequences
        .new_tree(&mut runner)
        .expect("nothing is rejected")
}

impl Sides {
    /// Gives how many commands were said, and what differed.
    fn play<S: Debug + Sync>(&mut self, mode: &Mode<S>, sequence: &S) -> (u64, Option<String>) {
        for plays_left in (0..PLAYS_MAX).rev() {
            let (reference, tailrace) = self.play_once(mode, sequence);
            let (Some(reference), Some(tailrace)) = (reference, tailrace) else {
                continue;
            };
            if clock::ranks(&reference) != clock::ranks(&tailrace) && plays_left > 0 {
                continue;
            }
            let differing = judge::first_difference(&reference, &tailrace);
            if differing.is_some() && clock::goes_by_chance(&reference) && plays_left > 0 {
                // A fault is there each time.
                continue;
            }
            let story = differing.map(|at| report::story(&reference, &tailrace, at));
            return (commands(&reference), story);
        }
        (0, None)
    }

    fn play_once<S: Debug + Sync>(&mut self, mode: &Mode<S>, sequence: &S) -> (Played, Played) {
        let (play, version) = (mode.play, self.version);
        let (reference, tailrace) = thread::scope(|scope| {
            let reference = scope.spawn(|| play(&mut self.reference, version, sequence));
            let tailrace = play(&mut self.tailrace, version, sequence);
            (reference.join(), tailrace)
        });
        match reference {
            Ok(reference) => (reference, tailrace),
            Err(_) if self.reference.is_gone() => {
                println!("the reference ended itself by a fault, so a sequence says nothing");
                self.reference = (self.restart)();
                (None, None)
            }
            Err(panic) => panic::resume_unwind(panic),
        }
    }
}

/// `None` where time went by so slowly that it says nothing.
type Played = Option<Vec<Exchange>>;

/// How many commands were said, but for those that look at everything in the end.
fn commands(exchanges: &[Exchange]) -> u64 {
    let said = exchanges
        .iter()
        .filter(|exchange| exchange.client != OBSERVER && !exchange.is_late);
    said.count() as u64
}

/// Whether both servers are clusters of one node.
pub(super) fn in_cluster() -> bool {
    env::var_os("TAILRACE_CLUSTER").is_some()
}

fn reference(binary: &str) -> Reference {
    match in_cluster() {
        true => Reference::start_in_cluster(binary).unwrap(),
        false => Reference::start(binary).unwrap(),
    }
}

fn tailrace() -> Box<dyn Target + Send> {
    if env::var_os("TAILRACE_TESTDOUBLE").is_some() {
        return Box::new(Embedded::start_double_in_time(in_cluster()).unwrap());
    }
    if in_cluster() {
        return Box::new(Embedded::start_in_cluster_in_time().unwrap());
    }
    match Remote::address_given() {
        Some(address) => Box::new(Remote::empty(&address).unwrap()),
        None => Box::new(Embedded::start_in_time().unwrap()),
    }
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// What is played when nothing else is asked for.
const SEED: u64 = 1;
const COMMANDS: u64 = 20_000;

/// How often a long run tells how far it has come.
const PROGRESS_SECONDS: u64 = 10;
/// Differing sequences after which it is enough.
const FOUND_MAX: usize = 8;
/// Plays of one sequence where time spoils it.
const PLAYS_MAX: usize = 5;
/// Attempts to make one smaller.
const SHRINKS_MAX: usize = 1_500;
/// How long making one smaller may take: where a reply is missing, each attempt waits for it.
const SHRINK_TIME_MAX: Duration = Duration::from_secs(60);
