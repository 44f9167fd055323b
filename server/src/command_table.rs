//! The commands as one server offers them: all of them, unless its configuration renames some.

use std::cell::Cell;
use std::collections::HashMap;

use tailrace_protocol::Request;

use crate::commands;
use crate::commands::COMMANDS;
use crate::config::Rename;
use crate::double;
use crate::spec::Spec;

/// Finds commands by the names that they have on this server.
#[derive(Debug, Default)]
pub struct CommandTable {
    /// Every command by its name in lower case; `None` while no command is renamed, so that the
    /// table which all servers share serves.
    renamed: Option<Box<Names>>,
    /// Whether there is the command of a test double, too, which is not listed.
    has_double: bool,
    /// What was found last: most commands follow another one of their kind.
    last: Cell<Option<(ShortName, &'static Spec)>>,
}

type Names = HashMap<Box<[u8]>, &'static Spec, foldhash::fast::FixedState>;

/// A name of at most eight bytes, and how many those are.
type ShortName = (u64, usize);

/// What is known of a name.
#[derive(Clone, Copy)]
pub(crate) enum Lookup {
    /// A command, or a subcommand of one.
    Found(&'static Spec),
    /// The container exists, the subcommand does not.
    UnknownSubcommand(&'static Spec),
    /// No such command.
    Unknown,
}

impl CommandTable {
    /// The table of a server on which these commands have other names, or none. Renamings apply in
    /// order; one that names no command of this server is left out.
    pub fn new(renames: &[Rename], has_double: bool) -> Self {
        if renames.is_empty() {
            return Self {
                has_double,
                ..Self::default()
            };
        }
        let own_name = |spec: &&'static Spec| (spec.name.as_bytes().into(), *spec);
        let mut names: Names = COMMANDS.iter().map(own_name).collect();
        for Rename { from, to } in renames {
            let Some(spec) = names.remove(from) else {
                continue;
            };
            if !to.is_empty() {
                names.insert(to.to_ascii_lowercase().into(), spec);
            }
        }
        Self {
            renamed: Some(Box::new(names)),
            last: Cell::default(),
            has_double,
        }
    }

    /// Finds the command, or subcommand, that a request names, in any case.
    pub(crate) fn look_up(&self, request: Request<'_>) -> Lookup {
        let name = request.get(0).unwrap_or_default();
        let short = short_name(name);
        if let (Some(short), Some((last, spec))) = (short, self.last.get())
            && last == short
        {
            return Lookup::Found(spec);
        }
        let Some(spec) = self.find(name) else {
            return Lookup::Unknown;
        };
        if spec.subcommands.is_empty() {
            self.last.set(short.map(|short| (short, spec)));
            return Lookup::Found(spec);
        }
        match request.get(1) {
            // Its arity says what is wrong.
            None => Lookup::Found(spec),
            Some(name) => spec
                .subcommand(name)
                .map_or(Lookup::UnknownSubcommand(spec), Lookup::Found),
        }
    }

    /// The command of this name, in any case.
    pub fn find(&self, name: &[u8]) -> Option<&'static Spec> {
        let found = match &self.renamed {
            None => commands::find(name),
            Some(names) => names.get(&*name.to_ascii_lowercase()).copied(),
        };
        match found {
            None if self.has_double => double::commands::find(name),
            found => found,
        }
    }

    /// The command of this name, or the subcommand, as in `xgroup|create`.
    pub fn find_full(&self, name: &[u8]) -> Option<&'static Spec> {
        let mut parts = name.split(|&byte| byte == b'|');
        let spec = self.find(parts.next().unwrap_or_default())?;
        match (parts.next(), parts.next()) {
            (None, _) => Some(spec),
            (Some(name), None) => spec.subcommand(name),
            (Some(_), Some(_)) => None,
        }
    }

    /// Every command that can be called, ordered by its own name.
    pub fn all(&self) -> Vec<&'static Spec> {
        let mut specs: Vec<&'static Spec> = match &self.renamed {
            None => COMMANDS.to_vec(),
            Some(names) => names.values().copied().collect(),
        };
        specs.sort_unstable_by_key(|spec| spec.name);
        specs
    }
}

fn short_name(name: &[u8]) -> Option<ShortName> {
    let add = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
    (name.len() <= 8).then(|| (name.iter().fold(0, add), name.len()))
}

#[cfg(test)]
mod tests {
    use tailrace_protocol::OwnedRequest;

    use super::CommandTable;
    use super::Lookup;
    use crate::commands::COMMANDS;
    use crate::config::Rename;

    fn renamed(pairs: &[(&str, &str)]) -> CommandTable {
        let renames: Vec<Rename> = pairs
            .iter()
            .map(|(from, to)| Rename {
                from: from.as_bytes().into(),
                to: to.as_bytes().into(),
            })
            .collect();
        CommandTable::new(&renames, false)
    }

    fn finds(table: &CommandTable, words: &[&str]) -> Option<&'static str> {
        let request: OwnedRequest = words.iter().collect();
        match table.look_up(request.as_request()) {
            Lookup::Found(spec) => Some(spec.name),
            Lookup::UnknownSubcommand(_) | Lookup::Unknown => None,
        }
    }

    #[test]
    fn a_renamed_command_has_its_new_name_only() {
        let table = renamed(&[("xadd", "Attach"), ("ping", "")]);
        assert_eq!(finds(&table, &["ATTACH", "s"]), Some("xadd"));
        assert_eq!(finds(&table, &["xadd", "s"]), None);
        assert_eq!(finds(&table, &["ping"]), None);
        assert_eq!(finds(&table, &["Echo", "x"]), Some("echo"));
        assert_eq!(table.all().len(), COMMANDS.len() - 1);
    }

    #[test]
    fn what_was_found_last_is_not_taken_for_another() {
        let table = CommandTable::default();
        for words in [&["xadd"][..], &["xadd", "xlen"], &["XADD"]] {
            assert_eq!(finds(&table, words), Some("xadd"));
        }
        assert_eq!(finds(&table, &["\0xadd"]), None);
        assert_eq!(finds(&table, &["xlen"]), Some("xlen"));
        assert_eq!(finds(&table, &["xgroup", "create"]), Some("xgroup|create"));
        assert_eq!(finds(&table, &["xgroup", "xlen"]), None);
        assert_eq!(finds(&table, &["xlenxlenxlen"]), None);
    }

    #[test]
    fn names_can_be_swapped() {
        let table = renamed(&[("xadd", "tmp"), ("xlen", "xadd"), ("tmp", "xlen")]);
        assert_eq!(finds(&table, &["xadd"]), Some("xlen"));
        assert_eq!(finds(&table, &["xlen"]), Some("xadd"));
    }

    #[test]
    fn a_command_of_others_can_be_taken_away() {
        assert_eq!(finds(&renamed(&[("keyscan", "")]), &["xadd"]), Some("xadd"));
    }
}
