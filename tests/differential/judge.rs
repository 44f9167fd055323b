//! Compares what two servers replied.

use std::collections::BTreeMap;

use tailrace_tests::Value;

use super::allowed;
use super::allowed::Facts;
use super::allowed::Pair;
use super::clock;
use super::clock::Ids;
use super::clock::Place;
use super::grammar::Words;
use super::talk::Exchange;
use super::talk::is;
use super::texts;

/// The number of the first exchange that differs in a way that is not allowed.
pub(super) fn first_difference(reference: &[Exchange], tailrace: &[Exchange]) -> Option<usize> {
    let mut judge = Judge::default();
    // Before all else: what was held back is seen before its own reply comes.
    for (reference, tailrace) in reference.iter().zip(tailrace) {
        judge.ids.note_made(reference, tailrace);
    }
    let pairs = reference.iter().zip(tailrace);
    let differing = pairs
        .into_iter()
        .position(|(reference, tailrace)| !judge.are_same(reference, tailrace));
    let shorter = reference.len().min(tailrace.len());
    differing.or_else(|| (reference.len() != tailrace.len()).then(|| shorter.saturating_sub(1)))
}

#[derive(Default)]
struct Judge {
    ids: Ids,
    facts: Facts,
    /// Keys were to expire soon.
    has_expired: bool,
    /// What each client has queued since MULTI.
    queued: BTreeMap<usize, Vec<Words>>,
}

impl Judge {
    fn are_same(&mut self, reference: &Exchange, tailrace: &Exchange) -> bool {
        let words = &reference.words;
        self.facts.has_trimmed_by_id |=
            words.iter().any(|word| word.eq_ignore_ascii_case(b"MINID"));
        let is_deadline = |word: &Vec<u8>| [&b"PX"[..], b"PXAT", b"EXAT"].contains(&&word[..]);
        self.has_expired |= is(words, 0, "PEXPIRE") || words.iter().any(is_deadline);
        let is_met = ["SCAN", "RANDOMKEY", "KEYS", "BITOP"]
            .iter()
            .any(|name| is(words, 0, name));
        self.facts.has_met_expired |= self.has_expired && (is_met || is(words, 0, "EXEC"));
        self.facts.has_flushed_scripts |= is(words, 0, "SCRIPT") && is(words, 1, "FLUSH");
        self.facts.has_waited |= words.iter().any(|word| word == b"BLOCK" || word == b"WAIT");
        self.facts.has_ids_of_clock |=
            is(words, 0, "XADD") && words.iter().any(|word| word == b"*");
        self.ids.note_said(words, &tailrace.words);
        let mut one = allowed::in_order(words, &reference.replies);
        for reply in &mut one {
            Ids::translate(reply, words, &tailrace.words);
        }
        let mut two = allowed::in_order(words, &tailrace.replies);
        for replies in [&mut one, &mut two] {
            replies.retain(|reply| allowed::is_compared(reply, self.facts));
        }
        let are_same = reference.client == tailrace.client
            && reference.words.len() == tailrace.words.len()
            && reference.is_late == tailrace.is_late
            && reference.ending == tailrace.ending
            && one.len() == two.len()
            && one
                .iter()
                .zip(&two)
                .all(|(one, two)| self.is_same_reply(reference.client, words, one, two));
        self.note_queued(reference);
        are_same
    }

    fn is_same_reply(
        &mut self,
        client: usize,
        words: &Words,
        reference: &Value,
        tailrace: &Value,
    ) -> bool {
        let queued = match self.queued.get(&client) {
            Some(queued) if is(words, 0, "EXEC") => queued.clone(),
            _ => return self.is_same(words, Place::default(), reference, tailrace),
        };
        if self.is_same(words, Place::default(), reference, tailrace) {
            return true;
        }
        // A command with several replies, as SUBSCRIBE is, moves those behind it out of their places.
        let mut is_any = |at: usize, one: &Value, two: &Value| {
            let own = queued.get(at).into_iter().chain(&queued);
            let mut own = own.filter(|command| !command.is_empty());
            own.any(|command| self.is_same(command, Place::default(), one, two))
        };
        if is_any(0, reference, tailrace) {
            return true;
        }
        let (Value::Array(one), Value::Array(two)) = (reference, tailrace) else {
            return false;
        };
        let mut pairs = one.iter().zip(two).enumerate();
        one.len() == two.len() && pairs.all(|(at, (one, two))| is_any(at, one, two))
    }

