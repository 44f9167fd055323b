//! Streams that are written down by DUMP, restored elsewhere, and brought back.

use std::io;
use std::io::Write as _;

use tailrace_storage::Rng;
use tailrace_tests::Embedded;
use tailrace_tests::Reference;
use tailrace_tests::Target;
use tailrace_tests::Value;

use super::side::Side;

/// Half of the streams begin on either side. Each is made by commands, written down, restored on the other side, written
/// down there and restored where it came from; all of them show the same.
#[test]
fn streams_move_between_tailrace_and_the_reference() {
    let Some(binary) = Reference::binary() else {
        // Nobody may be listening.
        let line = "skipped: moving streams to the reference, since TAILRACE_REFERENCE does not name one\n";
        let _ = io::stderr().write_all(line.as_bytes());
        return;
    };
    let reference = Reference::start(&binary).unwrap();
    let tailrace = Embedded::start().unwrap();
    let mut here = Side::new(tailrace.address());
    let mut there = Side::new(reference.address());
    let mut with_pending = 0;
    for seed in 0..STREAMS {
        let (from, to) = match seed % 2 {
            0 => (&mut here, &mut there),
            _ => (&mut there, &mut here),
        };
        with_pending += u64::from(there_and_back(seed, from, to));
    }
    assert!(
        with_pending > STREAMS / 4,
        "{with_pending} had anything pending"
    );
}

/// The same between two servers of this kind, which needs no other.
#[test]
fn streams_move_between_two_of_tailrace() {
    let (one, two) = (Embedded::start().unwrap(), Embedded::start().unwrap());
    let (mut here, mut there) = (Side::new(one.address()), Side::new(two.address()));
    for seed in STREAMS..STREAMS + 100 {
        there_and_back(seed, &mut here, &mut there);
    }
}

fn there_and_back(seed: u64, from: &mut Side, to: &mut Side) -> bool {
    let mut rng = Rng::from_seed(seed);
    from.make(&mut rng);
    let shown = from.shown("s");
    let payload = from.dump("s");
    to.restore("moved", &payload);
    assert_eq!(to.shown("moved"), shown, "seed {seed}: there");
    let payload = to.dump("moved");
    from.restore("back", &payload);
    assert_eq!(from.shown("back"), shown, "seed {seed}: and back");
    // Both go on alike.
    let (mut one, mut two) = (Rng::from_seed(seed), Rng::from_seed(seed));
    for _ in 0..10 {
        from.step("back", &mut one, AFTERWARDS);
        to.step("moved", &mut two, AFTERWARDS);
    }
    let later = to.shown_later("moved").replace("'moved'", "'back'");
    assert_eq!(later, from.shown_later("back"), "seed {seed}: later");
    shown.contains("\"pending\" [[")
}

impl Side {
    fn dump(&mut self, key: &str) -> Vec<u8> {
        match self.ask(&["DUMP", key]) {
            Value::Bulk(payload) => payload,
            other => panic!("no payload: {other:?}"),
        }
    }

    fn restore(&mut self, key: &str, payload: &[u8]) {
        let words = [b"RESTORE", key.as_bytes(), b"0", payload, b"REPLACE"];
        let reply = self.ask(&words);
        assert_eq!(
            reply,
            Value::Simple(b"OK".to_vec()),
            "{}",
            payload.escape_ascii()
        );
    }

    /// Everything that shows of a stream.
    fn shown(&mut self, key: &str) -> String {
        self.say_all(&[
            format!("XINFO STREAM {key} FULL COUNT 0"),
            format!("XINFO STREAM {key}"),
            format!("XINFO GROUPS {key}"),
        ])
    }

    /// What shows of a stream, but for times, which the two servers tell each by its own clock.
    fn shown_later(&mut self, key: &str) -> String {
        let mut lines = vec![
            format!("XINFO STREAM {key}"),
            format!("XINFO GROUPS {key}"),
            format!("XRANGE {key} - +"),
        ];
        lines.extend(GROUPS.map(|group| format!("XPENDING {key} {group}")));
        self.say_all(&lines)
    }

