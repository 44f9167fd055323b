//! The configuration: what redis.conf and valkey.conf say, CONFIG GET and CONFIG SET, and the plain
//! settings that the server acts on.
//!
//! Every directive of the reference is a row in `table/`. It is read by its kind, checked
//! and shown as the reference does. What a row is worth is written there too: Tailrace acts on it,
//! keeps it because nobody can tell the difference, or refuses values that would promise what it
//! does not do, since a server that silently does not save is worse than one that does not start.

use self::directive::Directive;
use self::kind::Kind;
use self::kind::working_directory;
use self::table::Table;
use self::value::Value;
use self::words::split_words;

mod checks;
mod directive;
mod error;
mod events;
mod get;
mod kind;
mod limits;
mod load;
mod numbers;
mod reader;
mod rewrite;
mod set;
mod settings;
mod start_clock;
mod table;
mod value;
mod words;

#[cfg(test)]
mod tests;

pub use self::error::ConfigError;
pub(crate) use self::error::Origin;
pub use self::events::EventClasses;
pub use self::kind::system_message;
pub use self::limits::OutputLimit;
pub use self::limits::OutputLimits;
pub(crate) use self::load::Loader;
pub use self::set::Changed;
pub use self::set::SetError;
pub use self::settings::ClusterSettings;
pub use self::settings::EndpointKind;
pub use self::settings::LogLevel;
pub use self::settings::ParentSettings;
pub use self::settings::Settings;
pub use self::settings::Supervision;
pub use self::settings::Trust;
pub use self::start_clock::StartClock;
pub(crate) use self::start_clock::WALL_MAX_MS;
pub(crate) use self::value::show_percentile;
pub(crate) use self::words::split_words as split_option;
pub use crate::options::Start;

/// Every directive and its value.
#[derive(Clone)]
pub struct Config {
    table: Table,
    /// Invariant: one per row of the table, of the row's kind.
    values: Vec<Value>,
    /// Invariant: what the values say.
    settings: Settings,
    /// Invariant: what `enable-protected-configs` says.
    trust: Trust,
    renames: Vec<Rename>,
    /// The absolute path of the file that the server was started with, or nothing.
    file: String,
}

/// A command that goes by another name, or by none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The command's own name, in lower case.
    pub from: Box<[u8]>,
    /// What it is called instead; empty if nobody may call it.
    pub to: Box<[u8]>,
}

impl Config {
    /// What the server acts on.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The value of a directive of this name, as CONFIG GET shows it.
    #[must_use]
    pub fn shown(&self, name: &str) -> String {
        let name = self.table.find(name.as_bytes());
        let shown = name.map(|name| self.values[name.row].shown());
        String::from_utf8_lossy(&shown.unwrap_or_default()).into_owned()
    }

    /// The commands to rename or to remove, in the order of `rename-command` lines.
    #[must_use]
    pub fn renames(&self) -> &[Rename] {
        &self.renames
    }

    /// The absolute path of the file that the server was started with; empty if there was none.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The configuration of a server inside another program, such as a test: the defaults, with a free
    /// port of 127.0.0.1 only.
    #[must_use]
    pub fn embedded() -> Self {
        let mut config = Self::default();
        config.assign("port", Value::Integer(0));
        config.assign("bind", Value::Texts(vec![Box::from(*b"127.0.0.1")]));
        config.on_values_changed();
        config
    }

    /// Changes this configuration by lines as in redis.conf.
    ///
    /// # Errors
    ///
    /// What is wrong, in which line, and what to do about it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tailrace_server::config::Config;
    ///
    /// let config = Config::embedded().with("databases 2\nenable-debug-command yes")?;
    /// assert_eq!(config.settings().databases, 2);
    /// # Ok::<(), tailrace_server::config::ConfigError>(())
    /// ```
    pub fn with(self, lines: &str) -> Result<Self, ConfigError> {
        let mut loader = Loader::new(self);
        loader.text(lines.as_bytes(), Origin::Line)?;
        loader.finish()
    }

    /// Takes a lower `maxclients` because the system allows no more.
    pub fn lower_maxclients(&mut self, clients: usize) {
        self.assign(
            "maxclients",
            Value::Integer(i64::try_from(clients).unwrap_or(i64::MAX)),
        );
        self.on_values_changed();
    }

