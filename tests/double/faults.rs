//! Faults that a test puts in, and the call log.

use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

use super::FROZEN;
use super::said;
use super::send;

#[tokio::test]
async fn an_error_stands_in_for_a_command_or_for_its_reply() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let mut client = Caller::connect(&server);
    assert_eq!(
        said(&mut test, "TD FAULT ADD f CMD XADD KEY s* BEFORE LOADING").await,
        "OK"
    );
    let loading = "!LOADING Valkey is loading the dataset in memory";
    assert_eq!(said(&mut client, "XADD other 1-1 f v").await, "\"1-1\"");
    assert_eq!(said(&mut client, "XADD s 1-1 f v").await, loading);
    assert_eq!(said(&mut client, "XLEN s").await, "0");
    assert_eq!(said(&mut client, "XADD s 1-1 f v").await, "\"1-1\"");

    said(
        &mut test,
        "TD FAULT ADD f CMD @write SKIP 1 TIMES 2 AFTER OOM",
    )
    .await;
    let oom = "!OOM command not allowed when used memory > 'maxmemory'.";
    assert_eq!(said(&mut client, "XADD s 2-1 f v").await, "\"2-1\"");
    assert_eq!(said(&mut client, "XADD s 3-1 f v").await, oom);
    assert_eq!(said(&mut client, "SET k v").await, oom);
    assert_eq!(said(&mut client, "XLEN s").await, "3");
    assert_eq!(said(&mut test, "TD FAULT HITS f").await, "2");
    assert_eq!(said(&mut client, "SET k v").await, "OK");
}

#[tokio::test]
async fn a_connection_ends_before_or_after_the_command() {
    for (stage, len) in [("BEFORE", "0"), ("AFTER", "1")] {
        for end in ["CLOSE", "RST"] {
            let server = start(FROZEN).await;
            let mut test = Caller::connect(&server);
            let client = Caller::connect(&server);
            said(&mut test, &format!("TD FAULT ADD f CMD XADD {stage} {end}")).await;
            send(&client, "XADD s * f v");
            assert_eq!(client.rest().await, b"", "{stage} {end}");
            assert_eq!(said(&mut test, "XLEN s").await, len, "{stage} {end}");
        }
    }
}

/// A reply that ends at any byte is no other reply.
#[tokio::test]
async fn a_reply_is_cut_at_every_length() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    said(&mut test, "XADD s 1-1 f v").await;
    said(&mut test, "XGROUP CREATE s g 0").await;
    let read = "XREADGROUP GROUP g c STREAMS s 0";
    said(&mut test, "XREADGROUP GROUP g c STREAMS s >").await;
    let whole = b"*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n";
    for len in 0..whole.len() {
        said(
            &mut test,
            &format!("TD FAULT ADD f CMD XREADGROUP AFTER CUT {len}"),
        )
        .await;
        let client = Caller::connect(&server);
        send(&client, read);
        assert_eq!(client.rest().await, &whole[..len]);
    }
}

/// However often it is tried, the peer is the one that comes first.
#[tokio::test]
async fn a_peer_comes_between_while_an_ack_is_held() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let mut worker = Caller::connect(&server);
    let mut peer = Caller::connect(&server);
    said(&mut test, "XGROUP CREATE s g 0 MKSTREAM").await;
    for round in 1..=1_000 {
        let id = format!("{round}-1");
        said(&mut test, &format!("XADD s {id} f v")).await;
        said(&mut worker, "XREADGROUP GROUP g slow STREAMS s >").await;
        said(&mut test, "TD FAULT ADD gate CMD XACK GROUP g BEFORE HOLD").await;
        send(&worker, &format!("XACK s g {id}"));
        send(&worker, "PING");
        said(&mut test, "TD WAIT HELD gate 1 TIMEOUT 10000").await;
        worker.assert_silent().await;

        assert_eq!(
            said(&mut peer, "XAUTOCLAIM s g peer 0 0 JUSTID").await,
            format!("[\"0-0\" [\"{id}\"] []]")
        );
        assert_eq!(said(&mut test, "TD RELEASE gate").await, "1");
        assert_eq!(worker.reply().await.to_string(), "1");
        assert_eq!(worker.reply().await.to_string(), "PONG");
    }
    assert_eq!(said(&mut test, "TD RELEASE gate").await, "0");
    assert_eq!(
        said(&mut test, "TD RELEASE other").await,
        "!ERR there is no fault 'other'; there are: gate"
    );
}

