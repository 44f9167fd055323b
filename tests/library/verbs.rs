//! What a Rust test does to its server beside holding the clock: data, crashes, the ledger, the cluster.

use std::time::Duration;

use tailrace_server::Cluster;
use tailrace_server::Config;
use tailrace_server::Server;
use tailrace_server::TestServer;
use tailrace_server::testing::Happens;
use tailrace_server::testing::Restart;
use tailrace_server::testing::TestError;

use super::doubles::Talker;

fn frozen() -> TestServer {
    let server = TestServer::builder().frozen_at(1_000_000).without_port();
    server.start().unwrap()
}

fn cluster() -> TestServer {
    let server = TestServer::builder().frozen_at(1_000_000).without_port();
    server.nodes(2).replicas(1).start().unwrap()
}

fn not(reason: &str) -> TestError {
    TestError::Not(reason.to_owned())
}

#[tokio::test]
async fn data_are_kept_shown_and_brought_back() {
    let server = frozen();
    let mut client = Talker(server.connect());
    let mut reader = Talker(server.connect());
    reader.send("XREAD BLOCK 0 STREAMS s 1-1").await;
    server.wait().blocked_on("s", 1).await.unwrap();
    assert_eq!(server.load("XADD s 1-1 f v\nSET k v"), Ok(2));
    server.snapshots().save("begun").unwrap();
    // Who waits is served by a fixture as by any client.
    assert_eq!(server.load("# more\nXADD s 2-1 f v"), Ok(1));
    assert!(reader.hear().await.contains("2-1"));
    assert_eq!(
        server.load("SET k w\nNOPE"),
        Err(not(
            "line 2, NOPE: unknown command 'NOPE', with args beginning with:; nothing was changed"
        ))
    );
    server
        .clock()
        .advance(Duration::from_secs(1))
        .await
        .unwrap();
    assert_eq!(
        server.snapshots().diff("begun", "NOW").unwrap(),
        "--- begun\n+++ NOW\n- clock frozen 1000000\n+ clock frozen 1001000\n\
         - db0 s last-id 1-1\n+ db0 s last-id 2-1\n- db0 s entries-added 1\n+ db0 s entries-added 2\n\
         + db0 s entry 2-1 f v\n"
    );
    server.snapshots().restore("begun").unwrap();
    assert_eq!(client.ask("XLEN s").await, "1");
    assert!(
        server
            .state()
            .starts_with("clock frozen 1000000\ndb0 k string v\n")
    );
    assert_eq!(server.state_of(&["k"]), "db0 k string v\n");
    let list = server.snapshots().list();
    let [record] = &list[..] else {
        panic!("there is one: {list:?}");
    };
    assert_eq!((record.name.as_slice(), record.keys), (&b"begun"[..], 2));
    assert_eq!(record.clock, "frozen 1000000");
    server.snapshots().remove("begun").unwrap();
    let gone = not("there is no snapshot 'begun', and no other");
    assert_eq!(server.snapshots().restore("begun"), Err(gone.clone()));
    assert_eq!(server.snapshots().diff("begun", "."), Err(gone));
    let taken = not("NOW and . name what is there now; choose another name");
    assert_eq!(server.snapshots().save("now"), Err(taken));
}

#[tokio::test]
async fn a_server_crashes_hangs_and_begins_anew() {
    let server = frozen();
    let mut worker = Talker(server.connect());
    worker.ask("CLIENT SETNAME worker").await;
    worker.ask("XGROUP CREATE s g 0 MKSTREAM").await;
    worker
        .send("XREADGROUP GROUP g alice BLOCK 0 STREAMS s >")
        .await;
    server.wait().blocked_in("g", 1).await.unwrap();
    assert_eq!(server.kill_consumer("s", "g", "alice"), Ok(1));
    assert_eq!(worker.hear().await, "(closed)");
    let nobody = not("no other client reads s g as alice");
    assert_eq!(server.kill_consumer("s", "g", "alice"), Err(nobody));
    assert_eq!(
        server.kill_client("worker"),
        Err(not("no other client is called worker"))
    );

    let mut client = Talker(server.connect());
    server.pause();
    client.send("XADD s 1-1 f v").await;
    let early = server.wait().within(Duration::ZERO).len("s", 1).await;
    assert!(early.is_err());
    server.resume().await.unwrap();
    assert_eq!(client.hear().await, "\"1-1\"");

    let second = Duration::from_secs(1);
    server
        .restart(Restart::losing_groups().down(second).loading(second))
        .unwrap();
    assert_eq!(client.hear().await, "(closed)");
    server.clock().advance(second).await.unwrap();
    let mut client = Talker(server.connect());
    assert!(client.ask("XLEN s").await.starts_with("!LOADING"));
    server.clock().advance(second).await.unwrap();
    assert_eq!(client.ask("XINFO GROUPS s").await, "[]");
    assert_eq!(
        server.restart(Restart::keeping_data().of_node(1)),
        Err(not("there is no primary 1"))
    );

    server
        .fault("f")
        .command("GET")
        .always()
        .before(Happens::Nil)
        .unwrap();
    server.reset().unwrap();
    assert_eq!(server.state(), "clock frozen 1000000\n");
    assert_eq!(client.ask("SET k v").await, "OK");
    assert_eq!(client.ask("GET k").await, "\"v\"");
    assert_eq!(server.calls().count(), Ok(2));
}

