//! Test doubles inside another program: on a thread of their own, or as tasks of the program by tokio's clock.

use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use tailrace_server::TestServer;
use tailrace_server::testing::Amount;
use tailrace_server::testing::Happens;
use tailrace_server::testing::TestError;
use tailrace_tests::Value;
use tailrace_tests::encode;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::io::DuplexStream;

/// A client in memory.
pub(super) struct Talker(pub(super) DuplexStream);

impl Talker {
    pub(super) async fn send(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        self.0.write_all(&encode(&words)).await.unwrap();
    }

    pub(super) async fn hear(&mut self) -> String {
        let mut input = Vec::new();
        loop {
            if let Some((value, _)) = Value::parse(&input) {
                return value.to_string();
            }
            if self.0.read_buf(&mut input).await.unwrap() == 0 {
                return "(closed)".to_owned();
            }
        }
    }

    pub(super) async fn ask(&mut self, line: &str) -> String {
        self.send(line).await;
        self.hear().await
    }
}

#[test]
fn a_program_without_a_runtime_holds_one() {
    let server = TestServer::builder().frozen_at(1_000_000).start().unwrap();
    let mut client = TcpStream::connect(server.addr()).unwrap();
    let mut ask = |line: &str| {
        client.write_all(format!("{line}\r\n").as_bytes()).unwrap();
        let mut reply = [0; 1_024];
        let count = client.read(&mut reply).unwrap();
        String::from_utf8_lossy(&reply[..count]).into_owned()
    };
    assert_eq!(ask("XADD s * f v"), "$9\r\n1000000-0\r\n");
    ask("XGROUP CREATE s g 0");
    ask("XREADGROUP GROUP g dead STREAMS s >");
    let minute = Duration::from_secs(60);
    assert_eq!(server.clock().advance(minute).wait(), Ok(1_060_000));
    server.wait().pending("s", "g", 1).wait().unwrap();
    let vain = server.wait().within(Duration::ZERO).drained("s", "g");
    let reason = "after 0 ms s g is not drained: 0 to read, 1 pending, 1 of them with dead";
    assert_eq!(vain.wait(), Err(TestError::Not(reason.to_owned())));

    let lost = server.fault("lost").command("XACK").group("g");
    let lost = lost.after(Happens::Reply(b":7".to_vec())).unwrap();
    assert_eq!(ask("XACK s g 1000000-0"), ":7\r\n");
    assert_eq!(lost.hits(), 1);
    server.wait().drained("s", "g").wait().unwrap();

    let calls = server.calls().command("XACK").list().unwrap();
    assert_eq!((calls.len(), calls[0].at_ms), (1, 1_060_000));
    assert_eq!(calls[0].reply, b":7\r\n");
    assert_eq!(calls[0].fault.as_deref(), Some(&b"lost"[..]));
    assert_eq!(server.calls().errors().count(), Ok(0));
    server.calls().clear();
    assert_eq!(server.calls().count(), Ok(0));
}

#[test]
fn what_makes_no_sense_is_an_error_with_a_reason() {
    let server = TestServer::start().unwrap();
    let early = server.fault("f").before(Happens::Cut(3)).err();
    let reason = "before a command there is no reply to CUT or to DRIP; use AFTER";
    assert_eq!(early, Some(TestError::Not(reason.to_owned())));
    assert!(server.calls().command("@nothing").count().is_err());
    assert!(server.clock().scale(0.0).is_err());
    server.clock().freeze_at(5_000);
    let reason = "the clock shows 5000, which is past 4999; FREEZE and SKEW turn it back";
    let back = server.clock().advance_to(4_999).wait();
    assert_eq!(back, Err(TestError::Not(reason.to_owned())));
}