#[tokio::test]
async fn replies_come_late_or_bit_by_bit() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let mut client = Caller::connect(&server);
    said(&mut test, "TD FAULT ADD late CMD XADD AFTER DELAY 4000").await;
    send(&client, "XADD s 1-1 f v");
    send(&client, "XLEN s");
    settle().await;
    assert_eq!(said(&mut test, "XLEN s").await, "1");
    said(&mut test, "TD CLOCK ADVANCE 3999").await;
    client.assert_silent().await;
    said(&mut test, "TD CLOCK ADVANCE 1").await;
    assert_eq!(client.reply().await.to_string(), "\"1-1\"");
    assert_eq!(client.reply().await.to_string(), "1");

    said(&mut test, "TD FAULT ADD drip CMD ECHO AFTER DRIP 4 10").await;
    send(&client, "ECHO hello");
    settle().await;
    // Eleven bytes: four at once, four more, and the rest.
    said(&mut test, "TD CLOCK ADVANCE 19").await;
    client.assert_silent().await;
    said(&mut test, "TD CLOCK ADVANCE 1").await;
    assert_eq!(client.reply().await.to_string(), "\"hello\"");
}

/// What waited for an entry is answered later, and struck then.
#[tokio::test]
async fn a_fault_strikes_a_reply_that_was_waited_for() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let mut reader = Caller::connect(&server);
    said(&mut test, "TD FAULT ADD f CMD XREAD AFTER REPLY :7").await;
    send(&reader, "XREAD BLOCK 0 STREAMS s $");
    settle().await;
    said(&mut test, "XADD s 1-1 f v").await;
    assert_eq!(reader.reply().await.to_string(), "7");
    assert_eq!(said(&mut test, "TD CALLS COUNT CMD XREAD").await, "1");
}

#[tokio::test]
async fn one_seed_strikes_the_same_calls() {
    let mut logs = Vec::new();
    for _ in 0..20 {
        let server = start(FROZEN).await;
        let mut test = Caller::connect(&server);
        let mut client = Caller::connect(&server);
        said(
            &mut test,
            "TD FAULT ADD some CMD SET ALWAYS PROB 0.3 BEFORE ERROR no",
        )
        .await;
        for number in 0..100 {
            said(&mut client, &format!("SET k {number}")).await;
        }
        let hits: u32 = said(&mut test, "TD FAULT HITS some").await.parse().unwrap();
        assert!((15..45).contains(&hits), "{hits} of 100");
        logs.push(said(&mut test, "TD CALLS").await);
    }
    assert!(logs.iter().all(|log| *log == logs[0]));
}

#[tokio::test]
async fn calls_are_found_by_what_they_are() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let mut client = Caller::connect(&server);
    said(&mut client, "CLIENT SETNAME worker").await;
    said(&mut client, "XADD s 1-1 f v").await;
    said(&mut client, "XADD s 1-1 f v").await;
    said(&mut client, "LPUSH l v").await;
    assert_eq!(said(&mut test, "TD CALLS COUNT").await, "4");
    assert_eq!(
        said(&mut test, "TD CALLS COUNT CLIENT worker ERRORS").await,
        "2"
    );
    assert_eq!(
        said(&mut test, "TD CALLS COUNT CMD XADD KEY s SINCE 2").await,
        "1"
    );
    assert_eq!(
        said(&mut test, "TD CALLS UNSUPPORTED").await,
        "[\"lpush\" 1]"
    );
    let last = said(&mut test, "TD CALLS CMD XADD LIMIT 1").await;
    assert!(
        last.contains("\"call\" [\"XADD\" \"s\" \"1-1\" \"f\" \"v\"]"),
        "{last}"
    );
    assert!(last.contains("equal or smaller"), "{last}");
    said(&mut test, "TD CALLS CLEAR").await;
    assert_eq!(said(&mut test, "TD CALLS").await, "[]");
}

