//! The call log tells the same however calls come.

use std::collections::HashSet;

use tailrace_server::Server;
use tailrace_storage::Rng;
use tailrace_tests::Caller;
use tailrace_tests::Value;
use tailrace_tests::encode;
use tailrace_tests::settle;
use tailrace_tests::start;

use super::FROZEN;
use super::said;
use super::send;
use super::text;

/// What each client is told by `TD CALLS`, and what it is told amid the calls.
#[tokio::test]
async fn calls_of_a_pipeline_are_told_as_if_they_came_one_by_one() {
    for seed in 0..100 {
        let calls = random_calls(&mut Rng::from_seed(seed));
        let apart = told(&calls, 1).await;
        assert!(apart.lines().count() > calls.len(), "seed {seed}");
        for at_once in [3, 1_000] {
            let together = told(&calls, at_once).await;
            assert_eq!(together, apart, "seed {seed}, {at_once} at once");
        }
    }
}

/// What a server tells of these calls, so many of which are sent at once.
async fn told(calls: &[Vec<u8>], at_once: usize) -> String {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    said(&mut test, "XGROUP CREATE w g $ MKSTREAM").await;
    said(&mut test, "TD LEDGER ON").await;
    let waiting = waiters(&server).await;
    let client = Caller::connect(&server);
    for pack in calls.chunks(at_once) {
        client.far().send(&pack.concat());
        settle().await;
    }
    let heard = client.far().take();
    let told = said(&mut test, "TD CALLS").await;
    let ledger = said(&mut test, "TD LEDGER w g 1000000-0").await;
    drop(waiting);
    format!("{told}\n{ledger}\n{}", heard.escape_ascii())
}

/// Consumers that wait for one entry each, and a reader.
async fn waiters(server: &Server) -> Vec<Caller> {
    let mut waiting = Vec::new();
    for number in 0..6 {
        let waiter = Caller::connect(server);
        let line = match number {
            0 => "XREAD BLOCK 0 STREAMS w $".to_owned(),
            _ => format!("XREADGROUP GROUP g c{number} COUNT 1 BLOCK 0 STREAMS w >"),
        };
        send(&waiter, &line);
        settle().await;
        waiting.push(waiter);
    }
    waiting
}

fn random_calls(rng: &mut Rng) -> Vec<Vec<u8>> {
    let count = 4 + rng.below(40);
    let mut calls: Vec<_> = (0..count).map(|_| random_call(rng)).collect();
    if rng.below(3) == 0 {
        calls.insert(0, words("HELLO 3"));
    }
    calls
}

fn random_call(rng: &mut Rng) -> Vec<u8> {
    let usual = [
        "XADD a * f v",
        "XADD a * field value",
        "XADD w * f v",
        "XLEN a",
        "XRANGE a - +",
        "SET k v",
        "GET k",
        "DEL k a",
    ];
    let others = [
        "PING",
        "NO SUCH",
        "XADD a 0-0 f v",
        "MULTI",
        "EXEC",
        "CLIENT REPLY SKIP",
        "CLIENT SETNAME someone",
        "CLIENT TRACKING ON",
        "CLIENT TRACKING OFF",
        "SELECT 1",
        "SELECT 0",
        "XREADGROUP GROUP g me STREAMS w >",
        "TD CALLS COUNT",
        "TD CALLS LIMIT 2",
        "TD ASSERT CALLS == 0 CMD xadd ERRORS",
        "TD ASSERT CALLS == 1 CMD xadd ERRORS",
        "TD LEDGER ON",
        "XACK w g 1000000-0",
        "EVAL return{redis.call('INCR',KEYS[1])} 1 n",
        "XINFO STREAM a FULL",
    ];
    let typed: [&[u8]; 5] = [
        b"SET k 'a b'\r\n",
        b"td calls count\r\n",
        b"\r\n",
        b"*0\r\n",
        b"XADD w * f v\r\n",
    ];
    match rng.below(10) {
        0..6 => words(usual[rng.below(usual.len())]),
        6..9 => words(others[rng.below(others.len())]),
        _ => typed[rng.below(typed.len())].to_vec(),
    }
}

fn words(line: &str) -> Vec<u8> {
    encode(&line.split(' ').collect::<Vec<_>>())
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
