//! Clusters of several processes, which a file describes.

use std::fs;

use tailrace_server::Cluster;
use tailrace_server::Config;
use tailrace_server::Server;
use tailrace_tests::start_cluster;

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

/// A port that is free now, and may be so a moment later.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn a_process_knows_the_nodes_of_others() {
    let port = free_port();
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
        error.contains("no node is clearly the one of port"),
        "{error}"
    );
}
