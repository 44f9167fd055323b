//! What was asked of a test double that no server here does.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::condition::text;
use super::spaces::Spaces;

/// How often commands were asked for, by name.
#[derive(Default)]
pub(crate) struct NameCounts(BTreeMap<Vec<u8>, u64>);

impl NameCounts {
    /// Counts one, unless there are too many names.
    pub(crate) fn count(&mut self, name: &[u8]) {
        let name = name.to_ascii_lowercase();
        if self.0.len() < NAMES_MAX || self.0.contains_key(&name) {
            *self.0.entry(name).or_default() += 1;
        }
    }

    /// The names in lower case, and how often each.
    pub(crate) const fn counts(&self) -> &BTreeMap<Vec<u8>, u64> {
        &self.0
    }
}

/// The commands that were asked for and that there are not: of a server that is a test double, of all nodes and of all
/// spaces beside it. It can be looked at when all has ended.
pub struct Unsupported {
    spaces: Option<Arc<Spaces>>,
}

impl Unsupported {
    pub(crate) const fn of(spaces: Option<Arc<Spaces>>) -> Self {
        Self { spaces }
    }

    /// How often each was asked for, by name in lower case.
    pub fn counts(&self) -> BTreeMap<Vec<u8>, u64> {
        let spaces = self.spaces.as_ref();
        spaces.map_or_else(BTreeMap::new, |spaces| spaces.unsupported())
    }
}

impl fmt::Display for Unsupported {
    /// The names and how often, with commas between.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts();
        let names: Vec<_> = counts
            .iter()
            .map(|(name, count)| format!("{} ({count})", text(name)))
            .collect();
        f.write_str(&names.join(", "))
    }
}

/// How many names are kept.
const NAMES_MAX: usize = 1_000;
