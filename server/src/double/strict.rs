//! What was asked of a test double that no server here does.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::condition::text;
use crate::engine::Engine;

/// The commands that were asked for and that there are not. It can be looked at when all servers have ended.
pub struct Unsupported {
    engines: Vec<Arc<Engine>>,
}

impl Unsupported {
    pub(crate) const fn of(engines: Vec<Arc<Engine>>) -> Self {
        Self { engines }
    }

    /// How often each was asked for, by name in lower case. Servers that are no test doubles keep nothing.
    pub fn counts(&self) -> BTreeMap<Vec<u8>, u64> {
        let mut counts = BTreeMap::new();
        for engine in &self.engines {
            engine.with(|state, _| {
                let double = state.double.as_ref();
                let own = double
                    .into_iter()
                    .flat_map(|double| double.calls.unsupported());
                for (name, count) in own {
                    *counts.entry(name.clone()).or_default() += count;
                }
            });
        }
        counts
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
