//! What a library's server does after a command panicked (it refuses everything, and says so), and what a test double does to
//! connections.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::io::BufRead;
use std::io::BufReader;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;

use tailrace_server::Config;
use tailrace_server::blocking::Server;

struct Client(BufReader<TcpStream>);

impl Client {
    fn of(server: &Server) -> Self {
        Self(BufReader::new(TcpStream::connect(server.addr()).unwrap()))
    }

    fn send(&mut self, line: &str) {
        let line = format!("{line}\r\n");
        self.0.get_mut().write_all(line.as_bytes()).unwrap();
    }

    /// One line; empty if the connection is closed.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

#[test]
fn after_a_panic_every_command_is_refused() {
    let config = Config::embedded().with("enable-debug-command yes").unwrap();
    let builder = tailrace_server::Server::builder().config(config);
    let server = Server::start(builder).unwrap();
    let (mut one, mut other) = (Client::of(&server), Client::of(&server));
    other.send("PING");
    assert_eq!(other.line(), "+PONG");

    one.send("DEBUG PANIC");
    let refusal = "-ERR a fault in the command 'debug' stopped this server";
    assert_eq!(one.line(), refusal);
    assert_eq!(one.line(), "", "the connection is closed");
    other.send("XLEN s");
    assert_eq!(other.line(), refusal);
    assert_eq!(other.line(), "", "this one, too");
    let mut late = Client::of(&server);
    late.send("PING");
    assert_eq!(late.line(), refusal);

    let fault = "a fault in the command 'debug' stopped this server";
    assert_eq!(server.stop().as_deref(), Some(fault));
}

/// Sends one command and reads what comes until the connection ends.
fn end_of(server: &Server, line: &str) -> Result<usize, ErrorKind> {
    let mut client = Client::of(server);
    client.send(line);
    let ended = client.0.read_to_end(&mut Vec::new());
    ended.map_err(|error| error.kind())
}

#[test]
fn a_connection_that_is_reset_is_not_ended_in_order() {
    let config = Config::embedded().with("testdouble yes").unwrap();
    let server = Server::start(tailrace_server::Server::builder().config(config)).unwrap();
    let mut test = Client::of(&server);
    let reset = Err(ErrorKind::ConnectionReset);
    for (fault, ended) in [
        ("BEFORE RST", reset),
        ("AFTER RST", reset),
        ("BEFORE CLOSE", Ok(0)),
        ("AFTER CUT 2", Ok(2)),
    ] {
        test.send(&format!("TD FAULT ADD f CMD XLEN {fault}"));
        assert_eq!(test.line(), "+OK");
        assert_eq!(end_of(&server, "XLEN s"), ended, "{fault}");
    }
    assert_eq!(server.stop(), None);
}
