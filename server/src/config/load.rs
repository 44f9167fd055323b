//! Reading the configuration at start: files, standard input and the command line, in that order.
//!
//! The last word on a directive counts, so whether Tailrace can keep what it says is judged at the
//! end: a file may say `save 60 1` if the command line says `--save ''`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;
use std::rc::Rc;

use tailrace_storage::Case;
use tailrace_storage::glob_matches;

use super::Config;
use super::Rename;
use super::error::ConfigError;
use super::error::Origin;
use super::get::has_wildcard;
use super::kind::Kind;
use super::kind::system_message;
use super::start_clock::StartClock;
use super::table::Name;
use super::table::RETIRED;
use super::value::Value;
use super::words::split_words;
use crate::command_table::CommandTable;

/// Fills in a configuration.
pub(crate) struct Loader {
    config: Config,
    /// Where each row that was set got its value, in the order in which they were set last.
    assigned: Vec<(usize, Origin)>,
    /// How many files are being read, each from within the one before.
    depth: usize,
}

impl Loader {
    /// Starts from a configuration, which lines and options then change.
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config,
            assigned: Vec::new(),
            depth: 0,
        }
    }

    /// Reads the file that the process was started with.
    pub(crate) fn main_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.config.file = absolute.display().to_string();
        self.file(path, &Origin::CommandLine)
    }

    /// Reads the lines of `text`; `origin` says where the line with a given number is.
    pub(crate) fn text(
        &mut self,
        text: &[u8],
        origin: impl Fn(usize) -> Origin,
    ) -> Result<(), ConfigError> {
        for (line, number) in text.split(|byte| *byte == b'\n').zip(1..) {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let origin = origin(number);
            let words = split_words(line).map_err(|_| {
                let name = line
                    .split(u8::is_ascii_whitespace)
                    .next()
                    .unwrap_or_default();
                ConfigError::new(&origin, name, "unbalanced quotes; close every quote")
            })?;
            self.directive(&words, &origin)?;
        }
        Ok(())
    }

    /// Takes one directive: its name and its words.
    pub(crate) fn directive(
        &mut self,
        words: &[Vec<u8>],
        origin: &Origin,
    ) -> Result<(), ConfigError> {
        let Some((name, words)) = words.split_first() else {
            return Ok(());
        };
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        if let Some(found) = self.config.table.find(name) {
            return self.assign(found, &words, origin);
        }
        let error = |problem: &str| Err(ConfigError::new(origin, name, problem));
        match (name.to_ascii_lowercase().as_slice(), words.as_slice()) {
            (b"include", [pattern]) => self.include(pattern, origin),
            (b"rename-command", [from, to]) => self.rename(from, to, origin),
            (b"include" | b"rename-command", _) => error("wrong number of arguments"),
            (b"user", _) => {
                error("there are no users but the default one; remove it and use 'requirepass'")
            }
            (b"loadmodule", _) => error("modules cannot be loaded; remove it"),
            (b"sentinel", _) => error("there is no sentinel mode; remove it"),
            (retired, [_]) if RETIRED.iter().any(|name| name.as_bytes() == retired) => Ok(()),
            _ => error("unknown option; correct its name or remove it"),
        }
    }

    /// Checks that Tailrace does what was asked for, and hands the configuration over.
    pub(crate) fn finish(mut self) -> Result<Config, ConfigError> {
        for (row, origin) in &self.assigned {
            let directive = self.config.table.rows()[*row];
            if let Some(refusal) = directive.effect.refusal(&self.config.values[*row].shown()) {
                return Err(ConfigError::new(
                    origin,
                    directive.name.as_bytes(),
                    &refusal,
                ));
            }
        }
        self.config.on_values_changed();
        self.check_double()?;
        self.imply();
        Ok(self.config)
    }

    /// Refuses what only a test double does where there is none.
    fn check_double(&self) -> Result<(), ConfigError> {
        let settings = &self.config.settings;
        for (name, is_asked) in [
            ("clock", settings.clock != StartClock::Real),
            ("faults", !settings.faults.is_empty()),
            ("strict", settings.strict),
            // However much.
            ("calls-memory", true),
        ] {
            if is_asked && !settings.testdouble {
                let row = self
                    .config
                    .table
                    .find(name.as_bytes())
                    .map(|found| found.row);
                let assigned = self.assigned.iter().find(|(at, _)| Some(*at) == row);
                let Some((_, origin)) = assigned else {
                    continue;
                };
                let problem = "this is for a test double; add testdouble, or remove it";
                return Err(ConfigError::new(origin, name.as_bytes(), problem));
            }
        }
        Ok(())
    }

    /// What follows from what was said: several nodes are a cluster, and each can use a core.
    fn imply(&mut self) {
        let cluster = &self.config.settings.cluster;
        let nodes = cluster.nodes;
        if nodes == 1 && cluster.replicas == 0 && cluster.topology.is_empty() {
            return;
        }
        self.config.assign("cluster-enabled", Value::YesNo(true));
        let threads = self.config.table.find(b"threads");
        let is_chosen =
            threads.is_some_and(|threads| self.assigned.iter().any(|(row, _)| *row == threads.row));
        if !is_chosen {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let threads = i64::try_from(nodes.min(cores)).unwrap_or(1);
            self.config.assign("threads", Value::Integer(threads));
        }
        self.config.on_values_changed();
    }

    fn assign(&mut self, name: Name, words: &[&[u8]], origin: &Origin) -> Result<(), ConfigError> {
        let error = |problem: &str| ConfigError::new(origin, name.text.as_bytes(), problem);
        let directive = self.config.table.rows()[name.row];
        if !directive.kind.is_list() && words.len() != 1 {
            return Err(error("wrong number of arguments"));
        }
        let split = match words {
            [list] if directive.kind.is_list() && !list.is_empty() => {
                split_words(list).map_err(|_| error("unbalanced quotes; close every quote"))?
            }
            _ => words.iter().map(|word| word.to_vec()).collect(),
        };
        let words: Vec<&[u8]> = split.iter().map(Vec::as_slice).collect();
        let current = &self.config.values[name.row];
        let value = directive.kind.parse(directive.name, &words, current);
        let value = value.map_err(|problem| match directive.kind {
            Kind::Directory => error(&format!("{problem}; name a directory that exists")),
            _ => error(&problem),
        })?;
        self.config.values[name.row] = self.accumulated(name.row, directive.kind, value);
        self.assigned.retain(|(row, _)| *row != name.row);
        self.assigned.push((name.row, origin.clone()));
        Ok(())
    }

    /// Points of `save` add up from line to line, until one says that there are none.
    fn accumulated(&self, row: usize, kind: Kind, value: Value) -> Value {
        match (kind, &self.config.values[row], value) {
            (Kind::SavePoints, Value::Integers(before), Value::Integers(more))
                if !more.is_empty() && self.assigned.iter().any(|(other, _)| *other == row) =>
            {
                Value::Integers([before.as_slice(), &more].concat())
            }
            (_, _, value) => value,
        }
    }

    /// Renames a command. One that there is not may be taken away all the same, so that a file which
    /// hides the dangerous ones of the reference works.
    fn rename(&mut self, from: &[u8], to: &[u8], origin: &Origin) -> Result<(), ConfigError> {
        let names = CommandTable::new(&self.config.renames, false);
        if !to.is_empty() && names.find(to).is_some() {
            let problem = "there is a command of the new name already; rename that one first";
            return Err(ConfigError::new(origin, b"rename-command", problem));
        }
        let rename = Rename {
            from: from.to_ascii_lowercase().into(),
            to: to.into(),
        };
        self.config.renames.push(rename);
        Ok(())
    }

    /// Reads every file that a pattern matches, by name; without wildcards the file must be there.
    fn include(&mut self, pattern: &[u8], origin: &Origin) -> Result<(), ConfigError> {
        let path = self.directory().join(OsStr::from_bytes(pattern));
        if !has_wildcard(pattern) {
            return self.file(&path, origin);
        }
        for path in Self::matching(&path, origin)? {
            self.file(&path, origin)?;
        }
        Ok(())
    }

    fn matching(pattern: &Path, origin: &Origin) -> Result<Vec<PathBuf>, ConfigError> {
        let (Some(directory), Some(pattern)) = (pattern.parent(), pattern.file_name()) else {
            return Ok(Vec::new());
        };
        if has_wildcard(directory.as_os_str().as_bytes()) {
            let problem = "wildcards work in the name of the file only; name its directory";
            return Err(ConfigError::new(origin, b"include", problem));
        }
        let Ok(entries) = fs::read_dir(directory) else {
            return Ok(Vec::new());
        };
        let pattern = pattern.as_bytes();
        let is_match = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().as_bytes();
            name.starts_with(b".") == pattern.starts_with(b".")
                && glob_matches(pattern, name, Case::Sensitive)
        };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut paths: Vec<PathBuf> = paths.filter(is_match).collect();
        paths.sort();
        Ok(paths)
    }

    fn file(&mut self, path: &Path, origin: &Origin) -> Result<(), ConfigError> {
        let shown = path.as_os_str().as_bytes();
        if self.depth == INCLUDE_DEPTH_MAX {
            return Err(ConfigError::new(
                origin,
                shown,
                "files include each other in a circle",
            ));
        }
        let text = fs::read(path).map_err(|error| {
            let problem = format!(
                "can't open config file: {}; check its path",
                system_message(&error)
            );
            ConfigError::new(origin, shown, &problem)
        })?;
        let path: Rc<Path> = path.into();
        self.depth += 1;
        self.text(&text, |line| Origin::File(Rc::clone(&path), line))?;
        self.depth -= 1;
        Ok(())
    }

    /// Where relative paths start at this point of the configuration.
    fn directory(&self) -> PathBuf {
        let name = self.config.table.find(b"dir");
        let text = name.map(|name| self.config.values[name.row].shown());
        PathBuf::from(OsStr::from_bytes(&text.unwrap_or_default()))
    }
}

/// How deep files may include files: far more than anybody needs, far less than the stack allows.
const INCLUDE_DEPTH_MAX: usize = 16;
