//! Clients that leave while a command of theirs waits, or while they are held back.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;

use tailrace_server::Server;
use tailrace_storage::Millis;
use tailrace_tests::Caller;
use tailrace_tests::Far;
use tailrace_tests::Near;
use tailrace_tests::pipe;
use tailrace_tests::settle;
use tailrace_tests::start;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::io::ReadBuf;

/// A client whose `XREADGROUP` waits.
async fn waiting_reader(server: &Server, consumer: &str) -> Caller {
    let client = Caller::connect(server);
    let words = "XREADGROUP GROUP g @ BLOCK 0 STREAMS s >".replace('@', consumer);
    client.send(&words.split(' ').collect::<Vec<_>>());
    settle().await;
    client
}

async fn with_group(server: &Server) -> Caller {
    let mut client = Caller::connect(server);
    let reply = client
        .call(&["XGROUP", "CREATE", "s", "g", "$", "MKSTREAM"])
        .await;
    assert_eq!(reply.to_string(), "OK");
    client
}

/// Whoever left is given nothing: the entry goes to the next in line.
#[tokio::test]
async fn a_client_that_left_while_it_waited_is_given_nothing() {
    let ways_to_leave = [Far::cut, Far::hang_up, Far::half_close];
    for leave in ways_to_leave {
        let server = start("").await;
        let mut writer = with_group(&server).await;
        let gone = waiting_reader(&server, "gone").await;
        let mut next = waiting_reader(&server, "next").await;

        leave(gone.far());
        settle().await;
        writer.call(&["XADD", "s", "1-1", "f", "v"]).await;

        let entry = r#"[["s" [["1-1" ["f" "v"]]]]]"#;
        assert_eq!(next.reply().await.to_string(), entry);
        let pending = writer.call(&["XPENDING", "s", "g"]).await.to_string();
        assert_eq!(pending, r#"[1 "1-1" "1-1" [["next" "1"]]]"#);
        assert_eq!(gone.rest().await, b"");
    }
}

/// A client that vanishes in the same turn as the entry comes may have been given it, but then the
/// entry is pending for it: it is not lost.
#[tokio::test]
async fn an_entry_given_to_a_client_that_vanishes_is_pending() {
    let server = start("").await;
    let mut writer = with_group(&server).await;
    let gone = waiting_reader(&server, "gone").await;

    writer.send(&["XADD", "s", "1-1", "f", "v"]);
    gone.far().cut();
    writer.reply().await;

    let read = ["XREADGROUP", "GROUP", "g", "back", "STREAMS", "s", ">"];
    let fresh = writer.call(&read).await.to_string();
    let pending = writer.call(&["XPENDING", "s", "g"]).await.to_string();
    let is_fresh = fresh.contains("1-1");
    let holder = if is_fresh { "back" } else { "gone" };
    assert_eq!(pending, format!(r#"[1 "1-1" "1-1" [["{holder}" "1"]]]"#));
}

/// What was sent before the end is executed and answered, and only then is the connection closed.
#[tokio::test]
async fn a_half_closed_client_gets_all_its_replies() {
    let server = start("").await;
    let client = Caller::connect(&server);
    client.far().open_window(0);
    for n in 1..=1_000 {
        client.send(&["XADD", "s", &format!("{n}-1"), "f", "v"]);
    }
    client.far().half_close();
    settle().await;
    assert_eq!(client.far().take(), b"");

    client.far().open_window(usize::MAX);
    let replies = client.rest().await;
    let expected: String = (1..=1_000)
        .map(|n| format!("${}\r\n{n}-1\r\n", n.to_string().len() + 2))
        .collect();
    assert_eq!(String::from_utf8(replies).unwrap(), expected);
}

/// A command that a pause holds back goes with its client, even if that only shut its writing half:
/// whether the other half is still there cannot be told.
#[tokio::test]
async fn a_command_that_is_held_back_goes_with_its_client() {
    let server = start("").await;
    let mut other = Caller::connect(&server);
    let leaving: Vec<Caller> = (0..2).map(|_| Caller::connect(&server)).collect();
    let staying = Caller::connect(&server);
    assert_eq!(
        other.call(&["CLIENT", "PAUSE", "50"]).await.to_string(),
        "OK"
    );
    for client in leaving.iter().chain([&staying]) {
        client.send(&["INCR", "n"]);
        client.send(&["INCR", "n"]);
        settle().await;
    }
    leaving[0].far().half_close();
    leaving[1].far().cut();
    settle().await;

    server.advance(Millis(50));
    assert_eq!(other.call(&["GET", "n"]).await.to_string(), r#""2""#);
    staying.far().half_close();
    assert_eq!(staying.rest().await, b":1\r\n:2\r\n");
    for client in leaving {
        assert_eq!(client.rest().await, b"");
    }
}

/// Lets time pass at the very moment at which it says that the client has sent all it will.
struct LastMoment {
    near: Near,
    server: Arc<Server>,
    passes: Millis,
}

impl AsyncRead for LastMoment {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled = buffer.filled().len();
        std::task::ready!(Pin::new(&mut self.near).poll_read(cx, buffer))?;
        if buffer.filled().len() == filled {
            self.server.advance(self.passes);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for LastMoment {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.near).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.near).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.near).poll_shutdown(cx)
    }
}

/// A wait was over just when the client's end was read, so that its next command, a wait too, began
/// after the end, and nobody looked at the end again: entries went to a client that had left. Now a
/// command that waits behind the end is over at once.
#[tokio::test]
async fn a_wait_that_begins_after_the_end_is_over_at_once() {
    let server = Arc::new(start("").await);
    let mut writer = with_group(&server).await;
    let (near, far) = pipe();
    server.serve(LastMoment {
        near,
        server: Arc::clone(&server),
        passes: Millis(10),
    });
    far.send(b"XREAD BLOCK 10 STREAMS s $\r\nXREADGROUP GROUP g gone BLOCK 0 STREAMS s >\r\n");
    settle().await;
    far.half_close();
    settle().await;

    writer.call(&["XADD", "s", "1-1", "f", "v"]).await;
    let pending = writer.call(&["XPENDING", "s", "g"]).await.to_string();
    assert_eq!(pending, "[0 nil nil nil-array]");
    assert_eq!(far.take(), b"*-1\r\n");
    assert!(far.is_closed());
}

/// Subscriptions, watches, a queued transaction and a wait all go with their client.
#[tokio::test]
async fn nothing_of_a_client_stays_behind() {
    let server = start("").await;
    let mut watcher = Caller::connect(&server);
    let client = Caller::connect(&server);
    for words in [&["WATCH", "s"][..], &["MULTI"], &["PING"]] {
        client.send(words);
    }
    let listener = Caller::connect(&server);
    listener.send(&["SUBSCRIBE", "news"]);
    let waiter = Caller::connect(&server);
    waiter.send(&["XREAD", "BLOCK", "0", "STREAMS", "s", "$"]);
    settle().await;
    for client in [&client, &listener, &waiter] {
        client.far().cut();
    }
    settle().await;

    let heard = watcher.call(&["PUBLISH", "news", "x"]).await.to_string();
    assert_eq!(heard, "0");
    let clients = watcher.call(&["INFO", "clients"]).await;
    let clients = String::from_utf8_lossy(clients.text()).into_owned();
    for line in [
        "connected_clients:1",
        "blocked_clients:0",
        "watching_clients:0",
    ] {
        assert!(clients.contains(line), "{line} is not in {clients}");
    }
}
