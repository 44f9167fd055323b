//! Primaries that become replicas, and replicas that become primaries with nothing, while clients are connected to them.

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

/// Two nodes, of which the first serves everything.
async fn one_serves_all() -> (Cluster, Caller, Caller) {
    let cluster = start_cluster("nodes 2\ncluster-allow-replica-migration no").await;
    let (mut full, empty) = (caller(&cluster, 0), caller(&cluster, 1));
    assert_eq!(
        say(&mut full, "CLUSTER DELSLOTSRANGE 8192 16383").await,
        "OK"
    );
    assert_eq!(
        say(&mut full, "CLUSTER ADDSLOTSRANGE 8192 16383").await,
        "OK"
    );
    assert_eq!(say(&mut full, "XADD {u} 1-1 f v").await, "\"1-1\"");
    (cluster, full, empty)
}

#[tokio::test]
async fn an_empty_primary_becomes_a_replica_with_all_its_clients() {
    let (cluster, mut full, mut empty) = one_serves_all().await;
    let (mut listener, mut monitor) = (caller(&cluster, 1), caller(&cluster, 1));
    let mut shut = caller(&cluster, 1);
    say(&mut listener, "SUBSCRIBE news").await;
    say(&mut shut, "CLIENT SETNAME shut").await;
    assert_eq!(say(&mut monitor, "MONITOR").await, "OK");
    let number = say(&mut empty, "CLIENT ID").await;
    let replicate = format!("CLUSTER REPLICATE {}", id(&cluster, 0));
    // What follows in the same write is executed by the replica.
    let words: Vec<&str> = replicate.split(' ').collect();
    empty.send(&words);
    empty.send(&["READONLY"]);
    empty.send(&["XLEN", "{u}"]);
    empty.send(&["CLIENT", "ID"]);
    assert_eq!(empty.reply().await.to_string(), "OK");
    assert_eq!(empty.reply().await.to_string(), "OK");
    assert_eq!(empty.reply().await.to_string(), "1");
    assert_eq!(empty.reply().await.to_string(), number);
    // All others came along, and new ones come there.
    settle().await;
    assert_eq!(say(&mut empty, "XLEN {u}").await, "1");
    let clients = say(&mut empty, "CLIENT LIST").await;
    assert_eq!(clients.matches(" addr=").count(), 4, "{clients}");
    assert!(clients.contains("name=shut"), "{clients}");
    assert_eq!(say(&mut full, "PUBLISH news hello").await, "0");
    let message = "[\"message\" \"news\" \"hello\"]";
    assert_eq!(listener.reply().await.to_string(), message);
    let mut shown = String::new();
    while let Some(line) = monitor.poll() {
        shown.push_str(&line.to_string());
    }
    assert!(
        shown.contains("XLEN") && !shown.contains("PUBLISH"),
        "{shown}"
    );
    let mut late = caller(&cluster, 1);
    assert_eq!(
        say(&mut late, "XLEN {u}").await,
        format!("!MOVED {U} 127.0.0.1:{}", port(&cluster, 0))
    );
    // It shares the data from now on, and can take over.
    assert_eq!(say(&mut late, "CLUSTER FAILOVER").await, "OK");
    assert_eq!(say(&mut late, "XADD {u} 2-1 f v").await, "\"2-1\"");
    assert_eq!(say(&mut shut, "XLEN {u}").await, "2");
    let info = say(&mut full, "CLUSTER INFO").await;
    assert!(info.contains("cluster_state:ok"), "{info}");
}

#[tokio::test]
async fn who_has_something_replicates_nobody() {
    let (cluster, mut full, mut empty) = one_serves_all().await;
    let refused = "!ERR To set a master the node must be empty and without assigned slots.";
    let replicate = format!("CLUSTER REPLICATE {}", id(&cluster, 1));
    assert_eq!(say(&mut full, &replicate).await, refused);
    let replicate = format!("CLUSTER REPLICATE {}", id(&cluster, 0));
    assert_eq!(say(&mut empty, &replicate).await, "OK");
    assert_eq!(say(&mut empty, &replicate).await, "OK");
    assert_eq!(
        say(&mut full, &format!("CLUSTER REPLICATE {}", id(&cluster, 1))).await,
        "!ERR I can only replicate a master, not a replica."
    );
}

