//! What the server counts.

use std::collections::BTreeMap;
use std::collections::HashMap;

use tailrace_storage::Instant;

use crate::error::ClientError;
use crate::error::CommandError;
use crate::histogram::Durations;
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
    /// How often something was received.
    pub reads: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// How often something was sent.
    pub writes: u64,
    /// How often there was something to do: a batch of a client's, or what time brought.
    pub cycles: u64,
    /// The most commands that were executed in one of them.
    pub cycle_commands_max: u64,
    /// The longest that was measured between two readings of the clock, in microseconds.
    pub cycle_micros_max: u64,
    /// How long keys were removed that were due, in microseconds.
    pub expire_micros: u64,
    /// How often that ended before all were removed.
    pub full_expire_slices: u64,
    /// Wrong passwords. These are not forgotten by a reset.
    pub refused_passwords: u64,
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
        let row = self.by_command.of(spec);
        row.counters.calls += 1;
        row.unmeasured += 1;
    }

    /// A command was refused before it ran; `spec` if it exists at all.
    pub(crate) fn on_rejected(&mut self, spec: Option<&'static Spec>, error: &CommandError) {
        if let Some(spec) = spec {
            self.by_command.of(spec).counters.rejected += 1;
        }
        self.on_error(error);
    }

    /// A command answered an error.
    pub(crate) fn on_failed(&mut self, spec: &'static Spec, error: &CommandError) {
        self.by_command.of(spec).counters.failed += 1;
        self.on_error(error);
    }

    /// Begins again. What is to be counted stays as it was.
    pub(crate) fn reset(&mut self) {
        let keeps_durations = self.by_command.keeps_durations;
        *self = Self {
            refused_passwords: self.refused_passwords,
            ..Self::default()
        };
        self.by_command.keeps_durations = keeps_durations;
    }

    /// What is counted for the rates.
    pub(crate) fn totals(&self, at: Instant) -> Totals {
        Totals {
            at,
            commands: self.commands,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            cycles: self.cycles,
            busy_micros: self.busy_micros(),
        }
    }

    /// How long commands took and what else is measured, in microseconds.
    pub(crate) fn busy_micros(&self) -> u64 {
        self.by_command.nanos() / 1_000 + self.expire_micros
    }

    /// A batch of so many commands was executed.
    pub(crate) fn on_cycle(&mut self, commands: usize) {
        self.cycles += 1;
        self.cycle_commands_max = self.cycle_commands_max.max(commands as u64);
    }

    /// A client sent something.
    pub(crate) fn on_read(&mut self, bytes: usize) {
        self.bytes_in += bytes as u64;
        self.reads += u64::from(bytes > 0);
    }

    /// Something is sent to a client.
    pub(crate) fn on_write(&mut self, bytes: usize) {
        self.bytes_out += bytes as u64;
        self.writes += u64::from(bytes > 0);
    }

    /// A script failed, with whatever number of errors.
    pub(crate) fn on_script_failed(&mut self, spec: &'static Spec) {
        self.by_command.of(spec).counters.failed += 1;
    }

    /// A script answered an error, which may be that of a command and counted already. What others
    /// made up may come in any number, so not all of it is told apart.
    pub(crate) fn on_script_error(&mut self, text: &[u8], is_counted: bool) {
        if is_counted {
            return;
        }
        let word = String::from_utf8_lossy(error_word(text));
        let is_new = !self.by_error.contains_key(&*word);
        if is_new && self.by_error.len() >= ERROR_WORDS_MAX {
            return self.count_error(b"ERRORSTATS_OVERFLOW ");
        }
        self.count_error(text);
    }

    /// A script may not call a command; `spec` if it exists at all.
    pub(crate) fn on_refused_in_script(&mut self, spec: Option<&'static Spec>, text: &[u8]) {
        if let Some(spec) = spec {
            self.by_command.of(spec).counters.rejected += 1;
        }
        self.count_error(text);
    }

    fn on_error(&mut self, error: &CommandError) {
        if matches!(error, CommandError::Client(ClientError::WrongPassword)) {
            self.refused_passwords += 1;
        }
        self.count_error(&error.wire());
    }

    fn count_error(&mut self, wire: &[u8]) {
        self.errors += 1;
        let word = String::from_utf8_lossy(error_word(wire));
        match self.by_error.get_mut(&*word) {
            Some(count) => *count += 1,
            None => {
                self.by_error.insert(word.into_owned(), 1);
            }
        }
    }
}

/// The first word of an error. One that is no word is counted with those that have none.
fn error_word(wire: &[u8]) -> &[u8] {
    let mut start = wire.iter().take(ERROR_WORD_BYTES_MAX);
    let end = start.position(|&byte| byte == b' ');
    end.map_or(b"ERR", |end| &wire[..end])
}

/// So many words are told apart before those of scripts are not any more.
const ERROR_WORDS_MAX: usize = 128;

