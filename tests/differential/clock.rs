//! Values that the clock made: two servers never read the same one.

use std::collections::BTreeSet;

use tailrace_tests::Value;

use super::grammar::Words;
use super::script::SHORT;
use super::talk::Exchange;
use super::talk::is;

/// Where a value stands in a reply.
#[derive(Clone, Copy, Default)]
pub(super) struct Place<'a> {
    /// The name before it, if it is one of pairs.
    pub(super) field: &'a [u8],
    /// How many values its array has, and which of them it is.
    pub(super) of: usize,
    pub(super) at: usize,
    /// How many arrays and maps are around it.
    pub(super) depth: usize,
}

/// How far a time may be off, in its unit; `None` where the number is no time.
///
/// A time is as exact as the longest sequence is long on a busy host.
pub(super) fn tolerance(command: &Words, place: Place<'_>) -> Option<i64> {
    let is_one_of = |names: &[&str]| names.iter().any(|name| is(command, 0, name));
    if is_one_of(&["TTL", "EXPIRETIME"]) || (is(command, 0, "OBJECT") && is(command, 1, "IDLETIME"))
    {
        (place.depth == 0).then_some(TOLERANCE_MS / 1_000)
    } else if is_one_of(&["PTTL", "PEXPIRETIME"]) {
        (place.depth == 0).then_some(TOLERANCE_MS)
    } else if is(command, 0, "XPENDING") {
        (place.depth == 2 && place.of == 4 && place.at == 2).then_some(TOLERANCE_MS)
    } else if is(command, 0, "XINFO") {
        let times: [&[u8]; 4] = [b"idle", b"inactive", b"seen-time", b"active-time"];
        let is_delivery = place.depth > 2 && [(4, 2), (3, 1)].contains(&(place.of, place.at));
        (times.contains(&place.field) || is_delivery).then_some(TOLERANCE_MS)
    } else {
        None
    }
}

/// Whether two numbers that tell a time tell the same. Those below zero are no times but words.
pub(super) fn is_same_time(reference: i64, tailrace: i64, tolerance: i64) -> bool {
    reference == tailrace
        || (reference >= 0
            && tailrace >= 0
            && reference.abs_diff(tailrace) <= tolerance.unsigned_abs())
}

/// What the clock and the servers made, of the reference and of Tailrace: each pair is one symbol.
#[derive(Default)]
pub(super) struct Ids {
    /// Ids of entries, from the XADD on that made them.
    pairs: BTreeSet<(Vec<u8>, Vec<u8>)>,
    /// Words that were said in the same place.
    said: BTreeSet<(Vec<u8>, Vec<u8>)>,
}

impl Ids {
    /// Whether two texts, in replies to `command`, are ids made by the clock that mean the same entry.
    pub(super) fn are_same(&mut self, command: &Words, reference: &[u8], tailrace: &[u8]) -> bool {
        let (Some(one), Some(two)) = (made_at(reference), made_at(tailrace)) else {
            return false;
        };
        let pair = (reference.to_vec(), tailrace.to_vec());
        if is(command, 0, "XADD") {
            self.pairs.insert(pair);
            return one.abs_diff(two) <= TOLERANCE_MS.unsigned_abs();
        }
        self.pairs.contains(&pair)
    }

    /// Notes what the clock made in two exchanges.
    pub(super) fn note_made(&mut self, reference: &Exchange, tailrace: &Exchange) {
        if !makes(&reference.words) {
            return;
        }
        let made = |exchange: &Exchange| {
            let mut made = Vec::new();
            for reply in &exchange.replies {
                find_made(reply, &mut made);
            }
            made
        };
        let (one, two) = (made(reference), made(tailrace));
        if one.len() == two.len() {
            let pairs = one.into_iter().zip(two);
            self.pairs.extend(pairs.filter(|(one, two)| {
                let at = made_at(one).zip(made_at(two));
                at.is_some_and(|(one, two)| one.abs_diff(two) <= TOLERANCE_MS.unsigned_abs())
            }));
        }
    }

    /// Puts the words of Tailrace's command into an error that repeats those of the reference's.
    pub(super) fn translate(reply: &mut Value, reference: &Words, tailrace: &Words) {
        let Value::Error(text) = reply else {
            return;
        };
        for (one, two) in reference.iter().zip(tailrace) {
            if one != two
                && let Some(at) = find_word(text, one)
            {
                text.splice(at..at + one.len(), two.iter().copied());
            }
        }
    }

    /// Notes where two commands differ that mean the same.
    pub(super) fn note_said(&mut self, reference: &Words, tailrace: &Words) {
        let pairs = reference
            .iter()
            .zip(tailrace)
            .filter(|(one, two)| one != two);
        self.said
            .extend(pairs.map(|(one, two)| (one.clone(), two.clone())));
    }

