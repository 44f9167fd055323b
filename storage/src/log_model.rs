//! The log against a model that is too simple to be wrong, and that knows the reference's nodes element by element.

use proptest::prelude::*;

use crate::fields::Part;
use crate::fields::Text;
use crate::id::StreamId;
use crate::log::Log;
use crate::node::NodeLimits;
use crate::trim::Trim;
use crate::trim::TrimLimit;

type Texts = Vec<Vec<u8>>;

#[derive(Clone, Debug)]
enum Op {
    Append {
        ms: u64,
        seq: u64,
        fields: Texts,
    },
    /// Deletes one of the entries that there are or were; the newest ones and all of a node more often than by chance.
    Delete {
        back: usize,
        count: usize,
    },
    Trim {
        max_len: bool,
        share: u64,
        approximate: bool,
        entries_max: u64,
    },
}

#[derive(Clone, Debug)]
struct ModelEntry {
    id: StreamId,
    fields: Texts,
    deleted: bool,
}

#[derive(Debug, Default)]
struct Model {
    nodes: Vec<Vec<ModelEntry>>,
    /// All that were ever deleted or trimmed.
    lost: Vec<StreamId>,
}

impl Model {
    fn append(&mut self, id: StreamId, fields: &Texts, limits: NodeLimits) {
        let text_bytes: usize = fields.iter().map(Vec::len).sum();
        let fits = self.nodes.last().is_some_and(|node| {
            (limits.bytes_max == 0 || listpack_bytes(node) + text_bytes < limits.bytes_max)
                && (limits.entries_max == 0 || node.len() < limits.entries_max)
        });
        if !fits {
            self.nodes.push(Vec::new());
        }
        let entry = ModelEntry {
            id,
            fields: fields.clone(),
            deleted: false,
        };
        self.nodes.last_mut().unwrap().push(entry);
    }

    fn delete(&mut self, id: StreamId) -> bool {
        let found = self.entries_mut().find(|entry| entry.id == id);
        let Some(entry) = found.filter(|entry| !entry.deleted) else {
            return false;
        };
        entry.deleted = true;
        self.lost.push(id);
        self.nodes
            .retain(|node| node.iter().any(|entry| !entry.deleted));
        true
    }

    fn trim(&mut self, trim: Trim) -> u64 {
        let mut removed = 0;
        while let Some(node) = self.nodes.first() {
            let ids: Vec<_> = live(node).map(|entry| entry.id).collect();
            let whole = match trim.limit {
                TrimLimit::MaxLen(len) if self.len() <= len => break,
                TrimLimit::MaxLen(len) => self.len() - ids.len() as u64 >= len,
                TrimLimit::MinId(min) => node.last().unwrap().id < min,
            };
            let beyond = trim.entries_max != 0 && removed + ids.len() as u64 > trim.entries_max;
            if trim.approximate && (beyond || !whole) {
                break;
            }
            let removed_before = removed;
            for id in ids {
                let goes = match trim.limit {
                    TrimLimit::MaxLen(len) => self.len() > len,
                    TrimLimit::MinId(min) => id < min,
                };
                if goes {
                    self.delete(id);
                    removed += 1;
                }
            }
            if removed == removed_before {
                break;
            }
        }
        removed
    }

    fn entries_mut(&mut self) -> impl Iterator<Item = &mut ModelEntry> {
        self.nodes.iter_mut().flatten()
    }

    fn live(&self) -> impl DoubleEndedIterator<Item = &ModelEntry> {
        self.nodes.iter().flat_map(|node| live(node))
    }

    fn len(&self) -> u64 {
        self.live().count() as u64
    }
}

fn live(node: &[ModelEntry]) -> impl DoubleEndedIterator<Item = &ModelEntry> {
    node.iter().filter(|entry| !entry.deleted)
}

/// Adds up the reference's encoding of a node: what its source says of `t_stream.c` and `listpack.c`.
fn listpack_bytes(node: &[ModelEntry]) -> usize {
    let integer = |number: i64| element(number.to_string().as_bytes());
    let count = |number: usize| integer(i64::try_from(number).unwrap());
    let names = |fields: &Texts| fields.iter().step_by(2).cloned().collect::<Texts>();
    let first = &node[0];
    let shared = names(&first.fields);
    let mut bytes = 7 + count(live(node).count()) + count(node.len() - live(node).count());
    bytes += count(shared.len()) + shared.iter().map(|name| element(name)).sum::<usize>() + 2;
    for ModelEntry { id, fields, .. } in node {
        bytes += 2
            + integer(id.ms.wrapping_sub(first.id.ms).cast_signed())
            + integer(id.seq.wrapping_sub(first.id.seq).cast_signed());
        let pairs = fields.len() / 2;
        if names(fields) == shared {
            let values = fields.iter().skip(1).step_by(2);
            bytes += count(pairs + 3) + values.map(|value| element(value)).sum::<usize>();
        } else {
            bytes += count(pairs) + count(2 * pairs + 4);
            bytes += fields.iter().map(|text| element(text)).sum::<usize>();
        }
    }
    bytes
}

