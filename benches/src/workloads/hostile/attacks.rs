//! What hostile clients do.

use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpStream;

use super::super::KEY;
use super::super::entries::push_add;
use super::Attack;
use crate::control::Control;
use crate::fault::Fault;
use crate::resp::push_command;

/// Nobody else is there.
pub(super) fn nothing(_: SocketAddr) -> Result<Box<dyn Attack>, Fault> {
    Ok(Box::new(Held(Vec::new())))
}

/// Ten thousand clients that say nothing, or as many as the system allows.
pub(super) fn crowd(address: SocketAddr) -> Result<Box<dyn Attack>, Fault> {
    let wanted = IDLE + DESCRIPTORS_KEPT;
    let allowed = rlimit::increase_nofile_limit(wanted).unwrap_or(wanted);
    let count = IDLE.min(allowed.saturating_sub(DESCRIPTORS_KEPT));
    let clients_max = wanted.to_string();
    let config: [&[u8]; 4] = [b"CONFIG", b"SET", b"maxclients", clients_max.as_bytes()];
    Control::open(address)?.call(&config)?;
    held(address, count, b"")
}

/// Clients that have sent half a command.
pub(super) fn halves(address: SocketAddr) -> Result<Box<dyn Attack>, Fault> {
    let mut command = Vec::new();
    push_add(&mut command, KEY, &[b"*"], 0, 0);
    held(address, CLIENTS, &command[..command.len() / 2])
}

/// Clients that promise half a gigabyte each, and go on sending it.
pub(super) fn promises(address: SocketAddr) -> Result<Box<dyn Attack>, Fault> {
    let clients = connected(address, CLIENTS, b"*2\r\n$4\r\nECHO\r\n$536870912\r\n")?;
    Ok(Box::new(Taking {
        clients,
        says: vec![b'x'; 16 * 1_024],
        number: 0,
        each_step: 1,
    }))
}

/// Clients that send one byte at a time.
pub(super) fn drip(address: SocketAddr) -> Result<Box<dyn Attack>, Fault> {
    // A line that ends when it is too long, which takes longer than a run.
    Ok(Box::new(Taking {
        clients: connected(address, CLIENTS, b"ECHO ")?,
        says: b"x".to_vec(),
        number: 0,
        each_step: 20,
    }))
}

/// Clients that ask for a megabyte a hundred times, and read nothing.
pub(super) fn unread(address: SocketAddr) -> Result<Box<dyn Attack>, Fault> {
    let mut control = Control::open(address)?;
    let value = vec![b'x'; 1_000];
    for _ in 0..1_000 {
        control.call(&[b"XADD", LARGE_KEY, b"*", b"field", &value])?;
    }
    let mut range = Vec::new();
    push_command(&mut range, &[b"XRANGE", LARGE_KEY, b"-", b"+"]);
    held(address, 4, &range.repeat(25))
}

/// Subscribers that read nothing of what is published all the time.
pub(super) fn deaf(address: SocketAddr) -> Result<Box<dyn Attack>, Fault> {
    let mut subscribe = Vec::new();
    push_command(&mut subscribe, &[b"SUBSCRIBE", KEY]);
    let mut publish = Vec::new();
    push_command(&mut publish, &[b"PUBLISH", KEY, &[b'x'; 1_000]]);
    let publisher = connected(address, 1, b"")?.remove(0);
    Ok(Box::new(Publishing {
        _deaf: connected(address, 50, &subscribe)?,
        publisher,
        publish,
    }))
}

/// Clients that come, send what is no command, and go.
pub(super) fn noise(address: SocketAddr) -> Result<Box<dyn Attack>, Fault> {
    Ok(Box::new(Noise(address)))
}

/// Clients that do nothing more.
struct Held(#[expect(dead_code, reason = "that they are there is enough")] Vec<TcpStream>);

impl Attack for Held {}

fn held(address: SocketAddr, count: u64, says: &[u8]) -> Result<Box<dyn Attack>, Fault> {
    connected(address, count, says).map(|clients| -> Box<dyn Attack> { Box::new(Held(clients)) })
}

/// Connects clients, each of which says something and does not wait from then on.
fn connected(address: SocketAddr, count: u64, says: &[u8]) -> Result<Vec<TcpStream>, Fault> {
    let connect = |_| {
        let mut client = TcpStream::connect(address)?;
        client.set_nodelay(true)?;
        client.write_all(says)?;
        client.set_nonblocking(true)?;
        Ok(client)
    };
    let clients: std::io::Result<Vec<TcpStream>> = (0..count).map(connect).collect();
    clients.map_err(Fault::io("cannot connect a hostile client"))
}

/// Clients that take turns in saying something.
struct Taking {
    clients: Vec<TcpStream>,
    says: Vec<u8>,
    number: usize,
    /// How many say it in a step.
    each_step: usize,
}

impl Attack for Taking {
    fn step(&mut self) {
        for _ in 0..self.each_step {
            self.number = (self.number + 1) % self.clients.len();
            // It may be full, or ended by the server.
            let _ = self.clients[self.number].write(&self.says);
        }
    }
}

struct Publishing {
    _deaf: Vec<TcpStream>,
    publisher: TcpStream,
    publish: Vec<u8>,
}

impl Attack for Publishing {
    fn step(&mut self) {
        let _ = self.publisher.write_all(&self.publish);
        while let Ok(1..) = self.publisher.read(&mut [0; 4_096]) {}
    }
}

struct Noise(SocketAddr);

impl Attack for Noise {
    fn step(&mut self) {
        for says in [
            &b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..],
            &[0x16; 500],
            b"*1\r\n*1\r\n",
            b"'",
        ] {
            if let Ok(mut client) = TcpStream::connect(self.0) {
                // The server may have closed it already.
                let _ = client.write_all(says);
            }
        }
    }
}

const CLIENTS: u64 = 500;
const IDLE: u64 = 10_000;
/// What this process needs besides.
const DESCRIPTORS_KEPT: u64 = 200;
const LARGE_KEY: &[u8] = b"tailrace-bench-large";
