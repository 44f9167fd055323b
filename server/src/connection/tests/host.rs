//! A server in this process whose clock stands still, and what speaks to it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use parking_lot::Mutex;
use tailrace_storage::Millis;
use tailrace_storage::UnixMillis;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::io::DuplexStream;
use tokio::io::ReadBuf;

use crate::Config;
use crate::ManualClock;
use crate::Server;
use crate::link::Outlet;
use crate::listener;

/// A server whose clock stands still.
pub(super) struct Host(pub(super) Server);

impl Host {
    pub(super) async fn start(config: &str) -> Self {
        let clock = Arc::new(ManualClock::starting_at(UnixMillis(1_000)));
        let config = Config::embedded().with(config).unwrap();
        let builder = Server::builder().config(config).manual_clock(clock);
        Self(builder.start().await.unwrap())
    }

    /// A client whose stream holds so many bytes in each direction.
    pub(super) fn connect(&self, stream_bytes: usize) -> Peer {
        let (ours, theirs) = tokio::io::duplex(stream_bytes);
        self.0.serve(theirs);
        Peer {
            stream: ours,
            direct: None,
        }
    }

    /// A client to which any thread can write at once, as to a socket: its task is not woken then.
    pub(super) fn connect_direct(&self) -> Peer {
        let (ours, theirs) = tokio::io::duplex(1_000);
        let direct = Arc::new(Mutex::new(Vec::new()));
        let outlet = Direct(Arc::clone(&direct));
        let acceptor = self.0.acceptor();
        acceptor.serve(theirs, Box::new(outlet), listener::Peer::embedded());
        Peer {
            stream: ours,
            direct: Some(direct),
        }
    }

    /// Clients that listen to a channel, and what is written to each.
    pub(super) async fn connect_listeners(&self, count: usize) -> Vec<(DuplexStream, Writes)> {
        let mut listeners = Vec::new();
        for _ in 0..count {
            let (mut ours, theirs) = tokio::io::duplex(1_000);
            let writes = Writes::default();
            let acceptor = self.0.acceptor();
            let peer = listener::Peer::embedded();
            acceptor.serve(theirs, Box::new(writes.clone()), peer);
            put(&mut ours, &command(&["SUBSCRIBE", "c"]));
            settle().await;
            assert_eq!(
                writes.take().concat(),
                b"*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"
            );
            listeners.push((ours, writes));
        }
        listeners
    }

    /// Lets time pass, and the server's tasks do what became due.
    pub(super) async fn advance(&self, millis: u64) {
        self.0.advance(Millis(millis));
        settle().await;
    }
}

/// A client, byte by byte.
pub(super) struct Peer {
    pub(super) stream: DuplexStream,
    /// What the server wrote, if not into `stream`.
    pub(super) direct: Option<Arc<Mutex<Vec<u8>>>>,
}

/// The writing half of a socket that takes everything at once.
pub(super) struct Direct(Arc<Mutex<Vec<u8>>>);

impl Outlet for Direct {
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.try_write(bytes))
    }
}

/// A writing half that keeps each write by itself.
#[derive(Clone, Default)]
pub(super) struct Writes(Arc<Mutex<Vec<Vec<u8>>>>);

impl Writes {
    pub(super) fn take(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Outlet for Writes {
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.try_write(bytes))
    }
}

/// What a peer finds when it reads.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    Bytes(Vec<u8>),
    Nothing,
    End,
}

impl Peer {
    /// Sends all of it, while the server reads.
    pub(super) async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        let mut rest = bytes.as_ref();
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..TURNS_MAX {
            if rest.is_empty() {
                return settle().await;
            }
            match Pin::new(&mut self.stream).poll_write(&mut cx, rest) {
                Poll::Ready(Ok(count)) => rest = &rest[count..],
                Poll::Ready(Err(_)) => return,
                Poll::Pending => tokio::task::yield_now().await,
            }
        }
        panic!("the server does not read; {} bytes are left", rest.len());
    }

    /// Sends nothing more.
    pub(super) async fn shut(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        let shut = Pin::new(&mut self.stream).poll_shutdown(&mut cx);
        assert!(shut.is_ready());
        settle().await;
    }

    pub(super) fn read(&mut self) -> Heard {
        if let Some(direct) = &self.direct {
            let bytes = std::mem::take(&mut *direct.lock());
            if !bytes.is_empty() {
                return Heard::Bytes(bytes);
            }
        }
        let mut bytes = [0; 4_096];
        let mut buffer = ReadBuf::new(&mut bytes);
        let mut cx = Context::from_waker(Waker::noop());
        match Pin::new(&mut self.stream).poll_read(&mut cx, &mut buffer) {
            Poll::Pending => Heard::Nothing,
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                Heard::Bytes(buffer.filled().to_vec())
            }
            Poll::Ready(_) => Heard::End,
        }
    }

    /// All that comes until the server has nothing more to do.
    pub(super) async fn hear_all(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        let mut silent_turns = 0;
        while silent_turns < SILENT_TURNS {
            match self.read() {
                Heard::Bytes(bytes) => {
                    all.extend_from_slice(&bytes);
                    silent_turns = 0;
                }
                Heard::Nothing => silent_turns += 1,
                Heard::End => break,
            }
            tokio::task::yield_now().await;
        }
        all
    }

    /// Insists that just this comes.
    pub(super) async fn hear(&mut self, expected: impl AsRef<[u8]>) {
        let heard = self.hear_all().await;
        assert_eq!(
            heard.escape_ascii().to_string(),
            expected.as_ref().escape_ascii().to_string()
        );
    }

    /// Insists that the server has closed the connection.
    pub(super) async fn hear_end(&mut self) {
        for _ in 0..TURNS_MAX {
            if self.read() == Heard::End {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("the connection is still open");
    }
}

/// Puts bytes where the server finds them in its next turn.
pub(super) fn put(stream: &mut DuplexStream, bytes: &[u8]) {
    let mut cx = Context::from_waker(Waker::noop());
    let written = Pin::new(stream).poll_write(&mut cx, bytes);
    assert!(matches!(written, Poll::Ready(Ok(count)) if count == bytes.len()));
}

/// Lets the server's tasks do what they can.
pub(super) async fn settle() {
    for _ in 0..SILENT_TURNS {
        tokio::task::yield_now().await;
    }
}

pub(super) fn command(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len());
    for word in words {
        bytes += &format!("${}\r\n{word}\r\n", word.len());
    }
    bytes.into_bytes()
}

pub(super) fn commands(lines: &[&str]) -> Vec<u8> {
    let words = lines
        .iter()
        .map(|line| line.split(' ').collect::<Vec<&str>>());
    words.flat_map(|words| command(&words)).collect()
}

/// Turns after which a server that has not answered never will.
pub(super) const SILENT_TURNS: usize = 12;
/// Turns after which a test gives up.
pub(super) const TURNS_MAX: usize = 1_000_000;
