//! A cluster whose slots, roles and nodes a test changes: `TD CLUSTER`.

use tailrace_server::Cluster;
use tailrace_server::cluster::NodeIndex;
use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;
use tailrace_tests::start_cluster;

use super::FROZEN;
use super::said;
use super::send;

/// The slot of `{a}`, which the last of three nodes has.
const A: u16 = 15_495;

async fn cluster(more: &str) -> Cluster {
    start_cluster(&format!("{FROZEN}\n{more}")).await
}

fn caller(cluster: &Cluster, place: usize) -> Caller {
    Caller::connect_to(cluster, NodeIndex::new(place))
}

/// Where a client is sent whose slot a node has.
fn at(cluster: &Cluster, word: &str, place: usize) -> String {
    let port = cluster.view().unwrap().nodes[place].address.port;
    format!("!{word} {A} 127.0.0.1:{port}")
}

/// What a client hears of each of these commands, which is to be this.
async fn talk(client: &mut Caller, lines: &[(&str, &str)]) {
    for (line, reply) in lines {
        assert_eq!(said(client, line).await, *reply, "{line}");
    }
}

#[tokio::test]
async fn a_slot_belongs_to_another_node_with_its_keys() {
    let cluster = cluster("nodes 3").await;
    let [mut first, mut second, mut third] = [0, 1, 2].map(|place| caller(&cluster, place));
    let mut reader = caller(&cluster, 2);
    said(&mut third, "SET {a}k 1").await;
    said(&mut third, "XADD {a} 1-1 f v").await;
    send(&reader, "XREAD BLOCK 0 STREAMS {a} $");
    settle().await;
    talk(
        &mut first,
        &[
            ("TD CLUSTER MOVE {a} 1", "OK"),
            ("GET {a}k", &at(&cluster, "MOVED", 1)),
            (
                "TD CLUSTER MOVE 15495 1",
                "!ERR slot 15495 is already with node 1",
            ),
        ],
    )
    .await;
    assert_eq!(reader.reply().await.to_string(), at(&cluster, "MOVED", 1));
    assert_eq!(said(&mut third, "DBSIZE").await, "0");
    talk(&mut second, &[("GET {a}k", "\"1\""), ("XLEN {a}", "1")]).await;
    // A node goes by its id, too.
    let id = cluster.view().unwrap().nodes[2].id.clone();
    talk(
        &mut second,
        &[(&format!("TD CLUSTER MOVE {{a}} {id}"), "OK")],
    )
    .await;
    talk(&mut third, &[("GET {a}k", "\"1\"")]).await;
}

#[tokio::test]
async fn a_migration_is_met_by_clients_until_it_ends() {
    let cluster = cluster("nodes 3").await;
    let [mut first, mut second, mut third] = [0, 1, 2].map(|place| caller(&cluster, place));
    let open = "!ERR slot 15495 is on its way from node 2 to node 1";
    said(&mut third, "SET {a}1 old").await;
    assert_eq!(said(&mut first, "TD CLUSTER MIGRATE {a} 1").await, "OK");
    talk(
        &mut third,
        &[
            ("GET {a}1", "\"old\""),
            ("GET {a}2", &at(&cluster, "ASK", 1)),
            (
                "MGET {a}1 {a}2",
                "!TRYAGAIN Multiple keys request during rehashing of slot",
            ),
        ],
    )
    .await;
    talk(&mut second, &[("ASKING", "OK"), ("SET {a}2 new", "OK")]).await;
    let moved = "; TD CLUSTER MIGRATE 15495 END or CANCEL ends that";
    talk(
        &mut first,
        &[
            ("TD CLUSTER MIGRATE {a} 0", &format!("{open} already")),
            ("TD CLUSTER MOVE {a} 0", &format!("{open}{moved}")),
            ("TD CLUSTER MIGRATE {a} CANCEL", "OK"),
            (
                "TD CLUSTER MIGRATE {a} END",
                "!ERR slot 15495 is with node 2 and not on its way",
            ),
        ],
    )
    .await;
    talk(&mut third, &[("MGET {a}1 {a}2", "[\"old\" \"new\"]")]).await;
    assert_eq!(said(&mut second, "DBSIZE").await, "0");

    said(&mut first, "TD CLUSTER MIGRATE {a} 1").await;
    talk(&mut second, &[("ASKING", "OK"), ("SET {a}3 new", "OK")]).await;
    talk(&mut first, &[("TD CLUSTER MIGRATE {a} END", "OK")]).await;
    let all = "[\"old\" \"new\" \"new\"]";
    talk(&mut second, &[("MGET {a}1 {a}2 {a}3", all)]).await;
    talk(&mut third, &[("GET {a}1", &at(&cluster, "MOVED", 1))]).await;
    for caller in [&mut second, &mut third] {
        let nodes = said(caller, "CLUSTER NODES").await;
        assert!(!nodes.contains("->-") && !nodes.contains("-<-"), "{nodes}");
    }
}

