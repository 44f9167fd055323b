//! A server that is told to listen elsewhere while it runs.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::io::BufRead;
use std::io::BufReader;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;

use tailrace_server::blocking::Server;

struct Client(BufReader<TcpStream>);

impl Client {
    fn of(addr: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(addr).unwrap()))
    }

    fn ask(&mut self, line: &str) -> String {
        let line = format!("{line}\r\n");
        self.0.get_mut().write_all(line.as_bytes()).unwrap();
        let mut reply = String::new();
        self.0.read_line(&mut reply).unwrap();
        reply.trim_end().to_owned()
    }

    /// The lines of INFO that tell where the server listens.
    fn places(&mut self) -> String {
        let mut text = Vec::new();
        let head = self.ask("INFO server");
        let len: usize = head[1..].parse().unwrap();
        while text.len() < len + 2 {
            self.0.read_until(b'\n', &mut text).unwrap();
        }
        let text = String::from_utf8(text).unwrap();
        let is_place = |line: &&str| line.starts_with("listener") || line.starts_with("tcp_port");
        let lines: Vec<&str> = text.lines().filter(is_place).collect();
        lines.join(" ")
    }
}

fn serves(addr: SocketAddr) -> bool {
    TcpStream::connect(addr).is_ok() && Client::of(addr).ask("PING") == "+PONG"
}

/// The same port of another address of this machine.
fn sibling(addr: SocketAddr) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 2], addr.port()))
}

#[test]
#[cfg_attr(
    not(target_os = "linux"),
    ignore = "other systems have one local address"
)]
fn other_addresses_are_listened_on_at_once() {
    let server = Server::start(tailrace_server::Server::builder()).unwrap();
    let (here, there) = (server.addr(), sibling(server.addr()));
    let mut client = Client::of(here);
    assert!(!serves(there));

    assert_eq!(client.ask("CONFIG SET bind \"127.0.0.1 127.0.0.2\""), "+OK");
    assert!(serves(here) && serves(there));
    assert_eq!(client.ask("CONFIG SET bind 127.0.0.2"), "+OK");
    assert!(!serves(here) && serves(there));
    let port = here.port();
    let places = format!("tcp_port:{port} listener0:name=tcp,bind=127.0.0.2,port={port}");
    assert_eq!(client.places(), places);

    assert_eq!(client.ask("CONFIG SET bind \"\""), "+OK");
    assert!(!serves(here) && !serves(there));
    assert_eq!(client.ask("CONFIG SET bind 127.0.0.1"), "+OK");
    assert!(serves(here));
}

#[test]
fn a_port_that_is_taken_changes_nothing() {
    let server = Server::start(tailrace_server::Server::builder()).unwrap();
    let mut client = Client::of(server.addr());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    assert_eq!(
        client.ask(&format!("CONFIG SET maxclients 77 port {port}")),
        "-ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen on this port. \
         Check server logs."
    );
    assert_eq!(
        client.ask("CONFIG SET bind 192.0.2.1"),
        "-ERR CONFIG SET failed (possibly related to argument 'bind') - Failed to bind to specified \
         addresses."
    );
    assert_eq!(client.ask("CONFIG GET maxclients"), "*2");
    assert!(serves(server.addr()));
}

#[test]
fn port_0_listens_on_none_and_keeps_who_is_there() {
    let server = Server::start(tailrace_server::Server::builder()).unwrap();
    let addr = server.addr();
    let mut client = Client::of(addr);
    // It is what was configured already, though a free port was taken for it.
    assert_eq!(client.ask("CONFIG SET port 0"), "+OK");
    assert!(serves(addr));
    let port = addr.port();
    assert_eq!(client.ask(&format!("CONFIG SET port {port}")), "+OK");
    assert!(serves(addr));
    assert_eq!(client.ask("CONFIG SET port 0"), "+OK");
    assert!(!serves(addr));
    assert_eq!(client.places(), "tcp_port:0 listener0:name=tcp");
    assert_eq!(client.ask("PING"), "+PONG");
}
