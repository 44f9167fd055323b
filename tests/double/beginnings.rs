//! Spaces that begin with a snapshot, whatever that was of: keys go to the nodes that have their slots.

use super::spaces::Talker;
use super::spaces::process;

/// Clients of the nodes of a space, in their order.
fn nodes_of(test: &mut Talker, url: &str) -> Vec<Talker> {
    let list = test.ask("TD SPACE LIST");
    let own = list.split("[\"id\" ").find(|space| space.contains(url));
    let nodes = own.and_then(|own| own.split("\"nodes\" [").nth(1)).unwrap();
    let urls = nodes.split(']').next().unwrap().split(' ');
    urls.map(Talker::of).collect()
}

/// Says lines to which no reply may be an error.
fn ask_all(test: &mut Talker, lines: &[&str]) {
    for line in lines {
        let reply = test.ask(line);
        assert!(!reply.starts_with('!'), "{line}: {reply}");
    }
}

#[test]
fn a_cluster_begins_with_what_a_server_had() {
    let server = process("");
    let mut test = Talker::at(server.addr());
    ask_all(
        &mut test,
        &[
            "TD LEDGER ON",
            "XADD {a} 1-1 f v",
            "XADD {c} 1-1 f v",
            "XGROUP CREATE {a} g 0",
            "XREADGROUP GROUP g dead STREAMS {a} >",
            "SET {b} 1 PX 5000",
            "TD SNAPSHOT SAVE begun",
            "TD CLOCK ADVANCE 100",
            "FLUSHALL",
        ],
    );
    let url = test.ask("TD SPACE NEW FROM begun NODES 3 OWNED");
    let mut nodes = nodes_of(&mut test, &url);
    let [first, second, third] = &mut nodes[..] else {
        panic!("there are three nodes");
    };
    assert_eq!(first.ask("PTTL {b}"), "5000");
    assert_eq!(second.ask("XLEN {c}"), "1");
    assert_eq!(
        third.ask("XPENDING {a} g - + 1"),
        "[[\"1-1\" \"dead\" 0 1]]"
    );
    for node in [&mut *first, &mut *second, &mut *third] {
        assert_eq!(node.ask("DBSIZE"), "1");
        assert_eq!(node.ask("TIME"), "[\"1000\" \"0\"]");
    }
    // What the ledger knew is known, and keys are found by their slots.
    let lost = first.ask("TD ASSERT AT-LEAST-ONCE {a} g");
    assert!(lost.contains("1-1: added by client"), "{lost}");
    assert_eq!(third.ask("CLUSTER COUNTKEYSINSLOT 15495"), "1");
    assert_eq!(third.ask("XACK {a} g 1-1"), "1");
    assert_eq!(second.ask("TD ASSERT EXACTLY-ONCE {a} g"), "OK");
}

#[test]
fn a_space_begins_anew_with_its_snapshot() {
    let server = process("");
    let mut test = Talker::at(server.addr());
    ask_all(
        &mut test,
        &["SET {b} 1 PX 5000", "SET {c} 1", "TD SNAPSHOT SAVE begun"],
    );
    test.ask("TD CLOCK ADVANCE 100");
    for more in ["", " NODES 3"] {
        let url = test.ask(&format!("TD SPACE NEW FROM begun{more} OWNED"));
        let mut nodes = nodes_of(&mut test, &url);
        assert_eq!(nodes[0].ask("TD CLOCK ADVANCE 6000"), "1006000");
        assert_eq!(nodes[0].ask("GET {b}"), "nil");
        assert_eq!(nodes[0].ask("TD RESET"), "OK");
        assert_eq!(nodes[0].ask("PTTL {b}"), "5000");
        let last = nodes.len() / 2;
        assert_eq!(nodes[last].ask("GET {c}"), "\"1\"");
        assert_eq!(nodes[last].ask("TIME"), "[\"1000\" \"0\"]");
    }
}

#[test]
fn a_cluster_has_no_place_for_keys_of_other_databases() {
    let lines = ["SELECT 3", "SET k v", "TD SNAPSHOT SAVE begun"];
    let server = process("");
    let mut test = Talker::at(server.addr());
    ask_all(&mut test, &lines);
    assert_eq!(
        test.ask("TD SPACE NEW FROM begun NODES 2"),
        "!ERR the snapshot has keys in database 3, which the new space has not; start the process with \
         cluster-databases 4, or keep keys in database 0"
    );
    assert_eq!(test.ask("TD SPACE LIST"), "[]");

    let server = process("cluster-databases 4");
    let mut test = Talker::at(server.addr());
    ask_all(&mut test, &lines);
    let url = test.ask("TD SPACE NEW FROM begun NODES 2 OWNED");
    let mut nodes = nodes_of(&mut test, &url);
    let state = nodes[1].ask("TD STATE");
    assert!(state.contains("db3 k string v"), "{state}");
}

/// A cluster goes on from a cluster of another size and a server from both; what a stale node has on its own is lost.
#[test]
fn what_a_cluster_had_is_gone_on_from() {
    let server = process("");
    let mut test = Talker::at(server.addr());
    let url = test.ask("TD SPACE NEW NODES 3 OWNED");
    let mut nodes = nodes_of(&mut test, &url);
    let [first, second, third] = &mut nodes[..] else {
        panic!("there are three nodes");
    };
    ask_all(
        first,
        &["TD LEDGER ON", "XADD {b} 1-1 f v", "XGROUP CREATE {b} g 0"],
    );
    ask_all(third, &["XADD {a} 1-1 f v"]);
    ask_all(
        first,
        &[
            "TD CLUSTER STALE 0",
            "TD CLUSTER MOVE {b} 2",
            "SET {b}s wrong",
        ],
    );
    ask_all(third, &["SET {b}s right"]);
    ask_all(
        second,
        &["TD CLUSTER MIGRATE {b} 1", "TD SNAPSHOT SAVE begun"],
    );
    // Spaces are asked for at a node, with a snapshot and without.
    let url = second.ask("TD SPACE NEW OWNED");
    assert_eq!(nodes_of(&mut test, &url).len(), 1);
    for more in ["", " NODES 1", " NODES 2", " NODES 3"] {
        let url = second.ask(&format!("TD SPACE NEW FROM begun{more} OWNED"));
        let mut begun = nodes_of(&mut test, &url);
        let last = begun.len() - 1;
        let state = begun[last].ask("TD STATE");
        for part in [
            "{a} entry 1-1 f v",
            "{b} entry 1-1 f v",
            "{b}s string right",
        ] {
            assert!(state.contains(&format!("db0 {part}")), "{more}: {state}");
        }
        assert!(!state.contains("wrong"), "{more}: {state}");
        let lost = begun[last].ask("TD ASSERT AT-LEAST-ONCE {b} g");
        assert!(lost.contains("1-1: added by client"), "{more}: {lost}");
        assert_eq!(
            begun[0].ask("TD SPACE NEW FROM begun"),
            "!ERR there is no snapshot 'begun', and no other"
        );
    }
}
