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
    /// What was found lately, each at the place that [`ShortName::place`] gives it: clients ask for few commands over
    /// and over.
    found: [Cell<Option<(ShortName, &'static Spec)>>; PLACES],
}

type Names = HashMap<Box<[u8]>, &'static Spec, foldhash::fast::FixedState>;

/// A name that is not longer than most are: its first bytes, its last ones, which may be among those, and how many there
/// are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct ShortName(u64, u64, usize);

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
            has_double,
            ..Self::default()
        }
    }

    /// Finds the command, or subcommand, that a request names, in any case.
    pub(crate) fn look_up(&self, request: Request<'_>) -> Lookup {
        let name = request.get(0).unwrap_or_default();
        let short = ShortName::of(name);
        let place = short.map(|short| (&self.found[short.place()], short));
        if let Some((place, short)) = place
            && let Some((found, spec)) = place.get()
            && found == short
        {
            return Lookup::Found(spec);
        }
        let Some(spec) = self.find(name) else {
            return Lookup::Unknown;
        };
        if spec.subcommands.is_empty() {
            if let Some((place, short)) = place {
                place.set(Some((short, spec)));
            }
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

impl ShortName {
    #[inline]
    fn of(name: &[u8]) -> Option<Self> {
        let eight = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let four = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
        let (first, last) = match name.len() {
            8..=16 => (eight(name.first_chunk()?), eight(name.last_chunk()?)),
            4..8 => (four(name.first_chunk()?), four(name.last_chunk()?)),
            1..4 => {
                let (first, middle) = (name[0], name[name.len() / 2]);
                let first = u16::from_le_bytes([first, middle]);
                (first.into(), name[name.len() - 1].into())
            }
            _ => return None,
        };
        Some(Self(first, last, name.len()))
    }

    /// Where what was found by this name is kept.
    #[inline]
    fn place(self) -> usize {
        let mixed = (self.0 ^ self.1.rotate_left(1)).wrapping_mul(MIXER);
        usize::from(mixed.to_be_bytes()[0]) % PLACES
    }
}

/// 2 to the 64 by the golden ratio, odd, so that all bits of a name reach the upper ones.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;
/// How many commands are kept that were found lately, at most.
const PLACES: usize = 16;

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
    fn every_name_is_found_again_and_again_and_no_other() {
        let table = CommandTable::default();
        let names = COMMANDS.iter().filter(|spec| spec.subcommands.is_empty());
        for _ in 0..2 {
            for spec in names.clone() {
                assert_eq!(finds(&table, &[spec.name]), Some(spec.name));
                for at in 0..spec.name.len() {
                    let mut other = spec.name.as_bytes().to_vec();
                    other[at] = b'.';
                    let other = String::from_utf8(other).unwrap();
                    assert_eq!(finds(&table, &[&other]), None, "{other}");
                    assert_eq!(finds(&table, &[spec.name]), Some(spec.name));
                }
            }
        }
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