#[tokio::test]
async fn the_ledger_is_told_in_types() {
    let server = frozen();
    let mut client = Talker(server.connect());
    assert_eq!(
        server.ledger().sums("s", "g"),
        Err(not("the ledger is off; TD LEDGER ON begins one"))
    );
    server.ledger().on_for("s");
    client.ask("XADD s 1-1 f v").await;
    client.ask("XGROUP CREATE s g 0").await;
    client.ask("XREADGROUP GROUP g c STREAMS s >").await;
    client.ask("XADD t 1-1 f v").await;
    let sums = server.ledger().sums("s", "g").unwrap();
    assert_eq!(
        (
            sums.entries.added,
            sums.entries.delivered_once,
            sums.entries.pending
        ),
        (1, 1, 1)
    );
    let consumer = sums.consumer("c").unwrap();
    assert_eq!((consumer.deliveries, consumer.acknowledgements), (1, 0));
    assert_eq!(
        server.ledger().sums("t", "g"),
        Err(not("the ledger knows no stream t; it knows s"))
    );
    let history = server.ledger().history("s", "g", "1-1").unwrap();
    assert!(history[0].contains("delivered to c"), "{history:?}");
    assert_eq!(
        server.ledger().history("s", "g", "x"),
        Err(not("x is no ID"))
    );
    client.ask("XACK s g 1-1").await;
    server.wait().now().exactly_once("s", "g").await.unwrap();
    let unworked = server.wait().now().worked().exactly_once("s", "g").await;
    assert!(
        unworked
            .unwrap_err()
            .to_string()
            .contains("its work was not done before")
    );

    server.ledger().on_for("s");
    client.ask("XADD s 2-1 f v").await;
    client.ask("XREADGROUP GROUP g c STREAMS s >").await;
    assert_eq!(server.ledger().worked("s", "g", "2-1"), Ok(true));
    assert_eq!(server.ledger().worked("s", "g", "9-1"), Ok(false));
    client.ask("XACK s g 2-1").await;
    server
        .wait()
        .now()
        .worked()
        .at_least_once("s", "g")
        .await
        .unwrap();
    server.ledger().off_for("s");
    assert!(server.ledger().sums("s", "g").is_err());
}

/// Slots by number and by key; what is asked of a key is asked of its node.
#[tokio::test]
async fn a_cluster_does_what_a_test_wants() {
    let server = cluster();
    // The slot of `{b}`, 3300, is with the first of the nodes.
    let mut client = Talker(server.connect_to(0));
    server.ledger().on();
    client.ask("XADD {b} 1-1 f v").await;
    client.ask("XGROUP CREATE {b} g 0").await;
    server.snapshots().save("begun").unwrap();
    let at = |node: usize| server.cluster().migrate("{b}", node);
    at(1).unwrap();
    assert!(client.ask("GET {b}x").await.starts_with("!ASK 3300 "));
    server.cluster().cancel_migration(3300).unwrap();
    assert_eq!(client.ask("GET {b}x").await, "nil");
    at(1).unwrap();
    server.cluster().end_migration("{b}").unwrap();
    assert!(client.ask("XLEN {b}").await.starts_with("!MOVED 3300 "));
    assert_eq!(at(1), Err(not("slot 3300 is already with node 1")));
    assert_eq!(
        at(7),
        Err(not("there is no node 7 among the 4, which count from 0"))
    );
    assert_eq!(
        server.cluster().move_slot(16_384, 0),
        Err(not("there is no slot 16384; the last is 16383"))
    );
    assert_eq!(server.ledger().sums("{b}", "g").unwrap().entries.added, 1);
    assert!(server.state_of(&["{b}"]).contains("entry 1-1 f v"));
    server.snapshots().restore("begun").unwrap();
    assert_eq!(client.ask("XLEN {b}").await, "1");

    server.cluster().keep_stale(1).unwrap();
    server.cluster().fail_over(0).unwrap();
    let mut other = Talker(server.connect_to(2));
    assert_eq!(other.ask("XLEN {b}").await, "1");
    server.cluster().catch_up(1).unwrap();
    server.cluster().kill(1).unwrap();
    assert!(other.ask("XLEN {b}").await.starts_with("!CLUSTERDOWN"));
    server.cluster().revive(1).unwrap();
    assert_eq!(other.ask("XLEN {b}").await, "1");
    assert_eq!(
        server.cluster().revive(1),
        Err(not("node 1 is up; down: none"))
    );
    assert_eq!(server.load("SET {b}x v\nSET {a} v"), Ok(2));
    assert!(server.state().contains("db0 {b}x string v"));
    server.restart(Restart::losing_data().of_node(0)).unwrap();
    assert_eq!(server.state_of(&["{b}"]), "");
    assert_eq!(
        frozen().cluster().kill(0),
        Err(not(
            "this is no cluster; start one with --nodes 3, or a space with TD SPACE NEW NODES 3"
        ))
    );
}

