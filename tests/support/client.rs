//! A client that speaks raw RESP over TCP and never guesses what a reply should be.

use std::collections::VecDeque;
use std::io;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::net::Shutdown;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::time::Duration;

use crate::value::Value;

/// What can reach a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrival {
    /// A whole reply or push.
    Reply(Value),
    /// The server closed the connection; nothing comes after it.
    Closed,
}

/// One connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    local: SocketAddr,
    input: Vec<u8>,
    arrived: VecDeque<Arrival>,
    is_closed: bool,
    /// What marks a line of MONITOR that nobody wants to see.
    unseen: Option<String>,
}

impl Client {
    /// Connects to `address`.
    ///
    /// # Errors
    ///
    /// If the connection is refused.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            local: stream.local_addr()?,
            stream,
            input: Vec::new(),
            arrived: VecDeque::new(),
            is_closed: false,
            unseen: None,
        })
    }

    /// Drops lines of MONITOR about the client at `address` from here on.
    pub fn ignore(&mut self, address: SocketAddr) {
        self.unseen = Some(format!(" {address}] "));
    }

    /// Sends one command.
    pub fn say<W: AsRef<[u8]>>(&mut self, words: &[W]) {
        self.send(&encode(words));
    }

    /// Sends several commands in one piece.
    pub fn say_all<W: AsRef<[u8]>>(&mut self, commands: &[Vec<W>]) {
        let bytes: Vec<u8> = commands.iter().flat_map(|words| encode(words)).collect();
        self.send(&bytes);
    }

    /// Sends bytes as they are. Does nothing but note the end if the server has closed the connection.
    pub fn send(&mut self, bytes: &[u8]) {
        if self.stream.write_all(bytes).is_err() {
            self.poll(Some(PATIENCE_AFTER_FAILURE));
            self.close();
        }
    }

    /// Waits at most `wait` for something to arrive (not at all if `None`), and says whether something has.
    pub fn poll(&mut self, wait: Option<Duration>) -> bool {
        if self.is_closed || (wait.is_some() && !self.arrived.is_empty()) {
            return !self.arrived.is_empty();
        }
        let mode = match wait {
            None => self.stream.set_nonblocking(true),
            Some(_) => self.stream.set_read_timeout(wait),
        };
        if mode.is_err() {
            self.close();
        }
        self.read_available(wait.is_none());
        if wait.is_none() && self.stream.set_nonblocking(false).is_err() {
            self.close();
        }
        self.parse();
        !self.arrived.is_empty()
    }

    /// Waits until the server has closed the connection, each time at most `wait`; all that came before can be taken.
    pub fn wait_for_end(&mut self, wait: Duration) {
        while !self.is_closed {
            let len = self.input.len() + self.arrived.len();
            if self.stream.set_read_timeout(Some(wait)).is_err() {
                self.close();
            }
            self.read_available(false);
            self.parse();
            if self.input.len() + self.arrived.len() == len {
                return;
            }
        }
    }

    /// Whether the beginning of something has arrived whose end has not.
    pub fn is_within_reply(&self) -> bool {
        !self.input.is_empty() && !self.is_closed
    }

    /// Takes the oldest thing that has arrived.
    pub fn take(&mut self) -> Option<Arrival> {
        self.arrived.pop_front()
    }

    /// Shuts the writing half; replies can still come.
    pub fn half_close(&mut self) {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            self.close();
        }
    }

    /// The address by which the server knows this client.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Reads once, and without waiting goes on as long as there is something.
    fn read_available(&mut self, until_empty: bool) {
        let mut chunk = [0; 64 * 1_024];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return self.end(),
                Ok(count) => self.input.extend_from_slice(&chunk[..count]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return,
                    ErrorKind::Interrupted => {}
                    _ => return self.end(),
                },
            }
            if !until_empty {
                return;
            }
        }
    }

    fn end(&mut self) {
        self.parse();
        self.close();
    }

    fn close(&mut self) {
        if !self.is_closed {
            self.is_closed = true;
            self.arrived.push_back(Arrival::Closed);
        }
    }

    fn parse(&mut self) {
        let mut at = 0;
        while let Some((value, len)) = Value::parse(&self.input[at..]) {
            at += len;
            if !self.is_unseen(&value) {
                self.arrived.push_back(Arrival::Reply(value));
            }
        }
        self.input.drain(..at);
    }

    fn is_unseen(&self, value: &Value) -> bool {
        let (Some(mark), Value::Simple(line)) = (&self.unseen, value) else {
            return false;
        };
        String::from_utf8_lossy(line).contains(mark)
    }
}

/// Writes a command as an array of bulks.
pub fn encode<W: AsRef<[u8]>>(words: &[W]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        let word = word.as_ref();
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
    out
}

/// How long the last words of a server that closed the connection may take.
const PATIENCE_AFTER_FAILURE: Duration = Duration::from_millis(100);
