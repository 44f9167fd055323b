//! Connections that are cut, slow, or gone: a server in this process, reached through streams that
//! the tests hold the other end of. Everything runs on one thread and goes by a clock that the tests
//! move, and every wait is a bounded number of turns for the server's tasks.
mod host;
mod limits;

use tailrace_storage::Millis;

use self::host::*;

#[tokio::test]
async fn where_the_bytes_are_cut_makes_no_difference() {
    let host = Host::start("").await;
    let mut input = commands(&["XADD s 1 f v", "HELLO 3", "XRANGE s - +", "MULTI"]);
    input.extend_from_slice(b"\r\nECHO \"in\\x20line\"\r\n*0\r\n");
    input.extend(commands(&[
        "EXEC",
        "RESET",
        "FLUSHALL",
        "NOSUCH a b",
        "QUIT",
    ]));
    let mut whole = host.connect(1_000);
    whole.say(&input).await;
    let expected = whole.hear_all().await;
    assert!(expected.ends_with(b"+OK\r\n"), "it ends with QUIT's reply");
    let without_id = |heard: &[u8]| {
        let heard = heard.escape_ascii().to_string();
        let (before, after) = heard.split_once("id\\r\\n:").unwrap();
        let (_, after) = after.split_once('\\').unwrap();
        format!("{before} {after}")
    };

    for cut in 1..input.len() {
        let mut peer = host.connect(1_000);
        peer.say(&input[..cut]).await;
        peer.say(&input[cut..]).await;
        let heard = peer.hear_all().await;
        assert_eq!(without_id(&heard), without_id(&expected), "cut at {cut}");
    }

    let mut peer = host.connect(1);
    for byte in &input {
        peer.say([*byte]).await;
    }
    let heard = peer.hear_all().await;
    assert_eq!(without_id(&heard), without_id(&expected), "byte by byte");
}

/// Wherever the bytes behind a waiting command are cut, and whether they come before or after the
/// wait is over, they are answered behind it. A lost wake-up would leave them where they are.
#[tokio::test]
async fn commands_behind_a_wait_are_answered_behind_it() {
    let host = Host::start("").await;
    let mut other = host.connect(1_000);
    let wait = commands(&["XREAD BLOCK 0 STREAMS s $"]);
    let behind = commands(&["ECHO one", "ECHO two"]);
    for cut in 0..=2 * behind.len() + 1 {
        let (cut, is_direct) = (cut / 2, cut % 2 == 1);
        let connect = || match is_direct {
            true => host.connect_direct(),
            false => host.connect(1_000),
        };
        let mut peer = connect();
        peer.say([&wait[..], &behind[..cut]].concat()).await;
        other.say(commands(&["XADD s * f v"])).await;
        peer.say(&behind[cut..]).await;
        let heard = peer.hear_all().await;
        let heard = heard.escape_ascii().to_string();
        assert!(heard.starts_with("*1\\r\\n*2\\r\\n$1\\r\\ns"), "{heard}");
        assert!(
            heard.ends_with("$3\\r\\none\\r\\n$3\\r\\ntwo\\r\\n"),
            "{heard}"
        );

        let mut peer = connect();
        peer.say(&wait).await;
        peer.say(&behind[..cut]).await;
        peer.say(&behind[cut..]).await;
        peer.hear("").await;
        other.say(commands(&["XADD s * f v"])).await;
        let heard = peer.hear_all().await;
        assert!(heard.ends_with(b"$3\r\none\r\n$3\r\ntwo\r\n"));
    }
}

/// Common clients write a whole pipeline before they read its first reply; a server that stopped
/// reading then would wait for the client, and the client for the server.
#[tokio::test]
async fn a_client_may_send_everything_before_it_reads() {
    let host = Host::start("").await;
    let mut peer = host.connect(64);
    let input: Vec<u8> = (0..2_000)
        .flat_map(|i| command(&["ECHO", &i.to_string()]))
        .collect();
    peer.say(&input).await;
    let expected: String = (0..2_000)
        .map(|i: u32| format!("${}\r\n{i}\r\n", i.to_string().len()))
        .collect();
    peer.hear(expected).await;
}

#[tokio::test]
async fn a_long_argument_comes_in_pieces() {
    let host = Host::start("").await;
    let mut peer = host.connect(1_000);
    let value = "x".repeat(300_000);
    let mut input = command(&["ECHO", "first"]);
    input.extend(command(&["SET", "k", &value]));
    input.extend(command(&["STRLEN", "k"]));
    peer.say(&input).await;
    peer.hear("$5\r\nfirst\r\n+OK\r\n:300000\r\n").await;
}

#[tokio::test]
async fn a_client_that_sends_nothing_more_still_gets_its_replies() {
    let host = Host::start("").await;
    let mut peer = host.connect(16);
    peer.say(commands(&["ECHO one", "ECHO two", "ECHO three"]))
        .await;
    peer.shut().await;
    peer.hear("$3\r\none\r\n$3\r\ntwo\r\n$5\r\nthree\r\n").await;
    peer.hear_end().await;
}

