//! Slots that move in the background, and what slots cost.

use tailrace_server::Cluster;
use tailrace_server::cluster::NodeIndex;
use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start_cluster;

use super::U;
use super::caller;
use super::id;
use super::port;
use super::say;

/// Asks the last of two nodes to move slots to the first.
async fn migrate(cluster: &Cluster, from: &mut Caller, slots: &str) -> String {
    let to = id(cluster, 0);
    say(
        from,
        &format!("CLUSTER MIGRATESLOTS SLOTSRANGE {slots} NODE {to}"),
    )
    .await
}

/// Waits until what a node has asked for last is over.
async fn until_over(from: &mut Caller) {
    for _ in 0..1_000 {
        settle().await;
        let shown = say(from, "CLUSTER GETSLOTMIGRATIONS").await;
        let state = shown.split("\"state\" ").nth(1).unwrap();
        if state.starts_with("\"success\"") {
            return;
        }
    }
    panic!("it goes on and on");
}

#[tokio::test]
async fn slots_move_in_the_background_with_all_that_is_in_them() {
    let cluster = start_cluster("nodes 2\nreplicas 1").await;
    let (mut to, mut from) = (caller(&cluster, 0), caller(&cluster, 1));
    let mut reader = caller(&cluster, 1);
    say(&mut from, "XGROUP CREATE {u} g $ MKSTREAM").await;
    say(&mut from, "XADD {u} 1-1 f v").await;
    say(&mut from, "XREADGROUP GROUP g c STREAMS {u} >").await;
    say(&mut from, "SET foo 1 PX 100000").await;
    let read = [
        "XREADGROUP",
        "GROUP",
        "g",
        "d",
        "BLOCK",
        "0",
        "STREAMS",
        "{u}",
        ">",
    ];
    reader.send(&read);
    reader.assert_silent().await;
    assert_eq!(
        migrate(&cluster, &mut from, "11000 12000 12182 12182").await,
        "OK"
    );
    let moved = format!("!MOVED {U} 127.0.0.1:{}", port(&cluster, 0));
    assert_eq!(reader.reply().await.to_string(), moved);
    until_over(&mut from).await;
    assert_eq!(say(&mut from, "XLEN {u}").await, moved);
    let pending = say(&mut to, "XPENDING {u} g").await;
    assert_eq!(pending, "[1 \"1-1\" \"1-1\" [[\"c\" \"1\"]]]");
    assert_eq!(say(&mut to, "PTTL foo").await, "100000");
    assert_eq!(say(&mut from, "DBSIZE").await, "0");
    let shown = say(&mut from, "CLUSTER GETSLOTMIGRATIONS").await;
    for part in [
        "\"EXPORT\"",
        "\"11000-12000 12182-12182\"",
        "\"state\" \"success\"",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    let shown = say(&mut to, "CLUSTER GETSLOTMIGRATIONS").await;
    assert!(
        shown.contains("\"IMPORT\"") && shown.contains(&id(&cluster, 1)),
        "{shown}"
    );
    let shown = say(&mut caller(&cluster, 2), "CLUSTER GETSLOTMIGRATIONS").await;
    assert!(
        shown.contains("\"IMPORT\"") && !shown.contains("node"),
        "{shown}"
    );
    let shown = say(&mut caller(&cluster, 3), "CLUSTER GETSLOTMIGRATIONS").await;
    assert_eq!(shown, "[]");
}

#[tokio::test]
async fn a_migration_that_is_cancelled_goes_no_further() {
    let cluster = start_cluster("nodes 2\ncluster-slot-migration-log-max-len 1").await;
    let mut from = caller(&cluster, 1);
    say(&mut from, "SET {u} 1").await;
    // Both come before the first slot has moved.
    let to = id(&cluster, 0);
    from.send(&[
        "CLUSTER",
        "MIGRATESLOTS",
        "SLOTSRANGE",
        "10000",
        "16383",
        "NODE",
        &to,
    ]);
    from.send(&[
        "CLUSTER",
        "MIGRATESLOTS",
        "SLOTSRANGE",
        "9999",
        "10000",
        "NODE",
        &to,
    ]);
    from.send(&["CLUSTER", "CANCELSLOTMIGRATIONS"]);
    assert_eq!(from.reply().await.to_string(), "OK");
    let twice = from.reply().await.to_string();
    assert_eq!(twice, "!ERR I am already migrating slot 10000.");
    assert_eq!(from.reply().await.to_string(), "OK");
    settle().await;
    assert_eq!(say(&mut from, "GET {u}").await, "\"1\"");
    let shown = say(&mut from, "CLUSTER GETSLOTMIGRATIONS").await;
    assert!(shown.contains("\"state\" \"cancelled\""), "{shown}");
    let none = say(&mut from, "CLUSTER CANCELSLOTMIGRATIONS").await;
    assert_eq!(none, "!ERR No migrations ongoing");
    // Of those that are over only the last is remembered.
    assert_eq!(migrate(&cluster, &mut from, "9000 9000").await, "OK");
    settle().await;
    let shown = say(&mut from, "CLUSTER GETSLOTMIGRATIONS").await;
    assert!(
        shown.contains("success") && !shown.contains("cancelled"),
        "{shown}"
    );
    // One that has begun leaves those where they are that have moved.
    assert_eq!(migrate(&cluster, &mut from, "9001 16383").await, "OK");
    settle().await;
    assert_eq!(say(&mut from, "CLUSTER CANCELSLOTMIGRATIONS").await, "OK");
    let moved = |cluster: &Cluster| {
        let view = cluster.view().unwrap();
        view.slots_of(NodeIndex::new(0)) - 8_193
    };
    let before = moved(&cluster);
    settle().await;
    let after = moved(&cluster);
    assert!(
        (1..7_383).contains(&after) && after <= before + 1,
        "{before}, {after}"
    );
}

#[tokio::test]
async fn a_migration_to_a_replica_fails() {
    let cluster = start_cluster("nodes 2\nreplicas 1").await;
    let mut from = caller(&cluster, 1);
    let replica = id(&cluster, 2);
    let migrate = format!("CLUSTER MIGRATESLOTS SLOTSRANGE {U} {U} NODE {replica}");
    assert_eq!(say(&mut from, &migrate).await, "OK");
    settle().await;
    let shown = say(&mut from, "CLUSTER GETSLOTMIGRATIONS").await;
    assert!(shown.contains("\"state\" \"failed\""), "{shown}");
    assert_eq!(say(&mut from, "SET {u} 1").await, "OK");
}

/// The costs of a slot as `SLOT-STATS` shows them, without the time.
async fn cost(caller: &mut Caller, slot: u16) -> (String, String) {
    let shown = say(
        caller,
        &format!("CLUSTER SLOT-STATS SLOTSRANGE {slot} {slot}"),
    )
    .await;
    let words: Vec<&str> = shown.split([' ', ']']).collect();
    let after = |name: &str| {
        let at = words.iter().position(|word| word.trim_matches('"') == name);
        words[at.unwrap() + 1].to_owned()
    };
    (after("network-bytes-in"), after("network-bytes-out"))
}

#[tokio::test]
async fn what_a_slot_costs_is_counted_to_the_byte() {
    let cluster = start_cluster("nodes 2\ncluster-slot-stats-enabled yes").await;
    let (mut first, mut last) = (caller(&cluster, 0), caller(&cluster, 1));
    let costs = |bytes_in: u32, bytes_out: u32| (bytes_in.to_string(), bytes_out.to_string());
    say(&mut last, "SET {u} value").await;
    say(&mut last, "GET {u}").await;
    assert_eq!(cost(&mut last, U).await, costs(33 + 22, 5 + 11));
    say(&mut last, "CONFIG RESETSTAT").await;
    // A transaction counts with its MULTI, and each command with all replies so far.
    for line in ["MULTI", "GET {u}", "GET {u}", "EXEC"] {
        say(&mut last, line).await;
    }
    assert_eq!(
        cost(&mut last, U).await,
        costs(15 + 22 + 22 + 14, 15 + 26 + 26)
    );
    say(&mut last, "CONFIG RESETSTAT").await;
    // A wait counts once it is over.
    let mut reader = caller(&cluster, 1);
    reader.send(&["XREAD", "BLOCK", "0", "STREAMS", "{u}s", "$"]);
    reader.assert_silent().await;
    assert_eq!(cost(&mut last, U).await, costs(0, 0));
    say(&mut last, "XADD {u}s 1-1 f v").await;
    reader.reply().await;
    let (bytes_in, bytes_out) = cost(&mut last, U).await;
    assert_eq!((bytes_in.as_str(), bytes_out.as_str()), ("110", "62"));
    // What a slot cost is forgotten when it goes.
    assert_eq!(migrate(&cluster, &mut last, "11826 11826").await, "OK");
    settle().await;
    assert_eq!(cost(&mut first, U).await, costs(0, 0));
    let order = "CLUSTER SLOT-STATS ORDERBY network-bytes-in LIMIT 1";
    say(&mut first, "DEL {u}").await;
    let shown = say(&mut first, order).await;
    assert!(shown.starts_with("[[11826 "), "{shown}");
    say(&mut first, "CONFIG SET cluster-slot-stats-enabled no").await;
    let refused = "!ERR Unrecognized sort metric for ORDERBY.";
    assert_eq!(say(&mut first, order).await, refused);
}
