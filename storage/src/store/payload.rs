//! Values that leave as payloads, and come as such.

use crate::compat::Compat;
use crate::event::Event;
use crate::rdb::{PayloadRules, RestoreError, Versions};
use crate::store::Store;
use crate::stream::Stream;
use crate::time::{Millis, UnixMillis};
use crate::value::{Value, ValueKind};

/// How a value that comes from elsewhere becomes a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestoreOptions {
    /// Until when the key lives.
    pub deadline: Option<UnixMillis>,
    /// For how long nobody has accessed it.
    pub idle: Millis,
    /// Whether it takes the place of what is there.
    pub replace: bool,
}

/// There is a key, and it was not to be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyExists;

impl Store {
    /// Writes what a key holds as a payload, as [`Store::read`] sees it.
    pub fn payload(&mut self, db: usize, key: &[u8]) -> Option<Vec<u8>> {
        self.read(db, key).map(Value::to_payload)
    }

    /// Makes a value of a payload, whose version is to be among these.
    ///
    /// # Errors
    ///
    /// Those of [`Value::from_payload`].
    pub fn value_of(&mut self, payload: &[u8], versions: Versions) -> Result<Value, RestoreError> {
        let rules = PayloadRules {
            versions,
            string_bytes_max: self.settings.string_bytes_max,
            packs: self.settings.node_limits.packs,
        };
        let mut nodes = 0;
        let value = Value::from_payload_counted(payload, rules, &mut nodes);
        if self.settings.compat == Compat::Valkey {
            // Redis trusts them, unless it is told otherwise.
            self.stats.payload_nodes += nodes;
        }
        value
    }

    /// Looks whether a key may be restored.
    ///
    /// # Errors
    ///
    /// [`KeyExists`] if there is one that is not to be replaced.
    pub fn check_restorable(
        &mut self,
        db: usize,
        key: &[u8],
        replace: bool,
    ) -> Result<(), KeyExists> {
        // Valkey looks only if it must, so that a key that is due is replaced without having expired.
        let looks = !replace || self.settings.compat == Compat::Redis;
        if looks && self.locate(db, key).is_some() && !replace {
            return Err(KeyExists);
        }
        Ok(())
    }

    /// Puts a value under a key. With a deadline in the past, it only takes away what was there.
    ///
    /// # Errors
    ///
    /// [`KeyExists`] if there is a key that is not to be replaced.
    pub fn restore(
        &mut self,
        db: usize,
        key: &[u8],
        value: Value,
        options: RestoreOptions,
    ) -> Result<(), KeyExists> {
        self.check_restorable(db, key, options.replace)?;
        let kind = value.kind();
        let replaced = self.remove_replaced(db, key);
        if options.deadline.is_some_and(|at| self.is_past(at)) {
            if replaced.is_some() {
                self.changes.record(db, key, Event::Del);
            }
            if self.settings.compat == Compat::Redis {
                self.stats.expired += 1;
            }
            return Ok(());
        }
        let at = self.create_until(db, key, value, options.deadline);
        let accessed_at = self.now().saturating_sub(options.idle);
        self.keyspaces[db].touch(at, accessed_at);
        let has_closed = self.keyspaces[db].update(at, |value| {
            let stream = value.as_stream_mut();
            stream.is_ok_and(Stream::take_closed)
        });
        if has_closed {
            self.unpacked.on_closed(db, at, self.now());
        }
        self.changes.record(db, key, Event::Restore);
        self.record_replaced(db, key, replaced, kind);
        Ok(())
    }

    /// Takes away what is under a key, were it due, and returns its type.
    fn remove_replaced(&mut self, db: usize, key: &[u8]) -> Option<ValueKind> {
        let found = self.keyspaces[db].find(key);
        let kind = self.kind_at(db, found);
        self.remove_overwritten(db, key, found);
        kind
    }
}