fn element(text: &[u8]) -> usize {
    let number = std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse::<i64>().ok().filter(|n| n.to_string() == text));
    let encoded = match number {
        Some(0..=127) => 1,
        Some(-4_096..=4_095) => 2,
        Some(n) if i16::try_from(n).is_ok() => 3,
        Some(-8_388_608..=8_388_607) => 4,
        Some(n) if i32::try_from(n).is_ok() => 5,
        Some(_) => 9,
        None if text.len() < 64 => 1 + text.len(),
        None if text.len() < 4_096 => 2 + text.len(),
        None => 5 + text.len(),
    };
    let mut back_length = 1;
    while encoded >> (7 * back_length) != 0 {
        back_length += 1;
    }
    encoded + back_length
}

/// Applies an operation to both, and asserts that they answer alike.
fn apply(log: &mut Log, model: &mut Model, last: &mut StreamId, op: &Op, limits: NodeLimits) {
    match op {
        Op::Append { ms, seq, fields } => {
            *last = StreamId {
                ms: last.ms + ms,
                seq: if *ms == 0 { last.seq + seq + 1 } else { *seq },
            };
            log.append(*last, fields.iter().map(Vec::as_slice), limits);
            model.append(*last, fields, limits);
        }
        Op::Delete { back, count } => {
            let ids: Vec<_> = model.entries_mut().map(|entry| entry.id).collect();
            for id in ids.iter().rev().skip(*back).take(*count) {
                assert_eq!(log.delete(*id), model.delete(*id));
                log.check();
            }
        }
        Op::Trim {
            max_len,
            share,
            approximate,
            entries_max,
        } => {
            let limit = if *max_len {
                TrimLimit::MaxLen(model.len() * share / 16)
            } else {
                let ids: Vec<_> = model.entries_mut().map(|entry| entry.id).collect();
                let index = ids.len() * usize::try_from(*share).unwrap() / 16;
                TrimLimit::MinId(ids.get(index).copied().unwrap_or(StreamId::MAX))
            };
            let trim = Trim {
                limit,
                approximate: *approximate,
                entries_max: *entries_max,
            };
            assert_eq!(log.trim(trim), model.trim(trim), "{trim:?}");
        }
    }
    log.check();
}

fn compare(log: &Log, model: &Model) {
    let own = |part: Part<'_>| match part {
        Part::Bytes(bytes) => bytes.to_vec(),
        Part::Int(number) => number.to_string().into_bytes(),
    };
    let text = |text: Text<'_>| match text {
        Text::Part(part) => own(part),
        Text::Packed(packed) => {
            let mut bytes = Vec::new();
            packed.append_to(&mut bytes);
            assert_eq!(bytes.len(), packed.len());
            bytes
        }
    };
    let entries: Vec<_> = log
        .iter()
        .map(|entry| {
            let fields = entry.fields();
            assert_eq!(fields.len(), entry.field_count());
            let texts: Texts = fields.flat_map(|(n, v)| [own(n), text(v)]).collect();
            (entry.id(), texts)
        })
        .collect();
    let expected: Vec<_> = model.live().map(|e| (e.id, e.fields.clone())).collect();
    assert_eq!(entries, expected);
    let nodes: Vec<_> = model.nodes.iter().map(|node| node[0].id).collect();
    assert_eq!(log.node_count(), nodes.len());
    assert_eq!(log.len(), model.len());
    assert_eq!(log.is_empty(), expected.is_empty());
    assert_eq!(log.first_id(), expected.first().map(|(id, _)| *id));
    assert_eq!(log.last_id(), expected.last().map(|(id, _)| *id));
}

fn compare_range(log: &Log, model: &Model, from: StreamId, to: StreamId, max: u64) {
    let expected: Vec<_> = model
        .live()
        .map(|entry| entry.id)
        .filter(|id| (from..=to).contains(id))
        .collect();
    let forward: Vec<_> = log.range(from, to).map(|entry| entry.id()).collect();
    assert_eq!(forward, expected);
    let mut backward: Vec<_> = log.range(from, to).rev().map(|entry| entry.id()).collect();
    backward.reverse();
    assert_eq!(backward, expected);
    // Both ends at once meet in the middle.
    let mut range = log.range(from, to);
    let mut met = 0;
    while range.next().is_some() {
        met += 1 + usize::from(range.next_back().is_some());
    }
    assert_eq!(met, expected.len());
    assert_eq!(log.count(from, to, max), max.min(expected.len() as u64));
    if model.lost.iter().any(|id| (from..=to).contains(id)) {
        assert!(log.may_have_lost(from, to), "{from} to {to}");
    }
    for id in [from, to] {
        let is_live = model.live().any(|entry| entry.id == id);
        assert_eq!(log.get(id).map(|entry| entry.id()), is_live.then_some(id));
        assert_eq!(log.contains(id), is_live);
    }
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[a-c]{0,3}".prop_map(String::into_bytes),
        2 => (any::<i64>(), 0_u32..64).prop_map(|(n, shift)| (n >> shift).to_string().into_bytes()),
        1 => "0?-?[0-9]{1,20}".prop_map(String::into_bytes),
        1 => (0_usize..70).prop_map(|len| vec![b'x'; len]),
        1 => (100_usize..140).prop_map(|len| vec![b'y'; len]),
    ]
}

