//! What a test waits for or insists on.
//!
//! A condition that does not hold says what is the case instead: that is what a failing test shows.

use std::fmt::Write;

use tailrace_storage::Group;
use tailrace_storage::Part;
use tailrace_storage::Promise;
use tailrace_storage::Stream;
use tailrace_storage::StreamId;
use tailrace_storage::Text;

use super::calls::CallFilter;
use super::ledger;
use super::subject::Subject;
use crate::spec::Flags;
use crate::state::Parked;
use crate::state::State;

/// What is to hold, in one database.
#[derive(Debug)]
pub(crate) enum Condition {
    /// So many clients wait for a key, a group or as a consumer.
    Blocked(Comparison, Readers),
    /// A group has read all and acknowledged all.
    Drained(Place),
    /// So many entries are pending.
    Pending(Place, Comparison),
    /// So many entries are still to be read.
    Lag(Place, Comparison),
    /// A stream has so many entries.
    Len(Vec<u8>, Comparison),
    /// An entry has this field with this value.
    Entry {
        stream: Vec<u8>,
        field: Vec<u8>,
        value: Vec<u8>,
    },
    /// So many clients are connected.
    Clients(Comparison),
    /// So many clients listen to a channel.
    Subscribed(Vec<u8>, Comparison),
    /// So many calls match.
    Calls(CallFilter, Comparison),
    /// A fault keeps back so much.
    Held(Vec<u8>, Comparison),
    /// A promise about the entries of a group was kept, as far as the ledger knows.
    Promise(Place, Promise),
    /// Nothing is to be done: no command is kept back, and none waits for its turn.
    Idle,
}

/// A group of a stream.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) stream: Vec<u8>,
    pub(crate) group: Vec<u8>,
}

/// Which of those who wait are meant; what is not given matches all.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) group: Option<Vec<u8>>,
    pub(crate) consumer: Option<Vec<u8>>,
}

/// How a number is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    pub(crate) order: Order,
    pub(crate) number: u64,
}

/// How one number stands to another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Order {
    Equal,
    NotEqual,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Order {
    /// The words, and what they mean.
    pub(crate) const WORDS: &'static [(&'static str, Self)] = &[
        ("=", Self::Equal),
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<", Self::Less),
        ("<=", Self::AtMost),
        (">", Self::More),
        (">=", Self::AtLeast),
    ];

    fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, order)| *order == self);
        found.map_or("=", |(word, _)| word)
    }
}

impl Comparison {
    /// Whether `found` is as it is to be; if not, what it is.
    fn check(self, what: &str, found: u64) -> Result<(), String> {
        let Self { order, number } = self;
        let holds = match order {
            Order::Equal => found == number,
            Order::NotEqual => found != number,
            Order::Less => found < number,
            Order::AtMost => found <= number,
            Order::More => found > number,
            Order::AtLeast => found >= number,
        };
        match holds {
            true => Ok(()),
            false => Err(format!(
                "{what} is {found}, and not {} {number}",
                order.word()
            )),
        }
    }
}

impl Condition {
    /// Whether it holds; if not, what is the case.
    pub(crate) fn check(&self, state: &State, db: usize) -> Result<(), String> {
        match self {
            Self::Blocked(..) | Self::Clients(_) | Self::Subscribed(..) | Self::Held(..) => {
                let checked = self.check_count(self.count(state), || describe_waiting(state));
                checked.map_err(|error| match self.missing_fault(state) {
                    Some(rule) => format!("{error}; there is no fault '{}'", text(rule)),
                    None => error,
                })
            }
            Self::Drained(place) => drained(state, db, place),
            Self::Pending(place, wanted) => {
                let (_, group) = place.find(state, db)?;
                let (name, pending) = (place.name(), group.pending().len() as u64);
                wanted.check(&format!("PENDING of {name}"), pending)
            }
            Self::Lag(place, wanted) => {
                let (stream, group) = place.find(state, db)?;
                wanted.check(
                    &format!("LAG of {}", place.name()),
                    lag(state, stream, group)?,
                )
            }
            Self::Len(key, wanted) => {
                let len = stream(state, db, key)?.map_or(0, Stream::len);
                wanted.check(&format!("LEN of {}", text(key)), len)
            }
            Self::Entry {
                stream: key,
                field,
                value,
            } => has_entry(state, db, key, field, value),
            Self::Calls(filter, wanted) => {
                let double = state.double.as_ref();
                let log = double.expect("what a double waits for").stage.calls.lock();
                let found = filter.find(&log).len();
                let checked = wanted.check("the number of such calls", found as u64);
                let forgotten = log.forgotten();
                checked.map_err(|reason| match forgotten {
                    0 => reason,
                    _ => format!("{reason}; {forgotten} older calls were forgotten (calls-memory)"),
                })
            }
            Self::Promise(place, promise) => ledger::check(state, db, place, *promise),
            Self::Idle => idle(state),
        }
    }

