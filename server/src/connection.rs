//! One connection: bytes in, whole requests to the engine, replies out.
//!
//! Generic over the reading half, so that tests can cut, delay and end a stream where they like.
//! The whole of it is one hand-written future: reading, executing and flushing happen in one poll,
//! with one read buffer per thread, so that an idle client holds next to nothing.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;

use tailrace_protocol::Batch;
use tailrace_protocol::BatchBounds;
use tailrace_protocol::Decoder;
use tailrace_protocol::Limits;
use tailrace_protocol::ProtocolError;
use tokio::io::AsyncRead;
use tokio::io::ReadBuf;

use crate::client::ClientId;
use crate::engine::Engine;
use crate::engine::Executed;
use crate::engine::InputLimits;
use crate::engine::Verdict;
use crate::link::Link;

/// Serves a client until it leaves, is ended, or breaks the protocol. The client is removed from
/// the engine when the future is dropped, finished or not.
pub(crate) async fn serve<R>(
    engine: Arc<Engine>,
    reader: R,
    link: Arc<Link>,
    id: ClientId,
    limits: InputLimits,
) where
    R: AsyncRead + Unpin,
{
    let mut connection = Connection {
        guard: Guard { engine, id },
        reader,
        link,
        decoder: Decoder::default(),
        limits,
        input: Vec::new(),
        head: 0,
        fresh: false,
        verdict: Verdict::Open,
        ended: false,
    };
    connection.apply(limits);
    std::future::poll_fn(|cx| connection.poll(cx)).await;
}

struct Connection<R> {
    guard: Guard,
    reader: R,
    link: Arc<Link>,
    decoder: Decoder,
    limits: InputLimits,
    /// What was read and not executed starts at `head`.
    input: Vec<u8>,
    head: usize,
    /// `input` holds something that the engine has not refused to look at since it last changed.
    fresh: bool,
    verdict: Verdict,
    /// The client will send nothing more.
    ended: bool,
}

/// Removes the client when its connection ends, however it ends.
struct Guard {
    engine: Arc<Engine>,
    id: ClientId,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.engine.disconnect(self.id);
    }
}

/// What each thread that serves connections has once.
struct Scratch {
    buffer: Box<[u8]>,
    batch: Batch,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch {
        buffer: vec![0; READ_BYTES].into_boxed_slice(),
        batch: Batch::new(),
    });
}