    fn say_all(&mut self, lines: &[String]) -> String {
        let replies = lines.iter().map(|line| format!("{}\n", self.say(line)));
        replies.collect()
    }

    /// Makes the stream `s`, by commands that chance chooses.
    fn make(&mut self, rng: &mut Rng) {
        self.say("DEL s");
        let entries = [0, 3, 10, 100][rng.below(4)];
        let bytes = [0, 100, 500, 4_096][rng.below(4)];
        self.say(&format!(
            "CONFIG SET stream-node-max-entries {entries} stream-node-max-bytes {bytes}"
        ));
        let first_ms = [1, 5, 1_700_000_000_000, 1 << 62][rng.below(4)];
        self.say(&format!("XADD s {first_ms}-1 task first"));
        for step in 0..rng.below(100) as u64 {
            let ms = first_ms + step * [0, 1, 3, 70_000][rng.below(4)];
            self.step("s", rng, ms);
        }
        self.say("CONFIG SET stream-node-max-entries 100 stream-node-max-bytes 4096");
    }

    /// Does something with a stream; a new entry has this time or the last one's.
    fn step(&mut self, key: &str, rng: &mut Rng, ms: u64) {
        let group = GROUPS[rng.below(3)];
        let consumer = ["a", "-7", "somebody"][rng.below(3)];
        let id = self.any_id(key, rng);
        let (kind, count) = (rng.below(16), 1 + rng.below(20));
        let retries = 1_u64 << rng.below(63);
        let fields = fields(rng);
        let line = match kind {
            0 => format!("XGROUP CREATE {key} {group} {id}"),
            1 => format!("XGROUP CREATE {key} {group} 0 ENTRIESREAD 1"),
            2 => format!("XGROUP CREATECONSUMER {key} {group} {consumer}"),
            3..=5 => format!("XREADGROUP GROUP {group} {consumer} COUNT {count} STREAMS {key} >"),
            6 => format!("XACK {key} {group} {id}"),
            7 | 8 => format!("XDEL {key} {id}"),
            9 => format!("XTRIM {key} MAXLEN ~ {}", count * 3),
            10 => {
                format!("XCLAIM {key} {group} {consumer} 0 {id} TIME 5 RETRYCOUNT {retries} FORCE")
            }
            _ => return drop(self.ask(&added(key, ms, &fields))),
        };
        self.say(&line);
    }

    fn any_id(&mut self, key: &str, rng: &mut Rng) -> String {
        let Value::Array(entries) = self.say(&format!("XRANGE {key} - + COUNT 200")) else {
            panic!("a range is an array");
        };
        match entries.get(rng.below(entries.len())) {
            Some(Value::Array(entry)) => String::from_utf8_lossy(entry[0].text()).into_owned(),
            _ => "1-1".to_owned(),
        }
    }
}

/// A command that adds an entry.
fn added(key: &str, ms: u64, fields: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let id = format!("{ms}-*");
    let words = ["XADD", key, &id].map(|word| word.as_bytes().to_vec());
    words.into_iter().chain(fields.iter().cloned()).collect()
}

fn fields(rng: &mut Rng) -> Vec<Vec<u8>> {
    let names = [
        &["task"][..],
        &["task", "12"],
        &["other"],
        &["", "task", "x"],
    ][rng.below(4)];
    let mut fields = Vec::new();
    for name in names {
        fields.push(name.as_bytes().to_vec());
        fields.push(match rng.below(5) {
            0 => (rng.next_u64().cast_signed() >> rng.below(64))
                .to_string()
                .into_bytes(),
            1 => vec![b'v'; rng.below(200)],
            2 => b"{\"text\":\"as in others, and long enough to be kept apart from them, once\"}"
                .to_vec(),
            3 => rng.next_u64().to_le_bytes().to_vec(),
            _ => vec![b'0'; rng.below(4)],
        });
    }
    fields
}

const STREAMS: u64 = 1_000;
const GROUPS: [&str; 3] = ["g", "12", "workers"];
/// What is added once the stream has moved comes after everything.
const AFTERWARDS: u64 = 1 << 63;
