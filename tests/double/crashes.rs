//! Clients that die, and a server that hangs.

use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

use super::FROZEN;
use super::said;
use super::send;

#[tokio::test]
async fn a_client_dies_by_name_or_number() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let [mut named, mut twin, mut other] = [(); 3].map(|()| Caller::connect(&server));
    said(&mut named, "CLIENT SETNAME worker").await;
    said(&mut twin, "CLIENT SETNAME worker").await;
    said(&mut test, "CLIENT SETNAME worker").await;
    said(&mut other, "PING").await;
    // What it waits for and what has not left goes with it.
    said(&mut test, "TD FAULT ADD gate CMD ECHO BEFORE HOLD").await;
    send(&named, "XREAD BLOCK 0 STREAMS s $");
    send(&twin, "ECHO lost");
    settle().await;
    assert_eq!(said(&mut test, "TD KILL CLIENT worker").await, "2");
    assert_eq!(named.rest().await, b"");
    assert_eq!(twin.rest().await, b"");
    assert_eq!(said(&mut test, "TD ASSERT CLIENTS 2").await, "OK");
    assert_eq!(said(&mut test, "TD ASSERT HELD gate 0").await, "OK");
    assert_eq!(
        said(&mut test, "TD KILL CLIENT worker").await,
        "!ERR no other client is called worker; there are: 4"
    );
    assert_eq!(said(&mut test, "TD KILL CLIENT 4").await, "1");
    assert_eq!(other.rest().await, b"");
    for (wrong, error) in [
        ("CLIENT 1", "no other client is called 1; there are: none"),
        (
            "SERVER now",
            "'SERVER' is not known of KILL; try CLIENT or CONSUMER",
        ),
        ("CLIENT", "syntax error; try TD KILL HELP"),
        ("CONSUMER s g", "syntax error; try TD KILL HELP"),
    ] {
        assert_eq!(
            said(&mut test, &format!("TD KILL {wrong}")).await,
            format!("!ERR {error}")
        );
    }
}

#[tokio::test]
async fn a_consumer_dies_between_reading_and_acknowledging() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let [mut worker, mut peer, waiting] = [(); 3].map(|()| Caller::connect(&server));
    said(&mut test, "XGROUP CREATE s g 0 MKSTREAM").await;
    said(&mut test, "XGROUP CREATE s h 0 MKSTREAM").await;
    said(&mut test, "XADD s 1-1 f v").await;
    // In another group it is somebody else.
    said(&mut peer, "XREADGROUP GROUP h dead STREAMS s >").await;
    said(&mut peer, "XREADGROUP GROUP g dead COUNT 1 STREAMS s 0").await;
    said(&mut peer, "XREADGROUP GROUP g peer COUNT 1 STREAMS s 0").await;
    said(&mut worker, "XREADGROUP GROUP g dead STREAMS s >").await;
    send(&waiting, "XREADGROUP GROUP g dead BLOCK 0 STREAMS s >");
    settle().await;
    assert_eq!(said(&mut test, "TD KILL CONSUMER s g dead").await, "2");
    assert_eq!(worker.rest().await, b"");
    assert_eq!(waiting.rest().await, b"");
    assert_eq!(
        said(&mut test, "XPENDING s g - + 10").await,
        "[[\"1-1\" \"dead\" 0 1]]"
    );
    said(&mut test, "TD CLOCK ADVANCE 1000").await;
    assert_eq!(
        said(&mut peer, "XAUTOCLAIM s g peer 1000 0 JUSTID").await,
        "[\"0-0\" [\"1-1\"] []]"
    );
    assert_eq!(
        said(&mut test, "TD KILL CONSUMER s g dead").await,
        "!ERR no other client reads s g as dead; there are: 3 peer"
    );
    assert_eq!(
        said(&mut test, "TD KILL CONSUMER t g dead").await,
        "!ERR no other client reads t g as dead; there are: none"
    );
}

#[tokio::test]
async fn a_server_that_hangs_answers_nothing() {
    let server = start(&format!("{FROZEN}\nnotify-keyspace-events Ex")).await;
    let mut test = Caller::connect(&server);
    let [mut listener, reader, mut writer] = [(); 3].map(|()| Caller::connect(&server));
    listener
        .call(&["SUBSCRIBE", "__keyevent@0__:expired"])
        .await;
    said(&mut writer, "SET k v PX 500").await;
    said(&mut test, "TD FAULT ADD late CMD XLEN BEFORE ERROR struck").await;
    said(&mut test, "TD FAULT ADD slow CMD GET AFTER DELAY 100").await;
    send(&reader, "XREAD BLOCK 1000 STREAMS s $");
    send(&writer, "GET k");
    settle().await;

    assert_eq!(said(&mut test, "TD PAUSE").await, "OK");
    assert_eq!(said(&mut test, "TD PAUSE").await, "OK");
    let newcomer = Caller::connect(&server);
    send(&newcomer, "XADD s 1-1 f v");
    send(&newcomer, "XLEN s");
    send(&newcomer, "NOSUCH");
    send(&writer, "PING");
    settle().await;
    // Time goes by, and nothing comes of it.
    assert_eq!(said(&mut test, "TD CLOCK ADVANCE 5000").await, "1005000");
    for client in [&mut listener, &mut writer] {
        client.assert_silent().await;
    }
    assert_eq!(said(&mut test, "TD ASSERT CLIENTS 5").await, "OK");

    assert_eq!(said(&mut test, "TD RESUME").await, "OK");
    // What was due comes first: the reader's time is up although there is an entry.
    let mut reader = reader;
    assert_eq!(reader.reply().await.to_string(), "nil-array");
    assert_eq!(writer.reply().await.to_string(), "\"v\"");
    assert_eq!(writer.reply().await.to_string(), "PONG");
    let mut newcomer = newcomer;
    assert_eq!(newcomer.reply().await.to_string(), "\"1-1\"");
    // Faults look at what had to wait.
    assert_eq!(newcomer.reply().await.to_string(), "!struck");
    let unknown = newcomer.reply().await.to_string();
    assert!(unknown.contains("unknown command 'NOSUCH'"), "{unknown}");
    let message = listener.reply().await.to_string();
    assert!(message.contains("expired"), "{message}");
    assert_eq!(said(&mut test, "TD RESUME").await, "OK");
    assert_eq!(said(&mut writer, "PING").await, "PONG");
}

#[tokio::test]
async fn who_leaves_while_it_hangs_has_asked_nothing() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let client = Caller::connect(&server);
    said(&mut test, "TD PAUSE").await;
    send(&client, "XADD s 1-1 f v");
    settle().await;
    said(&mut test, "TD KILL CLIENT 2").await;
    assert_eq!(client.rest().await, b"");
    said(&mut test, "TD RESUME").await;
    assert_eq!(said(&mut test, "XLEN s").await, "0");
}
