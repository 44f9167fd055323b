//! Sets of names that entries of a node share, beside the first entry's.
//!
//! The reference shares those of the first entry only. A stream whose entries are of a few kinds repeats the names of
//! each kind all the same, so a node keeps a few sets.

use crate::fields;

/// A few sets of names, each kept once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    text: Vec<u8>,
    sets: Vec<Set>,
}

#[derive(Clone, Copy, Debug)]
struct Set {
    start: usize,
    count: usize,
    listpack_bytes: usize,
}

impl Names {
    /// Returns the number of the set with the names of these fields (name, value, name, value ...), and what the names
    /// take in the reference's encoding. Adds the set unless there are enough already.
    pub(crate) fn find_or_add<'a>(
        &mut self,
        fields: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Option<(u8, usize)> {
        let count = fields.len() / 2;
        let found = self.sets.iter().position(|set| {
            set.count == count && fields::have_names(fields.clone(), &self.text[set.start..])
        });
        let index = match found {
            Some(index) => index,
            None if self.sets.len() < SETS_MAX => self.add(fields),
            None => return None,
        };
        let number = u8::try_from(index).expect("there are only a few");
        Some((number, self.sets[index].listpack_bytes))
    }

    fn add<'a>(&mut self, fields: impl ExactSizeIterator<Item = &'a [u8]>) -> usize {
        let mut set = Set {
            start: self.text.len(),
            count: fields.len() / 2,
            listpack_bytes: 0,
        };
        for name in fields.step_by(2) {
            set.listpack_bytes += fields::put(&mut self.text, name);
        }
        self.sets.push(set);
        self.sets.len() - 1
    }

    /// Returns the names of a set, encoded, and how many those are. More may follow them.
    #[inline]
    pub(crate) fn get(&self, number: u8) -> (&[u8], usize) {
        let set = self.sets[usize::from(number)];
        (&self.text[set.start..], set.count)
    }

    /// Gives spare memory up.
    pub(crate) fn close(&mut self) {
        *self = self.clone();
    }

    /// Returns the bytes of memory held.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.text.capacity() + self.sets.capacity() * size_of::<Set>()
    }
}

/// How many sets a node keeps: each may have to be compared with a new entry's names.
const SETS_MAX: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;

    fn find_or_add(names: &mut Names, fields: &[&[u8]]) -> Option<u8> {
        let found = names.find_or_add(fields.iter().copied());
        found.map(|(number, _)| number)
    }

    #[test]
    fn the_same_names_in_the_same_order_are_one_set() {
        let mut names = Names::default();
        assert_eq!(find_or_add(&mut names, &[b"a", b"1", b"b", b"2"]), Some(0));
        assert_eq!(find_or_add(&mut names, &[b"b", b"1", b"a", b"2"]), Some(1));
        assert_eq!(find_or_add(&mut names, &[b"a", b"1"]), Some(2));
        assert_eq!(find_or_add(&mut names, &[b"a", b"9", b"b", b"8"]), Some(0));
        let (mut text, count) = names.get(1);
        assert_eq!(count, 2);
        assert_eq!(fields::take(&mut text), fields::Part::Bytes(b"b"));
    }

    #[test]
    fn an_eighth_set_is_not_kept() {
        let mut names = Names::default();
        for number in 0..7 {
            assert_eq!(find_or_add(&mut names, &[&[number], b"v"]), Some(number));
        }
        assert_eq!(find_or_add(&mut names, &[&[7], b"v"]), None);
        assert_eq!(find_or_add(&mut names, &[&[3], b"v"]), Some(3));
    }
}
