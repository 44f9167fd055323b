//! The table of directives, by theme, and the names that they are found by.
//!
//! A row says everything about a directive; nothing else needs to change for a new one, except
//! `settings.rs` if the server acts on it.

use std::sync::Arc;

use super::directive::Directive;

mod cluster;
mod memory;
mod network;
mod persistence;
mod process;
mod replication;
mod testdouble;
mod tls;

/// Every directive and every name. Cheap to clone.
#[derive(Clone)]
pub(super) struct Table {
    rows: Arc<[&'static Directive]>,
    /// Invariant: in byte order, each name once.
    names: Arc<[Name]>,
}

/// A name of a directive, which may be its older one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// The name, in lower case.
    pub(super) text: &'static str,
    /// Which row of the table it leads to.
    pub(super) row: usize,
}

impl Table {
    pub(super) fn new() -> Self {
        let rows: Arc<[&'static Directive]> = THEMES.iter().copied().flatten().collect();
        let name = |(row, text)| Name { text, row };
        let own = rows.iter().map(|directive| directive.name).enumerate();
        let aliases = rows.iter().map(|directive| directive.alias).enumerate();
        let aliases = aliases.filter(|(_, alias)| !alias.is_empty());
        let mut names: Vec<Name> = own.chain(aliases).map(name).collect();
        names.sort_unstable();
        Self {
            rows,
            names: names.into(),
        }
    }

    /// The rows, in the order of the numbers that names lead to.
    pub(super) fn rows(&self) -> &[&'static Directive] {
        &self.rows
    }

    /// The names, in byte order.
    pub(super) fn names(&self) -> &[Name] {
        &self.names
    }

    /// The name that `text` is, in whatever case.
    pub(super) fn find(&self, text: &[u8]) -> Option<Name> {
        let text = text.to_ascii_lowercase();
        let found = self
            .names
            .binary_search_by(|name| name.text.as_bytes().cmp(&text));
        found.ok().map(|index| self.names[index])
    }
}

/// What the reference once knew and now ignores, with any one value.
pub(super) const RETIRED: &[&str] = &[
    "dynamic-hz",
    "events-per-io-thread",
    "io-threads-do-reads",
    "list-max-ziplist-entries",
    "list-max-ziplist-value",
    "lua-replicate-commands",
    "sanitize-dump-payload",
];

const THEMES: &[&[Directive]] = &[
    network::ROWS,
    memory::ROWS,
    persistence::ROWS,
    replication::ROWS,
    cluster::ROWS,
    tls::ROWS,
    process::ROWS,
    testdouble::ROWS,
];

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn a_name_leads_to_one_row() {
        let table = Table::new();
        let is_twice = |pair: &[super::Name]| pair[0].text == pair[1].text;
        assert!(!table.names().windows(2).any(is_twice));
        for name in table.names() {
            assert_eq!(name.text, name.text.to_lowercase());
            let directive = table.rows()[name.row];
            assert!([directive.name, directive.alias].contains(&name.text));
        }
    }

    #[test]
    fn names_are_found_in_any_case() {
        let table = Table::new();
        let row = |text: &str| table.find(text.as_bytes()).map(|name| name.row);
        assert_eq!(row("SlaveOf"), row("replicaof"));
        assert!(row("replicaof").is_some());
        assert_eq!(row("no-such-option"), None);
        assert_eq!(row(""), None);
    }
}
