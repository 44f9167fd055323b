//! The runner against two servers that are just able to answer it.

#![expect(clippy::unwrap_used, reason = "all of this file is a test")]

use std::collections::HashMap;
use std::fs;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::Mutex;
use std::thread;

use tailrace_benches::Fault;
use tailrace_benches::Options;
use tailrace_benches::run;

#[test]
fn a_comparison_ends_with_figures_of_every_workload_that_was_chosen() {
    let out = folder("figures");

    let mut table = Vec::new();

    run(
        &options(start(Faulty::No), start(Faulty::No), &out),
        &mut table,
    )
    .unwrap();

    let table = String::from_utf8(table).unwrap();
    assert!(table.contains("add/p16"), "{table}");

    let json = fs::read_to_string(out.join("side-by-side.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let workloads = json["workloads"].as_array().unwrap();
    let names: Vec<_> = workloads.iter().map(|row| row["name"].as_str()).collect();
    assert!(names.contains(&Some("add/p16")), "{names:?}");
    assert!(names.contains(&Some("group/10")), "{names:?}");
    assert!(
        !names.contains(&Some("evalsha/add")),
        "the servers lack it: {names:?}"
    );
    for row in workloads {
        for server in ["subject", "against"] {
            let server = &row[server];
            assert!(server["value"]["median"].as_f64().unwrap() > 0.0, "{row}");
            assert_eq!(server["runs"].as_array().unwrap().len(), 2);
        }
    }
    let svg = fs::read_to_string(out.join("side-by-side.svg")).unwrap();
    assert!(svg.contains("group/10"));
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn a_server_that_replies_with_an_error_has_no_figure() {
    let out = folder("error");

    let options = options(start(Faulty::No), start(Faulty::Add), &out);
    let mut table = Vec::new();

    let fault = run(&options, &mut table).unwrap_err();

    assert!(table.is_empty());

    assert!(
        matches!(&fault, Fault::Run { source, .. } if matches!(**source, Fault::ErrorReply(_)))
    );
    let text = fault.to_string();
    assert!(text.starts_with("add/p1 on 127.0.0.1:"), "{text}");
    assert!(text.ends_with("with an error: ERR no"), "{text}");
    assert!(!out.join("side-by-side.json").exists());
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn a_floor_is_measured_beside_the_servers() {
    let out = folder("floor");
    let command = Command::new(env!("CARGO_BIN_EXE_tailrace-benches"))
        .args(["--floor", "--scale", "0.001", "--runs", "1"])
        .args(["--only", "add/p1", "--only", "group/10", "--only", "range/"])
        .args(["--subject", &start(Faulty::No).to_string()])
        .args(["--against", &start(Faulty::No).to_string()])
        .args(["--out", out.to_str().unwrap()])
        .output()
        .unwrap();

    let said = String::from_utf8_lossy(&command.stderr);
    assert!(command.status.success(), "{said}");
    let json = fs::read_to_string(out.join("side-by-side.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for row in json["workloads"].as_array().unwrap() {
        assert!(row["part_of_floor"].as_f64().unwrap() > 0.0, "{row}");
        assert_eq!(row["floor"]["runs"].as_array().unwrap().len(), 1);
    }
    fs::remove_dir_all(out).unwrap();
}

#[test]
fn a_soak_ends_with_a_verdict() {
    let out = folder("soak");
    let address = start(Faulty::No).to_string();
    let args = ["tailrace-benches", "--subject", &address, "--soak", "2"];
    let more = ["--minute-seconds", "1", "--out", out.to_str().unwrap()];
    let options = Options::parse(args.iter().chain(&more)).unwrap();
    let mut said = Vec::new();

    run(&options, &mut said).unwrap();

    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("minute 2 of 2  "), "{said}");
    assert!(said.contains("verdict: "), "{said}");
    let json = fs::read_to_string(out.join("soak.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["minutes"].as_array().unwrap().len(), 2);
    let rate = |minute: &serde_json::Value| minute["requests_per_second"].as_f64().unwrap();
    assert!(
        json["minutes"]
            .as_array()
            .unwrap()
            .iter()
            .all(|m| rate(m) > 0.0)
    );
    assert!(json["requests_per_second"].as_f64() < Some(rate(&json["before"])));
    fs::remove_dir_all(out).unwrap();
}

fn options(subject: SocketAddr, against: SocketAddr, out: &std::path::Path) -> Options {
    Options::parse([
        "tailrace-benches",
        "--subject",
        &subject.to_string(),
        "--against",
        &against.to_string(),
        "--scale",
        "0.001",
        "--runs",
        "2",
        "--load-threads",
        "2",
        "--only",
        "add/p",
        "--only",
        "group/10",
        "--only",
        "range/",
        "--only",
        "start",
        "--only",
        "evalsha/add",
        "--out",
        out.to_str().unwrap(),
    ])
    .unwrap()
}

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("smoke-{name}"))
}

#[derive(Clone, Copy, PartialEq)]
enum Faulty {
    No,
    Add,
}

/// As much of a stream as the runner can tell from a real one.
#[derive(Default)]
struct Stream {
    added: usize,
    delivered: usize,
}

/// Starts a server whose threads end with its clients.
fn start(faulty: Faulty) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let streams: Arc<Mutex<HashMap<Vec<u8>, Stream>>> = Arc::default();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let streams = Arc::clone(&streams);
            thread::spawn(move || {
                let mut input = BufReader::new(client.try_clone().unwrap());
                while let Some(args) = command(&mut input) {
                    let reply = answer(&mut streams.lock().unwrap(), &args, faulty);
                    write(&client, &reply);
                }
            });
        }
    });
    address
}