#[tokio::test]
async fn a_replica_takes_over_at_once() {
    let cluster = cluster("nodes 3\nreplicas 1").await;
    let [mut first, mut third, mut replica] = [0, 2, 5].map(|place| caller(&cluster, place));
    said(&mut third, "SET {a} 1").await;
    talk(&mut first, &[("TD CLUSTER FAILOVER 5", "OK")]).await;
    talk(&mut third, &[("GET {a}", &at(&cluster, "MOVED", 5))]).await;
    talk(&mut replica, &[("GET {a}", "\"1\"")]).await;
    // Of a primary its replica takes the place.
    talk(&mut first, &[("TD CLUSTER FAILOVER 5", "OK")]).await;
    talk(&mut third, &[("GET {a}", "\"1\"")]).await;
    let refused = "!ERR node 5 is a replica of node 2, which a slot could go to";
    talk(&mut first, &[("TD CLUSTER MOVE 0 5", refused)]).await;
}

#[tokio::test]
async fn a_node_that_is_killed_is_seen_as_failed_and_comes_back_with_its_data() {
    let cluster = cluster("nodes 3").await;
    let [mut first, mut third] = [0, 2].map(|place| caller(&cluster, place));
    said(&mut third, "XADD {a} 1-1 f v").await;
    said(&mut third, "CLIENT SETNAME dies").await;
    send(&third, "XREAD BLOCK 0 STREAMS {a} $");
    settle().await;
    talk(
        &mut first,
        &[
            ("TD CLUSTER KILL 2", "OK"),
            ("TD CLUSTER KILL 2", "!ERR node 2 is down already"),
            ("GET {b}", "!CLUSTERDOWN The cluster is down"),
        ],
    )
    .await;
    assert_eq!(third.rest().await, b"");
    assert_eq!(caller(&cluster, 2).rest().await, b"");
    let nodes = said(&mut first, "CLUSTER NODES").await;
    let fields = " master,fail - 1000000 1000000 3 disconnected 10923-16383";
    assert!(nodes.contains(fields), "{nodes}");
    let shards = said(&mut first, "CLUSTER SHARDS").await;
    assert_eq!(shards.matches("\"health\" \"fail\"").count(), 1, "{shards}");
    let info = said(&mut first, "CLUSTER INFO").await;
    for line in [
        "cluster_state:fail",
        "cluster_slots_ok:10923",
        "cluster_slots_fail:5461",
        "cluster_nodes_fail:1",
        "cluster_voting_nodes_fail:1",
    ] {
        assert!(info.contains(line), "{line}: {info}");
    }
    // Who can do without some slots sends clients there all the same, as the model does.
    said(&mut first, "CONFIG SET cluster-require-full-coverage no").await;
    talk(
        &mut first,
        &[
            ("GET {b}", "nil"),
            ("GET {a}", &at(&cluster, "MOVED", 2)),
            ("TD CLUSTER KILL 1", "OK"),
            // Most of the primaries are down.
            ("GET {b}", "!CLUSTERDOWN The cluster is down"),
            ("TD CLUSTER REVIVE 1", "OK"),
            ("TD CLUSTER REVIVE 1", "!ERR node 1 is up; down: node 2"),
            (
                "TD CLUSTER MOVE 0 2",
                "!ERR node 2 is down; TD CLUSTER REVIVE 2 brings it back",
            ),
            ("TD CLUSTER REVIVE 2", "OK"),
        ],
    )
    .await;
    talk(&mut caller(&cluster, 2), &[("XLEN {a}", "1")]).await;
    let nodes = said(&mut first, "CLUSTER NODES").await;
    assert!(!nodes.contains("fail"), "{nodes}");
}

