//! A cluster in the hands of a test: one clock, one set of faults, one list of calls for all of its nodes.

use tailrace_server::Cluster;
use tailrace_server::cluster::NodeIndex;
use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start_cluster;

use super::FROZEN;
use super::said;
use super::send;

/// A key of each of three nodes, in their order.
const KEYS: [&str; 3] = ["{b}", "{c}", "{a}"];

async fn cluster() -> (Cluster, [Caller; 3]) {
    let cluster = start_cluster(&format!("{FROZEN}\nnodes 3")).await;
    let callers = [0, 1, 2].map(|place| Caller::connect_to(&cluster, NodeIndex::new(place)));
    (cluster, callers)
}

#[tokio::test]
async fn time_passes_on_all_nodes_at_once() {
    let (cluster, mut callers) = cluster().await;
    for (caller, key) in callers.iter_mut().zip(KEYS) {
        assert_eq!(
            said(caller, &format!("XADD {key} * f v")).await,
            "\"1000000-0\""
        );
    }
    let mut readers = [0, 1, 2].map(|place| Caller::connect_to(&cluster, NodeIndex::new(place)));
    for ((reader, key), after) in readers.iter().zip(KEYS).zip([3_000, 1_000, 2_000]) {
        send(reader, &format!("XREAD BLOCK {after} STREAMS {key} $"));
    }
    let [first, second, third] = &mut callers;
    assert_eq!(said(third, "TD WAIT BLOCKED 3 TIMEOUT 10000").await, "OK");
    assert_eq!(said(first, "TD CLOCK NEXT").await, "1001000");
    assert_eq!(readers[1].reply().await.to_string(), "nil-array");
    readers[0].assert_silent().await;
    assert_eq!(
        said(second, "TD CLOCK RUN 10000 SETTLE 0 10000").await,
        "1011000"
    );
    assert_eq!(readers[0].reply().await.to_string(), "nil-array");
    assert_eq!(readers[2].reply().await.to_string(), "nil-array");
    assert_eq!(said(third, "TIME").await, "[\"1011\" \"0\"]");
    let missing = "!ERR the number of clients that wait so is 0, and not >= 1; \
                   nobody waits; nobody waits; nobody waits";
    assert_eq!(said(third, "TD ASSERT BLOCKED >= 1").await, missing);
}

#[tokio::test]
async fn a_fault_strikes_once_whichever_node_it_is() {
    let (_cluster, mut callers) = cluster().await;
    let [first, second, third] = &mut callers;
    said(first, "TD FAULT ADD f CMD XADD BEFORE OOM").await;
    let struck = said(second, &format!("XADD {} 1-1 f v", KEYS[1])).await;
    assert!(struck.starts_with("!OOM"), "{struck}");
    let added = said(third, &format!("XADD {} 1-1 f v", KEYS[2])).await;
    assert_eq!(added, "\"1-1\"");
    assert_eq!(said(third, "TD FAULT HITS f").await, "1");
    assert_eq!(said(first, "TD CALLS COUNT CMD XADD").await, "2");
    assert_eq!(said(first, "TD ASSERT CALLS 2 CMD XADD").await, "OK");
}

#[tokio::test]
async fn any_node_answers_for_all() {
    let (cluster, mut callers) = cluster().await;
    let stream = KEYS[2];
    said(&mut callers[2], &format!("XADD {stream} 1-1 f v")).await;
    said(&mut callers[2], &format!("XGROUP CREATE {stream} g 0")).await;
    let [first, ..] = &mut callers;
    let lag = said(first, &format!("TD ASSERT LAG {stream} g 2")).await;
    assert_eq!(lag, format!("!ERR LAG of {stream} g is 1, and not = 2"));
    assert_eq!(
        said(first, &format!("TD ASSERT LEN {stream} 1")).await,
        "OK"
    );

    send(first, &format!("TD WAIT LEN {stream} 2 TIMEOUT 10000"));
    settle().await;
    first.assert_silent().await;
    said(&mut callers[2], &format!("XADD {stream} 2-1 f v")).await;
    assert_eq!(callers[0].reply().await.to_string(), "OK");

    said(
        &mut callers[0],
        "TD FAULT ADD gate CMD XLEN ALWAYS BEFORE HOLD",
    )
    .await;
    let mut held = [1, 2].map(|place| Caller::connect_to(&cluster, NodeIndex::new(place)));
    for (caller, place) in held.iter().zip([1, 2]) {
        send(caller, &format!("XLEN {}", KEYS[place]));
    }
    assert_eq!(
        said(&mut callers[0], "TD WAIT HELD gate 2 TIMEOUT 10000").await,
        "OK"
    );
    assert_eq!(said(&mut callers[0], "TD RELEASE gate 1").await, "1");
    assert_eq!(held[0].reply().await.to_string(), "0");
    held[1].assert_silent().await;
    assert_eq!(said(&mut callers[0], "TD FAULT DEL gate").await, "OK");
    assert_eq!(held[1].reply().await.to_string(), "2");
}

