//! Connections that are cut, slow, or gone: a server in this process, reached through streams that
//! the tests hold the other end of. Everything runs on one thread and goes by a clock that the tests
//! move, and every wait is a bounded number of turns for the server's tasks.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use parking_lot::Mutex;
use tailrace_storage::Millis;
use tailrace_storage::UnixMillis;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::io::DuplexStream;
use tokio::io::ReadBuf;
use tokio::net::UnixStream;

use crate::Config;
use crate::ManualClock;
use crate::Server;
use crate::link::Outlet;
use crate::listener;

/// A server whose clock stands still.
struct Host(Server);

impl Host {
    async fn start(config: &str) -> Self {
        let clock = Arc::new(ManualClock::starting_at(UnixMillis(1_000)));
        let config = Config::embedded().with(config).unwrap();
        let builder = Server::builder().config(config).manual_clock(clock);
        Self(builder.start().await.unwrap())
    }

    /// A client whose stream holds so many bytes in each direction.
    fn connect(&self, stream_bytes: usize) -> Peer {
        let (ours, theirs) = tokio::io::duplex(stream_bytes);
        self.0.serve(theirs);
        Peer {
            stream: ours,
            direct: None,
        }
    }

    /// A client to which any thread can write at once, as to a socket: its task is not woken then.
    fn connect_direct(&self) -> Peer {
        let (ours, theirs) = tokio::io::duplex(1_000);
        let direct = Arc::new(Mutex::new(Vec::new()));
        let outlet = Direct(Arc::clone(&direct));
        let acceptor = self.0.acceptor();
        acceptor.serve(theirs, Box::new(outlet), listener::Peer::embedded());
        Peer {
            stream: ours,
            direct: Some(direct),
        }
    }

    /// Clients that listen to a channel, and what is written to each.
    async fn connect_listeners(&self, count: usize) -> Vec<(DuplexStream, Writes)> {
        let mut listeners = Vec::new();
        for _ in 0..count {
            let (mut ours, theirs) = tokio::io::duplex(1_000);
            let writes = Writes::default();
            let acceptor = self.0.acceptor();
            let peer = listener::Peer::embedded();
            acceptor.serve(theirs, Box::new(writes.clone()), peer);
            put(&mut ours, &command(&["SUBSCRIBE", "c"]));
            settle().await;
            assert_eq!(
                writes.take().concat(),
                b"*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"
            );
            listeners.push((ours, writes));
        }
        listeners
    }

    /// Lets time pass, and the server's tasks do what became due.
    async fn advance(&self, millis: u64) {
        self.0.advance(Millis(millis));
        settle().await;
    }
}

/// A client, byte by byte.
struct Peer {
    stream: DuplexStream,
    /// What the server wrote, if not into `stream`.
    direct: Option<Arc<Mutex<Vec<u8>>>>,
}

/// The writing half of a socket that takes everything at once.
struct Direct(Arc<Mutex<Vec<u8>>>);

impl Outlet for Direct {
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.try_write(bytes))
    }
}

/// A writing half that keeps each write by itself.
#[derive(Clone, Default)]
struct Writes(Arc<Mutex<Vec<Vec<u8>>>>);

impl Writes {
    fn take(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Outlet for Writes {
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.try_write(bytes))
    }
}

/// What a peer finds when it reads.
#[derive(Debug, PartialEq)]
enum Heard {
    Bytes(Vec<u8>),
    Nothing,
    End,
}

impl Peer {
    /// Sends all of it, while the server reads.
    async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        let mut rest = bytes.as_ref();
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..TURNS_MAX {
            if rest.is_empty() {
                return settle().await;
            }
            match Pin::new(&mut self.stream).poll_write(&mut cx, rest) {
                Poll::Ready(Ok(count)) => rest = &rest[count..],
                Poll::Ready(Err(_)) => return,
                Poll::Pending => tokio::task::yield_now().await,
            }
        }
        panic!("the server does not read; {} bytes are left", rest.len());
    }

    /// Sends nothing more.
    async fn shut(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        let shut = Pin::new(&mut self.stream).poll_shutdown(&mut cx);
        assert!(shut.is_ready());
        settle().await;
    }

    fn read(&mut self) -> Heard {
        if let Some(direct) = &self.direct {
            let bytes = std::mem::take(&mut *direct.lock());
            if !bytes.is_empty() {
                return Heard::Bytes(bytes);
            }
        }
        let mut bytes = [0; 4_096];
        let mut buffer = ReadBuf::new(&mut bytes);
        let mut cx = Context::from_waker(Waker::noop());
        match Pin::new(&mut self.stream).poll_read(&mut cx, &mut buffer) {
            Poll::Pending => Heard::Nothing,
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                Heard::Bytes(buffer.filled().to_vec())
            }
            Poll::Ready(_) => Heard::End,
        }
    }

    /// All that comes until the server has nothing more to do.
    async fn hear_all(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        let mut silent_turns = 0;
        while silent_turns < SILENT_TURNS {
            match self.read() {
                Heard::Bytes(bytes) => {
                    all.extend_from_slice(&bytes);
                    silent_turns = 0;
                }
                Heard::Nothing => silent_turns += 1,
                Heard::End => break,
            }
            tokio::task::yield_now().await;
        }
        all
    }

    /// Insists that just this comes.
    async fn hear(&mut self, expected: impl AsRef<[u8]>) {
        let heard = self.hear_all().await;
        assert_eq!(
            heard.escape_ascii().to_string(),
            expected.as_ref().escape_ascii().to_string()
        );
    }

    /// Insists that the server has closed the connection.
    async fn hear_end(&mut self) {
        for _ in 0..TURNS_MAX {
            if self.read() == Heard::End {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("the connection is still open");
    }
}

/// Puts bytes where the server finds them in its next turn.
fn put(stream: &mut DuplexStream, bytes: &[u8]) {
    let mut cx = Context::from_waker(Waker::noop());
    let written = Pin::new(stream).poll_write(&mut cx, bytes);
    assert!(matches!(written, Poll::Ready(Ok(count)) if count == bytes.len()));
}

/// Lets the server's tasks do what they can.
async fn settle() {
    for _ in 0..SILENT_TURNS {
        tokio::task::yield_now().await;
    }
}

fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len());
    for word in words {
        bytes += &format!("${}\r\n{word}\r\n", word.len());
    }
    bytes.into_bytes()
}

fn commands(lines: &[&str]) -> Vec<u8> {
    let words = lines
        .iter()
        .map(|line| line.split(' ').collect::<Vec<&str>>());
    words.flat_map(|words| command(&words)).collect()
}

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
        super::yield_turn(cx);
        Poll::Pending
    }));
    busy.await.unwrap();
}

/// Turns after which a server that has not answered never will.
const SILENT_TURNS: usize = 12;
/// Turns after which a test gives up.
const TURNS_MAX: usize = 1_000_000;

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
