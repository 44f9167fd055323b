//! A connection in memory, whose far end decides what arrives, when, in which pieces, and how it ends.
//!
//! Nothing here waits or takes time: bytes that are sent have arrived, and what the server writes can
//! be taken at once. So one seed gives one order of events.

use std::io;
use std::io::ErrorKind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::io::ReadBuf;

/// Makes a connection: the server's end and the client's.
pub fn pipe() -> (Near, Far) {
    let wire = Arc::new(Mutex::new(Wire {
        sent: Buffer::default(),
        piece_bytes_max: usize::MAX,
        ending: None,
        written: Buffer::default(),
        window_bytes: usize::MAX,
        reader: None,
        writer: None,
        is_dropped: false,
    }));
    (Near(Arc::clone(&wire)), Far(wire))
}

/// The server's end.
#[derive(Debug)]
pub struct Near(Arc<Mutex<Wire>>);

/// The client's end. Dropping it hangs up.
#[derive(Debug)]
pub struct Far(Arc<Mutex<Wire>>);

impl Far {
    /// Sends bytes. After an end they go nowhere.
    pub fn send(&self, bytes: &[u8]) {
        let mut wire = lock(&self.0);
        if wire.ending.is_none() {
            wire.sent.bytes.extend_from_slice(bytes);
            wake(&mut wire.reader);
        }
    }

    /// From here on the server gets at most so many bytes by one reading; at least one.
    pub fn deliver_in_pieces_of(&self, bytes: usize) {
        lock(&self.0).piece_bytes_max = bytes.max(1);
    }

    /// Lets the server write so many bytes more, and then none.
    pub fn open_window(&self, bytes: usize) {
        let mut wire = lock(&self.0);
        wire.window_bytes = bytes;
        wake(&mut wire.writer);
    }

    /// Takes what the server has written.
    pub fn take(&self) -> Vec<u8> {
        let mut wire = lock(&self.0);
        let taken = wire.written.rest().to_vec();
        wire.written = Buffer::default();
        taken
    }

    /// Says that nothing more will be sent; replies can still come.
    pub fn half_close(&self) {
        self.end(Ending::HalfClosed);
    }

    /// Leaves in order: what was sent can be read, and nothing more can be written.
    pub fn hang_up(&self) {
        self.end(Ending::HungUp);
    }

    /// Vanishes: what was sent and not read is lost, and nothing more can be written.
    pub fn cut(&self) {
        self.end(Ending::Cut);
    }

    /// How much of what was sent the server has not read yet.
    pub fn unread_bytes(&self) -> usize {
        lock(&self.0).sent.rest().len()
    }

    /// Whether the server has closed its end.
    pub fn is_closed(&self) -> bool {
        lock(&self.0).is_dropped
    }

    fn end(&self, ending: Ending) {
        let mut wire = lock(&self.0);
        wire.ending = wire.ending.max(Some(ending));
        wake(&mut wire.reader);
        wake(&mut wire.writer);
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        self.hang_up();
    }
}

impl Drop for Near {
    fn drop(&mut self) {
        lock(&self.0).is_dropped = true;
    }
}

impl AsyncRead for Near {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut wire = lock(&self.0);
        if wire.ending == Some(Ending::Cut) {
            return Poll::Ready(Err(ErrorKind::ConnectionReset.into()));
        }
        let rest = wire.sent.rest();
        let len = rest.len().min(buffer.remaining()).min(wire.piece_bytes_max);
        if len > 0 {
            buffer.put_slice(&rest[..len]);
            wire.sent.advance(len);
            return Poll::Ready(Ok(()));
        }
        if wire.ending.is_some() {
            return Poll::Ready(Ok(()));
        }
        wire.reader = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl AsyncWrite for Near {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut wire = lock(&self.0);
        if wire.ending > Some(Ending::HalfClosed) {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        let len = bytes.len().min(wire.window_bytes);
        if len == 0 {
            wire.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        wire.written.bytes.extend_from_slice(&bytes[..len]);
        if wire.window_bytes != usize::MAX {
            wire.window_bytes -= len;
        }
        Poll::Ready(Ok(len))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// What both ends share.
#[derive(Debug)]
struct Wire {
    /// From the client, not read yet.
    sent: Buffer,
    piece_bytes_max: usize,
    ending: Option<Ending>,
    /// From the server, not taken yet.
    written: Buffer,
    /// How many bytes the server may write before it has to wait.
    window_bytes: usize,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// The server has dropped its end.
    is_dropped: bool,
}

/// How the client ended, in order of what is lost.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Ending {
    HalfClosed,
    HungUp,
    Cut,
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// Where the rest begins.
    head: usize,
}

impl Buffer {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.head..]
    }

    fn advance(&mut self, len: usize) {
        self.head += len;
        if self.head == self.bytes.len() {
            self.bytes.clear();
            self.head = 0;
        }
    }
}

fn lock(wire: &Mutex<Wire>) -> MutexGuard<'_, Wire> {
    wire.lock().expect("nothing panics while it holds the wire")
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}
