//! The call log tells the same however calls come.

mod vocabulary;

use std::collections::HashSet;

use tailrace_server::Server;
use tailrace_storage::Rng;
use tailrace_tests::Caller;
use tailrace_tests::Value;
use tailrace_tests::settle;
use tailrace_tests::start;

use self::vocabulary::random_calls;
use self::vocabulary::words;
use super::FROZEN;
use super::said;
use super::send;
use super::text;

/// What each client is told by `TD CALLS`, and what it is told amid the calls. `TAILRACE_SEED` plays one seed alone.
#[tokio::test]
async fn calls_of_a_pipeline_are_told_as_if_they_came_one_by_one() {
    let seed = std::env::var("TAILRACE_SEED").ok();
    let seed = seed.and_then(|seed| seed.parse().ok());
    for seed in seed.map_or(0..24, |seed| seed..seed + 1) {
        let calls = random_calls(&mut Rng::from_seed(seed), is_rough(seed));
        let apart = told(seed, &calls, 1).await;
        for at_once in [3, 1_000] {
            let together = told(seed, &calls, at_once).await;
            let is_same = together == apart;
            let differing = together.lines().zip(apart.lines());
            let differing = differing.into_iter().find(|(one, other)| one != other);
            assert!(is_same, "seed {seed}, {at_once} at once: {differing:#?}");
        }
    }
}

const fn is_rough(seed: u64) -> bool {
    seed.is_multiple_of(4)
}

/// What a server tells of these calls, so many of which are sent at once.
async fn told(seed: u64, calls: &[Vec<u8>], at_once: usize) -> String {
    let server = start(&format!("{FROZEN}\nrename-command XLEN length")).await;
    let mut test = Caller::connect(&server);
    said(&mut test, "XGROUP CREATE w g $ MKSTREAM").await;
    said(&mut test, "TD LEDGER ON").await;
    said(&mut test, "CONFIG SET notify-keyspace-events KEA").await;
    let mut client = Caller::connect(&server);
    let tracking = tracker(&server, &mut client, seed).await;
    let waiting = waiters(&server).await;
    for pack in calls.chunks(at_once) {
        client.far().send(&pack.concat());
        settle().await;
        settle().await;
    }
    let mut told = told_by(&server).await;
    for line in RELEASES {
        heard(&server, line).await;
    }
    told += &told_by(&server).await;
    drop((waiting, tracking));
    match is_rough(seed) {
        // What was on its way when a connection ended is lost.
        true => told,
        false => format!("{told}\n{}", client.far().take().escape_ascii()),
    }
}

/// Somebody who may have what it caches invalidated on the client's connection.
async fn tracker(server: &Server, client: &mut Caller, seed: u64) -> Caller {
    if seed.is_multiple_of(3) {
        said(client, "HELLO 3").await;
    }
    let id = said(client, "CLIENT ID").await;
    let mut tracker = Caller::connect(server);
    said(&mut tracker, "HELLO 3").await;
    if seed.is_multiple_of(2) {
        let tracking = format!("CLIENT TRACKING ON REDIRECT {id}");
        assert_eq!(said(&mut tracker, &tracking).await, "OK");
        for key in ["a", "w", "k", "n", "e"] {
            said(&mut tracker, &format!("EXISTS {key}")).await;
        }
        send(&tracker, "XREADGROUP GROUP g t COUNT 1 BLOCK 0 STREAMS w >");
        settle().await;
    }
    tracker
}

/// What the log and the ledger tell now.
async fn told_by(server: &Server) -> String {
    let mut told = String::new();
    for line in ["TD CALLS", "TD LEDGER w g", "TD LEDGER w g 1000000-0"] {
        told += &heard(server, line).await;
        told += "\n";
    }
    told
}

/// What somebody new hears of a command at once, if it is not made to wait.
async fn heard(server: &Server, line: &str) -> String {
    let mut client = Caller::connect(server);
    send(&client, line);
    settle().await;
    settle().await;
    let reply = client.poll();
    reply.map_or_else(|| "nothing".to_owned(), |reply| reply.to_string())
}