#[tokio::test]
async fn half_a_command_of_a_client_that_left_is_nothing() {
    let host = Host::start("").await;
    let mut peer = host.connect(1_000);
    peer.say(&commands(&["SET k v"])[..20]).await;
    peer.shut().await;
    peer.hear_end().await;
    let mut other = host.connect(1_000);
    other.say(commands(&["EXISTS k"])).await;
    other.hear(":0\r\n").await;
}

/// The first of two readers is gone, or has said that it will send nothing more: either way the entry
/// is the second one's, and what the first sent behind its read is not executed.
#[tokio::test]
async fn a_client_that_left_is_given_nothing() {
    for leaves_half_open in [false, true] {
        let host = Host::start("").await;
        let mut other = host.connect(1_000);
        other.say(commands(&["XGROUP CREATE s g $ MKSTREAM"])).await;
        other.hear("+OK\r\n").await;
        let read = commands(&["XREADGROUP GROUP g c BLOCK 0 STREAMS s >", "SET k v"]);
        let mut first = host.connect(1_000);
        first.say(&read).await;
        let mut second = host.connect(1_000);
        second.say(&read).await;
        if leaves_half_open {
            first.shut().await;
            first.hear_end().await;
        } else {
            drop(first);
            settle().await;
        }
        other.say(commands(&["EXISTS k", "XADD s 1 f v"])).await;
        other.hear(":0\r\n$3\r\n1-0\r\n").await;
        let heard = second.hear_all().await;
        assert!(heard.ends_with(b"$1\r\nv\r\n+OK\r\n"));
    }
}

#[tokio::test]
async fn clients_that_a_pause_held_have_their_turns_in_the_order_in_which_they_came() {
    let host = Host::start("").await;
    let mut other = host.connect(1_000);
    other.say(commands(&["CLIENT PAUSE 100 WRITE"])).await;
    other.hear("+OK\r\n").await;
    let mut peers = Vec::new();
    for i in 0..5 {
        let mut peer = host.connect_direct();
        let add = format!("APPEND k {i}");
        peer.say(commands(&[&add, "GET k"])).await;
        peer.hear("").await;
        peers.push(peer);
    }
    drop(peers.remove(3));
    host.advance(99).await;
    peers[0].hear("").await;
    host.advance(1).await;
    // Each goes on with what it sent behind before the next one's turn.
    for (peer, len) in peers.iter_mut().zip(1..) {
        let value = &"0124"[..len];
        peer.hear(format!(":{len}\r\n${len}\r\n{value}\r\n")).await;
    }
}

/// Each of many web pages, or whoever likes to, could fill the log else.
#[tokio::test]
async fn the_log_tells_of_http_once_a_minute() {
    let host = Host::start("").await;
    let warned_at = async || {
        let mut peer = host.connect(1_000);
        peer.say("POST / HTTP/1.1\r\nHost: x\r\n\r\n").await;
        peer.hear_end().await;
        let engine = &host.0.acceptor().engine;
        engine.with(|state, _| state.warned_of_http_at).unwrap()
    };
    let first = warned_at().await;
    host.advance(60_000).await;
    assert_eq!(warned_at().await, first);
    host.advance(1).await;
    assert_eq!(warned_at().await, first + Millis(60_001));
}

#[tokio::test]
async fn what_many_publish_in_one_turn_leaves_in_one_write() {
    let host = Host::start("").await;
    let listeners = host.connect_listeners(2).await;
    let mut publishers: Vec<Peer> = (0..9).map(|_| host.connect(1_000)).collect();
    let message = command(&["message", "c", "m"]);
    // Where turns were short, nothing waits at first.
    for (round, writes_max) in [(0, 9), (1, 1), (2, 1)] {
        for publisher in &mut publishers {
            put(&mut publisher.stream, &command(&["PUBLISH", "c", "m"]));
        }
        for publisher in &mut publishers {
            publisher.hear(":2\r\n").await;
        }
        for (_, writes) in &listeners {
            let writes = writes.take();
            assert!(
                writes.len() <= writes_max,
                "round {round}: {} writes",
                writes.len()
            );
            assert_eq!(writes.concat(), message.repeat(9));
        }
    }
}

#[tokio::test]
async fn messages_for_very_many_reach_all_of_them() {
    let host = Host::start("").await;
    let listeners = host.connect_listeners(200).await;
    let mut publisher = host.connect(1_000);
    for _ in 0..3 {
        publisher.say(command(&["PUBLISH", "c", "m"])).await;
        publisher.hear(":200\r\n").await;
        for (_, writes) in &listeners {
            assert_eq!(writes.take(), [command(&["message", "c", "m"])]);
        }
    }
}

#[tokio::test]
async fn who_is_closed_is_sent_what_came_before() {
    let host = Host::start("").await;
    let mut others: Vec<Peer> = (0..9).map(|_| host.connect(1_000)).collect();
    let mut leaving = host.connect_direct();
    for _ in 0..2 {
        for other in &mut others {
            put(&mut other.stream, &command(&["PING"]));
        }
        settle().await;
    }
    // The turn is long, so that what it writes waits for its end.
    for other in &mut others {
        put(&mut other.stream, &command(&["PING"]));
    }
    put(&mut leaving.stream, &commands(&["PING", "QUIT"]));
    leaving.hear("+PONG\r\n+OK\r\n").await;
    leaving.hear_end().await;
}
