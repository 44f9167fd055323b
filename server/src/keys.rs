//! Which arguments of a request are keys, from what the command's `Spec` says of them.

use tailrace_protocol::Request;
use tailrace_protocol::number::parse_i64;

use crate::args::is_word;
use crate::spec::Begin;
use crate::spec::Find;
use crate::spec::Flags;
use crate::spec::KeySpec;
use crate::spec::Spec;

/// An argument that is a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Key {
    /// Where it stands; the name of the command is at 0.
    pub position: usize,
    /// What happens to it, as in [`KeySpec::flags`].
    pub flags: &'static [&'static str],
}

/// The first key, the last one and the distance between two, for clients that know no key specs.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct KeyRange {
    /// 0 if no such range describes the keys.
    pub first: i64,
    /// Negative from the end: -1 is the last argument.
    pub last: i64,
    /// 2 where a value stands between two keys.
    pub step: i64,
}

impl Spec {
    /// Whether a call may have keys.
    pub fn has_keys(&self) -> bool {
        self.find_keys.is_some() || self.real_keys().next().is_some()
    }

    /// Finds the keys of a request; `None` if it is written wrong in a way that leaves them unknown.
    pub fn keys_of(&self, request: Request<'_>) -> Option<Vec<Key>> {
        let by_specs = || {
            let mut keys = Vec::new();
            for spec in self.real_keys() {
                spec.find(request, &mut keys)?;
            }
            Some(keys)
        };
        // The specs of those that read find a word where it stands first, though it may be a name there.
        let by_command = self.keys_by_command(request);
        let mut keys = match self.real_keys().next() {
            Some(_) if self.flags.has(Flags::RUNS_SCRIPT) => by_specs().or_else(|| {
                let keys = by_command?.into_iter();
                Some(keys.map(|key| Key { flags: &[], ..key }).collect())
            })?,
            Some(_) => by_command.or_else(by_specs)?,
            None => by_command?,
        };
        if let Some(flags) = self.key_flags {
            let flags = flags(request);
            keys.iter_mut().for_each(|key| key.flags = flags);
        }
        Some(keys)
    }

    /// Shows what decides which node of a cluster may run a request: its keys, and channels of shards. Nothing if
    /// it is written wrong, which a command that finds its keys itself says: as in the reference, its specs are not
    /// asked then.
    #[inline]
    pub(crate) fn for_each_routed<'a>(
        &self,
        request: Request<'a>,
        mut visit: impl FnMut(&'a [u8]),
    ) {
        if let ([only], None) = (self.keys, self.find_keys)
            && let (Begin::Index(at), Find::Range { last: 0, .. }) = (only.begin, only.find)
        {
            if let Some(key) = request.get(at) {
                visit(key);
            }
            return;
        }
        let keys = match self.has_keys() {
            true if self.find_keys.is_some() => self.keys_by_command(request).unwrap_or_default(),
            true => self.keys_of(request).unwrap_or_default(),
            false => {
                let mut channels = Vec::new();
                let mut specs = self.keys.iter();
                let is_found = specs.all(|spec| spec.find(request, &mut channels).is_some());
                channels.truncate(if is_found { usize::MAX } else { 0 });
                channels
            }
        };
        let keys = keys.into_iter();
        keys.filter_map(|key| request.get(key.position))
            .for_each(visit);
    }

    /// The range that describes the keys, as far as one can.
    pub fn key_range(&self) -> KeyRange {
        if let [only] = self.keys {
            return only.range().unwrap_or_default();
        }
        let mut whole = KeyRange::default();
        for range in self.keys.iter().filter_map(KeySpec::range) {
            let follows = whole.first == 0 || whole.last == range.first - 1;
            if range.step != 1 || !follows {
                continue;
            }
            if whole.first == 0 {
                whole = range;
            }
            whole.last = match (whole.last, range.last) {
                (before, now) if before >= 0 && now >= 0 => before.max(now),
                (before, now) => before.min(now),
            };
        }
        whole
    }

    /// The key specs that name keys, not channels.
    fn real_keys(&self) -> impl Iterator<Item = &'static KeySpec> {
        self.keys
            .iter()
            .filter(|spec| !spec.flags.contains(&"not_key"))
    }

    /// What the command itself says about its keys, where the specs cannot.
    fn keys_by_command(&self, request: Request<'_>) -> Option<Vec<Key>> {
        let flags = self.keys.first().map_or(&[][..], |spec| spec.flags);
        let positions = (self.find_keys?)(request)?;
        let key = |position| Key { position, flags };
        Some(positions.into_iter().map(key).collect())
    }
}

impl KeySpec {
    /// Adds the keys that the rules of this spec find; `None` if the request does not follow them.
    fn find(&self, request: Request<'_>, keys: &mut Vec<Key>) -> Option<()> {
        let count = i64::try_from(request.len()).ok()?;
        let Some(begin) = self.begin.find(request)? else {
            return Some(());
        };
        let begin = i64::try_from(begin).ok()?;
        let (first, last, step) = match self.find {
            Find::Range { last, step, limit } if last >= 0 || limit == 0 => {
                let from = if last >= 0 { begin } else { count };
                (begin, from + last, step)
            }
            Find::Range { last, step, limit } => {
                (begin, begin + (count - begin) / limit + last, step)
            }
            Find::Number {
                number_at,
                first,
                step,
            } => {
                let at = begin + i64::try_from(number_at).ok()?;
                let number = parse_i64(request.get(usize::try_from(at).ok()?)?)?;
                let first = begin + i64::try_from(first).ok()?;
                let keys = number.checked_sub(1).filter(|rest| *rest >= 0)?;
                let span = keys.checked_mul(i64::try_from(step).ok()?)?;
                (first, first.checked_add(span)?, step)
            }
            Find::Unknown => return None,
        };
        if last >= count || last < first || first >= count {
            return None;
        }
        let (first, last) = (usize::try_from(first).ok()?, usize::try_from(last).ok()?);
        keys.extend((first..=last).step_by(step).map(|position| Key {
            position,
            flags: self.flags,
        }));
        // What such a spec finds is not all there is.
        (!self.flags.contains(&"incomplete")).then_some(())
    }