/// The test is a task of a runtime of one thread, as `#[tokio::test]` makes it, and so is the client.
#[tokio::test]
async fn a_program_with_a_runtime_awaits_it() {
    let server = TestServer::builder()
        .frozen_at(1_000_000)
        .without_port()
        .start()
        .unwrap();
    assert!(server.addrs().is_empty());
    let mut reader = Talker(server.connect());
    let reading = tokio::spawn(async move { reader.ask("XREAD BLOCK 5000 STREAMS s $").await });
    server.wait().blocked(1).await.unwrap();
    assert_eq!(server.clock().next(1).await, Ok(1_005_000));
    assert_eq!(reading.await.unwrap(), "nil-array");
    let fault = server.fault("gate").command("GET").before(Happens::Hold);
    let fault = fault.unwrap();
    let mut client = Talker(server.connect());
    client.send("GET k").await;
    server.wait().held("gate", 1).await.unwrap();
    assert_eq!(fault.release(1), 1);
    assert_eq!(client.hear().await, "nil");
    assert_eq!(server.stop().await, None);
    assert_eq!(client.hear().await, "(closed)");
}

#[tokio::test(start_paused = true)]
async fn by_tokio_s_clock_the_server_sees_what_the_program_sees() {
    let server = TestServer::start_here().unwrap();
    let began = server.clock().now();
    let mut client = Talker(server.connect());
    let id = client.ask("XADD s * f v").await;
    assert_eq!(id, format!("\"{began}-0\""));
    client.ask("XGROUP CREATE s g 0").await;
    client.ask("XREADGROUP GROUP g dead STREAMS s >").await;
    client.ask("SET k v PX 90000").await;
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(server.clock().now(), began + 60_000);
    let pending = client.ask("XPENDING s g - + 1").await;
    assert_eq!(pending, format!("[[{id} \"dead\" 60000 1]]"));
    assert_eq!(client.ask("PTTL k").await, "30000");
    // Nobody is left to do anything: tokio moves to what is due next by itself.
    assert_eq!(
        client.ask("XREAD BLOCK 45000 STREAMS s $").await,
        "nil-array"
    );
    assert_eq!(server.clock().now(), began + 105_000);
    assert_eq!(client.ask("GET k").await, "nil");
    // What is moved by the double is moved on top of that.
    assert_eq!(
        server.clock().advance(Duration::from_secs(1)).await,
        Ok(began + 106_000)
    );
    assert_eq!(
        server.wait().idle().wait(),
        Err(TestError::WouldBlock),
        "the thread that waits is the one that serves"
    );
}

#[tokio::test]
async fn spaces_of_one_server_know_nothing_of_each_other() {
    let server = TestServer::builder().frozen_at(1_000_000).without_port();
    let server = server.start().unwrap();
    let spaces: Vec<TestServer> = (0..50).map(|_| server.space().unwrap()).collect();
    let mut clients: Vec<Talker> = spaces.iter().map(|space| Talker(space.connect())).collect();
    for (at, (space, client)) in spaces.iter().zip(&mut clients).enumerate() {
        let by = Duration::from_millis(at as u64);
        let now = space.clock().advance(by).await.unwrap();
        assert_eq!(client.ask("XADD s * f v").await, format!("\"{now}-0\""));
    }
    for (space, client) in spaces.iter().zip(&mut clients) {
        assert_eq!(space.calls().count(), Ok(1));
        assert_eq!(client.ask("XLEN s").await, "1");
    }
    drop(spaces);
    for client in &mut clients {
        assert_eq!(client.hear().await, "(closed)");
    }
    let space = server.space().unwrap();
    drop(server);
    let ended = space.clock().advance(Duration::ZERO).await;
    assert_eq!(ended, Err(TestError::Ended));
    assert_eq!(space.wait().idle().await, Err(TestError::Ended));
}

#[tokio::test]
async fn a_cluster_is_held_as_one() {
    let server = TestServer::builder().frozen_at(1_000_000).nodes(3);
    let server = server.without_port().start().unwrap();
    let mut readers = Vec::new();
    for (node, key) in ["{b}", "{c}", "{a}"].into_iter().enumerate() {
        let mut reader = Talker(server.connect_to(node));
        reader
            .send(&format!("XREAD BLOCK 1000 STREAMS {key} $"))
            .await;
        readers.push(reader);
    }
    server.wait().blocked(3).await.unwrap();
    server
        .clock()
        .advance(Duration::from_secs(1))
        .await
        .unwrap();
    for reader in &mut readers {
        assert_eq!(reader.hear().await, "nil-array");
    }
    server.wait().clients(Amount::at_least(3)).await.unwrap();
}
