//! The binary in the background, and under a supervisor.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::fs::File;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

/// A directory that goes when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tailrace-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn server(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tailrace"));
    command
        .args(["--port", "0", "--bind", "127.0.0.1", "--dir"])
        .arg(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn send_signal(signal: &str, pid: &str) {
    let sent = Command::new("kill").args([signal, pid]).status().unwrap();
    assert!(sent.success());
}

/// Reads lines up to one that has these words.
fn line_with(lines: &mut impl BufRead, words: &str) -> String {
    let mut line = String::new();
    while !line.contains(words) {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "no {words}");
    }
    line
}

/// The log is a pipe here, so that its end is the end of the process.
#[test]
fn a_daemon_goes_on_after_the_command_ended() {
    let dir = Scratch::new("daemon");
    let log = dir.0.join("log");
    assert!(Command::new("mkfifo").arg(&log).status().unwrap().success());
    let started = server(&dir.0)
        .args(["--daemonize", "yes", "--logfile", "log", "--pidfile", "pid"])
        .spawn()
        .unwrap();
    let mut log = BufReader::new(File::open(log).unwrap());
    let ready = line_with(&mut log, "connections on ");
    let output = started.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!((output.stdout, output.stderr), (vec![], vec![]));

    let (_, addr) = ready.split_once("connections on ").unwrap();
    let mut client = TcpStream::connect(addr.split(' ').next().unwrap()).unwrap();
    client.write_all(b"CONFIG GET daemonize\r\n").unwrap();
    let mut reply = [0; 28];
    client.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"*2\r\n$9\r\ndaemonize\r\n$3\r\nyes\r\n");

    let pid_file = dir.0.join("pid");
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    send_signal("-TERM", pid.trim_end());
    log.read_to_string(&mut String::new()).unwrap();
    assert!(!pid_file.exists());
}

#[test]
fn a_daemon_that_cannot_serve_says_so_in_its_log() {
    let dir = Scratch::new("taken");
    let log = dir.0.join("log");
    assert!(Command::new("mkfifo").arg(&log).status().unwrap().success());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut started = server(&dir.0)
        .args(["--daemonize", "yes", "--logfile", "log", "--port", &port])
        .args(["--pidfile", "pid"])
        .spawn()
        .unwrap();
    let mut log = BufReader::new(File::open(log).unwrap());
    line_with(&mut log, &format!("cannot listen on 127.0.0.1 port {port}"));
    assert_eq!(started.wait().unwrap().code(), Some(0));
    log.read_to_string(&mut String::new()).unwrap();
    assert!(!dir.0.join("pid").exists());
}

#[test]
fn systemd_hears_when_it_is_ready_and_when_it_ends() {
    let dir = Scratch::new("systemd");
    let path = dir.0.join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    let hear = || {
        let mut heard = [0; 100];
        let len = socket.recv(&mut heard).unwrap();
        String::from_utf8_lossy(&heard[..len]).into_owned()
    };
    // Whom a supervisor keeps, stays in the foreground.
    let mut child = server(&dir.0)
        .args(["--supervised", "auto", "--daemonize", "yes"])
        .env_remove("UPSTART_JOB")
        .env("NOTIFY_SOCKET", &path)
        .spawn()
        .unwrap();
    assert_eq!(hear(), "STATUS=Starting\n");
    assert_eq!(hear(), "STATUS=Ready to accept connections\nREADY=1\n");
    send_signal("-TERM", &child.id().to_string());
    assert_eq!(hear(), "STOPPING=1\n");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
