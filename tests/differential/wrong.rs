//! Makes wrong forms of commands: of whatever form, with one or two things that are not as they should be.

use proptest::prelude::BoxedStrategy;
use proptest::prelude::Just;
use proptest::prelude::Strategy;
use proptest::prelude::any;
use proptest::sample::Index;
use proptest::sample::select;
use proptest::strategy::Union;

use super::grammar::Words;
use super::symbols;

/// What is done to a command.
#[derive(Clone, Debug)]
enum Fault {
    /// A word is missing.
    Missing(Index),
    /// A word is there twice.
    Twice(Index),
    /// Two words have changed places.
    Swapped(Index, Index),
    /// Another word stands there.
    Replaced(Index, Vec<u8>),
    /// A word comes between, or at the end.
    Inserted(Index, Vec<u8>),
    /// A word is written small, which is no fault in a name or an option.
    Small(Index),
    /// The rest is missing.
    Cut(Index),
}

/// Makes what `maker` makes, and something else of some of it.
pub(super) fn some_wrong(maker: BoxedStrategy<Words>) -> BoxedStrategy<Words> {
    let faults = Union::new_weighted(vec![
        (88, Just(Vec::new()).boxed()),
        (10, fault().prop_map(|fault| vec![fault]).boxed()),
        (
            2,
            (fault(), fault())
                .prop_map(|(one, two)| vec![one, two])
                .boxed(),
        ),
    ]);
    (maker, faults)
        .prop_map(|(words, faults)| {
            let made = faults.into_iter().fold(words.clone(), apply);
            if is_left_to_chance(&made) {
                words
            } else {
                made
            }
        })
        .boxed()
}

/// Whether it depends on how fast a server is what comes of a command: a deadline within a second, a threshold
/// that some commands reach, or a time for which entries are idle. Or on when it looks at its sockets, as what is
/// told of prefixes does. Or on the numbers of its clients: a small one is that of whoever looks at everything.
fn is_left_to_chance(words: &Words) -> bool {
    let has = |name: &str| words.iter().any(|word| is_word(word, name));
    if has("TRACKING") && has("ON") && has("BCAST") && !has("OPTIN") && !has("OPTOUT") {
        return true;
    }
    let mut pairs = words.iter().zip(words.iter().skip(1));
    let is_claim = is_word(&words[0], "XCLAIM") || is_word(&words[0], "XAUTOCLAIM");
    if is_claim && words.get(4).is_some_and(|word| is_small(word))
        || is_word(&words[0], "XPENDING")
            && pairs.any(|(word, idle)| is_word(word, "IDLE") && is_small(idle))
    {
        return true;
    }
    const NAMES: [&[u8]; 16] = [
        b"EXPIRE",
        b"PEXPIRE",
        b"SETEX",
        b"PSETEX",
        b"EX",
        b"PX",
        b"SLOWLOG-LOG-SLOWER-THAN",
        b"COMMANDLOG-EXECUTION-SLOWER-THAN",
        b"RESTORE",
        b"RESTORE-ASKING",
        b"CLIENT",
        b"KILL",
        b"UNBLOCK",
        b"REDIRECT",
        b"ID",
        b"NOT-ID",
    ];
    let is_named = |word: &Vec<u8>| NAMES.contains(&&word.to_ascii_uppercase()[..]);
    words.iter().any(is_named) && words.iter().any(|word| is_small(word))
}

fn is_word(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
}

/// Whether a word is a number of milliseconds or seconds that may pass meanwhile.
fn is_small(word: &[u8]) -> bool {
    let number = std::str::from_utf8(word)
        .ok()
        .and_then(|word| word.parse().ok());
    number.is_some_and(|number: i64| (1..1_000).contains(&number))
}

fn fault() -> BoxedStrategy<Fault> {
    let at = any::<Index>;
    let bad = || select(symbols::words("bad"));
    Union::new(vec![
        at().prop_map(Fault::Missing).boxed(),
        at().prop_map(Fault::Twice).boxed(),
        (at(), at())
            .prop_map(|(one, two)| Fault::Swapped(one, two))
            .boxed(),
        (at(), bad())
            .prop_map(|(at, word)| Fault::Replaced(at, word))
            .boxed(),
        (at(), bad())
            .prop_map(|(at, word)| Fault::Replaced(at, word))
            .boxed(),
        (at(), bad())
            .prop_map(|(at, word)| Fault::Inserted(at, word))
            .boxed(),
        at().prop_map(Fault::Small).boxed(),
        at().prop_map(Fault::Cut).boxed(),
    ])
    .boxed()
}

/// The name of a command stays, so that it is this command that answers; only its letters may be small.
fn apply(mut words: Words, fault: Fault) -> Words {
    let Some(count) = words.len().checked_sub(1).filter(|count| *count > 0) else {
        if let Fault::Inserted(_, word) = fault {
            words.push(word);
        }
        return words;
    };
    let nth = |at: Index| 1 + at.index(count);
    match fault {
        Fault::Missing(at) => {
            words.remove(nth(at));
        }
        Fault::Twice(at) => words.insert(nth(at), words[nth(at)].clone()),
        Fault::Swapped(one, two) => words.swap(nth(one), nth(two)),
        Fault::Replaced(at, word) => words[nth(at)] = word,
        Fault::Inserted(at, word) => words.insert(1 + at.index(count + 1), word),
        Fault::Small(at) => words[at.index(count)].make_ascii_lowercase(),
        Fault::Cut(at) => words.truncate(nth(at)),
    }
    words
}
