//! What the engine asks of a key that readers wait for.

use crate::store::Store;
use crate::value::Value;

impl Store {
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
