//! Appends numbers, strings and times to a payload, in the shortest form that the reference writes.

use super::reader::INT_8;
use super::reader::INT_16;
use super::reader::INT_32;
use crate::fields::Part;
use crate::fields::canonical_integer;
use crate::id::StreamId;
use crate::integer::Digits;

/// A payload that grows. Strings are not packed.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn number(&mut self, number: u64) {
        if let Ok(wide) = u32::try_from(number) {
            match wide.to_be_bytes() {
                [0, 0, 0, low] if low < 0x40 => self.bytes.push(low),
                [0, 0, high, low] if high < 0x40 => {
                    self.bytes.extend_from_slice(&[0x40 | high, low]);
                }
                wide => {
                    self.bytes.push(0x80);
                    self.bytes.extend_from_slice(&wide);
                }
            }
        } else {
            self.bytes.push(0x81);
            self.bytes.extend_from_slice(&number.to_be_bytes());
        }
    }

    pub(super) fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    /// Appends a string. Digits become a number if few bytes hold it.
    pub(super) fn string(&mut self, text: &[u8]) {
        match canonical_integer(text) {
            Some(number) => self.part(Part::Int(number)),
            None => self.part(Part::Bytes(text)),
        }
    }

    pub(super) fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Bytes(text) => self.text(text),
            Part::Int(number) => {
                if !self.narrow_integer(number) {
                    self.text(Digits::default().write(number));
                }
            }
        }
    }

    /// Appends an ID as two numbers.
    pub(super) fn id(&mut self, id: StreamId) {
        self.number(id.ms);
        self.number(id.seq);
    }

    /// Appends an ID as it is kept in the reference's trees.
    pub(super) fn raw_id(&mut self, id: StreamId) {
        self.bytes.extend_from_slice(&id.ms.to_be_bytes());
        self.bytes.extend_from_slice(&id.seq.to_be_bytes());
    }

    /// Appends a point in time, or what stands for none.
    pub(super) fn time(&mut self, time: Option<u64>) {
        let millis = time.map_or(-1, u64::cast_signed);
        self.bytes.extend_from_slice(&millis.to_le_bytes());
    }

    fn narrow_integer(&mut self, number: i64) -> bool {
        if let Ok(number) = i8::try_from(number) {
            self.special(INT_8, &number.to_le_bytes());
        } else if let Ok(number) = i16::try_from(number) {
            self.special(INT_16, &number.to_le_bytes());
        } else if let Ok(number) = i32::try_from(number) {
            self.special(INT_32, &number.to_le_bytes());
        } else {
            return false;
        }
        true
    }

    fn special(&mut self, kind: u8, bytes: &[u8]) {
        self.bytes.push(0xc0 | kind);
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends bytes as they are.
    pub(super) fn text(&mut self, text: &[u8]) {
        self.count(text.len());
        self.bytes.extend_from_slice(text);
    }
}
