//! Clients that wait for a key, or listen to a channel of a shard, when its slot goes.

use tailrace_server::cluster::NodeIndex;
use tailrace_tests::Caller;
use tailrace_tests::start_cluster;

use super::U;
use super::caller;
use super::id;
use super::port;
use super::say;

/// Lets a client wait for entries of `{u}`: a group's reader, or a plain one.
async fn wait(caller: &mut Caller, command: &str) {
    let words: Vec<&str> = command.split(' ').collect();
    caller.send(&words);
    caller.assert_silent().await;
}

const OF_GROUP: &str = "XREADGROUP GROUP g c BLOCK 0 STREAMS {u} >";
const PLAIN: &str = "XREAD BLOCK 0 STREAMS {u} $";

#[tokio::test]
async fn who_waits_is_sent_after_a_slot_that_moves() {
    let cluster = start_cluster("nodes 2").await;
    let (mut reader, mut plain, mut shard) = (
        caller(&cluster, 1),
        caller(&cluster, 1),
        caller(&cluster, 1),
    );
    say(&mut reader, "XGROUP CREATE {u} g $ MKSTREAM").await;
    wait(&mut reader, OF_GROUP).await;
    wait(&mut plain, PLAIN).await;
    say(&mut shard, "SSUBSCRIBE {u}").await;
    cluster.move_slot(U, NodeIndex::new(0));
    let moved = format!("!MOVED {U} 127.0.0.1:{}", port(&cluster, 0));
    assert_eq!(reader.reply().await.to_string(), moved);
    assert_eq!(plain.reply().await.to_string(), moved);
    assert_eq!(
        shard.reply().await.to_string(),
        "[\"sunsubscribe\" \"{u}\" 0]"
    );
    // The group went with its stream.
    let mut there = caller(&cluster, 0);
    say(&mut there, "XADD {u} 5-5 f v").await;
    let read = say(&mut there, OF_GROUP).await;
    assert_eq!(read, "[[\"{u}\" [[\"5-5\" [\"f\" \"v\"]]]]]");
}

/// What a client sent behind its wait runs while a slot moves, and may have to be told to the other node, whose lock is
/// held meanwhile.
#[tokio::test]
async fn what_follows_a_wait_may_be_for_the_other_node() {
    let cluster = start_cluster("nodes 2").await;
    for (from, to) in [(1, 0), (0, 1)] {
        let (mut reader, mut listener) = (caller(&cluster, from), caller(&cluster, to));
        say(&mut listener, "SUBSCRIBE news").await;
        wait(&mut reader, PLAIN).await;
        reader.send(&["PUBLISH", "news", "hello"]);
        reader.assert_silent().await;
        cluster.move_slot(U, NodeIndex::new(to));
        let moved = format!("!MOVED {U} 127.0.0.1:{}", port(&cluster, to));
        assert_eq!(reader.reply().await.to_string(), moved);
        assert_eq!(reader.reply().await.to_string(), "0");
        let message = "[\"message\" \"news\" \"hello\"]";
        assert_eq!(listener.reply().await.to_string(), message);
    }
}

#[tokio::test]
async fn who_waits_is_sent_to_the_new_primary() {
    let cluster = start_cluster("nodes 1\nreplicas 1").await;
    let (mut reader, mut replica) = (caller(&cluster, 0), caller(&cluster, 1));
    say(&mut reader, "XGROUP CREATE {u} g $ MKSTREAM").await;
    wait(&mut reader, OF_GROUP).await;
    let mut patient = caller(&cluster, 0);
    say(&mut patient, "READONLY").await;
    wait(&mut patient, PLAIN).await;
    assert_eq!(say(&mut replica, "CLUSTER FAILOVER").await, "OK");
    let moved = format!("!MOVED {U} 127.0.0.1:{}", port(&cluster, 1));
    assert_eq!(reader.reply().await.to_string(), moved);
    // Who is content to read from a replica stays, and is served there.
    patient.assert_silent().await;
    say(&mut replica, "XADD {u} 5-5 f v").await;
    assert_eq!(
        patient.reply().await.to_string(),
        "[[\"{u}\" [[\"5-5\" [\"f\" \"v\"]]]]]"
    );
}

#[tokio::test]
async fn who_waits_hears_that_the_cluster_is_down() {
    let cluster = start_cluster("nodes 2").await;
    let mut plain = caller(&cluster, 1);
    wait(&mut plain, PLAIN).await;
    let mut other = caller(&cluster, 0);
    assert_eq!(
        say(&mut other, &format!("CLUSTER DELSLOTS {U}")).await,
        "OK"
    );
    let down = "!CLUSTERDOWN The cluster is down";
    assert_eq!(plain.reply().await.to_string(), down);
    assert_eq!(
        say(&mut plain, "GET {u}").await,
        "!CLUSTERDOWN Hash slot not served"
    );
    assert_eq!(say(&mut plain, "GET foo").await, down);
}

#[tokio::test]
async fn a_group_reader_asks_elsewhere_for_a_key_that_has_moved() {
    let cluster = start_cluster("nodes 2").await;
    let mut reader = caller(&cluster, 1);
    say(&mut reader, "XGROUP CREATE {u} g $ MKSTREAM").await;
    wait(&mut reader, OF_GROUP).await;
    let mut from = caller(&cluster, 1);
    let migrating = format!("CLUSTER SETSLOT {U} MIGRATING {}", id(&cluster, 0));
    assert_eq!(say(&mut from, &migrating).await, "OK");
    reader.assert_silent().await;
    assert_eq!(say(&mut from, "DEL {u}").await, "1");
    let ask = format!("!ASK {U} 127.0.0.1:{}", port(&cluster, 0));
    assert_eq!(reader.reply().await.to_string(), ask);
}
