//! What the server counts.

use std::collections::BTreeMap;
use std::collections::HashMap;

use tailrace_storage::Instant;

use crate::error::CommandError;
use crate::rates::Rates;
use crate::rates::Totals;
use crate::spec::Spec;

/// Counters since the start, or since the last `CONFIG RESETSTAT`.
#[derive(Debug, Default)]
pub struct Stats {
    /// Connections accepted.
    pub connections: u64,
    /// Connections refused because there were too many.
    pub rejected_connections: u64,
    /// Commands executed.
    pub commands: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Clients that let too many replies wait.
    pub output_limit_disconnections: u64,
    /// Clients that sent too much ahead.
    pub query_limit_disconnections: u64,
    /// Errors sent.
    pub errors: u64,
    /// How often each error was sent, by its first word.
    pub by_error: BTreeMap<String, u64>,
    /// By command.
    pub by_command: ByCommand,
    /// How much of it happened lately.
    pub(crate) rates: Rates,
}

/// Counters of one command.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandStats {
    /// Calls that ran.
    pub calls: u64,
    /// Nanoseconds that its calls took, as far as the engine's readings of the clock tell.
    pub nanos: u64,
    /// Calls that were refused before they ran.
    pub rejected: u64,
    /// Calls that answered an error.
    pub failed: u64,
}

impl Stats {
    /// A command runs.
    #[inline]
    pub(crate) fn on_call(&mut self, spec: &'static Spec) {
        self.commands += 1;
        self.by_command.of(spec).calls += 1;
    }

    /// A command was refused before it ran; `spec` if it exists at all.
    pub(crate) fn on_rejected(&mut self, spec: Option<&'static Spec>, error: &CommandError) {
        if let Some(spec) = spec {
            self.by_command.of(spec).rejected += 1;
        }
        self.on_error(error);
    }

    /// A command answered an error.
    pub(crate) fn on_failed(&mut self, spec: &'static Spec, error: &CommandError) {
        self.by_command.of(spec).failed += 1;
        self.on_error(error);
    }

    /// What is counted for the rates.
    pub(crate) fn totals(&self, at: Instant) -> Totals {
        Totals {
            at,
            commands: self.commands,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
        }
    }

    /// A script answered an error, which may be that of a command and counted already. What others
    /// made up may come in any number, so not all of it is told apart.
    pub(crate) fn on_script_error(&mut self, spec: &'static Spec, text: &[u8], is_counted: bool) {
        self.by_command.of(spec).failed += 1;
        if is_counted {
            return;
        }
        let start = &text[..text.len().min(ERROR_WORD_BYTES_MAX)];
        let blank = start.iter().position(|&byte| byte == b' ');
        let word = blank.map_or(&b"ERR"[..], |blank| &start[..blank]);
        let is_new = !self.by_error.contains_key(&*String::from_utf8_lossy(word));
        if is_new && self.by_error.len() >= ERROR_WORDS_MAX {
            return self.count_error(b"ERRORSTATS_OVERFLOW");
        }
        self.count_error(word);
    }

    /// A script may not call a command; `spec` if it exists at all.
    pub(crate) fn on_refused_in_script(&mut self, spec: Option<&'static Spec>, text: &[u8]) {
        if let Some(spec) = spec {
            self.by_command.of(spec).rejected += 1;
        }
        self.count_error(text);
    }

    fn on_error(&mut self, error: &CommandError) {
        self.count_error(&error.wire());
    }

    fn count_error(&mut self, wire: &[u8]) {
        self.errors += 1;
        let word = wire.split(|&byte| byte == b' ').next().unwrap_or_default();
        let word = String::from_utf8_lossy(word);
        match self.by_error.get_mut(&*word) {
            Some(count) => *count += 1,
            None => {
                self.by_error.insert(word.into_owned(), 1);
            }
        }
    }
}

/// How long the first word of a script's error may be.
const ERROR_WORD_BYTES_MAX: usize = 31;
/// So many words are told apart before those of scripts are not any more.
const ERROR_WORDS_MAX: usize = 128;

/// The counters of every command that was called.
///
/// A command is known by where its `Spec` lies: every lookup gives the same one, and a comparison of
/// addresses is all that counting a call costs while one command follows another of its kind.
#[derive(Debug, Default)]
pub struct ByCommand {
    /// By address.
    rows: HashMap<usize, usize, foldhash::fast::FixedState>,
    counters: Vec<(&'static Spec, CommandStats)>,
    /// The row that was asked for last.
    last: usize,
}

impl ByCommand {
    /// The counters of a command.
    #[inline]
    pub(crate) fn of(&mut self, spec: &'static Spec) -> &mut CommandStats {
        let is_last = self.counters.get(self.last);
        if !is_last.is_some_and(|(last, _)| std::ptr::eq(*last, spec)) {
            self.last = self.row(spec);
        }
        &mut self.counters[self.last].1
    }

    /// All of them, ordered by the commands' names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, CommandStats)> {
        let mut sorted = BTreeMap::new();
        for (spec, counters) in &self.counters {
            sorted.insert(spec.name, *counters);
        }
        sorted.into_iter()
    }

    fn row(&mut self, spec: &'static Spec) -> usize {
        let address = std::ptr::from_ref(spec).addr();
        *self.rows.entry(address).or_insert_with(|| {
            self.counters.push((spec, CommandStats::default()));
            self.counters.len() - 1
        })
    }
}
