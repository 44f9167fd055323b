//! The world of a run: the server, the clock, the seed, and who lives in it.

use std::cell::Cell;
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use tailrace_server::Clock;
use tailrace_server::ManualClock;
use tailrace_server::Server;
use tailrace_storage::Millis;
use tailrace_storage::Rng;
use tailrace_storage::UnixMillis;
use tailrace_tests::Near;
use tailrace_tests::start_with;

use super::audit;
use super::chaos;
use super::consumer;
use super::janitor;
use super::outcome;
use super::producer;
use super::record::Record;

/// The streams of a run.
pub(super) const KEYS: [&str; 2] = ["jobs", "mail"];
/// The groups of each stream.
pub(super) const GROUPS: [&str; 2] = ["bill", "ship"];

/// Everything that those who live in it share.
pub(super) struct World {
    server: RefCell<Option<Server>>,
    clock: Arc<ManualClock>,
    rng: RefCell<Rng>,
    pub(super) record: RefCell<Record>,
    trace: RefCell<Vec<String>>,
    /// Nobody is to begin anything new.
    pub(super) is_ending: Cell<bool>,
}

/// Somebody who acts whenever it is polled, and is polled whenever the seed says so.
pub(super) type Actor = Pin<Box<dyn Future<Output = ()>>>;

impl World {
    /// Plays the run of `seed`, checks it, and gives what happened.
    pub(super) fn play(seed: u64) -> Vec<String> {
        runtime().block_on(async {
            let world = Self::create(seed).await;
            outcome::create_groups(&world).await;
            let mut producers: Vec<Actor> = Vec::new();
            for name in 0..PRODUCERS {
                producers.push(Box::pin(producer::live(Rc::clone(&world), name)));
            }
            let mut others: Vec<Actor> = vec![
                Box::pin(janitor::live(Rc::clone(&world))),
                Box::pin(audit::live(Rc::clone(&world))),
            ];
            for name in 0..CONSUMERS {
                others.push(Box::pin(consumer::live(Rc::clone(&world), name)));
            }
            world.live(producers, others).await;
            outcome::check(&world).await;
            world.end().await
        })
    }

    /// Plays a run of anything that clients do, checks it, and gives what happened.
    pub(super) fn play_chaos(seed: u64) -> Vec<String> {
        runtime().block_on(async {
            let world = Self::create(seed).await;
            world
                .live(chaos::clients(&world), chaos::listeners(&world))
                .await;
            chaos::check(&world).await;
            world.end().await
        })
    }

    /// Stops the server, which reports a fault if there was one.
    async fn end(&self) -> Vec<String> {
        let server = self.server.take().unwrap();
        assert_eq!(server.stop().await, None);
        self.trace.take()
    }

    async fn create(seed: u64) -> Rc<Self> {
        let clock = Arc::new(ManualClock::starting_at(START));
        let config = "stream-node-max-entries 7\nnotify-keyspace-events KEA";
        Rc::new(Self {
            server: RefCell::new(Some(start_with(config, &clock).await)),
            clock,
            rng: RefCell::new(Rng::from_seed(seed)),
            record: RefCell::default(),
            trace: RefCell::default(),
            is_ending: Cell::new(false),
        })
    }

    /// Lets everybody act in seeded order until those with an end are done, and for a while after that.
    async fn live(self: &Rc<Self>, mut busy: Vec<Actor>, mut others: Vec<Actor>) {
        let mut steps_left = STEPS_MAX;
        while !busy.is_empty() {
            self.step(&mut busy, &mut others).await;
            steps_left -= 1;
            assert!(steps_left > 0, "it does not come to an end");
        }
        self.note("the work is done");
        for _ in 0..STEPS_AFTERWARDS {
            self.step(&mut busy, &mut others).await;
        }
        self.is_ending.set(true);
        self.note("the end: whoever is left vanishes");
    }

    /// One actor acts, or time goes on; then the server has none to three turns.
    async fn step(&self, busy: &mut Vec<Actor>, others: &mut Vec<Actor>) {
        let actors = busy.len() + others.len();
        match self.below(actors + 1) {
            0 => self.let_time_pass(),
            chosen => {
                let chosen = chosen - 1;
                let (actors, index) = match chosen.checked_sub(busy.len()) {
                    None => (busy, chosen),
                    Some(index) => (others, index),
                };
                let mut cx = Context::from_waker(Waker::noop());
                if actors[index].as_mut().poll(&mut cx).is_ready() {
                    drop(actors.swap_remove(index));
                }
            }
        }
        for _ in 0..self.below(4) {
            tokio::task::yield_now().await;
        }
    }

    /// Time goes on, and now and then the wall clock is set back as an operator would.
    fn let_time_pass(&self) {
        if self.one_in(200) {
            let wall = self.clock.now().unix().0;
            let back = self.below(5_000) as u64;
            self.clock.set_wall(UnixMillis(wall.saturating_sub(back)));
            self.note(&format!("the wall clock steps back by {back} ms"));
        }
        let passes = Millis(self.below(20) as u64);
        self.server.borrow().as_ref().unwrap().advance(passes);
    }

    /// Lets the server serve one end of a connection.
    pub(super) fn serve(&self, near: Near) {
        self.server.borrow().as_ref().unwrap().serve(near);
    }

    /// A seeded number below `bound`.
    pub(super) fn below(&self, bound: usize) -> usize {
        self.rng.borrow_mut().below(bound)
    }

    /// True once in `times`, by the seed.
    pub(super) fn one_in(&self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of `choices`, by the seed.
    pub(super) fn pick<T: Copy>(&self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Writes down what happened.
    pub(super) fn note(&self, event: &str) {
        self.trace.borrow_mut().push(event.to_owned());
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

/// What led to a failure.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let trace = self.trace.borrow();
            let shown = trace.len().saturating_sub(TRACE_LINES_SHOWN);
            println!("{}", trace[shown..].join("\n"));
        }
    }
}

/// Ends the turn of the actor that awaits it.
pub(super) async fn turn() {
    let mut is_over = false;
    std::future::poll_fn(|_| match std::mem::replace(&mut is_over, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// Lines of the trace that a failure shows.
const TRACE_LINES_SHOWN: usize = 60;
/// When a run begins.
const START: UnixMillis = UnixMillis(1_000_000);
const PRODUCERS: usize = 3;
const CONSUMERS: usize = 8;
/// Steps that a run may take until its producers are done; most take a tenth of it.
const STEPS_MAX: usize = 1_000_000;
/// Steps after that, so that consumers and janitors find an empty shop too.
const STEPS_AFTERWARDS: usize = 2_000;
