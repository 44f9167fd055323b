//! One clock for everything, which a test holds.

use std::io::Read;
use std::io::Write;
use std::net::TcpStream;

use tailrace_server::Config;
use tailrace_server::Server;
use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

use super::FROZEN;
use super::said;
use super::send;

#[tokio::test]
async fn ids_idle_times_and_expiry_go_by_it() {
    let server = start(FROZEN).await;
    let mut client = Caller::connect(&server);
    assert_eq!(said(&mut client, "XADD s * f v").await, "\"1000000-0\"");
    assert_eq!(said(&mut client, "TIME").await, "[\"1000\" \"0\"]");
    said(&mut client, "XGROUP CREATE s g 0").await;
    said(&mut client, "XREADGROUP GROUP g dead STREAMS s >").await;
    said(&mut client, "SET k v PX 60000").await;
    assert_eq!(said(&mut client, "TD CLOCK ADVANCE 60000").await, "1060000");
    assert_eq!(
        said(&mut client, "XPENDING s g - + 10").await,
        "[[\"1000000-0\" \"dead\" 60000 1]]"
    );
    assert_eq!(
        said(&mut client, "XAUTOCLAIM s g peer 60001 0").await,
        "[\"0-0\" [] []]"
    );
    assert_eq!(
        said(&mut client, "XAUTOCLAIM s g peer 60000 0 JUSTID").await,
        "[\"0-0\" [\"1000000-0\"] []]"
    );
    // A key that is due at an instant is still there in it.
    assert_eq!(said(&mut client, "GET k").await, "\"v\"");
    said(&mut client, "TD CLOCK ADVANCE 1").await;
    assert_eq!(said(&mut client, "GET k").await, "nil");
}

#[tokio::test]
async fn what_is_due_happens_in_order_on_the_way() {
    let server = start(&format!("{FROZEN}\nnotify-keyspace-events Ex")).await;
    let mut listener = Caller::connect(&server);
    listener
        .call(&["SUBSCRIBE", "__keyevent@0__:expired"])
        .await;
    let mut client = Caller::connect(&server);
    said(&mut client, "SET k v PX 5000").await;
    let mut reader = Caller::connect(&server);
    reader.send(&["XREAD", "BLOCK", "3000", "STREAMS", "s", "$"]);
    settle().await;

    assert_eq!(
        said(&mut client, "TD CLOCK").await,
        "[\"mode\" \"frozen\" \"now\" 1000000 \"next\" 1003000 \"timers\" 1 \"blocked\" 1 \"auto\" nil]"
    );
    // What a fault delays waits for an instant, too.
    let delayed = Caller::connect(&server);
    said(&mut client, "TD FAULT ADD d CMD PING BEFORE DELAY 4000").await;
    delayed.send(&["PING"]);
    said(&mut client, "TD WAIT HELD d TIMEOUT 60000").await;
    let clock = said(&mut client, "TD CLOCK").await;
    assert!(clock.contains("\"timers\" 2 \"blocked\" 1"), "{clock}");
    assert_eq!(said(&mut client, "TD CLOCK NEXT").await, "1003000");
    assert_eq!(reader.reply().await.to_string(), "nil-array");
    assert_eq!(said(&mut client, "TD CLOCK TO 1005000").await, "1005000");
    listener.assert_silent().await;
    assert_eq!(said(&mut client, "TD CLOCK ADVANCE 1").await, "1005001");
    let message = listener.reply().await.to_string();
    assert!(message.contains("expired"), "{message}");
    assert_eq!(
        said(&mut client, "TD CLOCK NEXT 2").await,
        "!ERR nothing is due any more after 0 deadlines"
    );
}

/// A wait ends, a command that is held goes on, and a key expires, each at its own instant.
#[tokio::test]
async fn one_move_passes_every_deadline() {
    let server = start(&format!("{FROZEN}\nnotify-keyspace-events Ex")).await;
    let mut test = Caller::connect(&server);
    let mut listener = Caller::connect(&server);
    listener
        .call(&["SUBSCRIBE", "__keyevent@0__:expired"])
        .await;
    said(&mut test, "SET k v PX 5000").await;
    said(&mut test, "TD FAULT ADD late CMD APPEND BEFORE DELAY 4000").await;
    said(&mut test, "TD CALLS CLEAR").await;
    let [mut reader, mut writer] = [Caller::connect(&server), Caller::connect(&server)];
    send(&reader, "XREAD BLOCK 3000 STREAMS s $");
    send(&writer, "APPEND late v");
    settle().await;

    assert_eq!(said(&mut test, "TD CLOCK ADVANCE 60000").await, "1060000");
    assert_eq!(reader.reply().await.to_string(), "nil-array");
    assert_eq!(writer.reply().await.to_string(), "1");
    let message = listener.reply().await.to_string();
    assert!(message.contains("expired"), "{message}");
    let calls = said(&mut test, "TD CALLS").await;
    let times: Vec<&str> = calls
        .split("\"time\" ")
        .skip(1)
        .map(|call| &call[..7])
        .collect();
    assert_eq!(times, ["1003000", "1004000"], "{calls}");
}

