//! Clusters of several processes, which a file describes.

use std::fs;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::time::Duration;

use tailrace_server::Cluster;
use tailrace_server::Config;
use tailrace_server::Server;
use tailrace_tests::Arrival;
use tailrace_tests::Client;
use tailrace_tests::start_cluster;
use tokio::runtime::Runtime;

use super::U;
use super::caller;
use super::say;

/// A file that is gone with the test.
struct File(std::path::PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let name = format!("tailrace-{}-{name}.toml", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, text).unwrap();
        Self(path)
    }

    fn directive(&self) -> String {
        format!("cluster-topology {}", self.0.display())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // Nobody needs it any more.
        let _ = fs::remove_file(&self.0);
    }
}

fn node(digit: char, address: &str, slots: &str) -> String {
    let id = digit.to_string().repeat(40);
    format!("[[node]]\nid = '{id}'\naddress = '{address}'\nslots = '{slots}'\n")
}

/// Ports that are free now, and may be so a moment later.
fn free_ports<const COUNT: usize>() -> [u16; COUNT] {
    let listeners = [(); COUNT].map(|()| TcpListener::bind(("127.0.0.1", 0)).unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

#[tokio::test]
async fn a_process_knows_the_nodes_of_others() {
    let [port] = free_ports();
    let text = node('a', "10.0.0.7:7000", "0-8191")
        + &node('b', &format!("10.0.0.8:{port}"), "8192-16383");
    let file = File::new("others", &text);
    let cluster = start_cluster(&format!("port {port}\n{}", file.directive())).await;
    let mut client = caller(&cluster, 1);
    assert_eq!(say(&mut client, "SET {u} 1").await, "OK");
    assert_eq!(
        say(&mut client, "GET foo2").await,
        "!MOVED 1044 10.0.0.7:7000"
    );
    assert_eq!(
        say(&mut client, "CLUSTER MYID").await,
        format!("\"{}\"", "b".repeat(40))
    );
    assert!(
        say(&mut client, "CLUSTER INFO")
            .await
            .contains("cluster_state:ok")
    );
    let slots = say(&mut client, "CLUSTER SLOTS").await;
    assert!(
        slots.contains("\"10.0.0.7\" 7000") && slots.contains(&format!("\"10.0.0.8\" {port}")),
        "{slots}"
    );
    assert_eq!(
        say(&mut client, &format!("CLUSTER COUNTKEYSINSLOT {U}")).await,
        "1"
    );
}

#[tokio::test]
async fn a_file_that_does_not_name_this_process_is_refused() {
    let file = File::new("strangers", &node('a', "10.0.0.7:1", "0-16383"));
    let config = Config::embedded().with(&file.directive()).unwrap();
    let error = match Cluster::start(Server::builder().config(config)).await {
        Ok(_) => panic!("it started"),
        Err(error) => error.to_string(),
    };
    assert!(
        error.contains("no node has the port") && error.contains("with --port (1)"),
        "{error}"
    );
}

#[tokio::test]
async fn a_file_has_no_replicas() {
    let file = File::new("replicas", &node('a', "10.0.0.7:1", "0-16383"));
    let config = Config::embedded()
        .with(&format!("replicas 1\n{}", file.directive()))
        .unwrap();
    let error = match Cluster::start(Server::builder().config(config)).await {
        Ok(_) => panic!("it started"),
        Err(error) => error.to_string(),
    };
    assert!(error.contains("leave out 'replicas'"), "{error}");
}

/// A node that knows nothing of the others but what the file says, as in a process of its own.
struct Process {
    runtime: Runtime,
    cluster: Option<Cluster>,
    port: u16,
}

impl Process {
    fn start(port: u16, file: &File) -> Self {
        let runtime = Runtime::new().unwrap();
        let config = format!("port {port}\n{}", file.directive());
        let config = Config::embedded().with(&config).unwrap();
        let cluster = runtime.block_on(Cluster::start(Server::builder().config(config)));
        Self {
            cluster: Some(cluster.unwrap()),
            runtime,
            port,
        }
    }

    fn client(&self) -> Client {
        Client::connect(SocketAddr::from(([127, 0, 0, 1], self.port))).unwrap()
    }

    fn says(&self, line: &str) -> String {
        says(&mut self.client(), line)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(cluster) = self.cluster.take() {
            self.runtime.block_on(cluster.stop());
        }
    }
}

fn says(client: &mut Client, line: &str) -> String {
    client.say(&line.split(' ').collect::<Vec<_>>());
    reply(client)
}

fn reply(client: &mut Client) -> String {
    assert!(client.poll(Some(PATIENCE)), "a reply comes in time");
    match client.take() {
        Some(Arrival::Reply(reply)) => reply.to_string(),
        other => panic!("no reply: {other:?}"),
    }
}

/// A stream goes with its group and who waits for it, while clients find it wherever it is.
#[test]
fn a_slot_moves_from_one_process_to_another() {
    let ports: [u16; 3] = free_ports();
    let shares = ["0-5460", "5461-10922", "10923-16383"];
    let nodes = ['a', 'b', 'c'].into_iter().zip(ports).zip(shares);
    let text: String = nodes
        .map(|((id, port), slots)| node(id, &format!("127.0.0.1:{port}"), slots))
        .collect();
    let file = File::new("moving", &text);
    let processes = ports.map(|port| Process::start(port, &file));
    let [to, bystander, from] = &processes;
    let moved = |process: &Process| format!("!MOVED {U} 127.0.0.1:{}", process.port);
    assert_eq!(bystander.says("XADD {u} 1-1 n 1"), moved(from));

    for line in [
        "XADD {u} 1-1 n 1",
        "XGROUP CREATE {u} g 0",
        "XREADGROUP GROUP g a STREAMS {u} >",
    ] {
        assert!(!from.says(line).starts_with('!'), "{line}");
    }
    let mut waiting = from.client();
    waiting.say(&"XREAD BLOCK 0 STREAMS {u} $".split(' ').collect::<Vec<_>>());
    let waits = || from.says("INFO clients").contains("blocked_clients:1");
    assert!((0..LOOKS_MAX).any(|_| waits()), "the reader waits");

    let (there, here) = ("a".repeat(40), "c".repeat(40));
    let setslot = |rest: &str| format!("CLUSTER SETSLOT {U} {rest}");
    assert_eq!(to.says(&setslot(&format!("IMPORTING {here}"))), "OK");
    assert_eq!(from.says(&setslot(&format!("MIGRATING {there}"))), "OK");
    let migrate = format!("MIGRATE 127.0.0.1 {} {{u}} 0 5000", to.port);
    assert_eq!(from.says(&migrate), "OK");
    let ask = format!("!ASK {U} 127.0.0.1:{}", to.port);
    assert_eq!(from.says("XLEN {u}"), ask);
    assert_eq!(to.says("XLEN {u}"), moved(from));
    let mut asking = to.client();
    assert_eq!(says(&mut asking, "ASKING"), "OK");
    assert_eq!(says(&mut asking, "XLEN {u}"), "1");

    // Each process is told, since none tells another.
    for process in &processes {
        assert_eq!(process.says(&setslot(&format!("NODE {there}"))), "OK");
    }
    assert_eq!(reply(&mut waiting), moved(to));
    for other in [from, bystander] {
        assert_eq!(other.says("XACK {u} g 1-1"), moved(to));
    }
    assert_eq!(to.says("XACK {u} g 1-1"), "1");
}

/// How long a reply may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// Looks after which a client that does not wait will not wait.
const LOOKS_MAX: usize = 10_000;
