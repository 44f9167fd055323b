//! A cursor over a command's arguments.

use tailrace_protocol::Request;
use tailrace_protocol::number::parse_i64;
use tailrace_storage::StreamId;

use crate::error::CommandError;

/// The arguments that a handler has not read yet. Reading past the end is a syntax error.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    request: Request<'a>,
    at: usize,
}

impl<'a> Args<'a> {
    /// A cursor that stands at argument `at` of `request`; the name is argument 0.
    pub(crate) fn new(request: Request<'a>, at: usize) -> Self {
        Self { request, at }
    }

    /// How many arguments are left.
    pub(crate) fn len(&self) -> usize {
        self.request.len().saturating_sub(self.at)
    }

    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole request, what was read included.
    pub(crate) fn request(&self) -> Request<'a> {
        self.request
    }

    /// The next argument, which stays.
    pub(crate) fn peek(&self) -> Option<&'a [u8]> {
        self.request.get(self.at)
    }

    /// The next argument.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], CommandError> {
        let Some(bytes) = self.request.get(self.at) else {
            return Err(CommandError::Syntax);
        };
        self.at += 1;
        Ok(bytes)
    }

    /// The next argument as a signed 64-bit number.
    pub(crate) fn integer(&mut self) -> Result<i64, CommandError> {
        parse_i64(self.bytes()?).ok_or(CommandError::NotAnInteger)
    }

    /// The next argument as a signed 64-bit number, or `error`.
    pub(crate) fn integer_or(&mut self, error: CommandError) -> Result<i64, CommandError> {
        parse_i64(self.bytes()?).ok_or(error)
    }

    /// The next argument as an entry ID; a missing sequence is 0.
    pub(crate) fn id(&mut self) -> Result<StreamId, CommandError> {
        StreamId::parse(self.bytes()?, 0).map_err(|_| CommandError::InvalidId)
    }

    /// All that is left as entry IDs, as [`Self::id`] reads one.
    pub(crate) fn ids(self) -> Result<Vec<StreamId>, CommandError> {
        let mut ids = Vec::with_capacity(self.len());
        for text in self.rest() {
            ids.push(StreamId::parse(text, 0).map_err(|_| CommandError::InvalidId)?);
        }
        Ok(ids)
    }

    /// Takes the next argument if it is this keyword, in any case.
    pub(crate) fn keyword(&mut self, word: &str) -> bool {
        let found = self.peek().is_some_and(|bytes| is_word(bytes, word));
        if found {
            self.at += 1;
        }
        found
    }

    /// As [`Self::keyword`], but only if at least `following` arguments come behind the word;
    /// where the reference leaves an option without its value to be a syntax error.
    pub(crate) fn keyword_with(&mut self, word: &str, following: usize) -> bool {
        self.len() > following && self.keyword(word)
    }

    /// Everything that is left, which may be nothing.
    pub(crate) fn rest(self) -> Request<'a> {
        self.request.skip(self.at)
    }

    /// Insists that nothing is left.
    pub(crate) fn end(self) -> Result<(), CommandError> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(CommandError::Syntax)
        }
    }
}

impl<'a> Iterator for Args<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.bytes().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl ExactSizeIterator for Args<'_> {}

/// As much of an argument as the reference takes where it treats it as a C string: up to a zero byte.
pub(crate) fn text(arg: &[u8]) -> &[u8] {
    arg.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// Whether an argument is this keyword, in any case, as the reference compares C strings: what follows
/// a zero byte does not matter.
pub(crate) fn is_word(arg: &[u8], word: &str) -> bool {
    let Some((start, rest)) = arg.split_at_checked(word.len()) else {
        return false;
    };
    let is_same = |(byte, of_word): (&u8, &u8)| {
        // Most write words in one case or the other, and letters differ in one bit.
        byte == of_word || (byte ^ of_word == CASE_BIT && of_word.is_ascii_alphabetic())
    };
    start.iter().zip(word.as_bytes()).all(is_same) && rest.first().is_none_or(|&byte| byte == 0)
}

/// The bit that tells a small letter from a capital.
const CASE_BIT: u8 = 0x20;
