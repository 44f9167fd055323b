//! Very many clients.

use std::env;
use std::fs;
use std::process::Command;

use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

/// Ten thousand idle clients are normal, so one must cost little. Measured in a process of its own,
/// because the tests beside this one use memory too.
#[test]
fn ten_thousand_idle_clients_cost_little() {
    if env::var_os(ALONE).is_some() {
        return measure();
    }
    let name = "wire::crowds::ten_thousand_idle_clients_cost_little";
    let alone = Command::new(env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&alone.stdout);
    assert!(
        alone.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&alone.stderr)
    );
}

fn measure() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let server = start("maxclients 20000").await;
        let _warm = greeted(&server, 500).await;
        let before = resident_bytes();
        let clients = greeted(&server, CLIENTS).await;
        let each = (resident_bytes() - before) / clients.len();
        println!("an idle client takes {each} bytes, the test's own end included");
        assert!(
            each <= CLIENT_BYTES_MAX,
            "an idle client takes {each} bytes"
        );
    });
}

/// Clients that have each been answered something.
async fn greeted(server: &tailrace_server::Server, count: usize) -> Vec<Caller> {
    let mut clients = Vec::new();
    for _ in 0..count {
        let mut client = Caller::connect(server);
        assert_eq!(client.call(&["ECHO", "x"]).await.text(), b"x");
        clients.push(client);
    }
    clients
}

/// An entry that one of many waiting consumers can have costs as much as if only one waited: it is
/// given to the one that has waited longest, and the others are left alone.
#[tokio::test]
async fn of_many_that_wait_the_first_is_served() {
    let server = start("").await;
    let mut writer = Caller::connect(&server);
    writer
        .call(&["XGROUP", "CREATE", "s", "g", "$", "MKSTREAM"])
        .await;
    let mut waiting = Vec::new();
    for n in 0..1_000 {
        let client = Caller::connect(&server);
        let name = format!("c{n}");
        client.send(&[
            "XREADGROUP",
            "GROUP",
            "g",
            &name,
            "BLOCK",
            "0",
            "STREAMS",
            "s",
            ">",
        ]);
        waiting.push(client);
        if n % 50 == 0 {
            settle().await;
        }
    }
    settle().await;
    for (n, client) in waiting.iter_mut().enumerate() {
        let id = format!("{}-1", n + 1);
        writer.call(&["XADD", "s", &id, "f", "v"]).await;
        let reply = client.reply().await.to_string();
        assert_eq!(reply, format!(r#"[["s" [["{id}" ["f" "v"]]]]]"#));
    }
}

/// Each of them waits for a stream of its own, and one command takes all streams away.
#[tokio::test]
async fn many_that_wait_learn_of_one_command() {
    let server = start("").await;
    let mut writer = Caller::connect(&server);
    let mut waiting = Vec::new();
    for n in 0..2_000 {
        let key = format!("s{n}");
        writer
            .call(&["XGROUP", "CREATE", &key, "g", "$", "MKSTREAM"])
            .await;
        let client = Caller::connect(&server);
        client.send(&[
            "XREADGROUP",
            "GROUP",
            "g",
            "c",
            "BLOCK",
            "0",
            "STREAMS",
            &key,
            ">",
        ]);
        waiting.push(client);
    }
    settle().await;
    writer.call(&["FLUSHALL"]).await;
    for (n, client) in waiting.iter_mut().enumerate() {
        let error = client.reply().await.to_string();
        assert!(
            error.starts_with(&format!("!NOGROUP No such key 's{n}'")),
            "{error}"
        );
    }
}

fn resident_bytes() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4_096
}

/// Says that this process is there for one measurement.
const ALONE: &str = "TAILRACE_TEST_ALONE";
const CLIENTS: usize = 10_000;
/// What one idle client may cost, with its task, its place in the table and the test's end of it.
const CLIENT_BYTES_MAX: usize = 4 * 1_024;
