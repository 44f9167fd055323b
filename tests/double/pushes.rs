//! Pushes that are lost, and a clock that commands move.

use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

use super::FROZEN;
use super::said;
use super::send;

#[tokio::test]
async fn a_message_is_lost_on_its_way_to_one_listener() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let [mut unlucky, mut lucky] = [(); 2].map(|()| Caller::connect(&server));
    said(&mut unlucky, "CLIENT SETNAME unlucky").await;
    for listener in [&mut unlucky, &mut lucky] {
        said(listener, "SUBSCRIBE news other").await;
        listener.reply().await;
        said(listener, "PSUBSCRIBE n*").await;
    }
    let fault = "TD FAULT ADD lost CMD message KEY news CLIENT unlucky SKIP 1 TIMES 2 PUSH DROP";
    assert_eq!(said(&mut test, fault).await, "OK");
    for number in 1..=4 {
        // Who publishes does not see it.
        assert_eq!(
            said(&mut test, &format!("PUBLISH news {number}")).await,
            "4"
        );
        assert_eq!(
            said(&mut test, &format!("PUBLISH other {number}")).await,
            "2"
        );
    }
    for (listener, lost) in [(&mut unlucky, &[2, 3][..]), (&mut lucky, &[])] {
        for number in 1..=4 {
            if !lost.contains(&number) {
                let message = listener.reply().await.to_string();
                assert_eq!(message, format!("[\"message\" \"news\" \"{number}\"]"));
            }
            let message = listener.reply().await.to_string();
            assert_eq!(
                message,
                format!("[\"pmessage\" \"n*\" \"news\" \"{number}\"]")
            );
            let message = listener.reply().await.to_string();
            assert_eq!(message, format!("[\"message\" \"other\" \"{number}\"]"));
        }
        listener.assert_silent().await;
    }
    assert_eq!(said(&mut test, "TD FAULT HITS lost").await, "2");
}

#[tokio::test]
async fn a_cache_is_not_told_that_it_is_stale() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let [mut cache, mut prefixes] = [(); 2].map(|()| Caller::connect(&server));
    for client in [&mut cache, &mut prefixes] {
        said(client, "HELLO 3").await;
    }
    said(&mut cache, "CLIENT TRACKING ON").await;
    said(&mut prefixes, "CLIENT TRACKING ON BCAST PREFIX k").await;
    for fault in [
        "one CMD invalidate KEY k1 CLIENT 2 PUSH DROP",
        "two CMD invalidate KEY k2 CLIENT 3 PUSH DROP",
        "none CMD message ALWAYS PUSH DROP",
    ] {
        assert_eq!(
            said(&mut test, &format!("TD FAULT ADD {fault}")).await,
            "OK"
        );
    }
    said(&mut cache, "MGET k1 k2 k3").await;
    for key in ["k1", "k2", "k3"] {
        said(&mut test, &format!("SET {key} v")).await;
    }
    for key in ["k2", "k3"] {
        let told = cache.reply().await.to_string();
        assert_eq!(told, format!("push >[\"invalidate\" [\"{key}\"]]"));
    }
    for key in ["k1", "k3"] {
        let told = prefixes.reply().await.to_string();
        assert_eq!(told, format!("push >[\"invalidate\" [\"{key}\"]]"));
    }
    // All there is, is what any key is among.
    said(&mut test, "TD FAULT ADD all KEY k9 CLIENT 2 PUSH DROP").await;
    said(&mut test, "FLUSHALL").await;
    assert_eq!(said(&mut test, "TD FAULT HITS all").await, "1");
    cache.assert_silent().await;
    let told = prefixes.reply().await.to_string();
    assert_eq!(told, "push >[\"invalidate\" null]");
}