fn write(mut client: &TcpStream, reply: &[u8]) {
    // A client that has heard enough may be gone.
    drop(client.write_all(reply));
}

fn command(input: &mut impl BufRead) -> Option<Vec<Vec<u8>>> {
    let count = header(input)?;
    (0..count)
        .map(|_| {
            let mut arg = vec![0; header(input)? + 2];
            input.read_exact(&mut arg).ok()?;
            arg.truncate(arg.len() - 2);
            Some(arg)
        })
        .collect()
}

fn header(input: &mut impl BufRead) -> Option<usize> {
    let mut line = String::new();
    input.read_line(&mut line).ok()?;
    line.get(1..)?.trim_end().parse().ok()
}

fn answer(streams: &mut HashMap<Vec<u8>, Stream>, args: &[Vec<u8>], faulty: Faulty) -> Vec<u8> {
    match (args[0].as_slice(), faulty) {
        (b"PING", _) => b"+PONG\r\n".to_vec(),
        (b"INFO", _) => bulk("used_cpu_user:1.5\r\nused_cpu_sys:0.5\r\nused_memory_rss:4096\r\n"),
        (b"DEL", _) => format!(":{}\r\n", u8::from(streams.remove(&args[1]).is_some())).into(),
        (b"XGROUP", _) => b"+OK\r\n".to_vec(),
        (b"SET" | b"MULTI" | b"EXEC", _) => b"+OK\r\n".to_vec(),
        (b"GET", _) => bulk("some value"),
        (b"INCR" | b"XLEN", _) => b":1\r\n".to_vec(),
        (b"XPENDING", _) => b"*4\r\n:0\r\n$-1\r\n$-1\r\n*-1\r\n".to_vec(),
        (b"XAUTOCLAIM", _) => b"*3\r\n$3\r\n0-0\r\n*0\r\n*0\r\n".to_vec(),
        (b"XACK", _) => format!(":{}\r\n", args.len() - 3).into(),
        (b"XADD", Faulty::No) => {
            let stream = streams.entry(args[1].clone()).or_default();
            stream.added += 1;
            bulk(&format!("{}-0", stream.added))
        }
        (b"XRANGE" | b"XREVRANGE", _) => entries(1, number(&args[5])),
        (b"XREADGROUP", _) => {
            let stream = streams.entry(args[7].clone()).or_default();
            read(stream, number(&args[5]))
        }
        (b"SCRIPT", _) => b"-ERR unknown command 'SCRIPT'\r\n".to_vec(),
        _ => b"-ERR no\r\n".to_vec(),
    }
}

fn number(text: &[u8]) -> usize {
    std::str::from_utf8(text).unwrap().parse().unwrap()
}

fn read(stream: &mut Stream, count: usize) -> Vec<u8> {
    let count = count.min(stream.added - stream.delivered);
    if count == 0 {
        return b"*-1\r\n".to_vec();
    }
    let mut reply = b"*1\r\n*2\r\n$3\r\nkey\r\n".to_vec();
    reply.extend(entries(stream.delivered + 1, count));
    stream.delivered += count;
    reply
}

fn entries(first: usize, count: usize) -> Vec<u8> {
    let mut reply = format!("*{count}\r\n").into_bytes();
    for number in first..first + count {
        reply.extend(b"*2\r\n");
        reply.extend(bulk(&format!("{number}-0")));
        reply.extend(b"*2\r\n$1\r\nf\r\n$1\r\nv\r\n");
    }
    reply
}

fn bulk(text: &str) -> Vec<u8> {
    format!("${}\r\n{text}\r\n", text.len()).into_bytes()
}
