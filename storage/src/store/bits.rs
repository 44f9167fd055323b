//! Operations on the bits of strings.

use crate::bits::{BitField, BitFieldOperation, BitOperation, replace_bit};
use crate::event::Event;
use crate::integer::Digits;
use crate::store::Store;
use crate::strings::StringValue;
use crate::value::{Value, ValueKind, WrongType};

impl Store {
    /// Sets or clears a bit of a string, which is filled up with zeros if it is too short. Returns what the bit was.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if the key holds something else.
    pub fn set_bit(
        &mut self,
        db: usize,
        key: &[u8],
        position: usize,
        bit: bool,
    ) -> Result<bool, WrongType> {
        let (was, changed) = self.update_bits(db, key, position / 8 + 1, |bytes, has_grown| {
            let was = replace_bit(bytes, position, bit);
            (was, has_grown || was != bit)
        })?;
        if changed {
            self.changes.record(db, key, Event::Setbit);
        }
        Ok(was)
    }

    /// Applies operations to numbers among the bits of a string, which is filled up with zeros to the end of the
    /// last one that is written. Returns the results.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if the key holds something else.
    pub fn update_bit_fields(
        &mut self,
        db: usize,
        key: &[u8],
        operations: &[(BitField, BitFieldOperation)],
    ) -> Result<Vec<Option<i64>>, WrongType> {
        let written = operations
            .iter()
            .filter(|(_, operation)| operation.writes());
        let Some(last) = written.map(|(field, _)| field.last()).max() else {
            return self.read_bit_fields(db, key, operations);
        };
        let len_min = usize::try_from(last / 8 + 1).expect("a string of this length is possible");
        let (results, changes) = self.update_bits(db, key, len_min, |bytes, has_grown| {
            let mut changes = 0_u64;
            let mut results = Vec::with_capacity(operations.len());
            for (field, operation) in operations {
                let (result, differs) = if operation.writes() {
                    field.apply(*operation, bytes)
                } else {
                    (Some(field.read(bytes)), false)
                };
                results.push(result);
                // What failed has not changed anything, even if the string has grown for it.
                let is_written = operation.writes() && result.is_some();
                changes += u64::from(differs || (has_grown && is_written));
            }
            (results, changes)
        })?;
        if changes > 0 {
            self.changes.record(db, key, Event::Setbit);
            self.changes.count_more(changes - 1);
        }
        Ok(results)
    }

    /// Combines strings bit by bit, puts the result under `target`, and returns its length. Nothing but missing and
    /// empty strings remove the target instead.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if one of the keys holds something else.
    pub fn combine_bits<'a>(
        &mut self,
        db: usize,
        operation: BitOperation,
        target: &[u8],
        keys: impl Iterator<Item = &'a [u8]>,
    ) -> Result<usize, WrongType> {
        let mut result = Vec::new();
        for (index, key) in keys.enumerate() {
            let mut digits = Digits::default();
            let found = self.string(db, key)?;
            let bytes = found.map_or(&[][..], |string| string.bytes_with(&mut digits));
            if index == 0 && operation != BitOperation::Not {
                result = bytes.to_vec();
            } else {
                operation.combine(&mut result, bytes);
            }
        }
        let len = result.len();
        if len == 0 {
            // Without a look at its deadline, as in the reference: one that is due is deleted, too.
            if let Some(at) = self.keyspaces[db].find(target) {
                self.keyspaces[db].remove(at);
                self.changes.record(db, target, Event::Del);
            }
            return Ok(0);
        }
        let found = self.locate(db, target);
        let replaced = self.kind_at(db, found);
        let at = self.put(db, target, found, Value::String(StringValue::raw(result)));
        self.record_replaced(db, target, replaced, ValueKind::String);
        self.set_deadline(db, at, None);
        self.changes.record(db, target, Event::Set);
        Ok(len)
    }

    fn read_bit_fields(
        &mut self,
        db: usize,
        key: &[u8],
        operations: &[(BitField, BitFieldOperation)],
    ) -> Result<Vec<Option<i64>>, WrongType> {
        let mut digits = Digits::default();
        let found = self.string(db, key)?;
        let bytes = found.map_or(&[][..], |string| string.bytes_with(&mut digits));
        let results = operations.iter().map(|(field, _)| Some(field.read(bytes)));
        Ok(results.collect())
    }

    /// Gives the bytes of a string, at least so many, to `change`, and whether they had to be made.
    fn update_bits<R>(
        &mut self,
        db: usize,
        key: &[u8],
        len_min: usize,
        change: impl FnOnce(&mut [u8], bool) -> R,
    ) -> Result<R, WrongType> {
        let found = self.locate(db, key);
        if let Some(at) = found {
            self.string_at(db, at)?;
        }
        let at = match found {
            Some(at) => at,
            None => self.create(db, key, Value::String(StringValue::zeros(0))),
        };
        Ok(self.update_string(db, at, |string| {
            let (bytes, has_grown) = string.bytes_mut(len_min);
            change(bytes, has_grown)
        }))
    }
}