/// The counters of every command that was called.
///
/// A command is known by where its `Spec` lies: every lookup gives the same one, and a comparison of
/// addresses is all that counting a call costs while one command follows another of its kind.
#[derive(Debug)]
pub struct ByCommand {
    /// By address.
    rows: HashMap<usize, usize, foldhash::fast::FixedState>,
    counters: Vec<Row>,
    /// The row that was asked for last.
    last: usize,
    /// Whether durations are kept from now on.
    keeps_durations: bool,
}

#[derive(Debug)]
struct Row {
    spec: &'static Spec,
    counters: CommandStats,
    /// The calls of whose time nothing is known yet.
    unmeasured: u64,
    /// What a call took lately, in nanoseconds.
    lately_nanos: Option<u64>,
    durations: Option<Box<Durations>>,
}

impl Default for ByCommand {
    fn default() -> Self {
        Self {
            rows: HashMap::default(),
            counters: Vec::new(),
            last: 0,
            keeps_durations: true,
        }
    }
}

impl ByCommand {
    /// Whether a call that ran is to be measured for those that were not.
    #[inline]
    pub(crate) fn wants_measuring(&mut self, spec: &'static Spec) -> bool {
        let row = self.of(spec);
        row.unmeasured >= UNMEASURED_MAX || row.lately_nanos.is_none()
    }

    /// A call took so long. It counts for all that were not measured before it.
    pub(crate) fn on_measured(&mut self, spec: &'static Spec, nanos: u64) {
        let keeps_durations = self.keeps_durations;
        let row = self.of(spec);
        row.lately_nanos = Some(nanos);
        row.settle(nanos, keeps_durations);
    }

    /// Lets the calls that were not measured have taken what their kind took lately, or else
    /// `usual_nanos`.
    pub(crate) fn settle(&mut self, usual_nanos: u64) {
        for row in &mut self.counters {
            let nanos = row.lately_nanos.unwrap_or(usual_nanos);
            row.settle(nanos, self.keeps_durations);
        }
    }

    /// Keeps durations from now on, or does not.
    pub(crate) fn set_keeps_durations(&mut self, keeps_durations: bool) {
        self.keeps_durations = keeps_durations;
    }

    /// What all calls took, as far as it is known.
    pub(crate) fn nanos(&self) -> u64 {
        self.counters.iter().map(|row| row.counters.nanos).sum()
    }

    /// All of them, ordered by the commands' names.
    pub(crate) fn iter(
        &self,
    ) -> impl Iterator<Item = (&'static str, CommandStats, Option<&Durations>)> {
        let mut sorted: Vec<&Row> = self.counters.iter().collect();
        sorted.sort_unstable_by_key(|row| row.spec.name);
        let rows = sorted.into_iter().filter(|row| row.is_shown());
        rows.map(|row| (row.spec.name, row.counters, row.durations.as_deref()))
    }

    /// How long the calls of a command took, if any was kept.
    pub(crate) fn durations(&self, spec: &'static Spec) -> Option<&Durations> {
        let row = self.rows.get(&std::ptr::from_ref(spec).addr())?;
        self.counters[*row].durations.as_deref()
    }

    /// The row of a command.
    // Two are asked for in each call.
    #[inline(always)]
    fn of(&mut self, spec: &'static Spec) -> &mut Row {
        let is_last = self.counters.get(self.last);
        if !is_last.is_some_and(|last| std::ptr::eq(last.spec, spec)) {
            self.last = self.row(spec);
        }
        &mut self.counters[self.last]
    }

    fn row(&mut self, spec: &'static Spec) -> usize {
        let address = std::ptr::from_ref(spec).addr();
        *self.rows.entry(address).or_insert_with(|| {
            self.counters.push(Row {
                spec,
                counters: CommandStats::default(),
                unmeasured: 0,
                lately_nanos: None,
                durations: None,
            });
            self.counters.len() - 1
        })
    }
}

impl Row {
    /// Gives the calls that were not measured a time.
    fn settle(&mut self, nanos: u64, keeps_durations: bool) {
        let count = std::mem::take(&mut self.unmeasured);
        if count == 0 {
            return;
        }
        self.counters.nanos += nanos.saturating_mul(count);
        if keeps_durations {
            let durations = self.durations.get_or_insert_default();
            durations.record(nanos, count);
        }
    }

    /// One may be measured whose call was counted before the counters were reset.
    fn is_shown(&self) -> bool {
        let CommandStats {
            calls,
            rejected,
            failed,
            ..
        } = self.counters;
        calls > 0 || rejected > 0 || failed > 0
    }
}

/// The longest first word of an error that is counted by itself.
const ERROR_WORD_BYTES_MAX: usize = 31;
/// How many calls of a kind may follow each other without one that is measured.
const UNMEASURED_MAX: u64 = 17;
