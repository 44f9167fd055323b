//! The way from the engine to one client's socket.
//!
//! Replies are produced under the engine's lock and handed over with [`Link::enqueue`], still under
//! it, so that their order is right by construction. Whoever did that calls [`Link::flush`] once
//! the lock is released: it writes at once where the socket allows it, whichever thread it is on.
//! What the socket does not take is left to the connection's own task.
//!
//! Two locks keep the engine out of the way of system calls: `pending` is held for a copy only, and
//! `sink`, which is held while the socket takes bytes, is never asked for under the engine's lock.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use parking_lot::Mutex;

use crate::connection::yield_turn;

/// The writing half of a socket.
pub(crate) trait Outlet: Send {
    /// Writes what fits right now. [`io::ErrorKind::WouldBlock`] leaves the rest to the task.
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Writes what fits, or arranges for the task to be woken once something does.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Gives up the socket so that its end looks like a break of the connection.
    fn break_off(self: Box<Self>) {}
}

/// What is left of one that was broken off.
struct Nowhere;

impl Outlet for Nowhere {
    fn try_write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.try_write(bytes))
    }
}

/// One client's outgoing queue, and how to wake its connection's task.
pub(crate) struct Link {
    /// What was handed over and is not in the sink yet.
    pending: Mutex<Chunks>,
    sink: Mutex<Sink>,
    /// The bytes that wait in `pending` and in `sink`.
    waiting: AtomicUsize,
    waker: Mutex<Option<Waker>>,
    /// The socket failed; nothing more is queued.
    broken: AtomicBool,
    called: AtomicBool,
    closing: AtomicBool,
    killed: AtomicBool,
}

struct Sink {
    outlet: Box<dyn Outlet>,
    queue: Vec<u8>,
    /// How much of `queue` the socket has taken.
    head: usize,
    /// The task waits for the socket to take more, so nobody else needs to try.
    is_parked: bool,
}

/// What came of a turn of writing.
enum Turn {
    /// Nothing is left.
    Done,
    /// The socket takes no more for now.
    Full,
    /// It is somebody else's turn.
    Over,
    /// The socket is gone.
    Broken,
}

impl Link {
    /// A link to a socket.
    pub(crate) fn new(outlet: Box<dyn Outlet>) -> Self {
        Self {
            pending: Mutex::new(Chunks::default()),
            sink: Mutex::new(Sink {
                outlet,
                queue: Vec::new(),
                head: 0,
                is_parked: false,
            }),
            waiting: AtomicUsize::new(0),
            waker: Mutex::new(None),
            broken: AtomicBool::new(false),
            called: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            killed: AtomicBool::new(false),
        }
    }

    /// Moves `out` behind what is queued and says how many bytes wait now. Call it under the
    /// engine's lock.
    pub(crate) fn enqueue(&self, out: &mut Vec<u8>) -> usize {
        let mut pending = self.pending.lock();
        if self.broken.load(Ordering::Acquire) {
            out.clear();
            return 0;
        }
        let added = out.len();
        pending.append(out);
        self.waiting.fetch_add(added, Ordering::AcqRel) + added
    }

    /// How many bytes wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }

    /// Writes what the socket takes now, and wakes the task for the rest.
    pub(crate) fn flush(&self) {
        let mut sink = self.sink.lock();
        if sink.is_parked || self.is_killed() {
            return;
        }
        let turn = self.write(&mut sink, |outlet, bytes| outlet.try_write(bytes));
        drop(sink);
        match turn {
            Turn::Done => {}
            Turn::Full | Turn::Over | Turn::Broken => self.wake(),
        }
    }

    /// Writes everything, for the connection's task. An error means that the socket is gone.
    pub(crate) fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.waiting() == 0 && !self.broken.load(Ordering::Acquire) {
            return Poll::Ready(Ok(()));
        }
        let mut sink = self.sink.lock();
        let turn = self.write(&mut sink, |outlet, bytes| {
            match outlet.poll_write(cx, bytes) {
                Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
                Poll::Ready(result) => result,
            }
        });
        sink.is_parked = matches!(turn, Turn::Full | Turn::Over);
        match turn {
            Turn::Done => Poll::Ready(Ok(())),
            Turn::Full => Poll::Pending,
            Turn::Over => {
                yield_turn(cx);
                Poll::Pending
            }
            Turn::Broken => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// Names the task that [`Self::wake`] wakes.
    pub(crate) fn register(&self, waker: &Waker) {
        let mut slot = self.waker.lock();
        match &mut *slot {
            Some(old) if old.will_wake(waker) => {}
            slot => *slot = Some(waker.clone()),
        }
    }

    /// Makes the connection's task look at its client again.
    pub(crate) fn wake(&self) {
        if let Some(waker) = &*self.waker.lock() {
            waker.wake_by_ref();
        }
    }

    /// Makes the connection's task ask for what the engine has for it.
    pub(crate) fn call(&self) {
        self.called.store(true, Ordering::Release);
        self.wake();
    }

    /// Whether [`Self::call`] was called since the last time.
    pub(crate) fn was_called(&self) -> bool {
        self.called.load(Ordering::Acquire) && self.called.swap(false, Ordering::AcqRel)
    }

    /// Ends the connection once what was read is answered and the answers have left.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.wake();
    }

