//! The classes of keyspace events that `notify-keyspace-events` selects.

use tailrace_storage::EventClass;

use crate::args::text;

/// A set of event classes, each known to clients by one letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventClasses(u16);

impl EventClasses {
    /// `K`: publish to `__keyspace@<db>__` channels.
    pub const KEYSPACE: Self = Self(1 << 0);
    /// `E`: publish to `__keyevent@<db>__` channels.
    pub const KEYEVENT: Self = Self(1 << 1);
    /// `g`: commands that know no type, such as DEL and EXPIRE.
    pub const GENERIC: Self = Self(1 << 2);
    /// `$`: strings.
    pub const STRING: Self = Self(1 << 3);
    /// `l`: lists.
    pub const LIST: Self = Self(1 << 4);
    /// `s`: sets.
    pub const SET: Self = Self(1 << 5);
    /// `h`: hashes.
    pub const HASH: Self = Self(1 << 6);
    /// `z`: sorted sets.
    pub const SORTED_SET: Self = Self(1 << 7);
    /// `x`: keys that expired.
    pub const EXPIRED: Self = Self(1 << 8);
    /// `e`: keys evicted for want of memory; there never is one.
    pub const EVICTED: Self = Self(1 << 9);
    /// `t`: streams.
    pub const STREAM: Self = Self(1 << 10);
    /// `m`: reads of missing keys; not part of `A`.
    pub const KEY_MISS: Self = Self(1 << 11);
    /// `d`: types defined by modules.
    pub const MODULE: Self = Self(1 << 12);
    /// `n`: keys that were created; not part of `A`.
    pub const NEW: Self = Self(1 << 13);

    /// `o`: values that took the place of others; only where Redis is followed, and not part of `A`.
    pub const REPLACED: Self = Self(1 << 14);
    /// `c`: values that took the place of others of another type; likewise.
    pub const TYPE_CHANGED: Self = Self(1 << 15);

    /// Those of these classes that Valkey does not know.
    pub(super) const fn of_redis(self) -> Self {
        Self(self.0 & (Self::REPLACED.0 | Self::TYPE_CHANGED.0))
    }

    /// Whether every class of `other` is selected.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether events of this class are published.
    pub(crate) const fn selects(self, class: EventClass) -> bool {
        self.contains(match class {
            EventClass::Generic => Self::GENERIC,
            EventClass::String => Self::STRING,
            EventClass::Stream => Self::STREAM,
            EventClass::Expired => Self::EXPIRED,
            EventClass::New => Self::NEW,
            EventClass::KeyMiss => Self::KEY_MISS,
            EventClass::Replaced => Self::REPLACED,
            EventClass::TypeChanged => Self::TYPE_CHANGED,
            EventClass::Silent => return false,
        })
    }

    /// Whether anything can be published: a class of events and a kind of channel are selected.
    #[must_use]
    pub const fn is_active(self) -> bool {
        let channels = Self::KEYSPACE.0 | Self::KEYEVENT.0;
        self.0 & channels != 0 && self.0 & !channels != 0
    }

    /// Reads letters such as `KEA`; `None` if one of them is unknown.
    pub(super) fn parse(letters: &[u8]) -> Option<Self> {
        let mut classes = Self::default();
        // As the reference reads it, a zero byte is its end.
        for letter in text(letters) {
            classes.0 |= Self::of_letter(*letter)?.0;
        }
        Some(classes)
    }

    /// Writes the letters in the reference's order.
    ///
    /// `A` swallows the letters it stands for and, as in the references, `n`, `o` and `c` with them: they
    /// stay selected without being shown.
    pub(super) fn letters(self) -> String {
        let of_class =
            |(letter, class): &(u8, Self)| self.contains(*class).then_some(char::from(*letter));
        let classes: String = if self.contains(Self::ALL) {
            "A".to_owned()
        } else {
            CLASS_LETTERS.iter().filter_map(of_class).collect()
        };
        let rest: String = OTHER_LETTERS.iter().filter_map(of_class).collect();
        classes + &rest
    }

    /// Those that the letters show.
    pub(super) fn shown(self) -> Self {
        Self::parse(self.letters().as_bytes()).expect("letters that were written are known")
    }

    /// `A`: every class but key misses and new keys.
    const ALL: Self = Self(
        Self::GENERIC.0
            | Self::STRING.0
            | Self::LIST.0
            | Self::SET.0
            | Self::HASH.0
            | Self::SORTED_SET.0
            | Self::EXPIRED.0
            | Self::EVICTED.0
            | Self::STREAM.0
            | Self::MODULE.0,
    );

    fn of_letter(letter: u8) -> Option<Self> {
        if letter == b'A' {
            return Some(Self::ALL);
        }
        let mut known = CLASS_LETTERS.iter().chain(OTHER_LETTERS);
        known
            .find(|(known, _)| *known == letter)
            .map(|(_, class)| *class)
    }
}

/// The letters that `A` replaces when they are shown.
const CLASS_LETTERS: &[(u8, EventClasses)] = &[
    (b'g', EventClasses::GENERIC),
    (b'$', EventClasses::STRING),
    (b'l', EventClasses::LIST),
    (b's', EventClasses::SET),
    (b'h', EventClasses::HASH),
    (b'z', EventClasses::SORTED_SET),
    (b'x', EventClasses::EXPIRED),
    (b'e', EventClasses::EVICTED),
    (b't', EventClasses::STREAM),
    (b'd', EventClasses::MODULE),
    (b'n', EventClasses::NEW),
    (b'o', EventClasses::REPLACED),
    (b'c', EventClasses::TYPE_CHANGED),
];

const OTHER_LETTERS: &[(u8, EventClasses)] = &[
    (b'K', EventClasses::KEYSPACE),
    (b'E', EventClasses::KEYEVENT),
    (b'm', EventClasses::KEY_MISS),
];

#[cfg(test)]
mod tests {
    use super::EventClasses;

    #[test]
    fn letters_are_shown_in_the_order_of_the_reference() {
        let shown = |letters: &str| EventClasses::parse(letters.as_bytes()).unwrap().letters();
        assert_eq!(shown("KEA"), "AKE");
        assert_eq!(shown("KEg$txe"), "g$xetKE");
        assert_eq!(shown("nKm"), "nKm");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn new_keys_are_hidden_behind_all_but_selected() {
        let classes = EventClasses::parse(b"KEAmn").unwrap();
        assert_eq!(classes.letters(), "AKEm");
        assert!(classes.contains(EventClasses::NEW));
        assert!(
            !EventClasses::parse(b"KEA")
                .unwrap()
                .contains(EventClasses::NEW)
        );
    }

    #[test]
    fn an_unknown_letter_is_refused() {
        assert_eq!(EventClasses::parse(b"KQ"), None);
    }

    #[test]
    fn events_need_a_class_and_a_channel() {
        let is_active = |letters: &[u8]| EventClasses::parse(letters).unwrap().is_active();
        assert!(is_active(b"Kt"));
        assert!(!is_active(b"KE"));
        assert!(!is_active(b"A"));
    }
}
