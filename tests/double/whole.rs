//! What a test double says of data when it is a cluster: whichever node is asked, it is about all of them.

use tailrace_server::Cluster;
use tailrace_server::cluster::NodeIndex;
use tailrace_tests::Caller;
use tailrace_tests::start_cluster;

use super::FROZEN;
use super::said;
use super::text;

/// A cluster of three nodes with a stream on each, and a client of each.
async fn cluster() -> (Cluster, [Caller; 3]) {
    let cluster = start_cluster(&format!("{FROZEN}\nnodes 3")).await;
    let mut callers = [0, 1, 2].map(|place| Caller::connect_to(&cluster, NodeIndex::new(place)));
    said(&mut callers[0], "TD LEDGER ON").await;
    for (caller, key) in callers.iter_mut().zip(["{b}", "{c}", "{a}"]) {
        said(caller, &format!("XADD {key} 1-1 f v")).await;
        said(caller, &format!("XGROUP CREATE {key} g 0")).await;
    }
    (cluster, callers)
}

fn facts(key: &str) -> String {
    format!(
        "db0 {key} stream\ndb0 {key} last-id 1-1\ndb0 {key} entries-added 1\ndb0 {key} max-deleted-id 0-0\n\
         db0 {key} entry 1-1 f v\ndb0 {key} group g last-delivered-id 0-0\ndb0 {key} group g entries-read unknown\n"
    )
}

#[tokio::test]
async fn the_state_of_all_nodes_is_one() {
    let (_cluster, mut callers) = cluster().await;
    let all = ["{a}", "{b}", "{c}"].map(facts).concat();
    for caller in &mut callers {
        let state = text(caller, "TD STATE").await;
        assert_eq!(state, format!("clock frozen 1000000\n{all}"));
        let some = text(caller, "TD STATE {c} {a}").await;
        assert_eq!(some, [facts("{a}"), facts("{c}")].concat());
    }
    let [first, _, third] = &mut callers;
    said(first, "HELLO 3").await;
    let shown = said(first, "TD STATE missing").await;
    assert_eq!(shown, "=txt:\"\"");

    // What only a node has that knows no better is told as well, behind what the right one has.
    said(first, "TD CLUSTER STALE 2").await;
    said(first, "TD CLUSTER MOVE {a} 0").await;
    said(third, "SET {a}s 2").await;
    said(first, "SET {a}s 1").await;
    let both = "db0 {a}s string 1\ndb0 {a}s string 2\n";
    assert_eq!(text(third, "TD STATE {a}s").await, both);
}

#[tokio::test]
async fn what_differs_is_that_of_all_nodes() {
    let (_cluster, mut callers) = cluster().await;
    let [first, second, third] = &mut callers;
    said(second, "TD SNAPSHOT SAVE begun").await;
    assert_eq!(text(third, "TD DIFF begun NOW").await, "");
    said(third, "TD SNAPSHOT SAVE same").await;
    said(third, "XACK {a} g 1-1").await;
    said(third, "SET {a}s 1").await;
    said(second, "DEL {c}").await;
    said(second, "TD CLOCK ADVANCE 5").await;
    let gone: String = facts("{c}")
        .lines()
        .map(|fact| format!("- {fact}\n"))
        .collect();
    let differs = format!(
        "- clock frozen 1000000\n+ clock frozen 1000005\n{}{gone}",
        "+ db0 {a}s string 1\n"
    );
    for other in ["begun", "same"] {
        let head = format!("--- {other}\n+++ NOW\n");
        assert_eq!(
            text(first, &format!("TD DIFF {other} NOW")).await,
            head + &differs
        );
    }
    assert_eq!(
        said(first, "TD DIFF begun other").await,
        "!ERR there is no snapshot 'other'; there are: begun, same"
    );
    let listed = said(first, "TD SNAPSHOT LIST").await;
    assert_eq!(listed.matches("\"keys\" 3 ").count(), 2, "{listed}");
}

