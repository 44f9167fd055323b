//! Plays `transcripts/*.txt` to the reference server, and to Tailrace.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::thread;

use tailrace_tests::Embedded;
use tailrace_tests::Played;
use tailrace_tests::Reference;
use tailrace_tests::Remote;
use tailrace_tests::Target;
use tailrace_tests::play;

/// The transcripts are what the reference says; without this they would only be what somebody thought.
#[test]
fn the_reference_says_what_the_transcripts_say() {
    let Some(binary) = Reference::binary() else {
        return skip("the reference server, since TAILRACE_REFERENCE does not name one");
    };
    let start = |kind| -> Option<Box<dyn Target>> {
        Some(Box::new(match kind {
            Kind::Alone => Reference::start(&binary).unwrap(),
            Kind::Cluster => Reference::start_in_cluster(&binary).unwrap(),
            Kind::Double | Kind::DoubleInCluster => return None,
        }))
    };
    play_all(&start, PLAYERS, is_updating());
}

/// What is said here is what the reference says.
#[test]
fn tailrace_says_what_the_transcripts_say() {
    let start = |kind| -> Option<Box<dyn Target>> {
        Some(Box::new(match kind {
            Kind::Alone => Embedded::start().unwrap(),
            Kind::Cluster => Embedded::start_in_cluster().unwrap(),
            Kind::Double => Embedded::start_double(false).unwrap(),
            Kind::DoubleInCluster => Embedded::start_double(true).unwrap(),
        }))
    };
    play_all(
        &start,
        PLAYERS,
        is_updating() && Reference::binary().is_none(),
    );
}

/// The player has to notice: that something else was said, that nothing was, and that more was.
#[test]
fn what_a_transcript_has_wrong_is_set_right() {
    let wrong = "\
# A reply that is another, one that is missing, and two that nobody gave.
a> ECHO hello
\"goodbye\"
a> PING
a> XADD s 1-1 f v
\"1-1\"
b< [[\"s\" []]]
a> XREAD BLOCK 0 STREAMS s 1-1
nil-array
b> XADD s 1-2 f v
\"1-2\"
";
    let right = "\
# A reply that is another, one that is missing, and two that nobody gave.
a> ECHO hello
\"hello\"
a> PING
PONG
a> XADD s 1-1 f v
\"1-1\"
a> XREAD BLOCK 0 STREAMS s 1-1
(waiting)
b> XADD s 1-2 f v
\"1-2\"
a< [[\"s\" [[\"1-2\" [\"f\" \"v\"]]]]]
";
    let played = play(wrong, &mut Embedded::start().unwrap()).unwrap();
    assert_eq!(played.text, right);
    let lines: Vec<usize> = played.differences.iter().map(|found| found.line).collect();
    assert_eq!(lines, [2, 4, 5, 8, 10]);
}

/// Symbols, times and what is left out match what they are for, and nothing else.
#[test]
fn what_may_differ_matches_no_more_than_that() {
    let script = "\
a> XADD s * f v
$id
a> XADD s * f v
$id
a> ECHO abcdef
\"ab...f\"
a> ECHO abcdef
\"ab...e\"
a> XRANGE s $id $id
[... [$id [...]] ...]
a> XPENDING s g
[...]
a> PTTL s
~-1
a> PTTL s
~0
";
    let played = play(script, &mut Embedded::start().unwrap()).unwrap();
    let lines: Vec<usize> = played.differences.iter().map(|found| found.line).collect();
    assert_eq!(lines, [3, 7, 11, 15], "{}", played.text);
}

/// For a Tailrace that runs elsewhere, such as the binary as it is released.
#[test]
fn a_server_elsewhere_says_what_the_transcripts_say() {
    let Some(address) = Remote::address_given() else {
        return skip("a Tailrace elsewhere, since TAILRACE_ADDR does not name one");
    };
    // It is none of a cluster.
    let start = |kind| -> Option<Box<dyn Target>> {
        (kind == Kind::Alone)
            .then(|| -> Box<dyn Target> { Box::new(Remote::empty(&address).unwrap()) })
    };
    play_all(&start, 1, false);
}

/// Says so where it is seen: what a test prints is not shown while it passes.
fn skip(what: &str) {
    let line = format!("skipped: transcripts against {what} (.ci/run does that)\n");
    // Nobody may be listening.
    let _ = io::stderr().write_all(line.as_bytes());
}

/// What kind of server a transcript is played to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Alone,
    /// A cluster of one node.
    Cluster,
    /// A test double, which the reference is not.
    Double,
    /// A test double that is a cluster of one node.
    DoubleInCluster,
}

impl Kind {
    fn of(transcript: &str) -> Self {
        let says = |directive| transcript.lines().any(|line| line == directive);
        match (says("@testdouble"), says("@cluster")) {
            (true, true) => Self::DoubleInCluster,
            (true, false) => Self::Double,
            (false, true) => Self::Cluster,
            (false, false) => Self::Alone,
        }
    }
}

/// Starts a server, if there can be one of this kind.
type Start<'a> = dyn Fn(Kind) -> Option<Box<dyn Target>> + Sync + 'a;

fn is_updating() -> bool {
    env::var_os("UPDATE").is_some()
}

/// Plays each transcript to a server of its own and fails with all that differed.
fn play_all(start: &Start<'_>, players: usize, is_updating: bool) {
    let paths = paths();
    assert!(!paths.is_empty(), "no transcripts found");
    let next = AtomicUsize::new(0);
    let report = Mutex::new(String::new());
    thread::scope(|scope| {
        for _ in 0..players {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let differences = play_one(path, start, is_updating);
                    report.lock().unwrap().push_str(&differences);
                }
            });
        }
    });
    let report = report.into_inner().unwrap();
    assert!(report.is_empty(), "\n{report}");
}

/// Plays one transcript and returns how it differed, in words.
///
/// Where time goes by itself, a busy host may spoil a story in which something must happen before its time is
/// up; there it is told again from the beginning before it counts as different.
fn play_one(path: &Path, start: &Start<'_>, is_updating: bool) -> String {
    let name = path.file_name().unwrap().to_string_lossy();
    let want = fs::read_to_string(path).unwrap();
    let mut report = String::new();
    for _ in 0..PLAYS_MAX {
        let Some(mut target) = start(Kind::of(&want)) else {
            break;
        };
        let played = play(&want, target.as_mut());
        if let (Ok(played), true) = (&played, is_updating) {
            fs::write(path, &played.text).unwrap();
        }
        report = described(&name, played);
        if report.is_empty() || is_updating || target.has_manual_clock() {
            break;
        }
    }
    report
}

fn described(name: &str, played: Result<Played, String>) -> String {
    let differences = match played {
        Ok(played) => played.differences,
        Err(reason) => return format!("{name}: {reason}\n"),
    };
    let mut report = String::new();
    for difference in differences {
        writeln!(
            report,
            "{name}:{}: {}\n--- want\n{}--- got\n{}",
            difference.line, difference.input, difference.want, difference.got
        )
        .unwrap();
    }
    report
}

fn paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let part = env::var("TRANSCRIPT").unwrap_or_default();
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "txt"))
        .filter(|path| path.to_string_lossy().contains(&part))
        .collect();
    paths.sort();
    paths
}

/// Transcripts played at the same time; most of their time is spent waiting.
const PLAYERS: usize = 4;

/// Plays of one transcript where time goes by itself.
const PLAYS_MAX: usize = 3;