#[tokio::test]
async fn what_is_written_wrong_is_refused_and_changes_nothing() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    for (wrong, error) in [
        ("ADD", "!ERR syntax error; try TD FAULT HELP"),
        (
            "ADD f TIMES 0 BEFORE NIL",
            "!ERR a fault strikes at least once; leave it out, or SKIP some calls",
        ),
        ("ADD f BEFORE", "!ERR syntax error; try TD FAULT HELP"),
        (
            "ADD f BEFORE FLY",
            "!ERR 'FLY' is not known of what happens; try what TD FAULT HELP lists",
        ),
        (
            "ADD f CMD @no BEFORE NIL",
            "!ERR 'no' is not known of a category; try what ACL CAT lists",
        ),
        (
            "ADD f PROB 2 BEFORE NIL",
            "!ERR 2 is no probability; it is from 0 to 1",
        ),
        (
            "ADD f BEFORE CUT 1",
            "!ERR before a command there is no reply to CUT or to DRIP; use AFTER",
        ),
        ("HITS f", "!ERR there is no fault 'f', and no other"),
    ] {
        assert_eq!(said(&mut test, &format!("TD FAULT {wrong}")).await, error);
    }
    let script = "# two\nf CMD XADD BEFORE NIL\n\ng BEFORE NOPE";
    let reply = test
        .call(&["TD", "FAULT", "LOAD", script])
        .await
        .to_string();
    assert!(
        reply.starts_with("!ERR line 4: 'NOPE' is not known"),
        "{reply}"
    );
    assert_eq!(said(&mut test, "TD FAULT LIST").await, "[]");
    let script = script.replace("NOPE", "CLOSE");
    let reply = test
        .call(&["TD", "FAULT", "LOAD", &script])
        .await
        .to_string();
    assert_eq!(reply, "2");
    said(&mut test, "TD FAULT CLEAR").await;
    assert_eq!(said(&mut test, "TD FAULT LIST").await, "[]");
}

#[tokio::test]
async fn what_can_never_strike_is_refused_and_an_error_is_one_line() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    assert_eq!(
        said(&mut test, "TD FAULT ADD f CMD LPUSH BEFORE NIL").await,
        "!ERR there is no command 'lpush', so nothing would strike"
    );
    for name in ["xgroup|create", "XGROUP", "td"] {
        let add = format!("TD FAULT ADD f CMD {name} BEFORE NIL");
        let is_there = name != "td";
        assert_eq!(said(&mut test, &add).await == "OK", is_there, "{name}");
    }
    let two_lines = [
        "TD",
        "FAULT",
        "ADD",
        "g",
        "CMD",
        "GET",
        "BEFORE",
        "ERROR",
        "ERR a\r\n+OK",
    ];
    assert_eq!(test.call(&two_lines).await.to_string(), "OK");
    assert_eq!(said(&mut test, "GET k").await, "!ERR a  +OK");
    assert_eq!(said(&mut test, "PING").await, "PONG");

    // A command that there is not is found by its name all the same.
    said(&mut test, "LPUSH k v").await;
    said(&mut test, "TD NOSUCH").await;
    assert_eq!(
        said(&mut test, "TD CALLS COUNT CMD lpush ERRORS").await,
        "1"
    );
    assert_eq!(said(&mut test, "TD CALLS COUNT CMD lpush KEY k").await, "0");
    assert_eq!(
        said(&mut test, "TD CALLS UNSUPPORTED").await,
        "[\"lpush\" 1]"
    );
    let help = said(&mut test, "TD RELEASE HELP").await;
    assert!(help.contains("RELEASE <name>"), "{help}");
}

#[tokio::test]
async fn a_fault_for_a_node_that_there_is_not_is_refused() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let refused = said(&mut test, "TD FAULT ADD far CMD get NODE 9 BEFORE CLOSE").await;
    assert_eq!(refused, "!ERR there is no node '9'; the only one is 0");
    let added = said(&mut test, "TD FAULT ADD near CMD get NODE 0 BEFORE CLOSE").await;
    assert_eq!(added, "OK");
}
