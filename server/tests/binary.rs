//! The binary as scripts and supervisors see it: how it starts, what it says when it cannot, how it
//! ends.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::TcpListener;
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::process::Command;
use std::process::ExitStatus;
use std::process::Stdio;

/// A process that is ended when the test is.
struct Process {
    child: Child,
    ready: String,
}

impl Process {
    /// Starts a server and waits for the line that says where it listens.
    fn start(args: &[&str]) -> Self {
        let mut child = spawn(args);
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        stdout.read_line(&mut ready).unwrap();
        Self { child, ready }
    }

    fn client(&self) -> BufReader<TcpStream> {
        let (_, addrs) = self.ready.split_once("connections on ").unwrap();
        let addr = addrs.split([',', ' ']).next().unwrap();
        BufReader::new(TcpStream::connect(addr).unwrap())
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the end: how it ended, and what it said.
    fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        let mut stderr = String::new();
        let mut pipe = self.child.stderr.take().unwrap();
        pipe.read_to_string(&mut stderr).unwrap();
        (status, stderr)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_tailrace"))
        .args(args)
        .current_dir(std::env::temp_dir())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn ask(client: &mut BufReader<TcpStream>, line: &str) -> String {
    client.get_mut().write_all(line.as_bytes()).unwrap();
    client.get_mut().write_all(b"\r\n").unwrap();
    let mut reply = String::new();
    client.read_line(&mut reply).unwrap();
    reply.trim_end().to_owned()
}

/// What a server that cannot start says; it is one line, and the status is 1.
fn refusal(args: &[&str]) -> String {
    let mut server = spawn(args);
    let mut said = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    if !said.is_empty() {
        server.kill().unwrap();
        server.wait().unwrap();
    }
    assert_eq!(said, "", "it starts with {args:?}");
    let output = server.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr
}

#[test]
fn it_serves_as_soon_as_it_says_so() {
    let server = Process::start(&["--port", "0"]);
    assert!(
        server
            .ready
            .contains("Ready to accept connections on 127.0.0.1:")
    );
    assert_eq!(ask(&mut server.client(), "PING"), "+PONG");
}

#[test]
fn signals_end_it_in_order() {
    for signal in ["-TERM", "-INT"] {
        let server = Process::start(&["--port", "0"]);
        let mut client = server.client();
        assert_eq!(ask(&mut client, "PING"), "+PONG");
        server.signal(signal);
        assert_eq!(client.read_line(&mut String::new()).unwrap(), 0);
        let (status, stderr) = server.end();
        assert_eq!(status.code(), Some(0), "{stderr}");
    }
}

#[test]
fn shutdown_ends_it_without_a_reply() {
    let server = Process::start(&["--port", "0"]);
    let mut client = server.client();
    assert_eq!(
        ask(&mut client, "SHUTDOWN SAVE"),
        "-ERR Errors trying to SHUTDOWN. Check logs."
    );
    assert_eq!(ask(&mut client, "SHUTDOWN NOSAVE NOW"), "");
    assert_eq!(server.end().0.code(), Some(0));
}

#[test]
fn a_panic_ends_it_and_names_the_command() {
    let server = Process::start(&["--port", "0", "--enable-debug-command", "yes"]);
    assert_eq!(ask(&mut server.client(), "DEBUG PANIC"), "");
    let (status, stderr) = server.end();
    assert_eq!(status.signal(), Some(libc::SIGABRT));
    assert!(stderr.contains("a fault in the command 'debug' ends the server"));
    assert!(stderr.contains("commands/debug/mod.rs"), "{stderr}");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let stderr = refusal(&["--port", &port, "--bind", "127.0.0.1"]);
    assert!(
        stderr.contains(&format!("127.0.0.1 port {port}")),
        "{stderr}"
    );
    assert!(stderr.contains("--port"), "{stderr}");
}

#[test]
fn what_is_wrong_with_the_configuration_is_said_in_one_line() {
    for (args, words) in [
        (["--maxclients", "many"], "maxclients: argument"),
        (["--dir", "/no/such/place"], "name a directory that exists"),
        (["--no-such-option", "1"], "unknown option"),
        (["--logfile", "/no/such/place/log"], "create its directory"),
        (["--port=7000", "--save"], "write '--port VALUE'"),
        (["--appendonly", "yes"], "appendonly"),
        (["--unixsocket", "/no/such/place/socket"], "--unixsocket"),
    ] {
        let stderr = refusal(&[args[0], args[1], "--port", "0"]);
        assert!(stderr.contains(words), "{stderr}");
    }
    let stderr = refusal(&["/no/such/file.conf"]);
    assert!(stderr.contains("check its path"), "{stderr}");
}

#[test]
fn a_log_file_tells_who_came_and_went() {
    let path = std::env::temp_dir().join(format!("tailrace-{}.log", std::process::id()));
    let log = path.to_str().unwrap();
    let server = Process::start(&["--port", "0", "--logfile", log, "--loglevel", "verbose"]);
    let mut client = server.client();
    assert!(ask(&mut client, "*x").starts_with("-ERR Protocol error"));
    assert_eq!(client.read_line(&mut String::new()).unwrap(), 0);
    server.signal("-TERM");
    let ready = server.ready.clone();
    let (status, stderr) = server.end();
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));

    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let addr = client.get_ref().local_addr().unwrap();
    let client = format!("client 1 ({addr})");
    for line in [
        ready.trim_end(),
        &format!("{client} connected"),
        &format!("{client} broke the protocol: invalid multibulk length"),
        &format!("{client} left"),
        "SIGTERM",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn help_that_nobody_reads_to_its_end_is_no_fault() {
    for option in ["--help", "--version"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_tailrace"))
            .arg(option)
            .stdout(writer)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn a_pid_file_that_cannot_be_written_is_done_without() {
    let server = Process::start(&["--port", "0", "--pidfile", "/no/such/place/pid"]);
    assert_eq!(ask(&mut server.client(), "PING"), "+PONG");
    server.signal("-TERM");
    let (status, stderr) = server.end();
    assert_eq!(status.code(), Some(0));
    assert!(stderr.contains("pidfile /no/such/place/pid"), "{stderr}");
}

#[test]
fn many_find_ports_at_once() {
    let children: Vec<Child> = (0..32).map(|_| spawn(&["--port", "0"])).collect();
    let servers = children.into_iter().map(|mut child| {
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut ready = String::new();
        stdout.read_line(&mut ready).unwrap();
        Process { child, ready }
    });
    let servers: Vec<Process> = servers.collect();
    for server in &servers {
        assert_eq!(ask(&mut server.client(), "PING"), "+PONG");
    }
}

#[test]
fn a_test_double_says_in_json_where_it_listens() {
    let path = std::env::temp_dir().join(format!("tailrace-ready-{}", std::process::id()));
    let file = path.to_str().unwrap();
    let server = Process::start(&["--port", "0", "--testdouble", "--ready-file", file]);
    let written = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    // The file is there before the line is.
    assert_eq!(written, server.ready);
    let ready: serde_json::Value = serde_json::from_str(&server.ready).unwrap();
    assert_eq!(ready["pid"], server.child.id());
    let addr = format!("127.0.0.1:{}", ready["port"]);
    assert_eq!(ready["url"], format!("redis://{addr}"));
    let mut client = BufReader::new(TcpStream::connect(addr).unwrap());
    assert_eq!(ask(&mut client, "TD CLOCK FREEZE 5"), ":5");
}

/// What a parent reads from its end of a descriptor until the server is done with it, and the server's first line.
fn told_by(mut reading: impl Read, writing: impl Into<Stdio>) -> (String, String) {
    let script = "exec \"$0\" --testdouble --port 0 --ready-fd 3 3>&0 0</dev/null";
    let child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_tailrace")])
        .current_dir(std::env::temp_dir())
        .stdin(writing)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut server = Process {
        child: child.unwrap(),
        ready: String::new(),
    };
    let mut told = String::new();
    reading.read_to_string(&mut told).unwrap();
    let mut stdout = BufReader::new(server.child.stdout.take().unwrap());
    stdout.read_line(&mut server.ready).unwrap();
    (told, server.ready.clone())
}

#[test]
fn a_parent_may_hear_of_it_through_a_pipe_or_a_socket_of_its_own() {
    let (reading, writing) = std::io::pipe().unwrap();
    let (told, ready) = told_by(reading, writing);
    assert_eq!(told, ready);
    let (reading, writing) = std::os::unix::net::UnixStream::pair().unwrap();
    let (told, ready) = told_by(reading, std::os::fd::OwnedFd::from(writing));
    assert_eq!(told, ready);
    assert!(ready.starts_with("{\"nodes\":"), "{ready}");
}

#[test]
fn a_test_double_lists_each_node_once_by_its_number() {
    let options = [
        "--port",
        "0",
        "--testdouble",
        "--nodes",
        "2",
        "--replicas",
        "1",
    ];
    let server = Process::start(&options);
    let ready: serde_json::Value = serde_json::from_str(&server.ready).unwrap();
    let nodes: Vec<&str> = ready["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|url| url.as_str())
        .collect();
    assert_eq!(nodes.len(), 4);
    let addr = nodes[3].strip_prefix("redis://").unwrap();
    let mut replica = BufReader::new(TcpStream::connect(addr).unwrap());
    assert_eq!(ask(&mut replica, "TD CLUSTER KILL 3"), "+OK");
    let down = "-ERR node 3 is down; TD CLUSTER REVIVE 3 brings it back";
    assert_eq!(ask(&mut replica, "PING"), down);
}

/// A client of a server whose first line is JSON.
fn client_of_double(server: &Process) -> BufReader<TcpStream> {
    let ready: serde_json::Value = serde_json::from_str(&server.ready).unwrap();
    let addr = format!("127.0.0.1:{}", ready["port"]);
    BufReader::new(TcpStream::connect(addr).unwrap())
}

#[test]
fn a_test_double_begins_with_the_faults_of_a_file() {
    let path = std::env::temp_dir().join(format!("tailrace-faults-{}", std::process::id()));
    let file = path.to_str().unwrap();
    let double = ["--port", "0", "--testdouble", "--faults", file];
    std::fs::write(
        &path,
        "# two\nfirst CMD PING BEFORE LOADING\n\nsecond CMD ECHO AFTER NIL\n",
    )
    .unwrap();
    let server = Process::start(&double);
    let mut client = client_of_double(&server);
    assert!(ask(&mut client, "PING").starts_with("-LOADING"));
    assert_eq!(ask(&mut client, "ECHO hello"), "$-1");
    assert_eq!(ask(&mut client, "PING"), "+PONG");
    // As at the start.
    assert_eq!(ask(&mut client, "TD RESET"), "+OK");
    assert!(ask(&mut client, "PING").starts_with("-LOADING"));
    drop(server);
    std::fs::write(&path, "first CMD PING BEFORE LOADING\nsecond FLY").unwrap();
    let said = refusal(&double);
    std::fs::write(&path, "far CMD PING NODE 7 BEFORE NIL").unwrap();
    let nowhere = format!(
        "tailrace: cannot take the faults of {file}: of far, there is no node '7'; the only one is 0\n"
    );
    assert_eq!(refusal(&double), nowhere);
    std::fs::remove_file(&path).unwrap();
    let wrong = format!("tailrace: cannot take the faults of {file}: line 2: 'FLY' is not known");
    assert!(said.starts_with(&wrong), "{said}");
    let gone = format!("tailrace: cannot take the faults of {file}: No such file or directory\n");
    assert_eq!(refusal(&double), gone);
    for option in [
        &["--faults", "file"][..],
        &["--strict"],
        &["--clock", "frozen:1764374400000"],
    ] {
        let said = refusal(option);
        assert!(
            said.contains("this is for a test double; add testdouble"),
            "{said}"
        );
    }
}

#[test]
fn a_strict_test_double_fails_if_it_was_asked_for_too_much() {
    for (command, code, words) in [
        ("PING", 0, None),
        ("LPUSH l v", 3, Some("lpush (1)")),
        (
            "EVAL \"return redis.pcall('ZADD', 'z', '1', 'm').err\" 0",
            3,
            Some("zadd (1)"),
        ),
    ] {
        let server = Process::start(&["--port", "0", "--testdouble", "--strict"]);
        let mut client = client_of_double(&server);
        ask(&mut client, command);
        // What was seen is forgotten, but not that.
        ask(&mut client, "TD CALLS CLEAR");
        server.signal("-TERM");
        let (status, stderr) = server.end();
        assert_eq!(status.code(), Some(code), "{command}: {stderr}");
        let said = "tailrace: what is not supported was asked for:";
        let line = words.map(|words| format!("{said} {words}"));
        let found = stderr.lines().find(|line| line.starts_with(said));
        assert_eq!(found, line.as_deref(), "{command}");
    }
}

/// What a space was asked counts, too, also when the space has ended since.
#[test]
fn a_strict_test_double_is_so_in_its_spaces() {
    let server = Process::start(&["--port", "0", "--testdouble", "--strict"]);
    let mut client = client_of_double(&server);
    assert!(ask(&mut client, "TD SPACE NEW").starts_with('$'));
    let mut url = String::new();
    client.read_line(&mut url).unwrap();
    let url = url.trim_end();
    let addr = url.strip_prefix("redis://").unwrap();
    let mut space = BufReader::new(TcpStream::connect(addr).unwrap());
    assert!(ask(&mut space, "LPUSH l v").starts_with("-ERR unknown command"));
    ask(&mut client, &format!("TD SPACE FREE {url}"));
    assert_eq!(ask(&mut client, "TD CALLS UNSUPPORTED"), "*0");
    server.signal("-TERM");
    let (status, stderr) = server.end();
    assert_eq!(status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("was asked for: lpush (1)"), "{stderr}");
}

#[test]
fn a_fixture_that_is_wrong_is_named_with_its_line() {
    let path = std::env::temp_dir().join(format!("tailrace-fixture-{}", std::process::id()));
    std::fs::write(&path, "SET k v\nSET k\n").unwrap();
    let file = path.to_str().unwrap();
    let process = Process::start(&["--port", "0", "--testdouble", "--fixture", file]);
    let (status, stderr) = process.end();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(status.code(), Some(1));
    let error =
        format!("fixture {file}, line 2, SET k: wrong number of arguments for 'set' command");
    assert!(stderr.contains(&error), "{stderr}");
    assert!(stderr.contains("mend that line"), "{stderr}");
}

#[test]
fn it_ends_when_its_parent_does() {
    // The shell starts it in the background, says which process it is, and ends.
    let binary = env!("CARGO_BIN_EXE_tailrace");
    let script = format!("{binary} --port 0 --exit-with-parent & read line; kill -9 $$");
    let mut parent = Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(parent.stdout.take().unwrap());
    let mut ready = String::new();
    stdout.read_line(&mut ready).unwrap();
    assert!(ready.contains("Ready"), "{ready}");
    drop(parent.stdin.take());
    parent.wait().unwrap();
    // It holds the other end of the pipe for as long as it lives.
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}