#[tokio::test]
async fn faults_and_calls_are_of_one_node_and_pushes_are_lost() {
    let server = cluster();
    let [mut first, mut second] = [0, 1].map(|node| Talker(server.connect_to(node)));
    let busy = Happens::Error("BUSY later".to_owned());
    let fault = server
        .fault("f")
        .command("PING")
        .node(1)
        .always()
        .before(busy);
    let fault = fault.unwrap();
    assert_eq!(first.ask("PING").await, "PONG");
    assert_eq!(second.ask("PING").await, "!BUSY later");
    assert_eq!(fault.hits(), 1);
    assert_eq!(server.calls().command("PING").count(), Ok(2));
    assert_eq!(server.calls().command("PING").node(1).count(), Ok(1));
    second.ask("LPUSH l v").await;
    assert_eq!(server.calls().unsupported()[&b"lpush"[..]], 1);

    let moved = |node: &str| {
        server
            .fault("moved")
            .before(Happens::Moved(node.to_owned()))
    };
    assert!(moved("1").is_ok());
    assert!(second.ask("GET {c}").await.starts_with("!MOVED "));
    assert_eq!(
        moved("7").err(),
        Some(not(
            "there is no node '7'; MOVED takes the number or id of a node of this cluster, or host:port"
        ))
    );

    let lost = server
        .fault("lost")
        .command("message")
        .key("news")
        .drop_pushes();
    let lost = lost.unwrap();
    first.ask("SUBSCRIBE news").await;
    second.ask("PUBLISH news one").await;
    second.ask("PUBLISH news two").await;
    assert!(first.hear().await.contains("two"));
    assert_eq!(lost.hits(), 1);
    assert!(server.fault("odd").group("g").drop_pushes().is_err());

    let mut held = Talker(server.connect_to(0));
    server
        .fault("gate")
        .command("GET")
        .before(Happens::Hold)
        .unwrap();
    held.send("GET {b}").await;
    server.wait().held("gate", 1).await.unwrap();
    server.clear_faults();
    assert_eq!(held.hear().await, "nil");
    assert_eq!(second.ask("PING").await, "PONG");

    server.clock().tick(Duration::from_millis(5));
    assert_eq!(second.ask("PING").await, "PONG");
    assert_eq!(server.clock().now(), 1_000_005);
    server.clock().freeze();
    assert_eq!(second.ask("PING").await, "PONG");
    assert_eq!(server.clock().now(), 1_000_005);
}

#[tokio::test]
async fn a_space_begins_with_a_snapshot_of_a_server_or_of_a_cluster() {
    let server = frozen();
    server.load("XADD {a} 1-1 f v\nXADD {b} 1-1 f v").unwrap();
    server.snapshots().save("begun").unwrap();
    let nodes = server.new_space().nodes(3).from("begun").start().unwrap();
    let mut third = Talker(nodes.connect_to(2));
    assert_eq!(third.ask("XLEN {a}").await, "1");
    assert_eq!(third.ask("DBSIZE").await, "1");
    nodes.snapshots().save("spread").unwrap();
    let alone = nodes.new_space().from("spread").start().unwrap();
    assert_eq!(alone.state(), server.state());
    let missing = server.new_space().from("spread").start().err().unwrap();
    assert_eq!(
        missing.to_string(),
        "there is no snapshot 'spread'; there are: begun"
    );
}

/// A replica is a node of its own, whatever the engines are.
#[tokio::test]
async fn a_primary_with_a_replica_is_a_cluster_and_no_server() {
    for double in ["no", "yes"] {
        let lines = format!("testdouble {double}\nnodes 1\nreplicas 1");
        let builder = || Server::builder().config(Config::embedded().with(&lines).unwrap());
        let refused = builder().start().await.err().unwrap();
        assert_eq!(
            refused.to_string(),
            "the configuration asks for 2 nodes, primaries and replicas together, which Cluster::start starts; a \
             server is one"
        );
        let cluster = Cluster::start(builder()).await.unwrap();
        assert_eq!(cluster.addrs().len(), 2);
        cluster.stop().await;
        let lines = format!("testdouble {double}\nnodes 1");
        let builder = Server::builder().config(Config::embedded().with(&lines).unwrap());
        assert!(builder.start().await.is_ok());
    }
}
