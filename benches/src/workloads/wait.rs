//! Clients that wait for entries: how soon one has its entry (`wake/...`), how many wait in a group
//! (`waiters/2000`), and how many have each entry (`fanout/200`).

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;
use std::time::Instant;

use super::Facts;
use super::KEY;
use super::Sample;
use super::Site;
use super::Target;
use super::Unit;
use super::Workload;
use super::entries::GROUP;
use super::entries::consumer;
use super::entries::create_group;
use super::entries::push_add;
use crate::clock;
use crate::fault::Fault;
use crate::load::Cast;
use crate::load::Repeat;
use crate::load::Talker;
use crate::resp::push_command;

/// One reader waits, and others wait for something else.
pub(super) struct Wake {
    facts: Facts,
    quantile: f64,
}

pub(super) const WAKE_P50: Wake = Wake {
    facts: Facts {
        name: "wake/p50",
        brief: "XADD until the reader has it, median",
        question: "How long from an XADD until the reader that waits has the entry, in half of all cases?",
        unit: Unit::cost("µs"),
        target: Target::Times(1.1),
    },
    quantile: 0.5,
};

pub(super) const WAKE_P99: Wake = Wake {
    facts: Facts {
        name: "wake/p99",
        brief: "XADD until the reader has it, 99 of 100",
        question: "How long from an XADD until the reader that waits has the entry, in 99 of 100 cases?",
        target: Target::Times(1.0),
        ..WAKE_P50.facts
    },
    quantile: 0.99,
};

impl Workload for Wake {
    fn facts(&self) -> Facts {
        self.facts
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let cue = Cue::new(1);
        let idle = |number| -> Box<dyn Talker> {
            let mut request = Vec::new();
            let key = [KEY, format!(":elsewhere-{number}").as_bytes()].concat();
            push_command(
                &mut request,
                &[b"XREAD", b"BLOCK", b"0", b"STREAMS", &key, b"0"],
            );
            Box::new(Waiting { request })
        };
        let mut others: Vec<Box<dyn Talker>> = vec![Box::new(Follower::new(&cue))];
        others.extend((0..IDLE_CLIENTS).map(idle));
        let outcome = play(site, Box::new(Producer::paced(&cue)), others)?;
        #[expect(clippy::cast_precision_loss, reason = "a latency needs no 16 digits")]
        let nanos = outcome.latency.value_at_quantile(self.quantile) as f64;
        Ok(Sample {
            value: nanos / 1e3,
            latency: outcome.latency,
        })
    }
}

/// Many readers follow one stream.
pub(super) struct Fanout;

pub(super) const FANOUT: Fanout = Fanout;

impl Workload for Fanout {
    fn facts(&self) -> Facts {
        Facts {
            name: "fanout/200",
            brief: "XADD to 200 that wait in XREAD",
            question: "How many deliveries can be made to 200 readers that wait for each entry?",
            unit: Unit::rate("deliveries/s"),
            target: Target::Times(2.5),
        }
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let cue = Cue::new(FOLLOWERS);
        let follower = |_| -> Box<dyn Talker> { Box::new(Follower::new(&cue)) };
        let others = (0..FOLLOWERS).map(follower).collect();
        play(site, Box::new(Producer::new(&cue)), others).map(Sample::from)
    }
}

/// Many consumers of one group wait, and each entry goes to one of them.
pub(super) struct Waiters;

pub(super) const WAITERS: Waiters = Waiters;

impl Workload for Waiters {
    fn facts(&self) -> Facts {
        Facts {
            name: "waiters/2000",
            brief: "XADD while 2000 consumers wait",
            question: "How many entries can be added one by one while 2000 consumers of a group wait?",
            unit: Unit::rate("entries/s"),
            target: Target::Times(20.0),
        }
    }

    fn prepare(&self, site: &mut Site<'_>) -> Result<(), Fault> {
        create_group(site)
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let waiting = |number| -> Box<dyn Talker> {
            let mut request = Vec::new();
            let consumer = consumer(number);
            let words: &[&[u8]] = &[
                b"XREADGROUP",
                b"GROUP",
                GROUP,
                consumer.as_bytes(),
                b"COUNT",
                b"1",
                b"BLOCK",
                b"0",
                b"NOACK",
                b"STREAMS",
                KEY,
                b">",
            ];
            push_command(&mut request, words);
            Box::new(Waiting { request })
        };
        let mut request = Vec::new();
        push_add(&mut request, KEY, &[b"*"], 0, 0);
        let producer = Repeat {
            request,
            replies: 1,
            units: 1,
            times: u64::MAX,
        };
        let others = (0..GROUP_WAITERS).map(waiting).collect();
        play(site, Box::new(producer), others).map(Sample::from)
    }
}

/// Makes a load in which all others wait when it begins.
fn play(
    site: &mut Site<'_>,
    lead: Box<dyn Talker>,
    others: Vec<Box<dyn Talker>>,
) -> Result<crate::load::Outcome, Fault> {
    let mut control = site.control()?;
    let count = others.len();
    let mut all_wait = || {
        poll_until("wait", || {
            let info = control.info()?;
            // A server that does not tell is given no time.
            Ok(info
                .and_then(|info| info.field("blocked_clients")?.parse().ok())
                .is_none_or(|blocked: usize| blocked >= count))
        })
    };
    let cast = Cast {
        leads: vec![lead],
        others,
    };
    site.play_for_a_while(cast, &mut all_wait)
}