    /// Takes a `pidfile`, if there is none.
    pub fn choose_pidfile(&mut self, path: &str) {
        if self.settings.pidfile.is_empty() {
            self.assign("pidfile", Value::Text(path.as_bytes().into()));
            self.on_values_changed();
        }
    }

    /// The configuration of one of several nodes of a process, which listens on its own port.
    ///
    /// What there is once, such as a Unix socket, is for the first of them.
    pub(crate) fn of_node(&self, port: u16, is_first: bool) -> Self {
        let mut config = self.clone();
        config.assign("port", Value::Integer(port.into()));
        if !is_first {
            config.assign("listen-fd", Value::Integer(-1));
            config.assign("unixsocket", Value::Text(Box::default()));
        }
        config.on_values_changed();
        config
    }

    /// The configuration of a server beside the one that a process was started as: on a free port of 127.0.0.1, and
    /// without what there is once for a process.
    pub(crate) fn of_space(&self) -> Self {
        let mut config = self.of_node(0, false);
        config.assign("bind", Value::Texts(vec![Box::from(*b"127.0.0.1")]));
        for name in ["cluster-topology", "cluster-announce-ip"] {
            config.assign(name, Value::Text(Box::default()));
        }
        config.assign("cluster-announce-port", Value::Integer(0));
        config.file.clear();
        config.on_values_changed();
        config
    }

    /// Makes it that of a cluster of so many nodes.
    pub(crate) fn set_nodes(&mut self, nodes: usize) {
        let nodes = i64::try_from(nodes).unwrap_or(i64::MAX);
        self.assign("nodes", Value::Integer(nodes));
        self.assign("cluster-enabled", Value::YesNo(true));
        self.on_values_changed();
    }

    /// Makes it that of a cluster whose primaries have so many replicas each.
    pub(crate) fn set_replicas(&mut self, replicas: usize) {
        let replicas = i64::try_from(replicas).unwrap_or(i64::MAX);
        self.assign("replicas", Value::Integer(replicas));
        self.assign("cluster-enabled", Value::YesNo(true));
        self.on_values_changed();
    }

    /// Lets it listen on no address.
    pub(crate) fn listen_nowhere(&mut self) {
        self.assign("bind", Value::Texts(Vec::new()));
        self.on_values_changed();
    }

    /// Makes it that of a test double.
    pub(crate) fn of_double(mut self) -> Self {
        self.assign("testdouble", Value::YesNo(true));
        self.on_values_changed();
        self
    }

    /// Lets the clock of a test double stand still at first, at these milliseconds since 1970.
    pub(crate) fn freeze_at(&mut self, unix_ms: u64) {
        let clock = format!("frozen:{}", unix_ms.min(WALL_MAX_MS));
        self.assign("clock", Value::Text(clock.into_bytes().into()));
        self.on_values_changed();
    }

    /// Lets chance start from here.
    pub(crate) fn set_seed(&mut self, seed: u32) {
        self.assign("seed", Value::Integer(seed.into()));
        self.on_values_changed();
    }

    fn assign(&mut self, name: &str, value: Value) {
        let name = self
            .table
            .find(name.as_bytes())
            .expect("the table has this row");
        self.values[name.row] = value;
    }
}

/// Two are equal if every directive shows the same and commands go by the same names, wherever that
/// was said.
impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        let values = self.values.iter().zip(&other.values);
        let mut differing = values.filter(|(one, other)| one != other);
        differing.all(|(one, other)| one.shown() == other.shown()) && self.renames == other.renames
    }
}

impl Default for Config {
    fn default() -> Self {
        let table = Table::new();
        let values: Vec<Value> = table.rows().iter().map(|row| default_value(row)).collect();
        let settings = Settings::read(&table, &values);
        Self {
            table,
            values,
            settings,
            trust: Trust::No,
            renames: Vec::new(),
            file: String::new(),
        }
    }
}

fn default_value(directive: &Directive) -> Value {
    if matches!(directive.kind, Kind::Directory) {
        return working_directory();
    }
    let none = Value::Text(Box::default());
    let words = if directive.kind.is_list() {
        split_words(directive.default.as_bytes()).unwrap_or_default()
    } else {
        vec![directive.default.as_bytes().to_vec()]
    };
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let value = directive.kind.parse(directive.name, &words, &none);
    value.unwrap_or_else(|problem| panic!("default of {}: {problem}", directive.name))
}
