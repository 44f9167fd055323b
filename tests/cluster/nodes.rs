//! Nodes of one process: clients are sent to who serves a slot, replicas read, messages reach all.

use tailrace_tests::start_cluster;

use super::U;
use super::caller;
use super::id;
use super::port;
use super::say;

#[tokio::test]
async fn a_client_is_sent_to_who_serves_the_slot() {
    let cluster = start_cluster("nodes 3").await;
    let (mut first, mut last) = (caller(&cluster, 0), caller(&cluster, 2));
    let moved = format!("!MOVED {U} 127.0.0.1:{}", port(&cluster, 2));
    for command in [
        "SET {u} 1",
        "XADD {u} * f v",
        "XREADGROUP GROUP g c BLOCK 0 STREAMS {u} >",
    ] {
        assert_eq!(say(&mut first, command).await, moved, "{command}");
    }
    assert_eq!(say(&mut last, "SET {u} 1").await, "OK");
    assert_eq!(say(&mut first, "MULTI").await, "OK");
    assert_eq!(say(&mut first, "GET {u}").await, moved);
    assert!(say(&mut first, "EXEC").await.starts_with("!EXECABORT"));
    let script = ["EVAL", "return redis.call('get', '{u}')", "0"];
    let refused = first.call(&script).await.to_string();
    assert!(refused.contains("Attempted to access a non local key in a cluster node"));
    assert_eq!(say(&mut first, "DBSIZE").await, "0");
    assert_eq!(say(&mut last, "DBSIZE").await, "1");
}

#[tokio::test]
async fn nodes_are_where_they_say_they_are() {
    let config = "nodes 2\ncluster-announce-ip 10.1.2.3\ncluster-announce-port 7100\n\
                  cluster-announce-hostname streams.example";
    let cluster = start_cluster(config).await;
    let mut first = caller(&cluster, 0);
    assert_eq!(
        say(&mut first, "GET {u}").await,
        format!("!MOVED {U} 10.1.2.3:7101")
    );
    let slots = say(&mut first, "CLUSTER SLOTS").await;
    assert!(
        slots.contains("\"10.1.2.3\" 7100") && slots.contains("\"streams.example\""),
        "{slots}"
    );
    say(
        &mut first,
        "CONFIG SET cluster-preferred-endpoint-type hostname",
    )
    .await;
    assert_eq!(
        say(&mut first, "GET {u}").await,
        format!("!MOVED {U} streams.example:7101")
    );
    // What one node announces anew, the others know.
    let mut second = caller(&cluster, 1);
    assert_eq!(
        say(&mut first, "CONFIG SET cluster-announce-ip 10.9.9.9").await,
        "OK"
    );
    assert_eq!(
        say(&mut second, "GET foo2").await,
        "!MOVED 1044 10.9.9.9:7100"
    );
}

#[tokio::test]
async fn a_replica_reads_what_its_primary_has() {
    let cluster = start_cluster("nodes 2\nreplicas 1").await;
    let (mut primary, mut replica) = (caller(&cluster, 1), caller(&cluster, 3));
    let moved = format!("!MOVED {U} 127.0.0.1:{}", port(&cluster, 1));
    assert_eq!(say(&mut primary, "XADD {u} 1-1 f v").await, "\"1-1\"");
    assert_eq!(say(&mut replica, "XLEN {u}").await, moved);
    assert_eq!(say(&mut replica, "READONLY").await, "OK");
    assert_eq!(say(&mut replica, "XLEN {u}").await, "1");
    assert_eq!(
        say(&mut replica, "XREAD STREAMS {u} 0").await,
        "[[\"{u}\" [[\"1-1\" [\"f\" \"v\"]]]]]"
    );
    assert_eq!(say(&mut replica, "XADD {u} * f v").await, moved);
    assert_eq!(
        say(&mut replica, "XREADGROUP GROUP g c STREAMS {u} >").await,
        moved
    );
    let readonly = "!READONLY You can't write against a read only replica.";
    assert_eq!(say(&mut replica, "FLUSHALL").await, readonly);
    let script = ["EVAL", "return redis.call('set', KEYS[1], 1)", "1", "{u}"];
    let refused = replica.call(&script).await.to_string();
    assert!(
        refused.contains("Attempted to access a non local key in a cluster node"),
        "{refused}"
    );
    assert_eq!(say(&mut replica, "READWRITE").await, "OK");
    assert_eq!(say(&mut replica, "XLEN {u}").await, moved);
    let role = format!(
        "[\"slave\" \"127.0.0.1\" {} \"connected\" 1]",
        port(&cluster, 1)
    );
    assert_eq!(say(&mut replica, "ROLE").await, role);
}

#[tokio::test]
async fn a_replica_takes_over_and_nothing_is_lost() {
    let cluster = start_cluster("nodes 2\nreplicas 1").await;
    let (mut primary, mut replica) = (caller(&cluster, 1), caller(&cluster, 3));
    assert_eq!(say(&mut primary, "XADD {u} 1-1 f v").await, "\"1-1\"");
    let refused = "!ERR You should send CLUSTER FAILOVER to a replica";
    assert_eq!(say(&mut primary, "CLUSTER FAILOVER").await, refused);
    assert_eq!(say(&mut replica, "CLUSTER FAILOVER").await, "OK");
    assert_eq!(say(&mut replica, "XADD {u} 2-1 f v").await, "\"2-1\"");
    assert_eq!(say(&mut replica, "XLEN {u}").await, "2");
    let moved = format!("!MOVED {U} 127.0.0.1:{}", port(&cluster, 3));
    assert_eq!(say(&mut primary, "XLEN {u}").await, moved);
    let nodes = say(&mut caller(&cluster, 0), "CLUSTER NODES").await;
    let (old, new) = (id(&cluster, 1), id(&cluster, 3));
    assert!(nodes.contains(&format!("slave {new} ")), "{nodes}");
    assert!(!nodes.contains(&format!("slave {old} ")), "{nodes}");
    assert_eq!(say(&mut primary, "CLUSTER FAILOVER TAKEOVER").await, "OK");
    assert_eq!(say(&mut primary, "XLEN {u}").await, "2");
}