/// Asks again and again until something is so.
///
/// # Errors
///
/// [`Fault::Unexpected`] if it does not come to be so, and whatever asking goes wrong with.
pub(super) fn poll_until(
    what: &str,
    mut is_so: impl FnMut() -> Result<bool, Fault>,
) -> Result<(), Fault> {
    let end = clock::now() + READY_TIME_MAX;
    while !is_so()? {
        if clock::now() > end {
            return Err(Fault::Unexpected(format!("not all clients {what}")));
        }
    }
    Ok(())
}

/// What a producer and those who follow it know of each other.
struct Cue {
    state: Mutex<CueState>,
}

struct CueState {
    /// When the last entry was sent.
    sent_at: Instant,
    /// Deliveries that are to come.
    due: u64,
    followers: u64,
}

impl Cue {
    fn new(followers: u64) -> Arc<Self> {
        let state = Mutex::new(CueState {
            sent_at: clock::now(),
            due: 0,
            followers,
        });
        Arc::new(Self { state })
    }

    fn state(&self) -> MutexGuard<'_, CueState> {
        // All changes are single steps, so that nothing is half done if a thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds an entry when all followers have the one before.
struct Producer {
    cue: Arc<Cue>,
    number: u64,
    /// Whether a PING stands between two entries.
    paced: bool,
    pings_next: bool,
    request: Vec<u8>,
}

impl Producer {
    fn new(cue: &Arc<Cue>) -> Self {
        Self {
            cue: Arc::clone(cue),
            number: 0,
            paced: false,
            pings_next: false,
            request: Vec::new(),
        }
    }

    /// Asks for a PING before each entry, so that the server has seen that the followers wait again.
    fn paced(cue: &Arc<Cue>) -> Self {
        Self {
            paced: true,
            ..Self::new(cue)
        }
    }
}

impl Talker for Producer {
    fn prepare(&mut self) -> u64 {
        self.request.clear();
        if std::mem::take(&mut self.pings_next) {
            push_command(&mut self.request, &[b"PING"]);
            return 1;
        }
        self.pings_next = self.paced;
        self.number += 1;
        let id = entry_id(self.number);
        push_add(&mut self.request, KEY, &[id.as_bytes()], 0, self.number);
        let mut cue = self.cue.state();
        cue.due = cue.followers;
        cue.sent_at = clock::now();
        1
    }

    fn request(&self) -> &[u8] {
        &self.request
    }

    fn is_held(&self) -> bool {
        self.cue.state().due > 0
    }

    fn on_replies(&mut self, _replies: &[u8]) -> Result<u64, Fault> {
        Ok(0)
    }

    fn timed_from(&self, _asked_at: Instant) -> Option<Instant> {
        None
    }
}

/// Waits for the entry after the last one that it has seen.
struct Follower {
    cue: Arc<Cue>,
    seen: u64,
    request: Vec<u8>,
}

impl Follower {
    fn new(cue: &Arc<Cue>) -> Self {
        Self {
            cue: Arc::clone(cue),
            seen: 0,
            request: Vec::new(),
        }
    }
}

impl Talker for Follower {
    fn prepare(&mut self) -> u64 {
        self.request.clear();
        let seen = entry_id(self.seen);
        push_command(
            &mut self.request,
            &[b"XREAD", b"BLOCK", b"0", b"STREAMS", KEY, seen.as_bytes()],
        );
        1
    }

    fn request(&self) -> &[u8] {
        &self.request
    }

    fn on_replies(&mut self, _replies: &[u8]) -> Result<u64, Fault> {
        self.seen += 1;
        let mut cue = self.cue.state();
        cue.due = cue.due.saturating_sub(1);
        Ok(1)
    }

    fn timed_from(&self, _asked_at: Instant) -> Option<Instant> {
        Some(self.cue.state().sent_at)
    }
}

/// Waits again when it was served; how long it waited says nothing.
struct Waiting {
    request: Vec<u8>,
}

impl Talker for Waiting {
    fn prepare(&mut self) -> u64 {
        1
    }

    fn request(&self) -> &[u8] {
        &self.request
    }

    fn on_replies(&mut self, _replies: &[u8]) -> Result<u64, Fault> {
        Ok(0)
    }

    fn timed_from(&self, _asked_at: Instant) -> Option<Instant> {
        None
    }
}

fn entry_id(number: u64) -> String {
    format!("1-{number}")
}

/// Clients that wait for what never comes.
const IDLE_CLIENTS: u32 = 100;

/// Readers of one stream.
const FOLLOWERS: u64 = 200;

/// Consumers of one group.
const GROUP_WAITERS: u64 = 2_000;

/// How long clients may take until they are where a load begins.
const READY_TIME_MAX: Duration = Duration::from_secs(10);