    /// Whether two words of commands, as they are logged, mean the same.
    pub(super) fn were_said(&self, reference: &[u8], tailrace: &[u8]) -> bool {
        let pair = (reference.to_vec(), tailrace.to_vec());
        self.said.contains(&pair) || self.pairs.contains(&pair)
    }

    /// Whether two lines of MONITOR say the same but for such words.
    pub(super) fn say_the_same(&self, reference: &[u8], tailrace: &[u8]) -> bool {
        let words = |line: &[u8]| -> Vec<Vec<u8>> {
            let words = line.split(|byte| *byte == b' ');
            let unquoted = |word: &[u8]| {
                word.strip_prefix(b"\"")?
                    .strip_suffix(b"\"")
                    .map(<[u8]>::to_vec)
            };
            words
                .map(|word| unquoted(word).unwrap_or_else(|| word.to_vec()))
                .collect()
        };
        let (one, two) = (words(reference), words(tailrace));
        let mut pairs = one.iter().zip(&two);
        one.len() == two.len() && pairs.all(|(one, two)| one == two || self.were_said(one, two))
    }
}

/// Which of the ids that the clock made, for all streams, comes where in their order. Two servers make it alike unless
/// a millisecond began between two commands for one and not for the other; then they cannot be compared.
pub(super) fn ranks(exchanges: &[Exchange]) -> Vec<usize> {
    let mut made = Vec::new();
    let adding = exchanges.iter().filter(|exchange| makes(&exchange.words));
    for reply in adding.flat_map(|exchange| &exchange.replies) {
        find_made(reply, &mut made);
    }
    let order: BTreeSet<&Vec<u8>> = made.iter().collect();
    let rank = |id: &Vec<u8>| {
        order
            .iter()
            .position(|other| *other == id)
            .unwrap_or_default()
    };
    made.iter().map(rank).collect()
}

/// Whether two servers may answer differently by chance, each as it should:
///
/// - a key lives for a millisecond, so that one server meets its end between two commands and the other one later;
/// - two clients wait for a short time at once, and what one sends behind its wait comes before or after the other's
///   deadline;
/// - a flush tells the same client of several that redirect to it: the reference turns its list of clients round ten
///   times a second, and the messages follow that list.
pub(super) fn goes_by_chance(exchanges: &[Exchange]) -> bool {
    let count = |is_one: fn(&Words) -> bool| {
        let words = exchanges.iter().map(|exchange| &exchange.words);
        words.filter(|words| is_one(words)).count()
    };
    let flushes = count(|words| is(words, 0, "FLUSHALL") || is(words, 0, "FLUSHDB"));
    let redirections = count(|words| words.iter().any(|word| word == b"REDIRECT"));
    count(lives_shortly) > 0
        || count(|words| words.iter().any(|word| word == SHORT)) > 1
        || (flushes > 0 && redirections > 1)
}

fn lives_shortly(words: &Words) -> bool {
    let is_told = is(words, 0, "PEXPIRE") || is(words, 0, "SET") || is(words, 0, "GETEX");
    is_told && words.last().is_some_and(|word| word == b"1")
}

/// Whether the reply to a command may be an id that the clock made just now.
fn makes(command: &Words) -> bool {
    let names = ["XADD", "EXEC", "EVAL", "EVALSHA"];
    names.iter().any(|name| is(command, 0, name))
}

/// Adds the ids in a value that the clock made to the others, each as often as it is there.
pub(super) fn find_made(value: &Value, made: &mut Vec<Vec<u8>>) {
    match value {
        Value::Bulk(text) if made_at(text).is_some() => made.push(text.clone()),
        Value::Array(parts) | Value::Map(parts) => {
            for part in parts {
                find_made(part, made);
            }
        }
        _ => {}
    }
}

/// The time in an id that the clock made in this century. Sequences have no other ids of that size.
fn made_at(id: &[u8]) -> Option<u64> {
    let (ms, seq) = std::str::from_utf8(id).ok()?.split_once('-')?;
    seq.parse::<u64>().ok()?;
    let ms = ms.parse().ok()?;
    (1_600_000_000_000..4_000_000_000_000)
        .contains(&ms)
        .then_some(ms)
}

/// How far apart two servers may be.
pub(super) const TOLERANCE_MS: i64 = 10_000;

/// Where a word stands in a text, and not as a part of a longer number.
fn find_word(text: &[u8], word: &[u8]) -> Option<usize> {
    let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let found = text.windows(word.len()).enumerate();
    let mut places = found.filter(|(_, found)| *found == word).map(|(at, _)| at);
    places.find(|at| !(is_digit(at + word.len()) || *at > 0 && is_digit(at - 1)))
}
