//! All that can be seen of a server.

use tailrace_tests::Value;

use super::grammar::Words;
use super::side::Ending;
use super::side::Side;
use super::talk::Exchange;
use super::talk::OBSERVER;

/// Asks for everything, and gives the questions with the answers.
pub(super) fn seen(side: &mut Side) -> Vec<Exchange> {
    // First, since whoever asks for keys is counted.
    let mut questions: Vec<Words> = COUNTED.iter().map(|question| words(question)).collect();
    questions.extend(DATABASES.iter().flat_map(|db| database(db)));
    let mut seen = ask(side, questions);
    let mut questions = Vec::new();
    for (index, db) in DATABASES.iter().enumerate() {
        questions.push(words(&["SELECT", db]));
        // SELECT, KEYS and DBSIZE are asked for each.
        let keys = &seen[COUNTED.len() + index * 3 + 1];
        if let Some(Value::Array(keys)) = keys.replies.first() {
            let mut keys: Vec<&[u8]> = keys.iter().map(Value::text).collect();
            keys.sort_unstable();
            questions.extend(keys.into_iter().flat_map(key));
        }
    }
    questions.push(words(&["SELECT", "0"]));
    seen.append(&mut ask(side, questions));
    seen
}

fn database(db: &str) -> Vec<Words> {
    vec![
        words(&["SELECT", db]),
        words(&["KEYS", "*"]),
        words(&["DBSIZE"]),
    ]
}

fn key(key: &[u8]) -> Vec<Words> {
    let mut questions = Vec::new();
    for name in [
        "TYPE",
        "PTTL",
        "OBJECT ENCODING",
        "GET",
        "XINFO STREAM",
        "XINFO GROUPS",
    ] {
        let mut question: Words = name
            .split(' ')
            .map(|word| word.as_bytes().to_vec())
            .collect();
        question.push(key.to_vec());
        questions.push(question);
    }
    let full = [b"XINFO", b"STREAM".as_slice(), key, b"FULL", b"COUNT", b"0"];
    questions.push(full.iter().map(|word| word.to_vec()).collect());
    for group in ["g", "h", "i", ""] {
        let group = group.as_bytes();
        let summary = [b"XPENDING", key, group];
        let list = [b"XPENDING", key, group, b"-", b"+", b"1000"];
        let consumers = [b"XINFO", b"CONSUMERS".as_slice(), key, group];
        for question in [&summary[..], &list[..], &consumers[..]] {
            questions.push(question.iter().map(|word| word.to_vec()).collect());
        }
    }
    questions
}

fn words(words: &[&str]) -> Words {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

fn ask(side: &mut Side, questions: Vec<Words>) -> Vec<Exchange> {
    side.control.say_all(&questions);
    side.control.mark();
    let (answers, ending) = match side.control.until_mark() {
        Ending::Marked(answers) => (answers, None),
        Ending::Closed(answers) | Ending::Silent(answers) => (answers, Some("no state")),
    };
    let mut answers = answers.into_iter().map(|answer| side.readable(answer));
    questions
        .into_iter()
        .map(|words| Exchange {
            client: OBSERVER,
            is_late: false,
            words,
            replies: answers.next().into_iter().collect(),
            ending,
        })
        .collect()
}

/// What the server counts and logs.
const COUNTED: &[&[&str]] = &[
    &["SLOWLOG", "GET", "-1"],
    &["COMMANDLOG", "GET", "-1", "large-request"],
    &["COMMANDLOG", "GET", "-1", "large-reply"],
    &[
        "CLUSTER",
        "SLOT-STATS",
        "ORDERBY",
        "network-bytes-in",
        "LIMIT",
        "5",
    ],
    &["INFO", "clients"],
    &["INFO", "stats"],
    &["INFO", "commandstats", "errorstats"],
    &["INFO", "keyspace"],
    &["CLIENT", "LIST"],
];

/// Those that are used.
const DATABASES: [&str; 4] = ["0", "1", "2", "15"];