#[tokio::test]
async fn messages_reach_all_nodes_and_those_of_a_shard_one() {
    let cluster = start_cluster("nodes 3").await;
    let (mut first, mut last) = (caller(&cluster, 0), caller(&cluster, 2));
    say(&mut last, "SUBSCRIBE news").await;
    assert_eq!(say(&mut first, "PUBLISH news hello").await, "0");
    assert_eq!(
        last.reply().await.to_string(),
        "[\"message\" \"news\" \"hello\"]"
    );
    let moved = format!("!MOVED {U} 127.0.0.1:{}", port(&cluster, 2));
    assert_eq!(say(&mut first, "SSUBSCRIBE {u}").await, moved);
    assert_eq!(say(&mut first, "SPUBLISH {u} m").await, moved);
    let mut shard = caller(&cluster, 2);
    say(&mut shard, "SSUBSCRIBE {u}").await;
    assert_eq!(say(&mut caller(&cluster, 2), "SPUBLISH {u} m").await, "1");
    assert_eq!(
        shard.reply().await.to_string(),
        "[\"smessage\" \"{u}\" \"m\"]"
    );
    // What a node notifies of is for its own clients.
    say(&mut first, "CONFIG SET notify-keyspace-events KEA").await;
    say(&mut last, "PSUBSCRIBE __key*").await;
    say(&mut first, "SET foo2 1").await;
    last.assert_silent().await;
    // In the order in which they were sent.
    for number in 0..100 {
        let text = number.to_string();
        first.send(&["PUBLISH", "news", &text]);
    }
    for number in 0..100 {
        let message = last.reply().await.to_string();
        assert_eq!(message, format!("[\"message\" \"news\" \"{number}\"]"));
    }
}

#[tokio::test]
async fn a_node_that_is_forgotten_is_alone_until_it_is_met_again() {
    let cluster = start_cluster("nodes 3").await;
    let (mut first, mut last) = (caller(&cluster, 0), caller(&cluster, 2));
    let forget = format!("CLUSTER FORGET {}", id(&cluster, 2));
    assert_eq!(say(&mut first, &forget).await, "OK");
    assert_eq!(say(&mut first, &forget).await, "OK");
    assert!(
        say(&mut first, "CLUSTER INFO")
            .await
            .contains("cluster_known_nodes:2")
    );
    assert_eq!(
        say(&mut first, "GET {u}").await,
        "!CLUSTERDOWN Hash slot not served"
    );
    assert!(
        say(&mut last, "CLUSTER INFO")
            .await
            .contains("cluster_known_nodes:1")
    );
    let meet = format!("CLUSTER MEET 127.0.0.1 {}", port(&cluster, 2));
    assert_eq!(say(&mut first, &meet).await, "OK");
    assert!(
        say(&mut last, "CLUSTER INFO")
            .await
            .contains("cluster_state:ok")
    );
    assert_eq!(say(&mut last, "GET {u}").await, "nil");
}

#[tokio::test]
async fn a_walk_goes_from_node_to_node() {
    let cluster = start_cluster("nodes 3").await;
    let mut callers: Vec<_> = (0..3).map(|place| caller(&cluster, place)).collect();
    let mut said = 0;
    for number in 0..300 {
        for caller in &mut callers {
            said += usize::from(say(caller, &format!("SET key{number} v")).await == "OK");
        }
    }
    assert_eq!(said, 300);
    let (mut cursor, mut at, mut found) = ("0".to_owned(), 0, std::collections::BTreeSet::new());
    for _ in 0..1_000 {
        let reply = callers[at]
            .call(&["CLUSTERSCAN", &cursor, "COUNT", "20"])
            .await;
        if reply.to_string().starts_with("!MOVED") {
            at = (at + 1) % 3;
            continue;
        }
        let tailrace_tests::Value::Array(parts) = reply else {
            panic!("{reply}")
        };
        if let tailrace_tests::Value::Array(keys) = &parts[1] {
            for key in keys {
                assert!(found.insert(key.to_string()), "{key} came twice");
            }
        }
        cursor = String::from_utf8_lossy(parts[0].text()).into_owned();
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(cursor, "0", "a walk ends");
    assert_eq!(found.len(), 300);
}

#[tokio::test]
async fn a_watch_breaks_when_all_keys_go_amid_a_transaction_on_another_slot() {
    let cluster = start_cluster("cluster-enabled yes").await;
    let (mut one, mut other) = (caller(&cluster, 0), caller(&cluster, 0));
    for flush in ["FLUSHDB", "FLUSHALL"] {
        assert_eq!(say(&mut one, "SET {u} 1").await, "OK");
        assert_eq!(say(&mut one, "WATCH {u}").await, "OK");
        for command in ["MULTI", flush, "XADD elsewhere 1-1 f v"] {
            say(&mut other, command).await;
        }
        assert_eq!(say(&mut other, "EXEC").await, "[OK \"1-1\"]");
        say(&mut one, "MULTI").await;
        assert_eq!(say(&mut one, "EXEC").await, "nil-array", "{flush}");
    }
}