#[tokio::test]
async fn a_pause_and_the_ledger_are_for_all_nodes() {
    let (_cluster, mut callers) = cluster().await;
    let stream = KEYS[2];
    let [first, second, third] = &mut callers;
    assert_eq!(said(first, "TD LEDGER ON").await, "OK");
    said(third, &format!("XADD {stream} 1-1 f v")).await;
    said(third, &format!("XGROUP CREATE {stream} g 0")).await;
    said(third, &format!("XREADGROUP GROUP g c STREAMS {stream} >")).await;
    let lost = said(second, &format!("TD ASSERT AT-LEAST-ONCE {stream} g")).await;
    assert!(lost.contains("1-1"), "{lost}");
    said(third, &format!("XACK {stream} g 1-1")).await;
    assert_eq!(
        said(second, &format!("TD ASSERT AT-LEAST-ONCE {stream} g")).await,
        "OK"
    );
    assert_eq!(said(first, "TD PAUSE").await, "OK");
    send(second, &format!("XLEN {}", KEYS[1]));
    send(third, &format!("XLEN {stream}"));
    settle().await;
    second.assert_silent().await;
    third.assert_silent().await;
    assert_eq!(said(first, "TD RESUME").await, "OK");
    assert_eq!(second.reply().await.to_string(), "0");
    assert_eq!(third.reply().await.to_string(), "1");
}

/// What comes to one node: a command, a push, a call that is looked for.
#[tokio::test]
async fn a_fault_can_be_for_one_node() {
    let (cluster, mut callers) = cluster().await;
    let [first, second, third] = &mut callers;
    said(first, "TD FAULT ADD f CMD XADD NODE 1 ALWAYS BEFORE OOM").await;
    for (caller, key, reply) in [
        (&mut *first, KEYS[0], "\"1-1\""),
        (&mut *second, KEYS[1], "!OOM"),
        (&mut *third, KEYS[2], "\"1-1\""),
    ] {
        let said = said(caller, &format!("XADD {key} 1-1 f v")).await;
        assert!(said.starts_with(reply), "{said}");
    }
    assert_eq!(said(third, "TD CALLS COUNT CMD XADD").await, "3");
    assert_eq!(
        said(third, "TD CALLS COUNT CMD XADD NODE 1 ERRORS").await,
        "1"
    );
    assert_eq!(
        said(third, "TD CALLS COUNT CMD XADD NODE 2 ERRORS").await,
        "0"
    );

    let mut listeners = [1, 2].map(|place| Caller::connect_to(&cluster, NodeIndex::new(place)));
    for listener in &mut listeners {
        said(listener, "SUBSCRIBE news").await;
    }
    said(first, "TD FAULT ADD lost CMD message NODE 1 PUSH DROP").await;
    said(first, "PUBLISH news one").await;
    said(first, "PUBLISH news two").await;
    for (listener, messages) in listeners.iter_mut().zip([&["two"][..], &["one", "two"]]) {
        for message in messages {
            let heard = listener.reply().await.to_string();
            assert_eq!(heard, format!("[\"message\" \"news\" \"{message}\"]"));
        }
    }
}