/// What lets everybody go on that may wait, in whichever order they were stopped.
const RELEASES: &[&str] = &[
    "TD RESUME",
    "TD RELEASE hold",
    "TD FAULT CLEAR",
    "TD CLOCK ADVANCE 1000",
    "TD RESUME",
    "TD RELEASE hold",
    "TD CLOCK ADVANCE 1000",
    "TD RESUME",
    "XADD w 2000000-* f v",
    "XADD w * f v",
    "XADD w * f v",
    "XADD w * f v",
];

/// Consumers that wait for one entry each, and readers.
async fn waiters(server: &Server) -> Vec<Caller> {
    let mut waiting = Vec::new();
    for number in 0..9 {
        let waiter = Caller::connect(server);
        let line = match number {
            0 => "XREAD BLOCK 0 STREAMS w $".to_owned(),
            1 => "XREAD BLOCK 0 STREAMS a w $ $".to_owned(),
            2 => "XREADGROUP GROUP g c2 COUNT 1 BLOCK 50 STREAMS w >".to_owned(),
            _ => format!("XREADGROUP GROUP g c{number} COUNT 1 BLOCK 0 STREAMS w >"),
        };
        send(&waiter, &format!("CLIENT SETNAME wait{number}"));
        send(&waiter, &line);
        settle().await;
        waiting.push(waiter);
    }
    waiting
}

/// The clock is read again and again while many commands are executed.
#[tokio::test]
async fn calls_of_many_instants_have_their_own_times_and_replies() {
    let server = start("testdouble yes").await;
    let mut client = Caller::connect(&server);
    said(&mut client, "TD CLOCK SCALE 1000000").await;
    client.far().send(&words("XADD s * f v").repeat(500));
    settle().await;
    while client.poll().is_some() {}
    send(&client, "TD CALLS CMD xadd");
    let Value::Array(told) = client.reply().await else {
        panic!("the calls are a list");
    };
    let ids = text(&mut client, "TD STATE s").await;
    let ids = ids
        .lines()
        .filter_map(|line| line.strip_prefix("db0 s entry "));
    let ids: Vec<_> = ids.filter_map(|line| line.strip_suffix(" f v")).collect();
    let instants: HashSet<_> = ids.iter().map(|id| id.split('-').next()).collect();
    assert!(instants.len() > 3, "it is read for 64 commands at most");
    assert_eq!((told.len(), ids.len()), (500, 500));
    for (entry, id) in told.iter().zip(ids) {
        let (ms, _) = id.split_once('-').expect("an ID has two parts");
        let shown = entry.to_string();
        let is_right = shown.contains(&format!("\"time\" {ms} ")) && shown.contains(id);
        assert!(is_right, "{id}: {shown}");
    }
}

#[tokio::test]
async fn who_counts_hears_that_calls_were_forgotten() {
    let server = start(&format!("{FROZEN}\ncalls-memory 64kb")).await;
    let mut client = Caller::connect(&server);
    let value = "v".repeat(1_000);
    client
        .far()
        .send(&words(&format!("SET k {value}")).repeat(20));
    settle().await;
    while client.poll().is_some() {}
    let counted = said(&mut client, "TD ASSERT CALLS == 20 CMD set").await;
    assert_eq!(counted, "OK");
    client
        .far()
        .send(&words(&format!("SET k {value}")).repeat(980));
    settle().await;
    while client.poll().is_some() {}
    let counted = said(&mut client, "TD ASSERT CALLS == 1000 CMD set").await;
    let kept = said(&mut client, "TD CALLS COUNT CMD set").await;
    let kept: u64 = kept.parse().expect("a number");
    assert!((10..200).contains(&kept), "64 KiB, but for a piece: {kept}");
    let forgotten = 1_000 - kept;
    let expected = format!("; {forgotten} older calls were forgotten (calls-memory)");
    assert!(counted.ends_with(&expected), "{counted}");
}
