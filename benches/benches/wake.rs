//! How long does it take from an XADD until the consumer that waits longest has the entry, by how many
//! others of its group wait?
//!
//! Bad news would be a time that grows with those who wait: an entry concerns one of them. The whole
//! server runs on one thread, over pipes in memory, so that what is measured is its own work.

mod support;

use std::hint::black_box;

use criterion::BenchmarkId;
use criterion::Criterion;
use criterion::criterion_group;
use criterion::criterion_main;
use tailrace_server::Server;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::io::DuplexStream;
use tokio::runtime::Runtime;

use support::lengths;

fn wake(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("the system gives a runtime");
    let mut group = c.benchmark_group("wake/XADD until served, waiting");
    for waiting in lengths([1, 100, 4_000]) {
        let mut crowd = runtime.block_on(Crowd::new(waiting));
        group.bench_function(BenchmarkId::from_parameter(waiting), |b| {
            b.iter(|| crowd.serve_one(&runtime));
        });
    }
    group.finish();
}

/// Consumers that all wait, the one that has waited longest first.
struct Crowd {
    _server: Server,
    producer: DuplexStream,
    consumers: Vec<DuplexStream>,
    next: usize,
}

impl Crowd {
    async fn new(waiting: usize) -> Self {
        let server = Server::builder().start().await.expect("a port is free");
        let mut producer = connect(&server);
        call(&mut producer, b"XGROUP CREATE s g $ MKSTREAM\r\n").await;
        let mut consumers = Vec::new();
        for _ in 0..waiting {
            let mut consumer = connect(&server);
            send(&mut consumer, READ).await;
            consumers.push(consumer);
        }
        // Each waits once it has had its turn.
        while !call(&mut producer, b"INFO clients\r\n")
            .await
            .contains(&format!("blocked_clients:{waiting}\r\n"))
        {}
        Self {
            _server: server,
            producer,
            consumers,
            next: 0,
        }
    }

    /// Adds an entry, takes it from the consumer whose turn it is, and lets that one wait again.
    fn serve_one(&mut self, runtime: &Runtime) {
        runtime.block_on(async {
            call(&mut self.producer, b"XADD s * f v\r\n").await;
            let consumer = &mut self.consumers[self.next];
            black_box(receive(consumer).await);
            send(consumer, READ).await;
        });
        self.next = (self.next + 1) % self.consumers.len();
    }
}

fn connect(server: &Server) -> DuplexStream {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    server.serve(far);
    near
}

async fn call(client: &mut DuplexStream, command: &[u8]) -> String {
    send(client, command).await;
    receive(client).await
}

async fn send(client: &mut DuplexStream, command: &[u8]) {
    client
        .write_all(command)
        .await
        .expect("the server keeps the connection");
}

/// One reply, which the server writes as a whole.
async fn receive(client: &mut DuplexStream) -> String {
    let mut reply = vec![0; PIPE_BYTES];
    let count = client
        .read(&mut reply)
        .await
        .expect("the server keeps the connection");
    assert!(count > 0 && reply[0] != b'-', "the server answers");
    String::from_utf8_lossy(&reply[..count]).into_owned()
}

/// What every consumer asks again and again. That they share a name makes no difference.
const READ: &[u8] = b"XREADGROUP GROUP g c COUNT 1 BLOCK 0 NOACK STREAMS s >\r\n";
/// More than any reply here takes.
const PIPE_BYTES: usize = 16 * 1_024;

criterion_group!(benches, wake);
criterion_main!(benches);
