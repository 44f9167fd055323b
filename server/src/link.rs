//! The way from the engine to one client's socket.
//!
//! Replies are produced under the engine's lock and handed over with [`Link::enqueue`], still under
//! it, so that their order is right by construction. Whoever did that calls [`Link::flush`] once
//! the lock is released: it writes at once where the socket allows it, whichever thread it is on.
//! What the socket does not take is left to the connection's own task.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::task::Context;
use std::task::Poll;
use std::task::Waker;

use parking_lot::Mutex;

/// The writing half of a socket.
pub(crate) trait Outlet: Send {
    /// Writes what fits right now. [`io::ErrorKind::WouldBlock`] leaves the rest to the task.
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Writes what fits, or arranges for the task to be woken once something does.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;
}

/// One client's outgoing queue, and how to wake its connection's task.
pub(crate) struct Link {
    sink: Mutex<Sink>,
    waker: Mutex<Option<Waker>>,
    closing: AtomicBool,
    killed: AtomicBool,
}

struct Sink {
    queue: Vec<u8>,
    /// How much of `queue` the socket has taken.
    head: usize,
    outlet: Box<dyn Outlet>,
    /// The socket failed; nothing more is queued.
    broken: bool,
}

impl Link {
    /// A link to a socket.
    pub(crate) fn new(outlet: Box<dyn Outlet>) -> Self {
        Self {
            sink: Mutex::new(Sink {
                queue: Vec::new(),
                head: 0,
                outlet,
                broken: false,
            }),
            waker: Mutex::new(None),
            closing: AtomicBool::new(false),
            killed: AtomicBool::new(false),
        }
    }

    /// Moves `out` behind what is queued and says how many bytes wait now. Call it under the
    /// engine's lock.
    pub(crate) fn enqueue(&self, out: &mut Vec<u8>) -> usize {
        let mut sink = self.sink.lock();
        if sink.broken {
            out.clear();
            return 0;
        }
        if sink.queue.is_empty() {
            std::mem::swap(&mut sink.queue, out);
        } else {
            sink.compact();
            sink.queue.extend_from_slice(out);
            out.clear();
        }
        sink.waiting()
    }

    /// How many bytes wait.
    pub(crate) fn waiting(&self) -> usize {
        self.sink.lock().waiting()
    }

    /// Writes as much as the socket takes now, and wakes the task for the rest.
    pub(crate) fn flush(&self) {
        let mut sink = self.sink.lock();
        while sink.waiting() > 0 {
            let Sink {
                queue,
                head,
                outlet,
                ..
            } = &mut *sink;
            match outlet.try_write(&queue[*head..]) {
                Ok(written) if written > 0 => sink.advance(written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Ok(_) | Err(_) => {
                    sink.fail();
                    break;
                }
            }
        }
        let unfinished = sink.waiting() > 0 || sink.broken;
        drop(sink);
        if unfinished {
            self.wake();
        }
    }

    /// Writes everything, for the connection's task. An error means that the socket is gone.
    pub(crate) fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut sink = self.sink.lock();
        while sink.waiting() > 0 {
            let Sink {
                queue,
                head,
                outlet,
                ..
            } = &mut *sink;
            match outlet.poll_write(cx, &queue[*head..]) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(written)) if written > 0 => sink.advance(written),
                Poll::Ready(_) => sink.fail(),
            }
        }
        if sink.broken {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        Poll::Ready(Ok(()))
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

    /// Ends the connection once what was read is answered and the answers have left.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.wake();
    }

    /// Whether [`Self::close`] was called.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Ends the connection without waiting for its replies to leave.
    pub(crate) fn kill(&self) {
        self.killed.store(true, Ordering::Release);
        self.wake();
    }

    /// Whether [`Self::kill`] was called.
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Acquire)
    }
}

impl Sink {
    fn waiting(&self) -> usize {
        self.queue.len() - self.head
    }

    fn advance(&mut self, written: usize) {
        self.head += written;
        if self.head == self.queue.len() {
            self.head = 0;
            self.queue.clear();
            self.queue.shrink_to(IDLE_BYTES_MAX);
        }
    }

    /// Drops what was sent, once that is the larger part: each byte is moved at most once.
    fn compact(&mut self) {
        if self.head > self.queue.len() / 2 {
            self.queue.drain(..self.head);
            self.head = 0;
        }
    }

    fn fail(&mut self) {
        self.queue = Vec::new();
        self.head = 0;
        self.broken = true;
    }
}

/// How much an idle client's queue may keep allocated: a few small replies.
const IDLE_BYTES_MAX: usize = 4 * 1_024;