#[tokio::test]
async fn the_ledger_is_asked_where_the_stream_is() {
    let (_cluster, mut callers) = cluster().await;
    let [first, second, third] = &mut callers;
    said(third, "XREADGROUP GROUP g c STREAMS {a} >").await;
    let told = said(second, "TD LEDGER").await;
    assert!(
        told.starts_with("[\"mode\" \"all\" \"streams\" [\"{a}\" \"{b}\" \"{c}\"] \"records\" "),
        "{told}"
    );
    let sums = said(third, "TD LEDGER {a} g").await;
    assert!(
        sums.contains("\"delivered-once\" 1") && sums.contains("\"pending\" 1"),
        "{sums}"
    );
    assert_eq!(said(first, "TD LEDGER {a} g").await, sums);
    let history = said(first, "TD LEDGER {a} g 1-1").await;
    assert!(history.contains("delivered to c (client "), "{history}");
    assert_eq!(said(second, "TD LEDGER WORKED {a} g 1-1 7-7").await, "1");
    said(third, "XACK {a} g 1-1").await;
    let worked = "TD ASSERT AT-LEAST-ONCE {a} g WORKED";
    assert_eq!(said(first, worked).await, "OK");
    assert_eq!(
        said(first, "TD LEDGER {a} other").await,
        "!ERR the ledger knows no group other of {a}; it knows g"
    );
    // A client that speaks the other protocol is answered in that.
    said(first, "HELLO 3").await;
    let sums = said(first, "TD LEDGER {a} g").await;
    assert!(
        sums.starts_with('{') && sums.contains("\"added\" 1"),
        "{sums}"
    );
    said(second, "TD LEDGER OFF").await;
    let off = said(third, "TD LEDGER").await;
    assert_eq!(off, "[\"mode\" \"off\" \"streams\" [] \"records\" 0]");
}

/// What became of entries before their slot went elsewhere is known where they are now.
#[tokio::test]
async fn the_ledger_moves_with_its_stream() {
    let (_cluster, mut callers) = cluster().await;
    let [first, second, third] = &mut callers;
    said(third, "XREADGROUP GROUP g dead STREAMS {a} >").await;
    said(third, "XCLAIM {a} g alive 0 1-1").await;
    said(third, "XACK {a} g 1-1").await;
    let twice = said(first, "TD LEDGER {a} g 1-1").await;
    assert!(twice.contains("claimed by alive"), "{twice}");
    assert_eq!(said(first, "TD CLUSTER MOVE {a} 1").await, "OK");
    assert_eq!(said(first, "TD LEDGER {a} g 1-1").await, twice);
    let broken = said(third, "TD ASSERT EXACTLY-ONCE {a} g").await;
    assert!(broken.contains("claimed by alive"), "{broken}");
    assert_eq!(said(third, "TD ASSERT NO-LOSS {a} g").await, "OK");

    // It goes on there, also when it is opened and brought back, and a new life is another.
    said(second, "XADD {a} 2-1 f v").await;
    said(second, "TD CLUSTER MIGRATE {a} 0").await;
    said(second, "TD CLUSTER MIGRATE {a} CANCEL").await;
    said(second, "DEL {a}").await;
    said(second, "XADD {a} 1-1 f v").await;
    said(second, "XGROUP CREATE {a} g 0").await;
    let lives = said(first, "TD LEDGER {a} g 1-1").await;
    assert_eq!(lives.matches("added by").count(), 2, "{lives}");
    let lost = said(third, "TD ASSERT NO-LOSS {a} g").await;
    assert!(lost.contains("1 of 3 entries: 2-1: "), "{lost}");
}

/// Each node executes what is about its keys, and none anything if a line is wrong for any of them.
#[tokio::test]
async fn a_fixture_is_for_all_nodes_or_for_none() {
    let cluster = start_cluster(&format!("{FROZEN}\nnodes 3")).await;
    let [mut first, mut second, mut third] =
        [0, 1, 2].map(|place| Caller::connect_to(&cluster, NodeIndex::new(place)));
    let lines = "SELECT 0\nSET {a} 1\n# no command\nSET {b} 2\nXADD {b}s * f v\nSET {c} 3";
    let loaded = second.call(&["TD", "FIXTURE", "LOAD", lines]).await;
    assert_eq!(loaded.to_string(), "5");
    assert_eq!(said(&mut first, "GET {b}").await, "\"2\"");
    assert_eq!(said(&mut second, "DBSIZE").await, "1");
    assert_eq!(said(&mut third, "GET {a}").await, "\"1\"");
    let before = text(&mut first, "TD STATE").await;
    said(&mut third, "WATCH {a}").await;
    for (lines, wrong) in [
        (
            "SET {b} 7\nSET {a} 7\nXLEN {a}\nLPUSH {b} v",
            "line 3, XLEN {a}: WRONGTYPE",
        ),
        (
            "SET {a} 7\nMSET {a} 1 {b} 2",
            "line 2, MSET {a} 1 {b} 2: its keys are in several slots",
        ),
        ("SET {c} 7\nNOPE\nXLEN {a}", "line 2, NOPE: unknown command"),
    ] {
        let refused = first
            .call(&["TD", "FIXTURE", "LOAD", lines])
            .await
            .to_string();
        assert!(refused.contains(wrong), "{refused}");
        assert!(refused.ends_with("; nothing was changed"), "{refused}");
        assert_eq!(text(&mut first, "TD STATE").await, before);
    }
    // Nobody has heard of what was tried.
    for line in ["MULTI", "PING"] {
        said(&mut third, line).await;
    }
    assert_eq!(said(&mut third, "EXEC").await, "[PONG]");
}
