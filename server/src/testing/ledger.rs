//! What becomes of entries, which the server notes for a test.

pub use tailrace_storage::ConsumerLedger;
use tailrace_storage::StreamId;
pub use tailrace_storage::Summary as LedgerSummary;

use super::TestError;
use super::TestServer;
use crate::double::condition::Place;
use crate::double::ledger;
use crate::double::nodes;
use crate::state::State;

/// The ledger of deliveries: who got each entry of a group when, who acknowledged it, how it left.
///
/// Once it is [on](Self::on), [`Wait`](super::Wait) has promises to hold workers to, as
/// [`at_least_once`](super::Wait::at_least_once). Streams are those of database 0; in a cluster each is asked for
/// where it is.
#[derive(Clone, Copy)]
pub struct Ledger<'a>(pub(super) &'a TestServer);

/// What became of the entries of a group.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct LedgerSums {
    /// In sums.
    pub entries: LedgerSummary,
    /// Those that each consumer got.
    pub consumers: Vec<ConsumerLedger>,
}

impl LedgerSums {
    /// What became of those that a consumer got, if it got any.
    pub fn consumer(&self, name: &str) -> Option<&ConsumerLedger> {
        let mut consumers = self.consumers.iter();
        consumers.find(|consumer| *consumer.name == *name.as_bytes())
    }
}

impl Ledger<'_> {
    /// Begins it, anew, for all streams.
    pub fn on(self) {
        let stage = &self.0.stage;
        stage.act_on_all(|state, _| state.store.start_ledger());
    }

    /// Begins it, anew, for a stream.
    pub fn on_for(self, stream: &str) {
        let stage = &self.0.stage;
        stage.act_on_all(|state, _| state.store.start_ledger_of(0, stream.as_bytes()));
    }

    /// Ends it.
    pub fn off(self) {
        let stage = &self.0.stage;
        stage.act_on_all(|state, _| state.store.stop_ledger());
    }

    /// Ends it for a stream.
    pub fn off_for(self, stream: &str) {
        let stage = &self.0.stage;
        stage.act_on_all(|state, _| state.store.stop_ledger_of(0, stream.as_bytes()));
    }

    /// What became of the entries of a group, in sums.
    ///
    /// # Errors
    ///
    /// If the ledger is off, or knows no such stream or group.
    pub fn sums(self, stream: &str, group: &str) -> Result<LedgerSums, TestError> {
        self.at(stream, group, |state, place| {
            let (_, group) = ledger::find(state, 0, place)?;
            Ok(LedgerSums {
                entries: group.summary(),
                consumers: group.consumers().to_vec(),
            })
        })
    }

    /// All that is known of an entry of a group: a line for each life of the stream that had its ID.
    ///
    /// # Errors
    ///
    /// As [`Self::sums`]; and if that is no ID.
    pub fn history(self, stream: &str, group: &str, id: &str) -> Result<Vec<String>, TestError> {
        let id = read_id(id)?;
        self.at(stream, group, |state, place| {
            let (stream, group) = ledger::find(state, 0, place)?;
            Ok(ledger::histories(stream, group, id))
        })
    }

    /// Notes that the work of an entry is done, for promises that ask for that. Whether the group knows the entry.
    ///
    /// # Errors
    ///
    /// As [`Self::history`].
    pub fn worked(self, stream: &str, group: &str, id: &str) -> Result<bool, TestError> {
        let id = read_id(id)?;
        self.at(stream, group, |state, place| {
            ledger::find(state, 0, place)?;
            let ledger = state.store.ledger_mut();
            let known =
                ledger.map(|ledger| ledger.note_worked(0, &place.stream, &place.group, &[id]));
            Ok(known.is_some_and(|known| known > 0))
        })
    }

    /// Asks the node that has a stream.
    fn at<T>(
        self,
        stream: &str,
        group: &str,
        ask: impl FnOnce(&mut State, &Place) -> Result<T, String>,
    ) -> Result<T, TestError> {
        let place = Place {
            stream: stream.into(),
            group: group.into(),
        };
        let first = self.0.first()?;
        let owner = first.look(|state| nodes::owner_of(state, &place.stream));
        let owner = owner.and_then(|owner| self.0.stage.engine(owner));
        let engine = owner.unwrap_or(first);
        let told = engine.with(|state, _| ask(state, &place));
        told.map_err(TestError::Not)
    }
}

fn read_id(text: &str) -> Result<StreamId, TestError> {
    let no_id = |_| TestError::Not(format!("{text} is no ID"));
    StreamId::parse(text.as_bytes(), 0).map_err(no_id)
}