#[tokio::test]
async fn who_kills_its_own_node_can_bring_it_back() {
    let cluster = cluster("nodes 2").await;
    let mut first = caller(&cluster, 0);
    let down = "!ERR node 0 is down; TD CLUSTER REVIVE 0 brings it back";
    talk(
        &mut first,
        &[
            ("TD CLUSTER KILL 0", "OK"),
            ("GET {b}", down),
            ("TD CLUSTER REVIVE 0", "OK"),
            ("GET {b}", "nil"),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_replica_takes_the_place_of_a_dead_primary_when_it_is_told() {
    let cluster = cluster("nodes 3\nreplicas 1").await;
    let [mut first, mut replica] = [0, 5].map(|place| caller(&cluster, place));
    said(&mut caller(&cluster, 2), "SET {a} 1").await;
    said(&mut first, "TD CLUSTER KILL 2").await;
    let role = said(&mut replica, "ROLE").await;
    assert!(role.contains("\"connect\""), "{role}");
    let forced = "!ERR Master is down or failed, please use CLUSTER FAILOVER FORCE";
    talk(&mut replica, &[("CLUSTER FAILOVER", forced)]).await;
    talk(&mut first, &[("TD CLUSTER FAILOVER 2", "OK")]).await;
    talk(&mut replica, &[("GET {a}", "\"1\"")]).await;
    talk(&mut first, &[("GET {a}", &at(&cluster, "MOVED", 5))]).await;
    let slots = said(&mut first, "CLUSTER SLOTS").await;
    let dead = cluster.view().unwrap().nodes[2].id.clone();
    assert!(!slots.contains(&dead), "{slots}");
    let refused = "!ERR node 2 is down; TD CLUSTER REVIVE 2 brings it back";
    talk(&mut first, &[("TD CLUSTER FAILOVER 2", refused)]).await;
    said(&mut first, "TD CLUSTER REVIVE 2").await;
    let mut old = caller(&cluster, 2);
    talk(&mut old, &[("GET {a}", &at(&cluster, "MOVED", 5))]).await;
    talk(&mut old, &[("READONLY", "OK"), ("GET {a}", "\"1\"")]).await;
}

#[tokio::test]
async fn a_stale_node_sends_clients_to_who_had_the_slot() {
    let cluster = cluster("nodes 3").await;
    let [mut first, mut second, mut third] = [0, 1, 2].map(|place| caller(&cluster, place));
    let before = said(&mut first, "CLUSTER SLOTS").await;
    talk(
        &mut first,
        &[
            ("TD CLUSTER STALE 0", "OK"),
            ("TD CLUSTER MOVE {a} 1", "OK"),
            ("GET {a}", &at(&cluster, "MOVED", 2)),
            ("CLUSTER SLOTS", &before),
            (
                "TD CLUSTER STALE 0",
                "!ERR node 0 is stale already; TD CLUSTER STALE 0 OFF ends that",
            ),
        ],
    )
    .await;
    talk(&mut third, &[("GET {a}", &at(&cluster, "MOVED", 1))]).await;
    let after = said(&mut second, "CLUSTER SLOTS").await;
    assert_ne!(after, before);
    talk(
        &mut first,
        &[
            (
                "TD CLUSTER STALE 1 OFF",
                "!ERR node 1 is not stale; stale: node 0",
            ),
            ("TD CLUSTER STALE 0 OFF", "OK"),
            ("GET {a}", &at(&cluster, "MOVED", 1)),
            ("CLUSTER SLOTS", &after),
        ],
    )
    .await;
}

/// It takes itself for the one that has the slot, and what it takes on is lost.
#[tokio::test]
async fn a_stale_node_goes_on_with_a_slot_that_others_have() {
    let cluster = cluster("nodes 3").await;
    let [mut second, mut third] = [1, 2].map(|place| caller(&cluster, place));
    said(&mut third, "SET {a} 1").await;
    said(&mut third, "TD CLUSTER STALE 2").await;
    said(&mut third, "TD CLUSTER MOVE {a} 1").await;
    talk(&mut third, &[("GET {a}", "nil"), ("SET {a} 2", "OK")]).await;
    talk(&mut second, &[("GET {a}", "\"1\"")]).await;
    talk(&mut third, &[("TD CLUSTER STALE 2 OFF", "OK")]).await;
    talk(&mut third, &[("DBSIZE", "0")]).await;
    talk(&mut third, &[("GET {a}", &at(&cluster, "MOVED", 1))]).await;
    talk(&mut second, &[("GET {a}", "\"1\"")]).await;
}

#[tokio::test]
async fn slots_and_nodes_are_as_at_the_start_after_a_reset() {
    let cluster = cluster("nodes 3").await;
    let [mut first, mut third] = [0, 2].map(|place| caller(&cluster, place));
    said(&mut third, "SET {a} 1").await;
    said(&mut first, "TD SNAPSHOT SAVE base").await;
    talk(
        &mut first,
        &[
            ("TD CLUSTER MOVE {a} 1", "OK"),
            ("TD SNAPSHOT RESTORE base", "OK"),
            ("GET {a}", &at(&cluster, "MOVED", 2)),
        ],
    )
    .await;
    talk(&mut third, &[("GET {a}", "\"1\"")]).await;
    talk(
        &mut first,
        &[
            ("TD CLUSTER MOVE {a} 1", "OK"),
            ("TD CLUSTER STALE 0", "OK"),
            ("TD CLUSTER KILL 1", "OK"),
            ("TD RESET", "OK"),
            ("GET {a}", &at(&cluster, "MOVED", 2)),
            ("GET {b}", "nil"),
            ("TD CLUSTER REVIVE 1", "!ERR node 1 is up; down: none"),
        ],
    )
    .await;
    talk(&mut third, &[("GET {a}", "nil"), ("SET {a} 1", "OK")]).await;
    talk(&mut caller(&cluster, 1), &[("GET {c}", "nil")]).await;
}

#[tokio::test]
async fn a_fault_names_nodes_by_their_numbers() {
    let cluster = cluster("nodes 3").await;
    let mut third = caller(&cluster, 2);
    for (word, node, place) in [("MOVED", "1", 1), ("ASK", "0", 0)] {
        said(&mut third, &format!("TD FAULT ADD f BEFORE {word} {node}")).await;
        talk(&mut third, &[("GET {a}", &at(&cluster, word, place))]).await;
    }
    let nobody = "!ERR there is no node '3'; MOVED takes the number or id of a node of this cluster, or host:port";
    talk(&mut third, &[("TD FAULT ADD f BEFORE MOVED 3", nobody)]).await;
    said(&mut third, "TD FAULT ADD f BEFORE MOVED example:7000").await;
    talk(&mut third, &[("GET {a}", "!MOVED 15495 example:7000")]).await;
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let cluster = cluster("nodes 2").await;
    let mut first = caller(&cluster, 0);
    let nobody = "!ERR there is no node '2'; nodes are 0 to 1, or have an id";
    let alone = "!ERR node 1 is a primary, and no replica of it is up";
    talk(
        &mut first,
        &[
            ("TD CLUSTER MOVE 7 2", nobody),
            ("TD CLUSTER FAILOVER 1", alone),
            (
                "TD CLUSTER MOVE 7",
                "!ERR syntax error; try TD CLUSTER HELP",
            ),
            (
                "TD CLUSTER TURN 7",
                "!ERR 'TURN' is not known of CLUSTER; try TD CLUSTER HELP",
            ),
        ],
    )
    .await;
    let alone = start(FROZEN).await;
    let none =
        "!ERR this is no cluster; start one with --nodes 3, or a space with TD SPACE NEW NODES 3";
    talk(
        &mut Caller::connect(&alone),
        &[("TD CLUSTER MOVE 7 1", none), ("TD CLUSTER KILL 0", none)],
    )
    .await;
}
