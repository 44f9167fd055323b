//! Faults: errors, lost replies, broken connections, delays.

use std::time::Duration;

use super::TestError;
use super::TestServer;
use super::clock::millis;
use super::filter::filters;
use crate::double::commands;
use crate::double::release;

/// A fault that is being made: which calls it is for, and how often it strikes. [`Self::before`] and [`Self::after`]
/// put it in. It is for every call that matches all that was said, and strikes once unless more is said.
#[must_use = "before() or after() puts it in"]
pub struct NewFault<'a> {
    server: &'a TestServer,
    name: String,
    words: Vec<Vec<u8>>,
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Happens {
    /// It is answered with this error, whose first word is its code.
    Error(String),
    /// It is answered with this, as it stands on the wire.
    Reply(Vec<u8>),
    /// It is answered with a null.
    Nil,
    /// It is answered that the slot is at another node: `host:port`, or the number of a node of the cluster.
    Moved(String),
    /// It is answered that the key may be at another node, which is named likewise.
    Ask(String),
    /// The connection ends, without a reply.
    Close,
    /// The connection breaks.
    Reset,
    /// The connection ends behind so many bytes of the reply.
    Cut(usize),
    /// So many bytes of the reply come at a time, so far apart.
    Drip(usize, Duration),
    /// It goes on after so long, by the clock of the server.
    Delay(Duration),
    /// It goes on once [`Fault::release`] lets it.
    Hold,
    /// It never goes on.
    Stall,
}

impl<'a> NewFault<'a> {
    pub(super) fn new(server: &'a TestServer, name: &str) -> Self {
        Self {
            server,
            name: name.to_owned(),
            words: vec![name.into()],
        }
    }

    filters!();

    /// Lets so many go first.
    pub fn skip(self, calls: u32) -> Self {
        self.with("SKIP", calls.to_string())
    }

    /// Strikes so often.
    pub fn times(self, times: u32) -> Self {
        self.with("TIMES", times.to_string())
    }

    /// Strikes always.
    pub fn always(mut self) -> Self {
        self.words.push(b"ALWAYS".to_vec());
        self
    }

    /// Strikes with a probability, by the seed of the server.
    pub fn probability(self, probability: f64) -> Self {
        self.with("PROB", probability.to_string())
    }

    /// Puts it in: it strikes in place of the command.
    ///
    /// # Errors
    ///
    /// If something that was said makes no sense: there is no such category or node, or a reply that is not there yet is
    /// cut.
    pub fn before(self, happens: Happens) -> Result<Fault<'a>, TestError> {
        self.put_in("BEFORE", happens.words())
    }

    /// Puts it in: it strikes once the command was executed, when it is answered.
    ///
    /// # Errors
    ///
    /// As [`Self::before`].
    pub fn after(self, happens: Happens) -> Result<Fault<'a>, TestError> {
        self.put_in("AFTER", happens.words())
    }

    /// Puts it in: what is pushed to clients is lost, and not a call. [`Self::command`] says what is meant then: `message`,
    /// `pmessage`, `smessage` or `invalidate`; [`Self::key`] a channel or a key.
    ///
    /// # Errors
    ///
    /// If something else was said that a push does not have.
    pub fn drop_pushes(self) -> Result<Fault<'a>, TestError> {
        self.put_in("PUSH", vec![b"DROP".to_vec()])
    }

    fn put_in(mut self, stage: &str, happens: Vec<Vec<u8>>) -> Result<Fault<'a>, TestError> {
        self.words.push(stage.into());
        self.words.extend(happens);
        let rule = commands::read_rule(&self.words).map_err(TestError::Not)?;
        self.server
            .ask_first(|state| commands::fault::check_node(state, &rule))?;
        self.server.stage.rules.lock().add(rule);
        Ok(Fault {
            server: self.server,
            name: self.name,
        })
    }
}

impl Happens {
    /// As it is written in `TESTDOUBLE FAULT ADD`.
    fn words(self) -> Vec<Vec<u8>> {
        let ms = |duration| millis(duration).0.to_string().into_bytes();
        match self {
            Self::Error(text) => vec![b"ERROR".to_vec(), text.into()],
            Self::Reply(bytes) => vec![b"REPLY".to_vec(), bytes],
            Self::Nil => vec![b"NIL".to_vec()],
            Self::Moved(node) => vec![b"MOVED".to_vec(), node.into()],
            Self::Ask(node) => vec![b"ASK".to_vec(), node.into()],
            Self::Close => vec![b"CLOSE".to_vec()],
            Self::Reset => vec![b"RST".to_vec()],
            Self::Cut(bytes) => vec![b"CUT".to_vec(), bytes.to_string().into()],
            Self::Drip(bytes, every) => {
                vec![b"DRIP".to_vec(), bytes.to_string().into(), ms(every)]
            }
            Self::Delay(by) => vec![b"DELAY".to_vec(), ms(by)],
            Self::Hold => vec![b"HOLD".to_vec()],
            Self::Stall => vec![b"STALL".to_vec()],
        }
    }
}

impl TestServer {
    /// Takes all faults out, and lets go what they keep back.
    pub fn clear_faults(&self) {
        let names: Vec<Vec<u8>> = {
            let rules = self.stage.rules.lock();
            rules.iter().map(|rule| rule.name.clone()).collect()
        };
        for name in names {
            self.stage.rules.lock().remove(&name);
            release::on_all(&self.stage.engines(), &name, usize::MAX);
        }
    }
}

/// A fault that was put in. It stays when this is dropped.
pub struct Fault<'a> {
    server: &'a TestServer,
    name: String,
}

impl Fault<'_> {
    /// How often it struck.
    pub fn hits(&self) -> u64 {
        let rules = self.server.stage.rules.lock();
        rules.get(self.name.as_bytes()).map_or(0, |rule| rule.hits)
    }

    /// Lets go what it keeps back, the first that came first, at most `count` of it. Gives how much that was.
    pub fn release(&self, count: usize) -> usize {
        release::on_all(&self.server.stage.engines(), self.name.as_bytes(), count)
    }

    /// Takes it out, and lets go what it keeps back.
    pub fn remove(self) {
        self.server.stage.rules.lock().remove(self.name.as_bytes());
        self.release(usize::MAX);
    }
}
