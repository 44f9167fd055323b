//! The scripts that are known, by their digests and by their texts.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::hash::BuildHasher;

use super::shebang::ScriptFlags;

/// The SHA-1 of a script's text in lower-case hexadecimal digits.
pub(crate) type Sha = [u8; SHA_LEN];

/// How long a digest is.
pub(crate) const SHA_LEN: usize = 40;

/// Where a script is kept, here and in the interpreter. It is the same until the script goes.
pub(crate) type Slot = usize;

/// A script that was compiled. The interpreter has what came of it.
pub(super) struct Script {
    pub(super) sha: Sha,
    pub(super) text: Box<[u8]>,
    pub(super) flags: ScriptFlags,
    /// When it was used last; `None` for one that was loaded to stay.
    turn: Option<u64>,
}

/// All of them.
///
/// Invariant: a script is in `turns` if and only if it may go, under its turn.
#[derive(Default)]
pub(super) struct Cache {
    /// By slot. There are no gaps, since only a new one takes the place of another.
    scripts: Vec<Script>,
    by_sha: HashMap<Sha, Slot, Hasher>,
    /// By the hash of the text. Of two texts with the same hash one has to do without.
    by_text: HashMap<u64, Slot, Hasher>,
    turns: BTreeMap<u64, Slot>,
    last_turn: u64,
    text_bytes: usize,
    evicted: u64,
}

impl Cache {
    /// The script in this slot.
    pub(super) fn get(&self, slot: Slot) -> Option<&Script> {
        self.scripts.get(slot)
    }

    /// The slot of the script with this digest, whose letters may be upper-case.
    pub(super) fn find(&self, digest: &[u8]) -> Option<Slot> {
        let mut sha: Sha = digest.try_into().ok()?;
        let slot = self.by_sha.get(&sha).copied();
        slot.or_else(|| {
            sha.make_ascii_lowercase();
            self.by_sha.get(&sha).copied()
        })
    }

    /// The slot of the script with this text, if that is found without its digest.
    pub(super) fn find_text(&self, text: &[u8]) -> Option<Slot> {
        let slot = *self.by_text.get(&hash_of(text))?;
        (*self.scripts[slot].text == *text).then_some(slot)
    }

    /// Adds a script, and gives its slot. One that came with its call may go again: the one that was not
    /// used for longest, in whose slot the new one is then, once there are too many.
    pub(super) fn insert(
        &mut self,
        sha: Sha,
        text: &[u8],
        flags: ScriptFlags,
        stays: bool,
    ) -> Slot {
        let is_full = self.turns.len() >= PASSING_MAX;
        let free = (is_full && !stays).then(|| self.evict()).flatten();
        let slot = free.unwrap_or(self.scripts.len());
        let script = Script {
            sha,
            text: text.into(),
            flags,
            turn: (!stays).then(|| self.next_turn(slot)),
        };
        match self.scripts.get_mut(slot) {
            Some(old) => *old = script,
            None => self.scripts.push(script),
        }
        self.text_bytes += text.len();
        self.by_sha.insert(sha, slot);
        self.by_text.insert(hash_of(text), slot);
        slot
    }

    /// Lets a script stay.
    pub(super) fn keep(&mut self, slot: Slot) {
        let script = self.scripts.get_mut(slot);
        if let Some(turn) = script.and_then(|script| script.turn.take()) {
            self.turns.remove(&turn);
        }
    }

    /// A script was used.
    pub(super) fn touch(&mut self, slot: Slot) {
        let Some(old) = self.scripts.get(slot).and_then(|script| script.turn) else {
            return;
        };
        if old == self.last_turn {
            return;
        }
        self.turns.remove(&old);
        let turn = self.next_turn(slot);
        self.scripts[slot].turn = Some(turn);
    }

    /// Forgets all scripts, but not how many had to go.
    pub(super) fn clear(&mut self) {
        *self = Self {
            evicted: self.evicted,
            ..Self::default()
        };
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.scripts.len()
    }

    /// What they take beside what Lua keeps of them.
    pub(super) fn bytes(&self) -> usize {
        let of_each = size_of::<Script>() + size_of::<(Sha, Slot)>() + size_of::<(u64, Slot)>();
        let of_turns = self.turns.len() * size_of::<(u64, Slot)>();
        self.text_bytes + self.len() * of_each + of_turns
    }

    /// How many had to go.
    pub(super) fn evicted(&self) -> u64 {
        self.evicted
    }

    fn next_turn(&mut self, slot: Slot) -> u64 {
        self.last_turn += 1;
        self.turns.insert(self.last_turn, slot);
        self.last_turn
    }

    /// Forgets the script that was not used for longest, and gives its slot, which is to be filled.
    fn evict(&mut self) -> Option<Slot> {
        let (_, slot) = self.turns.pop_first()?;
        let script = &self.scripts[slot];
        self.text_bytes -= script.text.len();
        self.by_sha.remove(&script.sha);
        let hash = hash_of(&script.text);
        if self.by_text.get(&hash) == Some(&slot) {
            self.by_text.remove(&hash);
        }
        self.evicted += 1;
        Some(slot)
    }
}

type Hasher = foldhash::fast::FixedState;

fn hash_of(text: &[u8]) -> u64 {
    Hasher::default().hash_one(text)
}

/// So many scripts that came with their calls are kept, as in the reference.
const PASSING_MAX: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(cache: &mut Cache, number: u32, stays: bool) -> Slot {
        let text = format!("return {number}");
        cache.insert(sha(number), text.as_bytes(), ScriptFlags::default(), stays)
    }

    fn sha(number: u32) -> Sha {
        let digits = format!("{number:040}");
        digits.into_bytes().try_into().unwrap()
    }

    #[test]
    fn a_script_is_found_by_digest_and_text_until_another_has_its_slot() {
        let mut cache = Cache::default();
        let kept = insert(&mut cache, 0, true);
        let first = insert(&mut cache, 1, false);
        for number in 2..=500 {
            insert(&mut cache, number, false);
        }
        assert_eq!(cache.find_text(b"return 1"), Some(first));
        let bytes = cache.bytes();
        let last = insert(&mut cache, 501, false);

        assert_eq!(last, first);
        assert_eq!(cache.find_text(b"return 1"), None);
        assert_eq!(cache.find(&sha(1)), None);
        assert_eq!(cache.find_text(b"return 501"), Some(last));
        assert_eq!(cache.find(&sha(501)), Some(last));
        assert_eq!(cache.find(&sha(0)), Some(kept));
        assert_eq!((cache.len(), cache.evicted()), (PASSING_MAX + 1, 1));
        assert_eq!(cache.bytes(), bytes + "501".len() - "1".len());
    }

    #[test]
    fn the_one_that_was_not_used_for_longest_goes() {
        let mut cache = Cache::default();
        for number in 0..500 {
            insert(&mut cache, number, false);
        }
        cache.touch(0);
        cache.keep(1);
        insert(&mut cache, 500, false);
        assert_eq!(cache.evicted(), 0, "one of them stays now");
        insert(&mut cache, 501, false);
        assert!(cache.find(&sha(0)).is_some());
        assert!(cache.find(&sha(2)).is_none());
    }
}