/// Texts that have much in common, as nodes pack them.
fn long_text() -> impl Strategy<Value = Vec<u8>> {
    ("[a-c]{0,3}", 0_usize..90, any::<u16>()).prop_map(|(word, len, number)| {
        let filler =
            "the quick brown fox jumps over the lazy dog, and again it jumps over the lazy dog ";
        let filler = &filler[..len.min(filler.len())];
        format!("{{\"word\":\"{word}\",\"filler\":\"{filler}\",\"number\":{number}}}").into_bytes()
    })
}

fn fields() -> impl Strategy<Value = Texts> {
    let fixed_names = prop::collection::vec(text(), 2).prop_map(|values| {
        let names = [b"name".to_vec(), b"7".to_vec()];
        names
            .into_iter()
            .zip(values)
            .flat_map(|(n, v)| [n, v])
            .collect()
    });
    let any_names = prop::collection::vec((text(), text()), 1..4)
        .prop_map(|pairs| pairs.into_iter().flat_map(|(n, v)| [n, v]).collect());
    let alike = (long_text(), text()).prop_map(|(long, short)| {
        let names = [b"name".to_vec(), b"7".to_vec()];
        names
            .into_iter()
            .zip([long, short])
            .flat_map(|(n, v)| [n, v])
            .collect()
    });
    prop_oneof![3 => fixed_names, 1 => any_names, 4 => alike]
}

fn op() -> impl Strategy<Value = Op> {
    let ms = prop_oneof![2 => Just(0_u64), 4 => 0_u64..300, 1 => 0_u64..1 << 40];
    let seq = prop_oneof![4 => Just(0_u64), 2 => 0_u64..300, 1 => 0_u64..1 << 40];
    let trim = (any::<bool>(), 0_u64..17, any::<bool>(), 0_u64..60);
    prop_oneof![
        12 => (ms, seq, fields()).prop_map(|(ms, seq, fields)| Op::Append { ms, seq, fields }),
        2 => (0_usize..100, 1_usize..30).prop_map(|(back, count)| Op::Delete { back, count }),
        1 => (1_usize..12).prop_map(|count| Op::Delete { back: 0, count }),
        1 => trim.prop_map(|(max_len, share, approximate, entries_max)| Op::Trim {
            max_len,
            share,
            approximate,
            entries_max
        }),
    ]
}

fn limits() -> impl Strategy<Value = NodeLimits> {
    let bytes_max = prop_oneof![Just(0_usize), Just(4_096), 1_usize..1_000];
    let entries_max = prop_oneof![Just(0_usize), Just(100), 1_usize..20];
    (bytes_max, entries_max).prop_map(|(bytes_max, entries_max)| NodeLimits {
        bytes_max,
        entries_max,
        packs: true,
    })
}

proptest! {
    /// Whatever is added, deleted and trimmed: the log holds what the model holds, in nodes that end where the
    /// model's end, and every part of it reads the same from both ends.
    #[test]
    fn the_log_is_what_was_added_less_what_was_removed(
        ops in prop::collection::vec(op(), 1..120),
        limits in limits(),
        picks in prop::collection::vec((0_usize..200, 0_usize..200, 0_u64..50), 8),
    ) {
        let (mut log, mut model, mut last) = (Log::new(), Model::default(), StreamId::MIN);
        let mut ids = vec![StreamId::MIN];
        for op in &ops {
            apply(&mut log, &mut model, &mut last, op, limits);
            compare(&log, &model);
            ids.push(last);
        }
        for (from, to, max) in picks {
            let (from, to) = (ids[from % ids.len()], ids[to % ids.len()]);
            compare_range(&log, &model, from, to, max);
            let between = from.next().unwrap();
            compare_range(&log, &model, between, to, max);
        }
        compare_range(&log, &model, StreamId::MIN, StreamId::MAX, u64::MAX);
        let copy = log.clone();
        copy.check();
        compare(&copy, &model);
    }
}
