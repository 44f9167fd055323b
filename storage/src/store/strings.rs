//! Operations on strings.

use crate::compat::Compat;
use crate::event::Event;
use crate::fields::Part;
use crate::keyspace::RecordIndex;
use crate::store::Store;
use crate::strings::StringValue;
use crate::time::UnixMillis;
use crate::value::{Value, ValueKind, WrongType};

/// How a string is set.
#[derive(Clone, Copy, Debug, Default)]
pub struct SetOptions<'a> {
    /// What must hold before.
    pub condition: SetCondition<'a>,
    /// What becomes of the deadline.
    pub expiry: SetExpiry,
}

/// What must hold for a string to be set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SetCondition<'a> {
    /// Nothing.
    #[default]
    Always,
    /// The key is not there (NX).
    Missing,
    /// The key is there (XX).
    Exists,
    /// The key is there and holds these bytes (IFEQ).
    Equals(&'a [u8]),
}

/// What becomes of the deadline of a string that is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SetExpiry {
    /// It is taken away.
    #[default]
    Clear,
    /// It stays (KEEPTTL).
    Keep,
    /// It is set. If it is not in the future, Valkey only removes the key instead.
    At(UnixMillis),
    /// It is set, even to the past, as MSETEX does.
    AtEvenIfPast(UnixMillis),
}

/// What became of a string that was to be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOutcome {
    /// The condition did not hold.
    Refused,
    /// It was set, or would have been had its deadline been in the future.
    Done,
}

/// Why a string cannot be extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringError {
    /// The key holds something else.
    WrongType,
    /// It would be longer than [`Settings::string_bytes_max`](crate::Settings).
    TooLong,
}

/// Why a number cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncrementError {
    /// The key holds something else.
    WrongType,
    /// The string is not a 64-bit number.
    NotAnInteger,
    /// The sum is not a 64-bit number.
    Overflow,
}

impl From<WrongType> for StringError {
    fn from(WrongType: WrongType) -> Self {
        Self::WrongType
    }
}

impl From<WrongType> for IncrementError {
    fn from(WrongType: WrongType) -> Self {
        Self::WrongType
    }
}

impl Store {
    /// Sets a string if the condition holds, over whatever is there.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if a string was to be compared with and the key holds something else.
    pub fn set(
        &mut self,
        db: usize,
        key: &[u8],
        value: &[u8],
        options: SetOptions<'_>,
    ) -> Result<SetOutcome, WrongType> {
        let found = self.locate(db, key);
        if !self.condition_holds(db, found, options.condition)? {
            return Ok(SetOutcome::Refused);
        }
        if let SetExpiry::At(deadline) = options.expiry
            && self.is_past(deadline)
            && self.settings.compat == Compat::Valkey
        {
            if let Some(at) = found {
                self.remove_past(db, at);
            }
            return Ok(SetOutcome::Done);
        }

        let value = self.string_value(value);
        let replaced = self.kind_at(db, found);
        let at = self.put(db, key, found, value);
        self.record_replaced(db, key, replaced, ValueKind::String);
        match options.expiry {
            SetExpiry::Keep => self.changes.record(db, key, Event::Set),
            SetExpiry::Clear => {
                self.set_deadline(db, at, None);
                self.changes.record(db, key, Event::Set);
            }
            SetExpiry::At(deadline) | SetExpiry::AtEvenIfPast(deadline) => {
                self.set_deadline(db, at, Some(deadline));
                self.changes.record(db, key, Event::Set);
                self.changes.record(db, key, Event::Expire);
                self.changes.count_as_part();
            }
        }
        Ok(SetOutcome::Done)
    }

    /// Adds a string under a key that is not there yet (DEBUG POPULATE), and returns whether it did. Nobody is
    /// notified of it but that the key is new.
    pub fn populate(&mut self, db: usize, key: &[u8], value: &[u8]) -> bool {
        let is_missing = self.locate(db, key).is_none();
        if is_missing {
            self.create(db, key, Value::String(StringValue::from_bytes(value)));
            self.changes.record(db, key, Event::Populated);
        }
        is_missing
    }

    /// Deletes a string if it holds these bytes (DELIFEQ), and returns whether it did.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if the key holds something else.
    pub fn remove_if_equal(
        &mut self,
        db: usize,
        key: &[u8],
        expected: &[u8],
    ) -> Result<bool, WrongType> {
        let found = self.locate(db, key);
        if !self.condition_holds(db, found, SetCondition::Equals(expected))? {
            return Ok(false);
        }
        Ok(self.remove(db, key))
    }