    /// Whether [`Self::close`] was called.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Ends the connection; what has not left is lost.
    pub(crate) fn kill(&self) {
        self.killed.store(true, Ordering::Release);
        self.wake();
    }

    /// Ends the connection as one that breaks: the other side is told so, where the socket can.
    pub(crate) fn reset(&self) {
        let outlet = std::mem::replace(&mut self.sink.lock().outlet, Box::new(Nowhere));
        outlet.break_off();
        self.kill();
    }

    /// Whether [`Self::kill`] was called.
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Acquire)
    }

    /// Writes until nothing is left, the socket is full, or the turn is over.
    fn write(
        &self,
        sink: &mut Sink,
        mut write: impl FnMut(&mut dyn Outlet, &[u8]) -> io::Result<usize>,
    ) -> Turn {
        let mut written = 0;
        loop {
            if self.broken.load(Ordering::Acquire) {
                return Turn::Broken;
            }
            if sink.is_empty() && !sink.refill(&self.pending) {
                return Turn::Done;
            }
            if written >= TURN_BYTES_MAX {
                return Turn::Over;
            }
            match write(&mut *sink.outlet, &sink.queue[sink.head..]) {
                Ok(count) if count > 0 => {
                    written += count;
                    sink.head += count;
                    if self.waiting.fetch_sub(count, Ordering::AcqRel) == count {
                        // Whoever hands over more from now on flushes, too.
                        sink.clear();
                        return Turn::Done;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Turn::Full,
                Ok(_) | Err(_) => self.fail(sink),
            }
        }
    }

    /// The socket is gone, and with it what waits.
    fn fail(&self, sink: &mut Sink) {
        let mut pending = self.pending.lock();
        self.broken.store(true, Ordering::Release);
        *pending = Chunks::default();
        sink.queue = Vec::new();
        sink.head = 0;
        self.waiting.store(0, Ordering::Release);
    }
}

impl Sink {
    fn is_empty(&self) -> bool {
        self.head == self.queue.len()
    }

    /// Takes all that was handed over. Whether there was anything.
    fn refill(&mut self, pending: &Mutex<Chunks>) -> bool {
        self.clear();
        pending.lock().take(&mut self.queue);
        !self.queue.is_empty()
    }

    fn clear(&mut self) {
        self.head = 0;
        self.queue.clear();
        if self.queue.capacity() > IDLE_BYTES_MAX {
            // Cheaper than to make it smaller.
            self.queue = Vec::new();
        }
    }
}

/// Bytes that wait, in chunks: what piles up for a client that does not read is never copied to make
/// room for more, which would hold up everybody, and its memory goes back as it leaves.
#[derive(Default)]
struct Chunks {
    /// What was handed over first. None is empty.
    full: VecDeque<Vec<u8>>,
    last: Vec<u8>,
}

impl Chunks {
    /// Moves `bytes` to the end, and leaves it empty.
    fn append(&mut self, bytes: &mut Vec<u8>) {
        if self.last.is_empty() {
            std::mem::swap(&mut self.last, bytes);
        } else if self.last.len() + bytes.len() <= CHUNK_BYTES_MAX {
            self.last.append(bytes);
        } else {
            let bytes = std::mem::take(bytes);
            self.full
                .push_back(std::mem::replace(&mut self.last, bytes));
        }
    }

    /// Puts the first chunk, if there is any, into `chunk`, which is empty.
    fn take(&mut self, chunk: &mut Vec<u8>) {
        match self.full.pop_front() {
            Some(first) => *chunk = first,
            None => std::mem::swap(&mut self.last, chunk),
        }
    }
}

/// How much an idle client's queue may keep allocated: a few small replies.
const IDLE_BYTES_MAX: usize = 4 * 1_024;
/// Up to this size, what is handed over is put together, so that one write sends it.
const CHUNK_BYTES_MAX: usize = 256 * 1_024;
/// How much is written for one client before others get their turn.
const TURN_BYTES_MAX: usize = 1_024 * 1_024;

#[cfg(test)]
mod tests;
