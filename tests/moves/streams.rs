//! Streams that chance makes, and what shows of them.

use tailrace_storage::Rng;
use tailrace_tests::Value;

use super::side::Side;

impl Side {
    /// Makes a stream, by commands that chance chooses.
    pub(super) fn make(&mut self, key: &str, rng: &mut Rng) {
        self.say(&format!("DEL {key}"));
        let entries = [0, 3, 10, 100][rng.below(4)];
        let bytes = [0, 100, 500, 4_096][rng.below(4)];
        self.say(&format!(
            "CONFIG SET stream-node-max-entries {entries} stream-node-max-bytes {bytes}"
        ));
        let first_ms = [1, 5, 1_700_000_000_000, 1 << 62][rng.below(4)];
        self.say(&format!("XADD {key} {first_ms}-1 task first"));
        for step in 0..rng.below(100) as u64 {
            let ms = first_ms + step * [0, 1, 3, 70_000][rng.below(4)];
            self.step(key, rng, ms);
        }
        self.say("CONFIG SET stream-node-max-entries 100 stream-node-max-bytes 4096");
    }

    /// Does something with a stream; a new entry has this time or the last one's.
    pub(super) fn step(&mut self, key: &str, rng: &mut Rng, ms: u64) {
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

    /// Everything that shows of a stream.
    pub(super) fn shown(&mut self, key: &str) -> String {
        self.say_all(&[
            format!("XINFO STREAM {key} FULL COUNT 0"),
            format!("XINFO STREAM {key}"),
            format!("XINFO GROUPS {key}"),
        ])
    }

    /// The replies to these lines.
    pub(super) fn say_all(&mut self, lines: &[String]) -> String {
        let replies = lines.iter().map(|line| format!("{}\n", self.say(line)));
        replies.collect()
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

pub(super) const GROUPS: [&str; 3] = ["g", "12", "workers"];