impl<R: AsyncRead + Unpin> Connection<R> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link.register(cx.waker());
        // Woken: a wait may be over, or the gate open. Look at what is left.
        if matches!(self.verdict, Verdict::Waiting | Verdict::Held) {
            self.fresh = self.head < self.input.len();
        }
        loop {
            if self.link.is_killed() {
                return Poll::Ready(());
            }
            let flushed = match self.link.poll_flush(cx) {
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Ready(Ok(())) => true,
                Poll::Pending => false,
            };
            if self.verdict == Verdict::Closing {
                return if flushed {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                };
            }
            if self.fresh {
                if self.run_input() {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                continue;
            }
            if self.link.is_closing() || (self.ended && self.verdict == Verdict::Open) {
                self.verdict = Verdict::Closing;
                continue;
            }
            if self.ended {
                return Poll::Pending;
            }
            match self.poll_read(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0) | Err(_)) => self.on_input_end(),
                Poll::Ready(Ok(_)) => {}
            }
        }
    }

    /// Reads once, and executes at once what was read if nothing older is left.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<usize>> {
        SCRATCH.with_borrow_mut(|scratch| {
            let Scratch { buffer, batch } = scratch;
            let mut read = ReadBuf::new(buffer);
            std::task::ready!(Pin::new(&mut self.reader).poll_read(cx, &mut read))?;
            let bytes = read.filled();
            if bytes.is_empty() {
                return Poll::Ready(Ok(0));
            }
            if self.head == self.input.len() {
                self.input.clear();
                self.head = 0;
                let used = self.run(bytes, batch, bytes.len());
                self.input.extend_from_slice(&bytes[used..]);
            } else {
                self.keep(bytes);
                let input = std::mem::take(&mut self.input);
                let used = self.run(&input[self.head..], batch, bytes.len());
                self.input = input;
                self.drop_front(used);
            }
            Poll::Ready(Ok(bytes.len()))
        })
    }

    /// Executes a batch of what is left. Whether there may be more, so that it is another's turn.
    fn run_input(&mut self) -> bool {
        let input = std::mem::take(&mut self.input);
        let used =
            SCRATCH.with_borrow_mut(|scratch| self.run(&input[self.head..], &mut scratch.batch, 0));
        self.input = input;
        self.drop_front(used);
        self.fresh
    }

    /// Executes a batch from the front of `input` and says how much of it is done with.
    fn run(&mut self, input: &[u8], batch: &mut Batch, received: usize) -> usize {
        let bounds = if self.limits.authenticated {
            BATCH
        } else {
            BatchBounds::ONE
        };
        let decoded = self.decoder.decode(input, batch, bounds);
        let engine = &self.guard.engine;
        let executed = engine.execute(self.guard.id, input, batch, received);
        let Executed {
            count,
            verdict,
            limits,
        } = executed;
        self.verdict = verdict;
        self.fresh = false;
        self.apply(limits);
        if count < batch.len() {
            // It stopped early: what is left is found again.
            self.decoder.reset();
            self.fresh = verdict == Verdict::Open;
            return match count {
                0 => 0,
                count => batch.input_end(count - 1),
            };
        }
        match decoded {
            Ok(used) => {
                let stopped_at_bound =
                    batch.len() == bounds.commands_max || used >= bounds.bytes_max;
                self.fresh = verdict == Verdict::Open && stopped_at_bound && used < input.len();
                if input.len() - used > self.limits.input_bytes_max {
                    tracing::warn!("a client sent more than client-query-buffer-limit ahead");
                    self.verdict = Verdict::Closing;
                }
                used
            }
            Err(error) => self.on_fault(error, input.len(), batch),
        }
    }

    /// A breach of the protocol, once everything before it is answered.
    fn on_fault(&mut self, error: ProtocolError, len: usize, batch: &Batch) -> usize {
        match self.verdict {
            Verdict::Open => {
                self.guard.engine.on_protocol_error(self.guard.id, error);
                self.verdict = Verdict::Closing;
                len
            }
            Verdict::Closing => len,
            Verdict::Waiting | Verdict::Held => {
                // Found again once the wait is over.
                self.decoder.reset();
                match batch.len() {
                    0 => 0,
                    count => batch.input_end(count - 1),
                }
            }
        }
    }

    /// The client has sent all it will. It still gets its replies, but a wait would be in vain:
    /// nothing may be delivered to a client that has left.
    fn on_input_end(&mut self) {
        self.ended = true;
        if self.verdict == Verdict::Waiting {
            self.guard.engine.on_input_end(self.guard.id);
            self.verdict = Verdict::Closing;
        }
    }

    fn apply(&mut self, limits: InputLimits) {
        self.limits = limits;
        self.decoder.set_limits(if limits.authenticated {
            Limits::authenticated(limits.bulk_bytes_max)
        } else {
            Limits::unauthenticated(limits.bulk_bytes_max)
        });
    }

    /// Adds to what is left, and makes room as bytes arrive, never more than was promised.
    fn keep(&mut self, bytes: &[u8]) {
        if self.head > self.input.len() / 2 {
            self.input.drain(..self.head);
            self.head = 0;
        }
        self.input.extend_from_slice(bytes);
    }

    fn drop_front(&mut self, used: usize) {
        self.head += used;
        if self.head == self.input.len() {
            self.head = 0;
            self.input.clear();
            self.input.shrink_to(INPUT_BYTES_KEPT);
        }
    }
}

/// The read buffer of a thread.
const READ_BYTES: usize = 64 * 1_024;
/// When a batch ends, so that others get their turn.
const BATCH: BatchBounds = BatchBounds {
    commands_max: 128,
    bytes_max: READ_BYTES,
};
/// What an idle client keeps allocated for half a command.
const INPUT_BYTES_KEPT: usize = 4 * 1_024;