#[tokio::test]
async fn what_can_happen_to_a_push_is_told_apart() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let which = "a push has a CLIENT, a KEY that is a channel or a key, and a CMD that is one of message, pmessage, \
                 smessage, invalidate";
    let what = "DROP happens to a push, and nothing else does; use PUSH DROP";
    for (wrong, error) in [
        ("CMD GET PUSH DROP", which),
        ("CMD @read PUSH DROP", which),
        ("GROUP g PUSH DROP", which),
        ("PUSH CLOSE", what),
        ("BEFORE DROP", what),
        ("PUSH", "syntax error; try TD FAULT HELP"),
    ] {
        let reply = said(&mut test, &format!("TD FAULT ADD f {wrong}")).await;
        assert_eq!(reply, format!("!ERR {error}"));
    }
    assert_eq!(
        test.call(&["TD", "FAULT", "ADD", "", "BEFORE", "NIL"])
            .await
            .to_string(),
        "!ERR a fault has a name"
    );
}

#[tokio::test]
async fn each_command_moves_the_clock() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let mut client = Caller::connect(&server);
    assert_eq!(said(&mut test, "TD CLOCK TICK 3").await, "1000000");
    for (command, reply) in [
        ("XADD s * f v", "\"1000003-0\""),
        ("XADD s * f v", "\"1000006-0\""),
        ("SET k v PX 5", "OK"),
        // It is 1000012, and then 1000015.
        ("PTTL k", "2"),
        ("GET k", "nil"),
        (
            "NOSUCH",
            "!\"ERR unknown command 'NOSUCH', with args beginning with: \"",
        ),
        ("MULTI", "OK"),
        ("TIME", "QUEUED"),
        ("TIME", "QUEUED"),
        ("EXEC", "[[\"1000\" \"30000\"] [\"1000\" \"30000\"]]"),
    ] {
        assert_eq!(said(&mut client, command).await, reply, "{command}");
    }
    let state = said(&mut test, "TD CLOCK").await;
    assert!(
        state.contains("\"mode\" \"tick 3\" \"now\" 1000030"),
        "{state}"
    );
    // A pipeline's commands each see their own instant.
    for _ in 0..100 {
        send(&client, "XADD p * f v");
    }
    let mut ids = Vec::new();
    for _ in 0..100 {
        ids.push(client.reply().await.to_string());
    }
    let wanted: Vec<_> = (1..=100)
        .map(|n| format!("\"{}-0\"", 1_000_030 + 3 * n))
        .collect();
    assert_eq!(ids, wanted);
    assert_eq!(said(&mut test, "TD CLOCK TICK 0").await, "1000330");
    assert_eq!(said(&mut client, "TIME").await, "[\"1000\" \"330000\"]");
    said(&mut test, "TD CLOCK TICK 5").await;
    said(&mut test, "TD RESET").await;
    assert_eq!(said(&mut client, "TIME").await, "[\"1000\" \"0\"]");
    said(&mut test, "TD CLOCK ADVANCE 330").await;
    said(&mut test, "TD CLOCK TICK 5").await;
    said(&mut test, "TD CLOCK FREEZE").await;
    assert_eq!(said(&mut client, "TIME").await, "[\"1000\" \"330000\"]");
}

/// A wait ends at its own instant, before the command that moved the clock past it.
#[tokio::test]
async fn what_becomes_due_by_a_tick_happens_before_its_command() {
    let server = start(&format!("{FROZEN}\ntimeout 15")).await;
    let [mut reader, mut client] = [(); 2].map(|()| Caller::connect(&server));
    said(&mut client, "TD CLOCK TICK 10000").await;
    send(&reader, "XREAD BLOCK 4000 STREAMS s $");
    settle().await;
    // It is not idle, however long its own command takes.
    assert_eq!(said(&mut client, "XADD s * f v").await, "\"1020000-0\"");
    assert_eq!(reader.reply().await.to_string(), "nil-array");
    let mut test = Caller::connect(&server);
    said(&mut test, "TD PAUSE").await;
    send(&client, "TIME");
    settle().await;
    said(&mut test, "TD RESUME").await;
    assert_eq!(client.reply().await.to_string(), "[\"1020\" \"0\"]");
    let calls = said(&mut test, "TD CALLS CMD XREAD").await;
    assert!(calls.contains("\"time\" 1014000"), "{calls}");
}
