//! The scripts that are known, by their digests.

use std::collections::BTreeMap;
use std::collections::HashMap;

use super::shebang::ScriptFlags;

/// The SHA-1 of a script's text in lower-case hexadecimal digits.
pub(crate) type Sha = [u8; SHA_LEN];

/// How long a digest is.
pub(crate) const SHA_LEN: usize = 40;

/// A script that was compiled. The interpreter has what came of it.
pub(super) struct Script {
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
    scripts: HashMap<Sha, Script>,
    turns: BTreeMap<u64, Sha>,
    last_turn: u64,
    text_bytes: usize,
    evicted: u64,
}

impl Cache {
    /// The script of this digest.
    pub(super) fn get(&self, sha: &Sha) -> Option<&Script> {
        self.scripts.get(sha)
    }

    /// Adds a script. One that came with its call may go again: the one that was not used for
    /// longest, once there are too many. Gives the one that has to.
    pub(super) fn insert(
        &mut self,
        sha: Sha,
        text: &[u8],
        flags: ScriptFlags,
        stays: bool,
    ) -> Option<Sha> {
        let is_full = self.turns.len() >= PASSING_MAX;
        let gone = (is_full && !stays).then(|| self.evict()).flatten();
        let turn = (!stays).then(|| self.next_turn(sha));
        self.text_bytes += text.len();
        let text = text.into();
        let script = Script { text, flags, turn };
        self.scripts.insert(sha, script);
        gone
    }

    /// Lets a script stay.
    pub(super) fn keep(&mut self, sha: &Sha) {
        let script = self.scripts.get_mut(sha);
        if let Some(turn) = script.and_then(|script| script.turn.take()) {
            self.turns.remove(&turn);
        }
    }

    /// A script was used.
    pub(super) fn touch(&mut self, sha: &Sha) {
        let Some(old) = self.scripts.get(sha).and_then(|script| script.turn) else {
            return;
        };
        self.turns.remove(&old);
        let turn = self.next_turn(*sha);
        if let Some(script) = self.scripts.get_mut(sha) {
            script.turn = Some(turn);
        }
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
        self.text_bytes + self.len() * size_of::<(Sha, Script)>() + self.turns.len() * SHA_LEN
    }

    /// How many had to go.
    pub(super) fn evicted(&self) -> u64 {
        self.evicted
    }

    fn next_turn(&mut self, sha: Sha) -> u64 {
        self.last_turn += 1;
        self.turns.insert(self.last_turn, sha);
        self.last_turn
    }

    fn evict(&mut self) -> Option<Sha> {
        let (_, sha) = self.turns.pop_first()?;
        if let Some(script) = self.scripts.remove(&sha) {
            self.text_bytes -= script.text.len();
        }
        self.evicted += 1;
        Some(sha)
    }
}

/// So many scripts that came with their calls are kept, as in the reference.
const PASSING_MAX: usize = 500;
