//! Time that stands still until it is moved.

use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tailrace_server::Clock;
use tailrace_server::ManualClock;
use tailrace_server::Server;
use tailrace_server::blocking;
use tailrace_storage::Instant;
use tailrace_storage::Millis;
use tailrace_storage::Now;
use tailrace_storage::UnixMicros;
use tailrace_storage::UnixMillis;
use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;
use tailrace_tests::start_with;

#[tokio::test]
async fn a_wait_ends_to_the_millisecond() {
    let server = start("").await;
    let mut clients = Vec::new();
    let mut writer = Caller::connect(&server);
    writer
        .call(&["XGROUP", "CREATE", "s", "g", "$", "MKSTREAM"])
        .await;
    for command in [
        "XREAD BLOCK 50 STREAMS s $",
        "XREADGROUP GROUP g c BLOCK 50 STREAMS s >",
    ] {
        let client = Caller::connect(&server);
        client.send(&command.split(' ').collect::<Vec<_>>());
        clients.push(client);
    }
    settle().await;
    server.advance(Millis(49));
    for client in &mut clients {
        client.assert_silent().await;
    }
    server.advance(Millis(1));
    for client in &mut clients {
        assert_eq!(client.reply().await.to_string(), "nil-array");
    }
    // Whose time is up is given nothing.
    writer.call(&["XADD", "s", "1-1", "f", "v"]).await;
    let pending = writer.call(&["XPENDING", "s", "g"]).await.to_string();
    assert_eq!(pending, "[0 nil nil nil-array]");
}

