//! Real threads and real sockets: whatever they do at once, nothing is lost, doubled or out of order.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use tailrace_server::Server;
use tailrace_server::blocking;
use tailrace_tests::Arrival;
use tailrace_tests::Client;
use tailrace_tests::Value;

/// The next reply of a client for which one must come.
fn reply(client: &mut Client) -> Value {
    client.poll(Some(PATIENCE));
    match client.take() {
        Some(Arrival::Reply(value)) => value,
        Some(Arrival::Closed) => panic!("the server closed a connection"),
        None => panic!("a reply does not come"),
    }
}

fn elements(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        _ => &[],
    }
}

/// Each entry goes to exactly one of the consumers that wait for it on other threads.
#[test]
fn entries_are_spread_over_threads_without_loss_or_doubles() {
    let server = blocking::Server::start(Server::builder()).unwrap();
    let addr = server.addr();
    let mut client = Client::connect(addr).unwrap();
    client.say(&["XGROUP", "CREATE", "s", "g", "0", "MKSTREAM"]);
    assert_eq!(reply(&mut client).to_string(), "OK");

    let read = AtomicUsize::new(0);
    let read_by: Vec<Vec<String>> = thread::scope(|scope| {
        for _ in 0..PRODUCERS {
            scope.spawn(|| produce(addr));
        }
        let consumers: Vec<_> = (0..CONSUMERS)
            .map(|name| {
                scope.spawn({
                    let read = &read;
                    move || consume(addr, name, read)
                })
            })
            .collect();
        consumers
            .into_iter()
            .map(|consumer| consumer.join().unwrap())
            .collect()
    });
    let count: usize = read_by.iter().map(Vec::len).sum();
    let different: BTreeSet<&String> = read_by.iter().flatten().collect();
    assert_eq!(
        (count, different.len()),
        (PRODUCERS * ENTRIES, PRODUCERS * ENTRIES)
    );
    client.say(&["XPENDING", "s", "g"]);
    assert_eq!(reply(&mut client).to_string(), "[0 nil nil nil-array]");
    assert_eq!(server.stop(), None);
}

fn produce(addr: SocketAddr) {
    let mut client = Client::connect(addr).unwrap();
    for _ in 0..ENTRIES / PIPELINE {
        for _ in 0..PIPELINE {
            client.say(&["XADD", "s", "*", "f", "v"]);
        }
        for _ in 0..PIPELINE {
            assert!(matches!(reply(&mut client), Value::Bulk(_)));
        }
    }
}

/// Reads and acknowledges until all that will be added has been read by somebody.
fn consume(addr: SocketAddr, name: usize, read: &AtomicUsize) -> Vec<String> {
    let mut client = Client::connect(addr).unwrap();
    let name = name.to_string();
    let mut ids = Vec::new();
    while read.load(Ordering::SeqCst) < PRODUCERS * ENTRIES {
        client.say(&[
            "XREADGROUP",
            "GROUP",
            "g",
            &name,
            "COUNT",
            "7",
            "BLOCK",
            "20",
            "STREAMS",
            "s",
            ">",
        ]);
        let streams = reply(&mut client);
        let Some(stream) = elements(&streams).first() else {
            continue;
        };
        let entries = elements(&elements(stream)[1]);
        read.fetch_add(entries.len(), Ordering::SeqCst);
        for entry in entries {
            let id = String::from_utf8_lossy(elements(entry)[0].text()).into_owned();
            client.say(&["XACK", "s", "g", &id]);
            assert_eq!(reply(&mut client).to_string(), "1");
            ids.push(id);
        }
    }
    ids
}

/// What one thread publishes, each subscriber hears once and in order, while others come and go.
#[test]
fn messages_of_threads_arrive_in_order() {
    let server = blocking::Server::start(Server::builder()).unwrap();
    let addr = server.addr();
    let mut subscribers: Vec<Client> = (0..SUBSCRIBERS)
        .map(|_| {
            let mut client = Client::connect(addr).unwrap();
            client.say(&["SUBSCRIBE", "news"]);
            reply(&mut client);
            client
        })
        .collect();
    thread::scope(|scope| {
        for name in 0..PRODUCERS {
            scope.spawn(move || publish(addr, name));
        }
        scope.spawn(|| {
            for _ in 0..MESSAGES {
                let mut client = Client::connect(addr).unwrap();
                client.say(&["SUBSCRIBE", "news"]);
                reply(&mut client);
            }
        });
        for subscriber in &mut subscribers {
            scope.spawn(|| {
                let mut next = [0; PRODUCERS];
                for _ in 0..PRODUCERS * MESSAGES {
                    let message = reply(subscriber);
                    let text = String::from_utf8_lossy(elements(&message)[2].text()).into_owned();
                    let (name, number) = text.split_once(' ').unwrap();
                    let expected = &mut next[name.parse::<usize>().unwrap()];
                    assert_eq!(number, expected.to_string());
                    *expected += 1;
                }
            });
        }
    });
    assert_eq!(server.stop(), None);
}

fn publish(addr: SocketAddr, name: usize) {
    let mut client = Client::connect(addr).unwrap();
    for number in 0..MESSAGES {
        client.say(&["PUBLISH", "news", &format!("{name} {number}")]);
    }
    for _ in 0..MESSAGES {
        reply(&mut client);
    }
}

/// A client that connected just when its server was dropped was served for ever by what was left of it.
/// Now it is let go like the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_connection_outlives_its_server() {
    for _ in 0..100 {
        let server = Server::builder().start().await.unwrap();
        let addr = server.addr();
        let connecting = thread::spawn(move || {
            let connect = || TcpStream::connect(addr).ok();
            std::iter::from_fn(connect)
                .take(CONNECTIONS)
                .collect::<Vec<_>>()
        });
        tokio::task::yield_now().await;
        drop(server);
        let reading = tokio::task::spawn_blocking(move || {
            for mut stream in connecting.join().unwrap() {
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                // Half a command: a kernel that forgot a connection which nobody accepted says so
                // only when something is sent. Whether it can be sent does not matter.
                let _ = stream.write_all(b"PI");
                let end = stream.read(&mut [0]);
                let kind = end.as_ref().map_err(std::io::Error::kind);
                let is_over = matches!(kind, Ok(0) | Err(ErrorKind::ConnectionReset));
                assert!(is_over, "{end:?}");
            }
        });
        reading.await.unwrap();
    }
}

/// Long enough for a busy machine; a test that would hang fails.
const PATIENCE: Duration = Duration::from_secs(20);
/// Connections that are tried while a server goes.
const CONNECTIONS: usize = 50;
const PRODUCERS: usize = 3;
const CONSUMERS: usize = 6;
const SUBSCRIBERS: usize = 3;
/// Of one producer.
const ENTRIES: usize = 4_000;
const PIPELINE: usize = 50;
/// Of one publisher.
const MESSAGES: usize = 1_000;
