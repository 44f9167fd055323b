//! CONFIG SET: all of the new values or none.

use std::fmt;

use tailrace_storage::Compat;

use super::Config;
use super::directive::Change;
use super::kind::UNKNOWN_EVENT_CLASS;
use super::settings::Settings;
use super::settings::Trust;
use super::table::Name;
use super::value::Value;
use crate::args::text;

/// What a CONFIG SET changed. Whoever must act on it and cannot gives it to [`Config::undo`].
pub struct Changed {
    names: Vec<&'static str>,
    before: Vec<Value>,
    /// The rows of all that were named, whether they have another value now or not.
    named: Vec<usize>,
}

/// Why CONFIG SET changed nothing. `Display` is the text for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetError {
    /// There is no such directive.
    Unknown(Vec<u8>),
    /// The directive was found, but not set: its name as the reference shows it, and why.
    Failed(String, String),
}

impl Config {
    /// Sets every pair of name and value, in order, or none of them.
    ///
    /// `is_local` says whether the client is on this machine, for `enable-protected-configs local`.
    ///
    /// # Errors
    ///
    /// Nothing is changed after either of these, but that what was named up to the wrong one is set to what is
    /// shown of it.
    ///
    /// - [`SetError::Unknown`] if the first name that is wrong is not a directive.
    /// - [`SetError::Failed`] if a directive cannot be set now, was named twice, or got a wrong value.
    pub fn set<'a>(
        &mut self,
        pairs: impl IntoIterator<Item = (&'a [u8], &'a [u8])>,
        is_local: bool,
    ) -> Result<Changed, SetError> {
        let mut chosen: Vec<(Name, &[u8])> = Vec::new();
        for (written, text) in pairs {
            let name = self.settable(written, &chosen, is_local)?;
            chosen.push((name, text));
        }
        let mut values = self.values.clone();
        let named: Vec<usize> = chosen.iter().map(|(name, _)| name.row).collect();
        for (at, (name, text)) in chosen.into_iter().enumerate() {
            match self.parse_for_set(name, text, &values[name.row]) {
                Ok(value) => values[name.row] = value,
                Err(why) => {
                    self.restore(&named[..=at]);
                    return Err(SetError::failed(name.text.as_bytes(), why));
                }
            }
        }
        Ok(self.replace(values, named))
    }

    /// Takes back what [`Config::set`] did last, because acting on it failed.
    pub fn undo(&mut self, changed: Changed) {
        self.replace(changed.before, Vec::new());
        self.restore(&changed.named);
    }

    /// Sets directives to what is shown of them, as the reference does with those that it had set or was about to
    /// set when it refuses the whole. Only of events not all is shown that is selected.
    fn restore(&mut self, rows: &[usize]) {
        for &row in rows {
            if let Value::Events(classes) = &mut self.values[row] {
                *classes = classes.shown();
            }
        }
        self.on_values_changed();
    }

    /// Whether the value of a directive must not show up in logs and in MONITOR.
    #[must_use]
    pub fn is_secret(&self, name: &[u8]) -> bool {
        let name = self.table.find(name);
        name.is_some_and(|name| self.table.rows()[name.row].is_secret)
    }

    /// Finds a directive that may be set, given those `chosen` before it.
    fn settable(
        &self,
        written: &[u8],
        chosen: &[(Name, &[u8])],
        is_local: bool,
    ) -> Result<Name, SetError> {
        let Some(name) = self.table.find(written) else {
            return Err(SetError::Unknown(text(written).to_vec()));
        };
        let refusal = match self.table.rows()[name.row].change {
            Change::Fixed => Some("can't set immutable config"),
            Change::Guarded if !self.trust.allows(is_local) => Some("can't set protected config"),
            _ if chosen.iter().any(|(other, _)| *other == name) => Some("duplicate parameter"),
            Change::Live | Change::Guarded => None,
        };
        match refusal {
            Some(why) => Err(SetError::failed(written, why.to_owned())),
            None => Ok(name),
        }
    }

    fn parse_for_set(&self, name: Name, text: &[u8], current: &Value) -> Result<Value, String> {
        let directive = self.table.rows()[name.row];
        let words: Vec<&[u8]> = match directive.kind.is_list() {
            true if text.is_empty() => Vec::new(),
            true => text.split(|byte| *byte == b' ').collect(),
            false => vec![text],
        };
        let value = directive.kind.parse(directive.name, &words, current)?;
        // What is selected still, from a time when Redis was followed, is shown, and so it can be set.
        if let (Value::Events(classes), Value::Events(selected)) = (&value, current)
            && self.settings.compat == Compat::Valkey
            && !selected.contains(classes.of_redis())
        {
            return Err(UNKNOWN_EVENT_CLASS.to_owned());
        }
        match directive.effect.refusal(&value.shown()) {
            Some(refusal) => Err(refusal),
            None => Ok(value),
        }
    }

    fn replace(&mut self, values: Vec<Value>, named: Vec<usize>) -> Changed {
        let rows = self.table.rows().iter();
        let compared = rows.zip(self.values.iter().zip(&values));
        let changed = compared.filter(|(_, (before, after))| before != after);
        let names = changed.map(|(directive, _)| directive.name).collect();
        let before = std::mem::replace(&mut self.values, values);
        self.on_values_changed();
        Changed {
            names,
            before,
            named,
        }
    }

    /// Derives what depends on the values.
    pub(super) fn on_values_changed(&mut self) {
        self.settings = Settings::read(&self.table, &self.values);
        let guard = self.table.find(b"enable-protected-configs");
        let guard = guard.map(|name| self.values[name.row].shown());
        self.trust = match guard.as_deref() {
            Some(b"yes") => Trust::Yes,
            Some(b"local") => Trust::Local,
            _ => Trust::No,
        };
    }
}

impl Changed {
    /// Whether a directive, by its own name, has another value now.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}

impl SetError {
    /// The error for a value that was fine but could not be acted on.
    #[must_use]
    pub fn failed(name: &[u8], why: String) -> Self {
        Self::Failed(String::from_utf8_lossy(name).into_owned(), why)
    }

    /// The text for the client, which need not be UTF-8 where it repeats a name.
    pub(crate) fn wire(&self) -> Vec<u8> {
        match self {
            Self::Unknown(name) => [UNKNOWN.as_bytes(), b"'", name, b"'"].concat(),
            Self::Failed(..) => self.to_string().into_bytes(),
        }
    }
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                let name = String::from_utf8_lossy(name);
                write!(f, "{UNKNOWN}'{name}'")
            }
            Self::Failed(name, why) => write!(
                f,
                "ERR CONFIG SET failed (possibly related to argument '{name}') - {why}"
            ),
        }
    }
}

impl std::error::Error for SetError {}

const UNKNOWN: &str = "ERR Unknown option or number of arguments for CONFIG SET - ";
