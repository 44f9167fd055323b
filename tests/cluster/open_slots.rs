//! Slots that are on their way from one node to another, as `CLUSTER SETSLOT` moves them.

use tailrace_server::Cluster;
use tailrace_tests::Caller;
use tailrace_tests::start_cluster;

use super::U;
use super::caller;
use super::id;
use super::port;
use super::say;

/// Begins to move the slot of `{u}` from the last of two nodes to the first. Gives a client of each, first and last.
async fn opened(cluster: &Cluster) -> (Caller, Caller) {
    let (mut to, mut from) = (caller(cluster, 0), caller(cluster, 1));
    let importing = format!("CLUSTER SETSLOT {U} IMPORTING {}", id(cluster, 1));
    assert_eq!(say(&mut to, &importing).await, "OK");
    let migrating = format!("CLUSTER SETSLOT {U} MIGRATING {}", id(cluster, 0));
    assert_eq!(say(&mut from, &migrating).await, "OK");
    (to, from)
}

const TRYAGAIN: &str = "!TRYAGAIN Multiple keys request during rehashing of slot";

#[tokio::test]
async fn what_is_there_is_served_and_the_rest_is_asked_for_elsewhere() {
    let cluster = start_cluster("nodes 2").await;
    let (_, mut from) = (caller(&cluster, 0), caller(&cluster, 1));
    assert_eq!(say(&mut from, "XADD {u}here 1-1 f v").await, "\"1-1\"");
    let (_to, mut from) = opened(&cluster).await;
    let ask = format!("!ASK {U} 127.0.0.1:{}", port(&cluster, 0));
    assert_eq!(say(&mut from, "XLEN {u}here").await, "1");
    for command in [
        "GET {u}gone",
        "XADD {u}gone * f v",
        "XREAD BLOCK 0 STREAMS {u}gone $",
    ] {
        assert_eq!(say(&mut from, command).await, ask, "{command}");
    }
    assert_eq!(say(&mut from, "EXISTS {u}here {u}gone").await, TRYAGAIN);
    assert_eq!(say(&mut from, "EXISTS {u}gone {u}away").await, ask);
    assert_eq!(say(&mut from, "MULTI").await, "OK");
    assert_eq!(say(&mut from, "GET {u}gone").await, "QUEUED");
    assert_eq!(say(&mut from, "EXEC").await, ask);
    assert_eq!(say(&mut from, "EXEC").await, "!ERR EXEC without MULTI");
    let nodes = say(&mut from, "CLUSTER NODES").await;
    assert!(
        nodes.contains(&format!("[{U}->-{}]", id(&cluster, 0))),
        "{nodes}"
    );
}

#[tokio::test]
async fn asking_holds_for_one_command_or_a_transaction() {
    let cluster = start_cluster("nodes 2").await;
    let (mut to, _from) = opened(&cluster).await;
    let moved = format!("!MOVED {U} 127.0.0.1:{}", port(&cluster, 1));
    assert_eq!(say(&mut to, "SET {u}a 1").await, moved);
    assert_eq!(say(&mut to, "ASKING").await, "OK");
    assert_eq!(say(&mut to, "SET {u}a 1").await, "OK");
    assert_eq!(say(&mut to, "GET {u}a").await, moved);
    assert_eq!(say(&mut to, "ASKING").await, "OK");
    assert_eq!(say(&mut to, "EXISTS {u}a {u}b").await, TRYAGAIN);
    assert_eq!(say(&mut to, "ASKING").await, "OK");
    for command in ["MULTI", "SET {u}a 2", "SET {u}b 2"] {
        let reply = say(&mut to, command).await;
        assert!(
            ["OK", "QUEUED"].contains(&reply.as_str()),
            "{command}: {reply}"
        );
    }
    assert_eq!(say(&mut to, "EXEC").await, TRYAGAIN);
    assert_eq!(say(&mut to, "ASKING").await, "OK");
    assert_eq!(say(&mut to, "MULTI").await, "OK");
    assert_eq!(say(&mut to, "SET {u}a 2").await, "QUEUED");
    assert_eq!(say(&mut to, "EXEC").await, "[OK]");
    assert_eq!(say(&mut to, "GET {u}a").await, moved);
    let nodes = say(&mut to, "CLUSTER NODES").await;
    assert!(
        nodes.contains(&format!("[{U}-<-{}]", id(&cluster, 1))),
        "{nodes}"
    );
}

#[tokio::test]
async fn a_slot_with_keys_is_not_given_away() {
    let cluster = start_cluster("nodes 2").await;
    let mut from = caller(&cluster, 1);
    assert_eq!(say(&mut from, "SET {u}a 1").await, "OK");
    let (mut to, mut from) = opened(&cluster).await;
    let give = format!("CLUSTER SETSLOT {U} NODE {}", id(&cluster, 0));
    let refused = format!(
        "!ERR Can't assign hashslot {U} to a different node while I still hold keys for this hash slot."
    );
    assert_eq!(say(&mut from, &give).await, refused);
    assert_eq!(say(&mut from, "DEL {u}a").await, "1");
    assert_eq!(say(&mut to, &give).await, "OK");
    assert_eq!(say(&mut from, &give).await, "OK");
    assert_eq!(say(&mut to, "SET {u}a 1").await, "OK");
    let moved = format!("!MOVED {U} 127.0.0.1:{}", port(&cluster, 0));
    assert_eq!(say(&mut from, "GET {u}a").await, moved);
    // Both know that it is over, and who moved it has the greatest epoch.
    for caller in [&mut to, &mut from] {
        let nodes = say(caller, "CLUSTER NODES").await;
        assert!(!nodes.contains('['), "{nodes}");
    }
    assert!(
        say(&mut to, "CLUSTER INFO")
            .await
            .contains("cluster_my_epoch:3")
    );
}

#[tokio::test]
async fn keys_of_a_slot_that_another_node_claims_are_dropped() {
    let cluster = start_cluster("nodes 2").await;
    let (mut to, mut from) = (caller(&cluster, 0), caller(&cluster, 1));
    assert_eq!(say(&mut from, "SET {u}a 1").await, "OK");
    assert_eq!(say(&mut from, "SET foo 1").await, "OK");
    let claim = format!("CLUSTER SETSLOT {U} NODE {}", id(&cluster, 0));
    assert_eq!(say(&mut to, &claim).await, "OK");
    assert_eq!(say(&mut from, "KEYS *").await, "[\"foo\"]");
    assert_eq!(say(&mut to, "EXISTS {u}a").await, "0");
}
