//! Servers that start, live side by side, and end.

use std::collections::BTreeSet;
use std::io::Read;
use std::io::Write;
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use tailrace_server::Clock;
use tailrace_server::Config;
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
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;

/// A server can be held anywhere in a program, and used from any of its threads.
const _: () = {
    const fn is_shared<T: Send + Sync + 'static>() {}
    is_shared::<Server>();
    is_shared::<blocking::Server>();
};

fn ask(mut stream: impl Read + Write, command: &str, reply_len: usize) -> String {
    stream.write_all(command.as_bytes()).unwrap();
    let mut reply = vec![0; reply_len];
    stream.read_exact(&mut reply).unwrap();
    String::from_utf8(reply).unwrap()
}

#[test]
fn thirty_two_servers_share_a_process_and_nothing_else() {
    let threads: Vec<_> = (0..32)
        .map(|n: usize| {
            thread::spawn(move || {
                let server = blocking::Server::start(Server::builder()).unwrap();
                let stream = TcpStream::connect(server.addr()).unwrap();
                assert_eq!(ask(&stream, &format!("SET n {n:02}\r\n"), 5), "+OK\r\n");
                (server, stream, n)
            })
        })
        .collect();
    let servers: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    let ports: BTreeSet<u16> = servers
        .iter()
        .map(|(server, ..)| server.addr().port())
        .collect();
    assert_eq!(ports.len(), 32);
    for (server, stream, n) in servers {
        assert_eq!(ask(&stream, "GET n\r\n", 8), format!("$2\r\n{n:02}\r\n"));
        assert_eq!(server.stop(), None);
    }
}

#[test]
fn a_server_ends_with_its_handle() {
    let server = blocking::Server::start(Server::builder()).unwrap();
    let addr = server.addr();
    let mut stream = TcpStream::connect(addr).unwrap();
    assert_eq!(ask(&stream, "PING\r\n", 7), "+PONG\r\n");
    drop(server);
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"");
    assert!(TcpStream::connect(addr).is_err());
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap();
    let config = Config::embedded()
        .with(&format!("port {}", addr.port()))
        .unwrap();
    let started = blocking::Server::start(Server::builder().config(config));
    let Err(error) = started else {
        panic!("it started on a port that is taken");
    };
    assert!(
        error
            .to_string()
            .contains(&format!("127.0.0.1 port {}", addr.port())),
        "{error}"
    );
}

#[test]
fn a_unix_socket_is_there_as_long_as_the_server() {
    let path = std::env::temp_dir().join(format!("tailrace-{}.sock", std::process::id()));
    let config = format!("unixsocket {}\nport 0", path.display());
    let config = Config::embedded().with(&config).unwrap();
    let server = blocking::Server::start(Server::builder().config(config)).unwrap();
    let stream = UnixStream::connect(&path).unwrap();
    assert_eq!(ask(stream, "PING\r\n", 7), "+PONG\r\n");
    drop(server);
    assert!(!path.exists());
}

#[tokio::test]
async fn the_configuration_is_the_builders() {
    let server = start("databases 2").await;
    let mut client = Caller::connect(&server);
    assert_eq!(client.call(&["SELECT", "1"]).await.to_string(), "OK");
    let refused = client.call(&["SELECT", "2"]).await.to_string();
    assert_eq!(refused, "!ERR DB index is out of range");
}

/// Any stream of bytes will do, such as one half of tokio's own pair.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_can_be_reached_without_a_socket() {
    let server = Server::builder().start().await.unwrap();
    let (near, mut far) = tokio::io::duplex(16);
    // From a thread that knows no runtime, as any part of a program may want it.
    thread::scope(|scope| scope.spawn(|| server.serve(near)).join().unwrap());
    far.write_all(b"XADD s 1-1 field value\r\nXRANGE s - +\r\nQUIT\r\n")
        .await
        .unwrap();
    let mut said = String::new();
    far.read_to_string(&mut said).await.unwrap();
    let entry = "*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$5\r\nfield\r\n$5\r\nvalue\r\n";
    assert_eq!(said, format!("$3\r\n1-1\r\n{entry}+OK\r\n"));
    assert_eq!(server.stop().await, None);
}

/// A clock that shows the same forever.
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Now {
        Now {
            wall: UnixMicros(42_000),
            mono: Instant(0),
        }
    }
}

#[tokio::test]
async fn a_program_can_bring_its_own_clock() {
    let server = Server::builder()
        .clock(Arc::new(Stopped))
        .start()
        .await
        .unwrap();
    let mut client = Caller::connect(&server);
    for sequence in 0..3 {
        let id = client.call(&["XADD", "s", "*", "f", "v"]).await;
        assert_eq!(id.text(), format!("42-{sequence}").as_bytes());
    }
}

/// Servers that share a clock all hear that it moved, whoever moved it.
#[tokio::test]
async fn servers_may_share_a_clock() {
    let clock = Arc::new(ManualClock::starting_at(UnixMillis(1_000)));
    let mut clients = Vec::new();
    for _ in 0..3 {
        let server = start_with("", &clock).await;
        let client = Caller::connect(&server);
        client.send(&["XREAD", "BLOCK", "50", "STREAMS", "s", "$"]);
        clients.push((server, client));
    }
    settle().await;
    clock.advance(Millis(49));
    for (_, client) in &mut clients {
        client.assert_silent().await;
    }
    clock.advance(Millis(1));
    for (_, client) in &mut clients {
        assert_eq!(client.reply().await.to_string(), "nil-array");
    }
}
