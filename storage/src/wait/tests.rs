//! The list of waiters against lines of people.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Op {
    Insert {
        keys: Vec<u8>,
        group: Option<u8>,
        deadline: Option<u8>,
    },
    Remove(usize),
    Round {
        key: u8,
        served: Vec<bool>,
        open: [bool; 3],
    },
    StandAgain(u8),
    Overdue(u8),
}

fn op() -> impl Strategy<Value = Op> {
    let keys = prop::collection::vec(0..3u8, 1..4);
    prop_oneof![
        4 => (keys, prop::option::of(0..3u8), prop::option::of(0..20u8))
            .prop_map(|(keys, group, deadline)| Op::Insert { keys, group, deadline }),
        1 => any::<usize>().prop_map(Op::Remove),
        2 => (0..3u8, prop::collection::vec(any::<bool>(), 0..12), any::<[bool; 3]>())
            .prop_map(|(key, served, open)| Op::Round { key, served, open }),
        2 => (0..3u8).prop_map(Op::StandAgain),
        1 => (0..20u8).prop_map(Op::Overdue),
    ]
}

fn wants(keys: &[u8], group: Option<u8>) -> Wants {
    Wants {
        db: 0,
        keys: keys.iter().map(|&key| Box::from([key])).collect(),
        reader: group.map(|group| GroupReader {
            group: Box::from([group]),
            consumer: Box::from(*b"c"),
        }),
    }
}

/// Who waits, for which keys, of which group, until when.
type Row = (WaiterId, Vec<u8>, Option<u8>, Option<u8>);

/// The same as lines of people.
#[derive(Default)]
struct Model {
    waiters: Vec<Row>,
    lines: [Vec<WaiterId>; 3],
}

impl Model {
    fn insert(&mut self, id: WaiterId, keys: Vec<u8>, group: Option<u8>, deadline: Option<u8>) {
        for &key in &keys {
            self.stand_last(key, id);
        }
        self.waiters.push((id, keys, group, deadline));
    }

    fn stand_last(&mut self, key: u8, id: WaiterId) {
        let line = &mut self.lines[usize::from(key)];
        line.retain(|&other| other != id);
        line.push(id);
    }

    fn remove(&mut self, id: WaiterId) {
        self.waiters.retain(|row| row.0 != id);
        for line in &mut self.lines {
            line.retain(|&other| other != id);
        }
    }

    fn stand_again(&mut self, key: u8) {
        for id in self.lines[usize::from(key)].clone() {
            let row = self.waiters.iter().find(|row| row.0 == id).unwrap();
            for other in row.1.clone() {
                if other != key {
                    self.stand_last(other, id);
                }
            }
        }
    }

    fn round(&self, key: u8, open: [bool; 3]) -> Vec<WaiterId> {
        let is_open = |id: &WaiterId| {
            let row = self.waiters.iter().find(|row| row.0 == *id).unwrap();
            let is_open = |group| open[usize::from(group)] || row.1.len() > 1;
            row.2.is_none_or(is_open)
        };
        let line = &self.lines[usize::from(key)];
        line.iter().copied().filter(is_open).collect()
    }
}

proptest! {
    /// Whoever stood in line first is attempted first, nobody is attempted whose group has nothing
    /// unless it waits for other keys, too, and who was attempted in vain keeps its place there and
    /// its deadline.
    #[test]
    fn waiters_are_attempted_in_the_order_of_their_line(ops in prop::collection::vec(op(), 0..60)) {
        let mut list = WaitList::default();
        let mut model = Model::default();
        for op in ops {
            match op {
                Op::Insert { keys, group, deadline } => {
                    let at = deadline.map(|at| Instant(at.into()));
                    let id = list.insert(wants(&keys, group), at);
                    model.insert(id, keys, group, deadline);
                }
                Op::Remove(at) if !model.waiters.is_empty() => {
                    let (id, keys, group, _) = model.waiters[at % model.waiters.len()].clone();
                    model.remove(id);
                    prop_assert_eq!(list.remove(id), Some(wants(&keys, group)));
                    prop_assert_eq!(list.remove(id), None);
                }
                Op::Remove(_) => {}
                Op::Round { key, served, open } => {
                    let expected = model.round(key, open);
                    let mut round = list.round(0, &[key]);
                    let mut seen = Vec::new();
                    let open = |group: Option<&[u8]>| {
                        group.is_none_or(|group| open[usize::from(group[0])])
                    };
                    while let Some(id) = list.next_of(&mut round, 0, &[key], open) {
                        if served.get(seen.len()) == Some(&true) {
                            list.remove(id);
                            model.remove(id);
                        }
                        seen.push(id);
                    }
                    prop_assert_eq!(seen, expected);
                }
                Op::StandAgain(key) => {
                    list.stand_again(0, &[key]);
                    model.stand_again(key);
                }
                Op::Overdue(now) => {
                    let rows = model.waiters.iter();
                    let first = rows.filter_map(|row| Some((row.3?, row.0))).min();
                    let due = first.filter(|&(at, _)| at <= now).map(|(_, id)| id);
                    prop_assert_eq!(list.overdue(Instant(now.into())), due);
                }
            }
            prop_assert_eq!(list.len(), model.waiters.len());
        }
    }
}

#[test]
fn a_key_asked_for_twice_is_left_whole_when_its_waiter_goes() {
    let mut list = WaitList::default();
    let id = list.insert(
        Wants {
            db: 2,
            keys: vec![Box::from(*b"k"), Box::from(*b"k")],
            reader: None,
        },
        None,
    );
    assert_eq!(list.key_counts(), (1, 0));
    assert!(list.remove(id).is_some());
    assert_eq!(list.key_counts(), (0, 0));
}

#[test]
fn who_comes_during_a_round_is_not_in_it() {
    let mut list = WaitList::default();
    let first = list.insert(wants(&[1], None), None);
    let mut round = list.round(0, &[1]);
    assert_eq!(list.next_of(&mut round, 0, &[1], |_| true), Some(first));
    list.insert(wants(&[1], None), None);
    assert_eq!(list.next_of(&mut round, 0, &[1], |_| true), None);
}
