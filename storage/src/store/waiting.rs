//! What the engine asks of a key that readers wait for.

use crate::store::Store;
use crate::value::Value;

impl Store {
    /// Counts what so many readers of a group found who were not attempted, as there is nothing for them: each would
    /// have looked for its group first, and then for entries.
    pub fn count_spared_attempts(&mut self, readers: usize) {
        self.stats.hits += 2 * readers as u64;
    }

    /// Returns whether readers without a group are worth an attempt: only a stream has anything for them.
    #[must_use]
    pub fn may_serve_readers(&self, db: usize, key: &[u8]) -> bool {
        matches!(self.peek(db, key), Some(Value::Stream(_)))
    }

    /// Returns whether a reader of a group is worth an attempt: it may be given an entry, or it is to be told
    /// that its key or group is gone.
    #[must_use]
    pub fn may_serve_group(&self, db: usize, key: &[u8], group: &[u8]) -> bool {
        let Some(Value::Stream(stream)) = self.peek(db, key) else {
            return true;
        };
        stream
            .group(group)
            .is_none_or(|group| stream.has_undelivered(group))
    }
}