    /// How many there are of what is counted on each node.
    pub(crate) fn count(&self, state: &State) -> u64 {
        let found = match self {
            Self::Blocked(_, readers) => {
                let parked = state.parked.values();
                parked.filter(|parked| readers.matches(parked)).count()
            }
            Self::Clients(_) => state.clients.len(),
            Self::Subscribed(channel, _) => {
                let of = |table: &crate::pubsub::Subscribers| {
                    table.get(&channel[..]).map_or(0, Vec::len)
                };
                of(&state.pubsub.channels) + of(&state.pubsub.shards)
            }
            Self::Held(rule, _) => {
                let double = state.double.as_ref();
                double.map_or(0, |double| double.held.count_of(rule))
            }
            _ => 0,
        };
        found as u64
    }

    /// The fault that it is about, if there is none of this name.
    fn missing_fault(&self, state: &State) -> Option<&[u8]> {
        let Self::Held(rule, _) = self else {
            return None;
        };
        let double = state.double.as_ref()?;
        let is_there = double.stage.rules.lock().get(rule).is_some();
        (!is_there).then_some(&rule[..])
    }

    /// Whether so many are what is wanted; if not, what is the case, and who waits if that is in question.
    pub(crate) fn check_count(
        &self,
        found: u64,
        who_waits: impl FnOnce() -> String,
    ) -> Result<(), String> {
        match self {
            Self::Blocked(wanted, _) => wanted
                .check("the number of clients that wait so", found)
                .map_err(|error| format!("{error}; {}", who_waits())),
            Self::Clients(wanted) => wanted.check("the number of clients", found),
            Self::Subscribed(channel, wanted) => wanted.check(
                &format!("the number of listeners to {}", text(channel)),
                found,
            ),
            Self::Held(rule, wanted) => wanted.check(&format!("what {} holds", text(rule)), found),
            _ => Ok(()),
        }
    }

    /// The key that it is about, if it is about one.
    pub(crate) fn key(&self) -> Option<&[u8]> {
        match self {
            Self::Drained(place)
            | Self::Pending(place, _)
            | Self::Lag(place, _)
            | Self::Promise(place, _) => Some(&place.stream),
            Self::Len(stream, _) | Self::Entry { stream, .. } => Some(stream),
            _ => None,
        }
    }

    /// Whether it is counted on each node and added up.
    pub(crate) fn is_counted(&self) -> bool {
        matches!(
            self,
            Self::Blocked(..) | Self::Clients(_) | Self::Subscribed(..) | Self::Held(..)
        )
    }
}

impl Place {
    /// The stream and the group, as words for people.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", text(&self.stream), text(&self.group))
    }

    fn find<'a>(&self, state: &'a State, db: usize) -> Result<(&'a Stream, &'a Group), String> {
        let key = text(&self.stream);
        let stream = stream(state, db, &self.stream)?;
        let stream = stream.ok_or_else(|| format!("there is no stream {key}"))?;
        let group = stream.group(&self.group).ok_or_else(|| {
            let groups: Vec<_> = stream.groups().map(|(name, _)| text(name)).collect();
            let group = text(&self.group);
            match groups.is_empty() {
                true => format!("{key} has no group {group}, and no other"),
                false => format!("{key} has no group {group}; it has: {}", groups.join(", ")),
            }
        })?;
        Ok((stream, group))
    }
}

