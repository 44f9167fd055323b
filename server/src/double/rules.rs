//! The faults that a test put in: which commands they are for, how often they strike, and what happens
//! then.

use tailrace_protocol::Request;
use tailrace_storage::Case;
use tailrace_storage::Instant;
use tailrace_storage::Millis;
use tailrace_storage::Now;
use tailrace_storage::Rng;
use tailrace_storage::glob_matches;

use super::subject::Subject;
use crate::args::is_word;
use crate::client::Client;
use crate::spec::Acl;
use crate::spec::Spec;

/// The faults in the order in which they were put in, which is that in which they are looked at.
#[derive(Clone)]
pub(crate) struct Rules {
    rules: Vec<Rule>,
    /// For those that strike by chance.
    rng: Rng,
}

/// One fault.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) name: Vec<u8>,
    pub(crate) filter: Filter,
    pub(crate) stage: Stage,
    pub(crate) action: Action,
    /// How many of those that match are let go first.
    pub(crate) skip: u64,
    /// How often it strikes; nothing is always.
    pub(crate) times: Option<u64>,
    /// With which probability it strikes.
    pub(crate) probability: f64,
    /// How many matched so far.
    pub(crate) matched: u64,
    /// How often it struck.
    pub(crate) hits: u64,
    /// How it was put in, to be shown: words as a line of a file has them.
    pub(crate) text: String,
}

/// Which calls. What is not given matches all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) command: Option<CommandFilter>,
    /// A glob that one of the keys matches.
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) group: Option<Vec<u8>>,
    pub(crate) consumer: Option<Vec<u8>>,
    /// The name of the client, or its number.
    pub(crate) client: Option<Vec<u8>>,
    /// The place of the node among those of the cluster.
    pub(crate) node: Option<usize>,
}

/// Which commands.
#[derive(Clone, Debug)]
pub(crate) enum CommandFilter {
    /// Of this name, or with this subcommand as in `xgroup|create`.
    Named(Vec<u8>),
    /// Of this category.
    Category(Acl),
}

/// When a fault strikes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stage {
    /// In place of the command.
    Before,
    /// Once it was executed, when it is answered.
    After,
    /// When something is pushed to a client. The filter's command is the kind of the push, its key a channel or a key.
    Push,
}

/// What happens.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// The client hears this, as it stands on the wire.
    Reply(Vec<u8>),
    /// The client hears of nothing there.
    Nil,
    /// The client is sent to another node: the first word of the error, and where to.
    Redirect(&'static str, Vec<u8>),
    /// The connection ends in order, without the reply.
    Close,
    /// The connection breaks.
    Reset,
    /// The connection ends behind so many bytes of the reply.
    Cut(usize),
    /// So many bytes of the reply leave at a time, so far apart.
    Drip(usize, Millis),
    /// It goes on after so long.
    Delay(Millis),
    /// It goes on when released.
    Hold,
    /// It never goes on.
    Stall,
    /// What was to be pushed is lost.
    Drop,
}

/// Until when something is kept back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeldUntil {
    Instant(Instant),
    Released,
}

impl Action {
    /// Until when this keeps something back, if it does.
    pub(crate) fn holds(&self, now: Now) -> Option<HeldUntil> {
        match self {
            Self::Delay(by) => Some(HeldUntil::Instant(now.mono + *by)),
            Self::Drip(..) => Some(HeldUntil::Instant(now.mono)),
            Self::Hold | Self::Stall => Some(HeldUntil::Released),
            _ => None,
        }
    }
}

impl Rules {
    /// None, and a source of chance.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rules: Vec::new(),
            rng: Rng::from_seed(seed),
        }
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.rules.iter()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The one of this name.
    pub(crate) fn get(&self, name: &[u8]) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// Puts one in, in place of one of the same name.
    pub(crate) fn add(&mut self, rule: Rule) {
        match self.rules.iter_mut().find(|old| old.name == rule.name) {
            Some(old) => *old = rule,
            None => self.rules.push(rule),
        }
    }

    /// Takes one out. Whether there was one.
    pub(crate) fn remove(&mut self, name: &[u8]) -> bool {
        let before = self.rules.len();
        self.rules.retain(|rule| rule.name != name);
        self.rules.len() < before
    }

    /// The fault that strikes a call at a stage, if one does: its name and what happens.
    pub(crate) fn strike(
        &mut self,
        stage: Stage,
        spec: &'static Spec,
        request: Request<'_>,
        client: &Client,
    ) -> Option<(Vec<u8>, Action)> {
        let subject = Subject::of(spec, request);
        for rule in &mut self.rules {
            let is_meant = rule.stage == stage && rule.filter.matches(spec, &subject, client);
            if is_meant && rule.counts(&mut self.rng) {
                return Some((rule.name.clone(), rule.action.clone()));
            }
        }
        None
    }
}