    /// The spec as a range, if it is one that a position begins.
    fn range(&self) -> Option<KeyRange> {
        let (Begin::Index(first), Find::Range { last, step, .. }) = (self.begin, self.find) else {
            return None;
        };
        let first = i64::try_from(first).ok()?;
        Some(KeyRange {
            first,
            last: if last < 0 { last } else { first + last },
            step: i64::try_from(step).ok()?,
        })
    }
}

impl Begin {
    /// Where the first key stands: `Some(None)` if the request has no keys of this kind, `None` if
    /// nobody can tell.
    fn find(self, request: Request<'_>) -> Option<Option<usize>> {
        match self {
            Self::Index(index) => Some(Some(index)),
            Self::Unknown => None,
            Self::Keyword(word, from) => {
                let is_word = |at: &usize| {
                    let arg = request.get(*at);
                    arg.is_some_and(|arg| is_word(arg, word))
                };
                let last = request.len().saturating_sub(1);
                let offset = usize::try_from(from.unsigned_abs()).unwrap_or(usize::MAX);
                let found = if from > 0 {
                    (offset..last).find(is_word)
                } else {
                    let start = request.len().saturating_sub(offset).min(last);
                    (2..=start).rev().find(is_word)
                };
                Some(found.map(|at| at + 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tailrace_protocol::OwnedRequest;

    use super::KeyRange;
    use crate::commands;
    use crate::spec::Begin;
    use crate::spec::Find;
    use crate::spec::KeySpec;
    use crate::spec::Spec;

    const RO: &[&str] = &["RO", "access"];
    const ALL: &[KeySpec] = &[KeySpec::all(1, RO)];
    const EVERY_OTHER: &[KeySpec] = &[KeySpec::all(2, RO)];
    const TWO: &[KeySpec] = &[KeySpec::first(RO), KeySpec::at(2, RO)];
    const CHANNEL: &[KeySpec] = &[KeySpec::first(&["not_key"])];
    const COUNTED: &[KeySpec] = &[KeySpec {
        notes: None,
        flags: RO,
        begin: Begin::Index(2),
        find: Find::Number {
            number_at: 0,
            first: 1,
            step: 1,
        },
    }];

    const fn spec(keys: &'static [KeySpec]) -> Spec {
        Spec {
            keys,
            ..Spec::of(commands::never_run)
        }
    }

    fn positions(spec: &Spec, words: &str) -> Option<Vec<usize>> {
        let request: OwnedRequest = words.split(' ').collect();
        let keys = spec.keys_of(request.as_request())?;
        Some(keys.into_iter().map(|key| key.position).collect())
    }

    #[test]
    fn ranges_end_at_a_key_or_at_an_argument() {
        let all = spec(ALL);
        assert_eq!(positions(&all, "del a b c"), Some(vec![1, 2, 3]));
        assert_eq!(positions(&all, "del"), None);
        let pairs = spec(EVERY_OTHER);
        assert_eq!(positions(&pairs, "mset a 1 b 2"), Some(vec![1, 3]));
        let two = spec(TWO);
        assert_eq!(positions(&two, "copy a b"), Some(vec![1, 2]));
        let range = KeyRange {
            first: 1,
            last: 2,
            step: 1,
        };
        assert_eq!(two.key_range(), range);
        assert_eq!(all.key_range().last, -1);
    }

    #[test]
    fn a_keyword_may_be_missing() {
        let xread = commands::find(b"xread").unwrap();
        assert_eq!(positions(xread, "xread streams a b 0 0"), Some(vec![2, 3]));
        assert_eq!(positions(xread, "xread count 1 block"), Some(vec![]));
        assert_eq!(xread.key_range(), KeyRange::default());
    }

    #[test]
    fn a_name_may_be_a_keyword() {
        let xreadgroup = commands::find(b"xreadgroup").unwrap();
        for words in [
            "xreadgroup group streams c streams a b > >",
            "xreadgroup noack group g streams streams a >",
            "xreadgroup count 1 group streams c streams a >",
        ] {
            let keys = positions(xreadgroup, words).unwrap();
            assert_eq!(words.split(' ').nth(keys[0]), Some("a"), "{words}");
        }
    }

    #[test]
    fn a_number_may_say_how_many_keys_there_are() {
        let counted = spec(COUNTED);
        assert_eq!(positions(&counted, "eval x 2 a b c"), Some(vec![3, 4]));
        for wrong in ["eval x 4 a b c", "eval x -1 a", "eval x n a", "eval x"] {
            assert_eq!(positions(&counted, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn channels_are_no_keys() {
        let channel = spec(CHANNEL);
        assert!(!channel.has_keys());
        assert_eq!(positions(&channel, "spublish c m"), None);
    }
}
