//! How many nodes the reference's radix tree has.
//!
//! It keeps a stream's nodes under their first IDs, as keys of sixteen bytes. It has a node for each key's end, one for
//! each place where keys part, and one for each run of bytes without a choice between those.

use crate::id::StreamId;

/// Counts the nodes of the tree with these keys, which ascend. Takes time in proportion to their number.
pub(crate) fn node_count(mut keys: impl Iterator<Item = StreamId>) -> usize {
    let Some(mut previous) = keys.next().map(to_bits) else {
        return 1;
    };
    let mut count = 0;
    let mut path = Path::default();
    for key in keys {
        let key = to_bits(key);
        let shared_bytes = (previous ^ key).leading_zeros() / 8;
        count += path.leave(shared_bytes + 1);
        previous = key;
    }
    count + path.leave(ROOT)
}

fn to_bits(id: StreamId) -> u128 {
    (u128::from(id.ms) << 64) | u128::from(id.seq)
}

/// The places where keys part, on the way to the last key seen.
///
/// A place below `n` bytes has level `n + 1`; level 0 stands for what is above the tree.
struct Path {
    levels: u32,
}

impl Default for Path {
    fn default() -> Self {
        Self { levels: 1 << ROOT }
    }
}

impl Path {
    /// Counts the nodes that nothing is added to any more, since the next key parts from the last one at `level`.
    fn leave(&mut self, level: u32) -> usize {
        let mut count = nodes_at(LEAF, self.deepest().max(level));
        while self.deepest() > level {
            let place = self.deepest();
            self.levels ^= 1 << place;
            count += nodes_at(place, self.deepest().max(level));
        }
        self.levels |= 1 << level;
        count
    }

    const fn deepest(&self) -> u32 {
        self.levels.ilog2()
    }
}

/// Counts a node and the run of bytes that leads to it, if there is one. The first byte below a place belongs to it.
fn nodes_at(level: u32, parent: u32) -> usize {
    if level > parent + 1 { 2 } else { 1 }
}

const ROOT: u32 = 0;
const LEAF: u32 = 17;

#[cfg(test)]
mod tests {
    use super::*;

    fn count(ids: &[(u64, u64)]) -> usize {
        node_count(ids.iter().map(|&(ms, seq)| StreamId::new(ms, seq)))
    }

    #[test]
    fn a_tree_without_keys_has_its_root() {
        assert_eq!(count(&[]), 1);
    }

    #[test]
    fn one_key_is_a_run_and_an_end() {
        assert_eq!(count(&[(1, 1)]), 2);
    }

    #[test]
    fn keys_that_part_early_have_runs_of_their_own() {
        // The root parts at once; each side has a run and an end.
        assert_eq!(count(&[(1, 1), (1 << 63, 1)]), 5);
        // A shared run, the parting, and per key a run and an end.
        assert_eq!(count(&[(1, 1), (2, 1)]), 6);
        // They part in the last byte: nothing is left for a run below.
        assert_eq!(count(&[(1, 1), (1, 2), (1, 3)]), 5);
    }

    #[test]
    fn places_below_each_other_are_kept_apart() {
        // Part in byte 7, then one side in byte 15, then in byte 15 again below another.
        assert_eq!(
            count(&[(1, 1), (1, 2), (2, 1), (2, 2)]),
            1 + 1 + 2 * (1 + 1 + 2)
        );
    }
}
