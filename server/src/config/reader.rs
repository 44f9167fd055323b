//! Values of directives as settings hold them.

use std::borrow::Cow;

use tailrace_storage::Compat;
use tailrace_storage::Versions;

use super::events::EventClasses;
use super::limits::OutputLimits;
use super::settings::LogLevel;
use super::settings::Supervision;
use super::settings::Trust;
use super::start_clock::StartClock;
use super::table::Table;
use super::value::Value;

/// Turns values into what settings hold. Every name and its kind are fixed, so a mismatch is a slip
/// in this program, and reading the defaults at start finds it.
pub(super) struct Reader<'a> {
    pub(super) table: &'a Table,
    pub(super) values: &'a [Value],
}

impl Reader<'_> {
    fn value(&self, name: &str) -> &Value {
        let name = self
            .table
            .find(name.as_bytes())
            .expect("the table has every setting's row");
        &self.values[name.row]
    }

    /// A number that fits `T` by the bounds of its row; what may be negative reads as zero then.
    pub(super) fn number<T: TryFrom<u64>>(&self, name: &str) -> T {
        let number = match self.value(name) {
            Value::Integer(number) => u64::try_from(*number).unwrap_or(0),
            Value::Bytes(bytes) => *bytes,
            _ => mismatch(name),
        };
        let Ok(number) = T::try_from(number) else {
            mismatch(name)
        };
        number
    }

    pub(super) fn threshold(&self, name: &str) -> Option<u64> {
        match self.value(name) {
            Value::Integer(number) => u64::try_from(*number).ok(),
            _ => mismatch(name),
        }
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        match self.value(name) {
            Value::YesNo(is_yes) => *is_yes,
            _ => mismatch(name),
        }
    }

    pub(super) fn mode(&self, name: &str) -> Option<u32> {
        match self.value(name) {
            Value::Mode(bits) => Some(*bits).filter(|bits| *bits != 0),
            _ => mismatch(name),
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&[u8]> {
        match self.value(name) {
            Value::Text(text) => Some(&**text).filter(|text| !text.is_empty()),
            _ => mismatch(name),
        }
    }

    pub(super) fn path(&self, name: &str) -> String {
        String::from_utf8_lossy(self.text(name).unwrap_or_default()).into_owned()
    }

    pub(super) fn addresses(&self, name: &str) -> Vec<String> {
        let Value::Texts(texts) = self.value(name) else {
            mismatch(name)
        };
        let addresses = texts.iter().map(|text| String::from_utf8_lossy(text));
        addresses.map(Cow::into_owned).collect()
    }

    pub(super) fn output_limits(&self, name: &str) -> OutputLimits {
        match self.value(name) {
            Value::Limits(limits) => **limits,
            _ => mismatch(name),
        }
    }

    pub(super) fn percentiles(&self, name: &str) -> Vec<f64> {
        match self.value(name) {
            Value::Percentiles(percentiles) => percentiles.clone(),
            _ => mismatch(name),
        }
    }

    pub(super) fn events(&self, name: &str) -> EventClasses {
        match self.value(name) {
            Value::Events(classes) => *classes,
            _ => mismatch(name),
        }
    }

    pub(super) fn word(&self, name: &str) -> &'static str {
        match self.value(name) {
            Value::Word(word) => word,
            _ => mismatch(name),
        }
    }

    pub(super) fn trust(&self, name: &str) -> Trust {
        match self.word(name) {
            "no" => Trust::No,
            "yes" => Trust::Yes,
            "local" => Trust::Local,
            _ => mismatch(name),
        }
    }

    pub(super) fn log_level(&self, name: &str) -> LogLevel {
        match self.word(name) {
            "debug" => LogLevel::Debug,
            "verbose" => LogLevel::Verbose,
            "notice" => LogLevel::Notice,
            "warning" => LogLevel::Warning,
            "nothing" => LogLevel::Nothing,
            _ => mismatch(name),
        }
    }

    pub(super) fn supervision(&self, name: &str) -> Supervision {
        match self.word(name) {
            "no" => Supervision::No,
            "auto" => Supervision::Auto,
            "upstart" => Supervision::Upstart,
            "systemd" => Supervision::Systemd,
            _ => mismatch(name),
        }
    }

    pub(super) fn versions(&self, name: &str) -> Versions {
        match self.word(name) {
            "strict" => Versions::Known,
            "relaxed" => Versions::All,
            _ => mismatch(name),
        }
    }

    pub(super) fn start_clock(&self, name: &str) -> StartClock {
        let text = self.text(name).unwrap_or_default();
        StartClock::parse(text).unwrap_or_else(|| mismatch(name))
    }

    pub(super) fn compat(&self, name: &str) -> Compat {
        match self.word(name) {
            "valkey" => Compat::Valkey,
            "redis" => Compat::Redis,
            _ => mismatch(name),
        }
    }
}

fn mismatch(name: &str) -> ! {
    panic!("the setting {name} and its row in the table do not fit")
}