#[tokio::test]
async fn a_replica_that_parts_has_nothing_and_takes_nothing() {
    for parting in [
        "CLUSTER REPLICATE NO ONE",
        "CLUSTER RESET",
        "CLUSTER RESET HARD",
    ] {
        let cluster = start_cluster("nodes 1\nreplicas 1").await;
        let (mut primary, mut replica) = (caller(&cluster, 0), caller(&cluster, 1));
        let (mut waiting, mut queueing) = (caller(&cluster, 1), caller(&cluster, 1));
        assert_eq!(say(&mut primary, "XADD {u} 1-1 f v").await, "\"1-1\"");
        for client in [&mut waiting, &mut queueing, &mut replica] {
            assert_eq!(say(client, "READONLY").await, "OK");
        }
        waiting.send(&["XREAD", "BLOCK", "0", "STREAMS", "{u}", "$"]);
        waiting.assert_silent().await;
        assert_eq!(say(&mut queueing, "WATCH {u}").await, "OK");
        assert_eq!(say(&mut replica, parting).await, "OK");
        assert_eq!(say(&mut replica, "DBSIZE").await, "0", "{parting}");
        assert_eq!(say(&mut primary, "XLEN {u}").await, "1");
        // Who waited for what it had is sent away, and who watched it has to look again.
        let end = waiting.reply().await.to_string();
        assert!(
            end.starts_with("!MOVED") || end.starts_with("!CLUSTERDOWN"),
            "{end}"
        );
        assert_eq!(say(&mut queueing, "MULTI").await, "OK");
        assert_eq!(say(&mut queueing, "PING").await, "QUEUED");
        assert_eq!(say(&mut queueing, "EXEC").await, "nil-array");
        let role = say(&mut replica, "ROLE").await;
        assert!(role.starts_with("[\"master\" "), "{role}");
        // It serves what it is given, and the other one goes on.
        say(
            &mut replica,
            &format!("CLUSTER MEET 127.0.0.1 {}", port(&cluster, 0)),
        )
        .await;
        cluster.move_slot(U, NodeIndex::new(1));
        assert_eq!(say(&mut replica, "XADD {u} 2-1 f v").await, "\"2-1\"");
        assert_eq!(say(&mut replica, "XLEN {u}").await, "2");
        assert_eq!(say(&mut primary, "DBSIZE").await, "0");
        assert_eq!(cluster.stop().await, None);
    }
}

#[tokio::test]
async fn who_loses_the_last_slot_follows_it() {
    for (follows, role) in [("yes", "slave"), ("no", "master")] {
        let config = format!("nodes 3\nreplicas 1\ncluster-allow-replica-migration {follows}");
        let cluster = start_cluster(&config).await;
        let (mut to, mut from) = (caller(&cluster, 0), caller(&cluster, 2));
        let mut replica = caller(&cluster, 5);
        say(&mut from, "CLUSTER DELSLOTSRANGE 10923 11825 11827 16383").await;
        assert_eq!(
            say(&mut from, "SET {u} 1").await,
            "!CLUSTERDOWN The cluster is down"
        );
        say(&mut to, "CLUSTER ADDSLOTSRANGE 10923 11825 11827 16383").await;
        assert_eq!(say(&mut from, "SET {u} 1").await, "OK");
        let give = format!(
            "CLUSTER MIGRATESLOTS SLOTSRANGE {U} {U} NODE {}",
            id(&cluster, 0)
        );
        assert_eq!(say(&mut from, &give).await, "OK");
        settle().await;
        for (client, before) in [(&mut from, "master"), (&mut replica, "slave")] {
            let now = say(client, "ROLE").await;
            let expected = if follows == "yes" { role } else { before };
            assert!(now.starts_with(&format!("[\"{expected}\" ")), "{now}");
            say(client, "READONLY").await;
            let read = say(client, "GET {u}").await;
            match follows {
                "yes" => assert_eq!(read, "\"1\""),
                _ => assert!(read.starts_with("!MOVED"), "{read}"),
            }
        }
        let info = say(&mut to, "CLUSTER INFO").await;
        assert!(info.contains("cluster_state:ok"), "{info}");
        assert_eq!(cluster.stop().await, None);
    }
}

/// Of an engine with two faces each shows its own clients.
#[tokio::test]
async fn a_node_shows_its_own_clients() {
    let cluster = start_cluster("nodes 1\nreplicas 1").await;
    let (mut primary, mut replica) = (caller(&cluster, 0), caller(&cluster, 1));
    let mut other = caller(&cluster, 1);
    say(&mut other, "CLIENT SETNAME other").await;
    say(&mut other, "SUBSCRIBE news").await;
    assert_eq!(say(&mut primary, "PUBLISH news hello").await, "0");
    assert_eq!(
        say(&mut primary, "PUBSUB NUMSUB news").await,
        "[\"news\" 0]"
    );
    assert_eq!(say(&mut primary, "PUBSUB CHANNELS").await, "[]");
    assert_eq!(say(&mut replica, "PUBSUB CHANNELS").await, "[\"news\"]");
    assert_eq!(say(&mut replica, "PUBLISH news hello").await, "1");
    let list = say(&mut primary, "CLIENT LIST").await;
    assert_eq!(list.matches(" addr=").count(), 1, "{list}");
    let list = say(&mut replica, "CLIENT LIST").await;
    assert_eq!(list.matches(" addr=").count(), 2, "{list}");
    let info = say(&mut primary, "INFO clients").await;
    assert!(info.contains("connected_clients:1"), "{info}");
    assert!(info.contains("pubsub_clients:0"), "{info}");
    assert_eq!(say(&mut primary, "CLIENT KILL NAME other").await, "0");
    assert_eq!(say(&mut replica, "CLIENT KILL NAME other").await, "1");
}
