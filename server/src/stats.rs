//! What the server counts.

use std::collections::BTreeMap;

use crate::error::CommandError;
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
    /// By name of the command.
    pub by_command: BTreeMap<&'static str, CommandStats>,
    /// How often each error was sent, by its first word.
    pub by_error: BTreeMap<String, u64>,
}

/// Counters of one command.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandStats {
    /// Calls that ran.
    pub calls: u64,
    /// Calls that were refused before they ran.
    pub rejected: u64,
    /// Calls that answered an error.
    pub failed: u64,
}

impl Stats {
    /// A command runs.
    pub(crate) fn on_call(&mut self, spec: &'static Spec) {
        self.commands += 1;
        self.by_command.entry(spec.name).or_default().calls += 1;
    }

    /// A command was refused before it ran; `spec` if it exists at all.
    pub(crate) fn on_rejected(&mut self, spec: Option<&'static Spec>, error: &CommandError) {
        if let Some(spec) = spec {
            self.by_command.entry(spec.name).or_default().rejected += 1;
        }
        self.on_error(error);
    }

    /// A command answered an error.
    pub(crate) fn on_failed(&mut self, spec: &'static Spec, error: &CommandError) {
        self.by_command.entry(spec.name).or_default().failed += 1;
        self.on_error(error);
    }

    fn on_error(&mut self, error: &CommandError) {
        let wire = error.wire();
        let word = wire.split(|&byte| byte == b' ').next().unwrap_or_default();
        let word = String::from_utf8_lossy(word).into_owned();
        *self.by_error.entry(word).or_default() += 1;
    }
}