#[tokio::test]
async fn clients_of_any_node_die() {
    let (cluster, mut callers) = cluster().await;
    let mut workers = [0, 1, 2].map(|place| Caller::connect_to(&cluster, NodeIndex::new(place)));
    for (worker, key) in workers.iter_mut().zip(KEYS) {
        said(worker, "CLIENT SETNAME worker").await;
        said(worker, &format!("XGROUP CREATE {key} g 0 MKSTREAM")).await;
        said(worker, &format!("XREADGROUP GROUP g c STREAMS {key} 0")).await;
    }
    let [first, ..] = &mut callers;
    let kill = format!("TD KILL CONSUMER {} g c", KEYS[2]);
    assert_eq!(said(first, &kill).await, "1");
    let missing = format!("!ERR no other client reads {} g as c", KEYS[2]);
    assert_eq!(said(first, &kill).await, missing);
    assert_eq!(said(first, "TD KILL CLIENT worker").await, "2");
    for worker in workers {
        assert_eq!(worker.rest().await, b"");
    }
    assert_eq!(
        said(first, "TD KILL CLIENT worker").await,
        "!ERR no other client is called worker"
    );
}

/// A command at one node moves the clock of all, and what is due on others happens then.
#[tokio::test]
async fn a_tick_at_one_node_is_one_for_all() {
    let (cluster, mut callers) = cluster().await;
    let mut reader = Caller::connect_to(&cluster, NodeIndex::new(1));
    let [first, ..] = &mut callers;
    send(&reader, &format!("XREAD BLOCK 1500 STREAMS {} $", KEYS[1]));
    settle().await;
    said(first, "TD CLOCK TICK 1000").await;
    said(first, "PING").await;
    settle().await;
    reader.assert_silent().await;
    said(first, "PING").await;
    assert_eq!(reader.reply().await.to_string(), "nil-array");
    assert_eq!(said(first, "TIME").await, "[\"1003\" \"0\"]");
}

/// Data, clock and what is kept to go back to are those of all nodes.
#[tokio::test]
async fn all_nodes_go_back_and_begin_anew() {
    let (_cluster, mut callers) = cluster().await;
    let [first, second, third] = &mut callers;
    said(first, "SET {b} 1").await;
    said(third, "SET {a} 1").await;
    assert_eq!(said(second, "TD SNAPSHOT SAVE base").await, "OK");
    said(first, "DEL {b}").await;
    said(third, "SET {a} 2").await;
    said(first, "TD CLOCK ADVANCE 7").await;
    assert_eq!(said(third, "TD SNAPSHOT RESTORE base").await, "OK");
    assert_eq!(said(first, "GET {b}").await, "\"1\"");
    assert_eq!(said(third, "GET {a}").await, "\"1\"");
    assert_eq!(said(second, "TIME").await, "[\"1000\" \"0\"]");
    assert_eq!(said(first, "TD SNAPSHOT DROP base").await, "OK");
    assert_eq!(said(third, "TD SNAPSHOT LIST").await, "[]");

    said(first, "TD FAULT ADD f CMD GET ALWAYS BEFORE NIL").await;
    assert_eq!(said(second, "TD RESET").await, "OK");
    for caller in [first, second, third] {
        assert_eq!(said(caller, "DBSIZE").await, "0");
        assert_eq!(said(caller, "TD FAULT LIST").await, "[]");
    }
}

#[tokio::test]
async fn each_node_starts_with_its_part_of_a_fixture() {
    let path = std::env::temp_dir().join(format!("tailrace-nodes-{}", std::process::id()));
    std::fs::write(
        &path,
        "SET {a} 1\nSET {b} 2\nXADD {b}s 1-1 f v\nSET {c} 3\n",
    )
    .unwrap();
    let fixture = format!("{FROZEN}\nnodes 3\nfixture {}", path.display());
    let cluster = start_cluster(&fixture).await;
    std::fs::remove_file(&path).unwrap();
    for (place, (key, value)) in [("{b}", "2"), ("{c}", "3"), ("{a}", "1")]
        .iter()
        .enumerate()
    {
        let mut caller = Caller::connect_to(&cluster, NodeIndex::new(place));
        let found = said(&mut caller, &format!("GET {key}")).await;
        assert_eq!(found, format!("\"{value}\""));
        let keys = if place == 0 { "2" } else { "1" };
        assert_eq!(said(&mut caller, "DBSIZE").await, keys);
    }
}