impl Readers {
    fn matches(&self, parked: &Parked) -> bool {
        if parked.spec.flags.has(Flags::DOUBLE) {
            return false;
        }
        let subject = Subject::of(parked.spec, parked.request.as_request());
        let is = |wanted: &Option<Vec<u8>>, found: Option<&[u8]>| {
            wanted.as_ref().is_none_or(|wanted| found == Some(wanted))
        };
        let has_key = |key: &Vec<u8>| subject.keys.contains(&&key[..]);
        self.key.as_ref().is_none_or(has_key)
            && is(&self.group, subject.group)
            && is(&self.consumer, subject.consumer)
    }
}

fn stream<'a>(state: &'a State, db: usize, key: &[u8]) -> Result<Option<&'a Stream>, String> {
    match state.store.peek(db, key) {
        None => Ok(None),
        Some(value) => match value.as_stream() {
            Ok(stream) => Ok(Some(stream)),
            Err(_) => Err(format!("{} is no stream", text(key))),
        },
    }
}

fn lag(state: &State, stream: &Stream, group: &Group) -> Result<u64, String> {
    let lag = stream.lag(group, state.store.settings().compat);
    lag.ok_or_else(|| "the lag is not known, since entries were deleted".to_owned())
}

fn drained(state: &State, db: usize, place: &Place) -> Result<(), String> {
    let (stream, group) = place.find(state, db)?;
    let pending = group.pending().len();
    let unread = stream.log().range(group.last_delivered(), StreamId::MAX);
    let unread = unread
        .filter(|entry| entry.id() > group.last_delivered())
        .count();
    if pending == 0 && unread == 0 {
        return Ok(());
    }
    let mut error = format!(
        "{} is not drained: {unread} to read, {pending} pending",
        place.name()
    );
    for (consumer, count) in group.pending_by_consumer() {
        let _ = write!(error, ", {count} of them with {}", text(consumer));
    }
    Err(error)
}

fn has_entry(
    state: &State,
    db: usize,
    key: &[u8],
    field: &[u8],
    value: &[u8],
) -> Result<(), String> {
    let found = stream(state, db, key)?;
    let entries = found.map_or(0, Stream::len);
    let is_there = found.is_some_and(|stream| {
        let all = stream.log().range(StreamId::MIN, StreamId::MAX);
        all.into_iter().any(|entry| {
            let mut fields = entry.fields();
            fields.any(|(name, text)| bytes(Text::Part(name)) == field && bytes(text) == value)
        })
    });
    match is_there {
        true => Ok(()),
        false => Err(format!(
            "none of the {entries} entries of {} has {} {}",
            text(key),
            text(field),
            text(value)
        )),
    }
}

/// What a client sees of a name or a value.
pub(crate) fn bytes(text: Text<'_>) -> Vec<u8> {
    match text {
        Text::Part(Part::Bytes(bytes)) => bytes.to_vec(),
        Text::Part(Part::Int(number)) => number.to_string().into(),
        Text::Packed(packed) => {
            let mut bytes = Vec::new();
            packed.append_to(&mut bytes);
            bytes
        }
    }
}

fn idle(state: &State) -> Result<(), String> {
    let held = state.double.as_ref().map_or(0, |double| double.held.len());
    let gated = state.gate.held_count();
    let turns = state.resumed.len();
    match held + gated + turns {
        0 => Ok(()),
        _ => Err(format!(
            "not idle: faults hold {held}, a pause holds {gated}, and {turns} wait for their turns"
        )),
    }
}

pub(crate) fn describe_waiting(state: &State) -> String {
    let mut waiting: Vec<_> = state
        .parked
        .values()
        .filter(|parked| !parked.spec.flags.has(Flags::DOUBLE))
        .collect();
    waiting.sort_by_key(|parked| parked.client);
    if waiting.is_empty() {
        return "nobody waits".to_owned();
    }
    let lines = waiting.iter().map(|parked| {
        let words: Vec<_> = parked.request.as_request().iter().map(text).collect();
        format!("client {} in {}", parked.client.number, words.join(" "))
    });
    format!("who waits: {}", lines.collect::<Vec<_>>().join("; "))
}

/// Bytes as words for people.
pub(crate) fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