    fn note_queued(&mut self, exchange: &Exchange) {
        let queued = self.queued.entry(exchange.client).or_default();
        if exchange.replies.last() == Some(&Value::Simple(b"QUEUED".to_vec())) {
            queued.push(exchange.words.clone());
        } else if is(&exchange.words, 0, "MULTI") && exchange.words.len() == 1 {
            // One inside of another is refused, and then nothing is executed.
            queued.clear();
        }
    }

    fn is_same(
        &mut self,
        command: &Words,
        place: Place<'_>,
        reference: &Value,
        tailrace: &Value,
    ) -> bool {
        let is_same = match (reference, tailrace) {
            (Value::Array(one), Value::Array(two))
            | (Value::Map(one), Value::Map(two))
            | (Value::Set(one), Value::Set(two))
            | (Value::Push(one), Value::Push(two)) => {
                // Of a few that are logged, more or fewer may be those that ask how clients are.
                let is_cut = is_log(command) && !is(command, 2, "-1") && place.depth == 0;
                (is_cut || one.len() == two.len())
                    && self.are_all_same(command, place.depth, one, two)
            }
            (Value::Integer(one), Value::Integer(two)) => {
                let tolerance = clock::tolerance(command, place).unwrap_or(0);
                clock::is_same_time(*one, *two, tolerance)
            }
            (Value::Bulk(one), Value::Bulk(two)) => {
                one == two
                    || self.ids.are_same(command, one, two)
                    || (is_log(command) && self.ids.were_said(one, two))
            }
            (Value::Simple(_), Value::Simple(_)) => {
                let said = texts::monitored(reference).zip(texts::monitored(tailrace));
                reference == tailrace
                    || said.is_some_and(|(one, two)| self.ids.say_the_same(one, two))
            }
            _ => reference == tailrace,
        };
        let pair = Pair {
            command,
            field: place.field,
            reference,
            tailrace,
            facts: self.facts,
        };
        is_same || allowed::reason(&pair).is_some()
    }

    fn are_all_same(
        &mut self,
        command: &Words,
        depth: usize,
        reference: &[Value],
        tailrace: &[Value],
    ) -> bool {
        let pairs = reference.iter().zip(tailrace).enumerate();
        pairs.into_iter().all(|(at, (one, two))| {
            // In RESP2 pairs are as flat as lists are; a name that is none does no harm.
            let field = match at % 2 {
                1 => reference[at - 1].text(),
                _ => b"",
            };
            let place = Place {
                field,
                of: reference.len(),
                at,
                depth: depth + 1,
            };
            self.is_same(command, place, one, two)
        })
    }
}

/// Whether a command shows what others were.
fn is_log(command: &Words) -> bool {
    is(command, 1, "GET") && (is(command, 0, "SLOWLOG") || is(command, 0, "COMMANDLOG"))
}

/// What is allowed to differ is allowed where it belongs and nowhere else.
#[test]
fn a_time_may_be_off_and_a_count_may_not() {
    let id = || Value::Bulk(b"1-1".to_vec());
    let pending = |idle, deliveries| {
        let parts = vec![id(), id(), Value::Integer(idle), Value::Integer(deliveries)];
        Value::Array(vec![Value::Array(parts)])
    };
    let cases = [
        ("XPENDING s g - + 1", pending(3, 1), pending(5, 1), true),
        (
            "XPENDING s g - + 1",
            pending(3, 1),
            pending(3_600_000, 1),
            false,
        ),
        ("XPENDING s g - + 1", pending(3, 1), pending(3, 2), false),
        ("XLEN s", Value::Integer(3), Value::Integer(4), false),
        ("PTTL s", Value::Integer(9_000), Value::Integer(8_999), true),
        ("PTTL s", Value::Integer(-1), Value::Integer(-2), false),
        ("GET k", Value::Nil, Value::NilArray, false),
        ("GET k", Value::Nil, Value::Null, false),
        ("GET k", id(), Value::Simple(b"1-1".to_vec()), false),
    ];
    for (command, reference, tailrace, are_same) in cases {
        let exchange = |reply: &Value| Exchange {
            client: 0,
            words: command
                .split(' ')
                .map(|word| word.as_bytes().to_vec())
                .collect(),
            is_late: false,
            replies: vec![reply.clone()],
            ending: None,
        };
        let found = first_difference(&[exchange(&reference)], &[exchange(&tailrace)]);
        assert_eq!(
            found.is_none(),
            are_same,
            "{command}: {reference} and {tailrace}"
        );
    }
}