impl Rules {
    /// Whether a fault loses a push to a client, about these channels or keys, or about all if there are none.
    pub(crate) fn strike_push(&mut self, kind: &[u8], names: &[&[u8]], client: &Client) -> bool {
        let rng = &mut self.rng;
        self.rules.iter_mut().any(|rule| {
            let is_meant =
                rule.stage == Stage::Push && rule.filter.matches_push(kind, names, client);
            is_meant && rule.counts(rng)
        })
    }
}

impl Rule {
    /// Counts a call that matches. Whether it strikes.
    fn counts(&mut self, rng: &mut Rng) -> bool {
        if self.times.is_some_and(|times| self.hits >= times) {
            return false;
        }
        self.matched += 1;
        if self.matched <= self.skip {
            return false;
        }
        // 53 bits, as many as the fraction has.
        let chance = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let strikes = chance < self.probability;
        self.hits += u64::from(strikes);
        strikes
    }
}

impl Filter {
    /// Whether a call of this client is meant.
    pub(crate) fn matches(
        &self,
        spec: &'static Spec,
        subject: &Subject<'_>,
        client: &Client,
    ) -> bool {
        self.matches_client(client) && self.matches_call(spec, subject)
    }

    /// Whether what concerns this client is meant, whatever it is.
    fn matches_client(&self, client: &Client) -> bool {
        let wanted = self.client.as_ref();
        wanted.is_none_or(|wanted| is_client(client, wanted))
            && self.node.is_none_or(|node| client.face.place() == node)
    }

    /// Whether a push to this client is meant.
    fn matches_push(&self, kind: &[u8], names: &[&[u8]], client: &Client) -> bool {
        let is_kind = match &self.command {
            None => true,
            Some(CommandFilter::Named(wanted)) => wanted.eq_ignore_ascii_case(kind),
            Some(CommandFilter::Category(_)) => false,
        };
        let is_about = self.key.as_ref().is_none_or(|pattern| {
            let mut names = names.iter();
            names.len() == 0 || names.any(|name| glob_matches(pattern, name, Case::Sensitive))
        });
        self.matches_client(client) && is_kind && is_about
    }

    /// Whether calls are meant of a command that there is not, and that was asked for by this name.
    pub(crate) fn is_called_as(&self, name: &[u8]) -> bool {
        match &self.command {
            None => true,
            Some(CommandFilter::Named(wanted)) => wanted.eq_ignore_ascii_case(name),
            Some(CommandFilter::Category(_)) => false,
        }
    }

    /// Whether calls of this command are meant, whatever they are about.
    pub(crate) fn is_called(&self, spec: &'static Spec) -> bool {
        let wanted = self.command.as_ref();
        wanted.is_none_or(|wanted| wanted.matches(spec))
    }

    /// Whether it depends on what a call is about.
    pub(crate) fn is_about_something(&self) -> bool {
        self.key.is_some() || self.group.is_some() || self.consumer.is_some()
    }

    /// Whether a call is meant, whoever's it is.
    pub(crate) fn matches_call(&self, spec: &'static Spec, subject: &Subject<'_>) -> bool {
        let is_about = |wanted: &Option<Vec<u8>>, found: Option<&[u8]>| {
            wanted.as_ref().is_none_or(|wanted| found == Some(wanted))
        };
        let has_key = self.key.as_ref().is_none_or(|pattern| {
            let mut keys = subject.keys.iter();
            keys.any(|key| glob_matches(pattern, key, Case::Sensitive))
        });
        self.is_called(spec)
            && has_key
            && is_about(&self.group, subject.group)
            && is_about(&self.consumer, subject.consumer)
    }
}

impl CommandFilter {
    fn matches(&self, spec: &'static Spec) -> bool {
        match self {
            Self::Category(category) => spec.categories().has(*category),
            Self::Named(name) => {
                let container = spec.name.split('|').next().unwrap_or_default();
                is_word(name, spec.name) || is_word(name, container)
            }
        }
    }
}

/// Whether a client is called so, or has this number.
pub(crate) fn is_client(client: &Client, wanted: &[u8]) -> bool {
    client.name == wanted || client.id.number.to_string().as_bytes() == wanted
}