#[tokio::test]
async fn it_turns_back_only_when_frozen_or_skewed() {
    let server = start(FROZEN).await;
    let mut client = Caller::connect(&server);
    assert_eq!(
        said(&mut client, "TD CLOCK TO 5").await,
        "!ERR the clock shows 1000000, which is past 5; FREEZE and SKEW turn it back"
    );
    assert_eq!(said(&mut client, "TD CLOCK SKEW -400000").await, "600000");
    assert_eq!(said(&mut client, "TD CLOCK FREEZE 5").await, "5");
    assert_eq!(said(&mut client, "TIME").await, "[\"0\" \"5000\"]");
    for (wrong, error) in [
        ("ADVANCE -1", "!ERR -1 is not within 0 and 1000000000000000"),
        ("ADVANCE", "!ERR syntax error; try TD CLOCK HELP"),
        ("ADVANCE 1 2", "!ERR syntax error; try TD CLOCK HELP"),
        (
            "SCALE 0",
            "!ERR the clock can run up to 1000000 times as fast, and not 0 times; FREEZE stops it",
        ),
        ("LEAP", "!ERR there is no CLOCK leap; try TD CLOCK HELP"),
    ] {
        assert_eq!(said(&mut client, &format!("TD CLOCK {wrong}")).await, error);
    }
    assert_eq!(said(&mut client, "TIME").await, "[\"0\" \"5000\"]");
}

/// When the reply is there, so is everything that the move of the clock caused, in every socket.
#[test]
fn two_hundred_waits_of_an_hour_are_over_when_it_replies() {
    let config = Config::embedded().with(FROZEN).unwrap();
    let server = Server::builder().config(config);
    let server = tailrace_server::blocking::Server::start(server).unwrap();
    let connect = || TcpStream::connect(server.addr()).unwrap();
    let mut waiting: Vec<TcpStream> = (0..200).map(|_| connect()).collect();
    for client in &mut waiting {
        client
            .write_all(b"XREAD BLOCK 3600000 STREAMS s $\r\n")
            .unwrap();
    }
    let mut test = connect();
    let mut ask = |line: &str| {
        test.write_all(format!("{line}\r\n").as_bytes()).unwrap();
        let mut reply = [0; 4_096];
        let count = test.read(&mut reply).unwrap();
        String::from_utf8_lossy(&reply[..count]).into_owned()
    };
    while !ask("TD CLOCK").contains("$7\r\nblocked\r\n:200\r\n") {}
    assert_eq!(ask("TD CLOCK ADVANCE 3600000"), ":4600000\r\n");
    for client in &mut waiting {
        client.set_nonblocking(true).unwrap();
        let mut reply = [0; 16];
        let count = client.read(&mut reply).expect("it has arrived");
        assert_eq!(&reply[..count], b"*-1\r\n");
    }
}

#[tokio::test]
async fn consumers_loop_while_it_runs() {
    let server = start(FROZEN).await;
    let mut client = Caller::connect(&server);
    client
        .call(&["XGROUP", "CREATE", "s", "g", "0", "MKSTREAM"])
        .await;
    let mut consumers = Vec::new();
    for name in ["a", "b", "c"] {
        let mut consumer = Caller::connect(&server);
        consumers.push(tokio::spawn(async move {
            let read = [
                "XREADGROUP",
                "GROUP",
                "g",
                name,
                "BLOCK",
                "5000",
                "STREAMS",
                "s",
                ">",
            ];
            let mut loops = 0;
            while consumer.call(&read).await.to_string() == "nil-array" {
                loops += 1;
            }
            loops
        }));
    }
    let moved = said(&mut client, "TD CLOCK RUN 600000 SETTLE 3 10000").await;
    assert_eq!(moved, "1600000");
    let too_many = said(&mut client, "TD CLOCK RUN 1 SETTLE 4 1").await;
    assert_eq!(too_many, "!ERR 3 of 4 clients wait after 1 ms, at 1600000");
    said(&mut client, "DEL s").await;
    for consumer in consumers {
        assert_eq!(consumer.await.unwrap(), 120);
    }
}

#[tokio::test]
async fn it_jumps_by_itself_when_all_wait() {
    let server = start("testdouble yes\nclock auto:2").await;
    let mut one = Caller::connect(&server);
    let mut other = Caller::connect(&server);
    one.send(&["XREAD", "BLOCK", "3600000", "STREAMS", "s", "$"]);
    settle().await;
    one.assert_silent().await;
    other.send(&["XREAD", "BLOCK", "7200000", "STREAMS", "s", "$"]);
    assert_eq!(one.reply().await.to_string(), "nil-array");
    other.assert_silent().await;
    one.send(&["XREAD", "BLOCK", "7200000", "STREAMS", "s", "$"]);
    assert_eq!(other.reply().await.to_string(), "nil-array");
}
