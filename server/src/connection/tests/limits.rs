//! Who sends too much, reads too little or stays away.

use std::pin::Pin;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use tokio::io::AsyncWrite;
use tokio::net::UnixStream;

use super::host::*;

#[tokio::test]
async fn idle_clients_are_closed_but_not_those_that_wait() {
    let host = Host::start("timeout 10").await;
    let mut idle = host.connect(1_000);
    let mut busy = host.connect(1_000);
    let mut waiting = host.connect(1_000);
    let mut listening = host.connect(1_000);
    waiting
        .say(commands(&["XREAD BLOCK 0 STREAMS s $", "ECHO served"]))
        .await;
    listening.say(commands(&["SUBSCRIBE ch"])).await;
    listening.hear_all().await;
    host.advance(6_000).await;
    busy.say(commands(&["PING"])).await;
    busy.hear("+PONG\r\n").await;
    host.advance(4_999).await;
    idle.say("").await;
    assert_eq!(idle.read(), Heard::Nothing);
    host.advance(1).await;
    idle.hear_end().await;
    busy.say(commands(&["XADD s 1 f v", "PUBLISH ch hi"])).await;
    busy.hear("$3\r\n1-0\r\n:1\r\n").await;
    assert!(waiting.hear_all().await.ends_with(b"served\r\n"));
    assert!(listening.hear_all().await.ends_with(b"hi\r\n"));
    host.advance(11_000).await;
    busy.hear_end().await;
    waiting.hear_end().await;
    assert_eq!(listening.read(), Heard::Nothing);
}

#[tokio::test]
async fn a_client_that_does_not_read_meets_the_hard_limit() {
    let host = Host::start("client-output-buffer-limit normal 100kb 0 0").await;
    let echo = command(&["ECHO", &"x".repeat(20_000)]);
    let mut peer = host.connect(100);
    for _ in 0..5 {
        peer.say(&echo).await;
    }
    // 100 KiB and the 16 KiB that do not count are not reached yet.
    let mut heard = 0;
    while let Heard::Bytes(bytes) = peer.read() {
        heard += bytes.len();
        settle().await;
    }
    assert_eq!(heard, 5 * 20_010);

    for _ in 0..6 {
        peer.say(&echo).await;
    }
    peer.hear_end().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_for_long_meets_the_soft_limit() {
    let host = Host::start("client-output-buffer-limit pubsub 0 20kb 2").await;
    let mut slow = host.connect(100);
    slow.say(commands(&["SUBSCRIBE ch"])).await;
    let mut reader = host.connect(100);
    reader.say(commands(&["SUBSCRIBE ch"])).await;
    let mut other = host.connect(1_000);
    let message = command(&["PUBLISH", "ch", &"x".repeat(50_000)]);
    other.say(&message).await;
    other.hear(":2\r\n").await;
    reader.hear_all().await;
    host.advance(2_999).await;
    other.say(commands(&["PUBSUB NUMSUB ch"])).await;
    other.hear("*2\r\n$2\r\nch\r\n:2\r\n").await;
    // Nobody sends anything any more: the limit is met by time alone.
    host.advance(1).await;
    other.say(commands(&["PUBSUB NUMSUB ch"])).await;
    other.hear("*2\r\n$2\r\nch\r\n:1\r\n").await;
    slow.hear_end().await;
}

#[tokio::test]
async fn a_client_that_sends_too_much_ahead_is_closed() {
    let host = Host::start("client-query-buffer-limit 1mb").await;
    let mut peer = host.connect(100_000);
    peer.say(commands(&["XREAD BLOCK 0 STREAMS s $"])).await;
    let line = command(&["ECHO", &"x".repeat(90_000)]);
    for _ in 0..11 {
        peer.say(&line).await;
    }
    assert_eq!(peer.read(), Heard::Nothing);
    peer.say(&line).await;
    peer.hear_end().await;
}

#[tokio::test]
async fn nobody_waits_for_the_end_of_a_long_pipeline() {
    let host = Host::start("").await;
    let mut busy = host.connect(1 << 20);
    let mut quick = host.connect(1_000);
    let mut cx = Context::from_waker(Waker::noop());
    let input = commands(&["PING"]).repeat(50_000);
    let sent = Pin::new(&mut busy.stream).poll_write(&mut cx, &input);
    assert!(matches!(sent, Poll::Ready(Ok(count)) if count > 500_000));
    let ping = commands(&["PING"]);
    let sent = Pin::new(&mut quick.stream).poll_write(&mut cx, &ping);
    assert!(matches!(sent, Poll::Ready(Ok(14))));
    // One turn for each of them, and a few to spare.
    let mut turns = 0;
    while quick.read() == Heard::Nothing {
        turns += 1;
        assert!(turns < 20, "still waiting after {turns} turns");
        tokio::task::yield_now().await;
    }
    let mut answered = 0;
    while let Heard::Bytes(bytes) = busy.read() {
        answered += bytes.len();
    }
    assert!(
        answered < 7 * 20_000,
        "{answered} bytes were answered first"
    );
}

#[tokio::test]
async fn a_refused_client_is_told_why() {
    let host = Host::start("maxclients 1").await;
    let mut first = host.connect(1_000);
    first.say(commands(&["PING"])).await;
    let mut second = host.connect(1_000);
    second.hear("-ERR max number of clients reached\r\n").await;
    second.hear_end().await;
    first.hear("+PONG\r\n").await;
}

#[tokio::test]
async fn a_stranger_is_read_one_command_at_a_time() {
    let host = Host::start("requirepass secret").await;
    let many: Vec<String> = (0..20).map(|i| format!("key{i}")).collect();
    let long = format!("EXISTS {}", many.join(" "));
    let mut peer = host.connect(1_000);
    peer.say(commands(&["PING", "AUTH secret", &long])).await;
    peer.hear("-NOAUTH Authentication required.\r\n+OK\r\n:0\r\n")
        .await;
    let mut peer = host.connect(1_000);
    peer.say(commands(&["AUTH wrong", &long])).await;
    let heard = peer.hear_all().await;
    assert!(heard.ends_with(b"-ERR Protocol error: unauthenticated multibulk length\r\n"));
    peer.hear_end().await;
}

/// A client whose pipeline takes many batches has to let others in between. Its task once woke itself
/// after each, and the runtime looks at its sockets only once in some sixty polls while a task is
/// ready: a client that pinged waited for all of them. Now the sockets are looked at before the task's
/// next turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_client_whose_request_just_came_has_its_turn_before_one_that_yields() {
    let (near, far) = UnixStream::pair().unwrap();
    let reader = tokio::spawn(async move { far.readable().await });
    // It sleeps until something comes.
    tokio::task::yield_now().await;
    let mut turns = 0;
    let busy = tokio::spawn(std::future::poll_fn(move |cx| {
        if turns == 0 {
            near.try_write(b"x").unwrap();
        }
        if reader.is_finished() {
            return Poll::Ready(());
        }
        turns += 1;
        assert!(turns < SILENT_TURNS, "the other waits for the end");
        super::super::yield_turn(cx);
        Poll::Pending
    }));
    busy.await.unwrap();
}