/// One step over many deadlines passes each of them on the way.
#[tokio::test]
async fn a_long_step_passes_every_deadline_in_order() {
    let server = start("notify-keyspace-events Ex").await;
    let mut listener = Caller::connect(&server);
    listener
        .call(&["SUBSCRIBE", "__keyevent@0__:expired"])
        .await;
    let mut client = Caller::connect(&server);
    for (key, px) in [("third", "30"), ("first", "10"), ("second", "20")] {
        client.call(&["SET", key, "v", "PX", px]).await;
    }
    let mut waiting = Caller::connect(&server);
    waiting.send(&["XREAD", "BLOCK", "25", "STREAMS", "s", "$"]);
    settle().await;

    server.advance(Millis(1_000));
    for key in ["first", "second", "third"] {
        let message = listener.reply().await.to_string();
        assert_eq!(
            message,
            format!(r#"["message" "__keyevent@0__:expired" "{key}"]"#)
        );
    }
    assert_eq!(waiting.reply().await.to_string(), "nil-array");
    let time = client.call(&["TIME"]).await.to_string();
    assert_eq!(time, r#"["2" "0"]"#);
}

/// The millisecond of a deadline still belongs to the key, as in the reference.
#[tokio::test]
async fn a_key_is_gone_the_millisecond_after_its_deadline() {
    let server = start("").await;
    let mut client = Caller::connect(&server);
    client.call(&["SET", "k", "v", "PX", "50"]).await;
    server.advance(Millis(50));
    assert_eq!(client.call(&["GET", "k"]).await.to_string(), r#""v""#);
    server.advance(Millis(1));
    assert_eq!(client.call(&["DBSIZE"]).await.to_string(), "0");
}

/// Keys that expire together go in slices; when the step is done they are all gone.
#[tokio::test]
async fn many_keys_that_expire_together_are_gone_after_the_step() {
    let server = start("").await;
    let mut client = Caller::connect(&server);
    for n in 0..5_000 {
        client.send(&["SET", &n.to_string(), "v", "PX", "50"]);
    }
    for _ in 0..5_000 {
        client.reply().await;
    }
    assert_eq!(client.call(&["DBSIZE"]).await.to_string(), "5000");
    server.advance(Millis(51));
    assert_eq!(client.call(&["DBSIZE"]).await.to_string(), "0");
}

/// Too many keys that clients may have cached are forgotten before the next command. If none comes, that takes a
/// tenth of a second.
#[tokio::test]
async fn caches_hear_of_too_many_keys_though_no_command_comes() {
    let server = start("tracking-table-max-keys 2").await;
    let mut client = Caller::connect(&server);
    client.call(&["HELLO", "3"]).await;
    client.call(&["CLIENT", "TRACKING", "ON"]).await;
    client.call(&["MGET", "a", "b", "c", "d"]).await;
    server.advance(Millis(99));
    client.assert_silent().await;
    server.advance(Millis(1));
    for _ in 0..2 {
        let told = client.reply().await.to_string();
        assert!(told.starts_with(r#"push >["invalidate" ["#), "{told}");
    }
    client.assert_silent().await;
}

#[tokio::test]
async fn a_pause_ends_to_the_millisecond() {
    let server = start("").await;
    let mut client = Caller::connect(&server);
    client.call(&["CLIENT", "PAUSE", "50"]).await;
    client.send(&["PING"]);
    settle().await;
    server.advance(Millis(49));
    client.assert_silent().await;
    server.advance(Millis(1));
    assert_eq!(client.reply().await.to_string(), "PONG");
}

/// Readers of a group learn that their stream has gone at the instant at which it goes.
#[tokio::test]
async fn readers_learn_that_their_stream_expired() {
    let server = start("").await;
    let mut client = Caller::connect(&server);
    client
        .call(&["XGROUP", "CREATE", "s", "g", "$", "MKSTREAM"])
        .await;
    client.call(&["PEXPIRE", "s", "50"]).await;
    let mut waiting = Caller::connect(&server);
    waiting.send(&[
        "XREADGROUP",
        "GROUP",
        "g",
        "c",
        "BLOCK",
        "0",
        "STREAMS",
        "s",
        ">",
    ]);
    settle().await;
    server.advance(Millis(50));
    waiting.assert_silent().await;
    server.advance(Millis(1));
    let error = waiting.reply().await.to_string();
    assert!(error.starts_with("!NOGROUP No such key 's'"), "{error}");
}

/// Clients that say nothing for too long are ended; those that wait or listen are not idle.
#[tokio::test]
async fn idle_clients_are_ended() {
    let server = start("timeout 10").await;
    let idle = Caller::connect(&server);
    let mut waiting = Caller::connect(&server);
    waiting.send(&["XREAD", "BLOCK", "0", "STREAMS", "s", "$"]);
    let mut listening = Caller::connect(&server);
    listening.call(&["SUBSCRIBE", "news"]).await;
    let mut busy = Caller::connect(&server);
    for _ in 0..10 {
        server.advance(Millis(1_000));
        busy.call(&["PING"]).await;
    }
    assert!(!idle.far().is_closed());
    server.advance(Millis(1_000));
    assert_eq!(idle.rest().await, b"");
    waiting.assert_silent().await;
    listening.assert_silent().await;
    assert_eq!(busy.call(&["PING"]).await.to_string(), "PONG");
}

/// An operator sets the clock back: IDs go on upwards, waits end when they would have, deadlines of
/// keys are further away, and nothing has been idle for a negative time.
#[tokio::test]
async fn the_wall_clock_may_step_back() {
    let clock = Arc::new(ManualClock::starting_at(UnixMillis(1_000_000)));
    let server = start_with("", &clock).await;
    let mut client = Caller::connect(&server);
    client
        .call(&["XGROUP", "CREATE", "s", "g", "$", "MKSTREAM"])
        .await;
    let id = client.call(&["XADD", "s", "*", "f", "v"]).await.to_string();
    assert_eq!(id, r#""1000000-0""#);
    client
        .call(&["XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"])
        .await;
    client.call(&["SET", "k", "v", "PX", "50"]).await;
    let mut waiting = Caller::connect(&server);
    waiting.send(&["XREAD", "BLOCK", "50", "STREAMS", "s", "$"]);
    settle().await;

    clock.set_wall(UnixMillis(900_000));
    let id = client.call(&["XADD", "t", "*", "f", "v"]).await.to_string();
    assert_eq!(id, r#""900000-0""#);
    waiting.assert_silent().await;
    server.advance(Millis(50));
    assert_eq!(waiting.reply().await.to_string(), "nil-array");
    let id = client.call(&["XADD", "s", "*", "f", "v"]).await.to_string();
    assert_eq!(id, r#""1000000-1""#);
    let pending = client
        .call(&["XPENDING", "s", "g", "-", "+", "10"])
        .await
        .to_string();
    assert_eq!(pending, r#"[["1000000-0" "c" 0 1]]"#);
    assert_eq!(client.call(&["PTTL", "k"]).await.to_string(), "100000");
    server.advance(Millis(100_001));
    assert_eq!(client.call(&["EXISTS", "k"]).await.to_string(), "0");
}

/// Set forward, it makes keys expire, but no wait ends sooner.
#[tokio::test]
async fn the_wall_clock_may_step_forward() {
    let clock = Arc::new(ManualClock::starting_at(UnixMillis(1_000_000)));
    let server = start_with("notify-keyspace-events Ex", &clock).await;
    let mut listener = Caller::connect(&server);
    listener
        .call(&["SUBSCRIBE", "__keyevent@0__:expired"])
        .await;
    let mut client = Caller::connect(&server);
    client.call(&["SET", "k", "v", "PX", "50"]).await;
    let mut waiting = Caller::connect(&server);
    waiting.send(&["XREAD", "BLOCK", "50", "STREAMS", "s", "$"]);
    settle().await;

    clock.set_wall(UnixMillis(2_000_000));
    let message = listener.reply().await.to_string();
    assert_eq!(message, r#"["message" "__keyevent@0__:expired" "k"]"#);
    server.advance(Millis(49));
    waiting.assert_silent().await;
    server.advance(Millis(1));
    assert_eq!(waiting.reply().await.to_string(), "nil-array");
}

/// When a step returns, the replies that it caused are on their way: a program need not wait for a task.
#[test]
fn replies_are_written_when_a_step_returns() {
    let clock = Arc::new(ManualClock::default());
    let server = blocking::Server::start(Server::builder().manual_clock(clock)).unwrap();
    let mut stream = connect(&server);
    let mut other = connect(&server);
    stream
        .write_all(b"XREAD BLOCK 1000 STREAMS s $\r\n")
        .unwrap();
    let looks = (0..LOOKS_MAX).find(|_| is_somebody_blocked(&mut other));
    assert!(looks.is_some(), "the read does not wait");
    server.advance(Millis(1_000));
    let mut reply = [0; 5];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"*-1\r\n");
}

/// That keys expired and how long removing each took are events of their own.
#[test]
fn expiring_keys_take_their_time() {
    let server = blocking::Server::start(Server::builder().clock(Arc::new(Slow::default())));
    let server = server.unwrap();
    let mut stream = connect(&server);
    stream
        .write_all(b"CONFIG SET latency-monitor-threshold 1\r\nMSET a 1 b 2\r\nPEXPIRE a 1\r\nPEXPIRE b 1\r\n")
        .unwrap();
    let said = said_before_pong(&mut stream, b"DBSIZE\r\n");
    assert!(said.ends_with("\r\n:0\r\n+PONG\r\n"), "{said}");
    let said = said_before_pong(&mut stream, b"LATENCY LATEST\r\n");
    for event in ["$10\r\nexpire-del\r\n", "$12\r\nexpire-cycle\r\n"] {
        assert!(said.contains(event), "{said}");
    }
}

/// A clock on a host so slow that two milliseconds pass between two looks at it.
#[derive(Default)]
struct Slow(AtomicU64);

impl Clock for Slow {
    fn now(&self) -> Now {
        let micros = self.0.fetch_add(2_000, Ordering::SeqCst);
        Now {
            wall: UnixMicros(micros),
            mono: Instant(micros),
        }
    }
}

/// A connection whose reading fails where it would hang.
fn connect(server: &blocking::Server) -> TcpStream {
    let stream = TcpStream::connect(server.addr()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    stream
}

fn is_somebody_blocked(stream: &mut TcpStream) -> bool {
    said_before_pong(stream, b"INFO clients\r\n").contains("\r\nblocked_clients:1\r\n")
}

/// What comes before the answer to a PING that follows `commands`, and that.
fn said_before_pong(stream: &mut TcpStream, commands: &[u8]) -> String {
    stream.write_all(&[commands, b"PING\r\n"].concat()).unwrap();
    let mut said = Vec::new();
    let mut chunk = [0; 4_096];
    while !said.ends_with(b"+PONG\r\n") {
        let len = stream.read(&mut chunk).unwrap();
        said.extend_from_slice(&chunk[..len]);
    }
    String::from_utf8_lossy(&said).into_owned()
}

/// Looks after which a read that does not wait will not.
const LOOKS_MAX: usize = 100_000;
