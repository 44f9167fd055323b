//! Streams that are written down by DUMP, restored elsewhere, and brought back.

use tailrace_storage::Rng;
use tailrace_tests::Embedded;
use tailrace_tests::Reference;
use tailrace_tests::Target;
use tailrace_tests::Value;

use super::reference_to;
use super::side::Side;
use super::streams::GROUPS;

/// Half of the streams begin on either side. Each is made by commands, written down, restored on the other side, written
/// down there and restored where it came from; all of them show the same.
#[test]
fn streams_move_between_tailrace_and_the_reference() {
    let Some(binary) = reference_to("move streams to the reference") else {
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
    from.make("s", &mut rng);
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
}

const STREAMS: u64 = 1_000;
/// What is added once the stream has moved comes after everything.
const AFTERWARDS: u64 = 1 << 63;
