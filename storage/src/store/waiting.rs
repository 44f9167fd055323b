//! What readers that wait need to know of a key, and what their attempts leave behind.

use crate::change::Event;
use crate::store::Store;
use crate::stream::Stream;
use crate::value::Value;

impl Store {
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

    /// Notes that the readers that wait for a group were looked at now and not all were served.
    pub fn note_attempt(&mut self, db: usize, key: &[u8], group: &[u8]) {
        let now = self.now;
        self.with_waited_for(db, key, |stream| {
            // A group that is gone has nobody to note it of.
            let _ = stream.note_attempt(group, now);
        });
    }

    /// Notes that a consumer waits no longer.
    pub fn end_wait(&mut self, db: usize, key: &[u8], group: &[u8], consumer: &[u8]) {
        self.with_waited_for(db, key, |stream| {
            let _ = stream.end_wait(group, consumer);
        });
    }

    /// Creates a consumer that waits and was deleted meanwhile, as an attempt on its behalf does.
    pub fn revive_consumer(&mut self, db: usize, key: &[u8], group: &[u8], consumer: &[u8]) {
        let now = self.now;
        let mut created = false;
        self.with_waited_for(db, key, |stream| {
            created = stream.create_consumer(group, consumer, now) == Ok(true);
        });
        if created {
            self.changes.record(db, key, Event::XgroupCreateconsumer);
        }
    }

    fn with_waited_for(&mut self, db: usize, key: &[u8], act: impl FnOnce(&mut Stream)) {
        let keyspace = &mut self.keyspaces[db];
        if let Some(at) = keyspace.find(key) {
            keyspace.update(at, |value| {
                if let Value::Stream(stream) = value {
                    act(stream);
                }
            });
        }
    }
}