    /// Appends to a string, or sets it if the key is not there, and returns its length.
    ///
    /// # Errors
    ///
    /// - [`StringError::WrongType`] if the key holds something else.
    /// - [`StringError::TooLong`] if a string that is there would grow beyond the bound.
    pub fn append_string(
        &mut self,
        db: usize,
        key: &[u8],
        bytes: &[u8],
    ) -> Result<usize, StringError> {
        let len = match self.locate(db, key) {
            Some(at) => {
                let len = self.string_at(db, at)?.len();
                self.check_len(len, bytes.len())?;
                self.update_string(db, at, |string| string.append(bytes))
            }
            None => {
                let value = self.string_value(bytes);
                self.create(db, key, value);
                bytes.len()
            }
        };
        self.changes.record(db, key, Event::Append);
        Ok(len)
    }

    /// Overwrites a part of a string, which is filled up with zeros if it is too short, and returns its length.
    ///
    /// No bytes change nothing and create nothing.
    ///
    /// # Errors
    ///
    /// - [`StringError::WrongType`] if the key holds something else.
    /// - [`StringError::TooLong`] if what is written would end beyond the bound.
    pub fn set_range(
        &mut self,
        db: usize,
        key: &[u8],
        offset: usize,
        bytes: &[u8],
    ) -> Result<usize, StringError> {
        let found = self.locate(db, key);
        let len = match found {
            Some(at) => self.string_at(db, at)?.len(),
            None => 0,
        };
        if bytes.is_empty() {
            return Ok(len);
        }
        self.check_len(offset, bytes.len())?;
        let at = match found {
            Some(at) => at,
            None => self.create(db, key, Value::String(StringValue::zeros(0))),
        };
        let len = self.update_string(db, at, |string| string.set_range(offset, bytes));
        self.changes.record(db, key, Event::Setrange);
        Ok(len)
    }

    /// Adds to a number; a missing key counts as zero. Returns the sum.
    ///
    /// # Errors
    ///
    /// - [`IncrementError::WrongType`] if the key holds something else.
    /// - [`IncrementError::NotAnInteger`] if the string is not a 64-bit number.
    /// - [`IncrementError::Overflow`] if the sum is not a 64-bit number.
    pub fn increment(&mut self, db: usize, key: &[u8], by: i64) -> Result<i64, IncrementError> {
        let found = self.locate(db, key);
        let current = match found {
            None => 0,
            Some(at) => {
                let number = self.string_at(db, at)?.to_integer();
                number.ok_or(IncrementError::NotAnInteger)?
            }
        };
        let sum = current.checked_add(by).ok_or(IncrementError::Overflow)?;
        let value = Value::String(StringValue::from_integer(sum));
        self.put(db, key, found, value);
        self.changes.record(db, key, Event::Incrby);
        Ok(sum)
    }

    /// Replaces a number by what `compute` makes of it; a missing key counts as zero. Returns the new one.
    ///
    /// How a fraction is read and written is the caller's business, as it is a matter of how clients write it.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if the key holds something else, or what `compute` returns.
    pub fn increment_with<E: From<WrongType>>(
        &mut self,
        db: usize,
        key: &[u8],
        compute: impl FnOnce(Part<'_>) -> Result<Vec<u8>, E>,
    ) -> Result<(), E> {
        let found = self.locate(db, key);
        let current = match found {
            None => Part::Int(0),
            Some(at) => self.string_at(db, at)?.part(),
        };
        let text = compute(current)?;
        let value = Value::String(StringValue::from_text(&text));
        self.put(db, key, found, value);
        self.changes.record(db, key, Event::Incrbyfloat);
        Ok(())
    }

    /// Keeps what a client gave to be set.
    fn string_value(&self, bytes: &[u8]) -> Value {
        Value::String(if self.keeps_texts {
            StringValue::from_text(bytes)
        } else {
            StringValue::from_bytes(bytes)
        })
    }

    fn condition_holds(
        &self,
        db: usize,
        found: Option<RecordIndex>,
        condition: SetCondition<'_>,
    ) -> Result<bool, WrongType> {
        Ok(match (condition, found) {
            (SetCondition::Always, _) => true,
            (SetCondition::Missing, found) => found.is_none(),
            (SetCondition::Exists, found) => found.is_some(),
            (SetCondition::Equals(_), None) => false,
            (SetCondition::Equals(expected), Some(at)) => *self.string_at(db, at)? == *expected,
        })
    }

    pub(super) fn string_at(&self, db: usize, at: RecordIndex) -> Result<&StringValue, WrongType> {
        self.keyspaces[db].record(at).value().as_string()
    }

    pub(super) fn update_string<R>(
        &mut self,
        db: usize,
        at: RecordIndex,
        change: impl FnOnce(&mut StringValue) -> R,
    ) -> R {
        self.keyspaces[db].update(at, |value| match value {
            Value::String(string) => change(string),
            Value::Stream(_) => unreachable!("the type was checked"),
        })
    }

    fn check_len(&self, len: usize, additional: usize) -> Result<(), StringError> {
        match len.checked_add(additional) {
            Some(total) if total <= self.settings.string_bytes_max => Ok(()),
            _ => Err(StringError::TooLong),
        }
    }
}
