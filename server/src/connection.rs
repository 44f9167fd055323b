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
use tailrace_protocol::Decoder;
use tailrace_protocol::ProtocolError;
use tokio::io::AsyncRead;
use tokio::io::ReadBuf;
use tokio_util::io::poll_read_buf;

use crate::client::ClientId;
use crate::engine::Engine;
use crate::engine::Executed;
use crate::engine::Verdict;
use crate::input::InputLimits;
use crate::input::READ_BYTES;
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
        is_runnable: false,
        verdict: Verdict::Open,
        has_ended: false,
        is_last_sent: false,
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
    /// What is left may hold a whole request. Looked at only while the verdict is `Open`.
    is_runnable: bool,
    verdict: Verdict,
    /// The client will send nothing more.
    has_ended: bool,
    /// The verdict is `Closing`, and all that the client is to be sent was handed to the link.
    is_last_sent: bool,
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

/// What a step of the connection came to.
enum Turn {
    /// There is more to do at once.
    Next,
    /// There is more to do, but it is somebody else's turn.
    Yield,
    /// Nothing to do until woken.
    Sleep,
    /// The connection is over.
    End,
}

impl<R: AsyncRead + Unpin> Connection<R> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link.register(cx.waker());
        if self.link.was_called() {
            match self.verdict {
                Verdict::Waiting => self.take_backlog(),
                // It may have to go elsewhere.
                Verdict::Open => self.verdict = self.guard.engine.look_at(self.guard.id),
                Verdict::Elsewhere | Verdict::Closing => {}
            }
        }
        for _ in 0..STEPS_PER_TURN {
            if self.link.is_killed() {
                return Poll::Ready(());
            }
            let is_flushed = match self.link.poll_flush(cx) {
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Ready(Ok(())) => true,
                Poll::Pending => false,
            };
            match self.step(cx, is_flushed) {
                Turn::Next => {}
                Turn::Yield => break,
                Turn::Sleep => return Poll::Pending,
                Turn::End => return Poll::Ready(()),
            }
        }
        yield_turn(cx);
        Poll::Pending
    }

    /// Executes what is left, or reads more. Reading goes on while replies wait to be read: a
    /// client may well send all its commands before it reads the first reply.
    fn step(&mut self, cx: &mut Context<'_>, is_flushed: bool) -> Turn {
        if self.verdict == Verdict::Closing {
            if !std::mem::replace(&mut self.is_last_sent, true) {
                self.guard.engine.send_to(self.guard.id);
                return Turn::Next;
            }
            return if is_flushed { Turn::End } else { Turn::Sleep };
        }
        if self.verdict == Verdict::Elsewhere {
            self.hand_over();
            return Turn::Next;
        }
        if self.verdict == Verdict::Open && self.is_runnable {
            self.run_input();
            return if self.is_runnable {
                Turn::Yield
            } else {
                Turn::Next
            };
        }
        if self.link.is_closing() || (self.has_ended && self.verdict == Verdict::Open) {
            self.verdict = Verdict::Closing;
            return Turn::Next;
        }
        if self.has_ended {
            // A command that was left when the client ended waits now.
            self.on_input_end();
            return Turn::Next;
        }
        match self.poll_read(cx) {
            Poll::Pending => Turn::Sleep,
            Poll::Ready(Err(_)) => Turn::End,
            Poll::Ready(Ok(0)) => {
                self.on_input_end();
                Turn::Next
            }
            // There is more where this came from.
            Poll::Ready(Ok(READ_BYTES..)) => Turn::Yield,
            Poll::Ready(Ok(_)) => Turn::Next,
        }
    }

    /// Reads once, and executes what was read unless a command waits. Gives the number of bytes.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<usize>> {
        let missing = self.decoder.missing_bytes();
        if missing >= READ_BYTES {
            return self.poll_read_long(cx, missing);
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let Scratch { buffer, batch } = scratch;
            let mut read = ReadBuf::new(buffer);
            std::task::ready!(Pin::new(&mut self.reader).poll_read(cx, &mut read))?;
            let bytes = read.filled();
            if bytes.is_empty() {
                return Poll::Ready(Ok(0));
            }
            if self.head == self.input.len() {
                let used = self.run(bytes, batch, bytes.len());
                self.keep(&bytes[used..]);
            } else {
                self.keep(bytes);
                self.run_kept(batch, bytes.len());
            }
            Poll::Ready(Ok(bytes.len()))
        })
    }

    /// Reads the rest of a long argument to where it is kept anyway.
    #[cold]
    fn poll_read_long(
        &mut self,
        cx: &mut Context<'_>,
        missing: usize,
    ) -> Poll<std::io::Result<usize>> {
        self.compact();
        // As much as is there already, at most: a promise alone takes no memory.
        let room = missing.min(self.input.len().max(READ_BYTES));
        if self.input.capacity() - self.input.len() < missing.min(READ_BYTES) {
            self.input.reserve_exact(room);
        }
        let reader = Pin::new(&mut self.reader);
        let received = std::task::ready!(poll_read_buf(reader, cx, &mut self.input))?;
        if received > 0 {
            SCRATCH.with_borrow_mut(|scratch| self.run_kept(&mut scratch.batch, received));
        }
        Poll::Ready(Ok(received))
    }

    /// Executes a batch of what is left.
    fn run_input(&mut self) {
        SCRATCH.with_borrow_mut(|scratch| self.run_kept(&mut scratch.batch, 0));
    }

    fn run_kept(&mut self, batch: &mut Batch, received: usize) {
        let input = std::mem::take(&mut self.input);
        let used = self.run(&input[self.head..], batch, received);
        self.input = input;
        self.head += used;
        if self.head == self.input.len() {
            self.head = 0;
            self.input.clear();
            self.input.shrink_to(INPUT_BYTES_KEPT);
        }
    }

    /// Executes a batch from the front of `input` and says how much of it is done with.
    fn run(&mut self, input: &[u8], batch: &mut Batch, received: usize) -> usize {
        let bounds = self.limits.batch();
        let decoded = self.decoder.decode(input, batch, bounds);
        let engine = &self.guard.engine;
        let executed = engine.execute(self.guard.id, input, batch, received);
        let Executed {
            count,
            verdict,
            has_replied,
            limits,
        } = executed;
        self.verdict = verdict;
        let was_authenticated = self.limits.authenticated;
        if let Some(limits) = limits {
            self.apply(limits);
        }
        if verdict == Verdict::Waiting {
            // The engine has the rest.
            self.decoder.reset();
            self.is_runnable = false;
            return input.len();
        }
        if count < batch.len()
            || self.limits.authenticated != was_authenticated
            || verdict == Verdict::Elsewhere
        {
            // It stopped early, goes elsewhere, or may send more from now on: what is left is found again.
            self.decoder.reset();
            self.is_runnable = true;
            return batch.input_bytes(count);
        }
        match decoded {
            Ok(used) => {
                let is_at_bound = batch.len() == bounds.commands_max || used >= bounds.bytes_max;
                self.is_runnable = is_at_bound && used < input.len();
                used
            }
            Err(error) => {
                self.on_fault(error, has_replied);
                input.len()
            }
        }
    }

    /// A breach of the protocol, once everything before it is answered.
    fn on_fault(&mut self, error: ProtocolError, has_replied: bool) {
        if self.verdict == Verdict::Open {
            let engine = &self.guard.engine;
            self.verdict = engine.on_protocol_error(self.guard.id, error, has_replied);
            self.decoder.reset();
            self.is_runnable = false;
        }
    }

    /// Takes back what was read while a command waited, if none does any more.
    fn take_backlog(&mut self) {
        let (verdict, backlog) = self.guard.engine.take_backlog(self.guard.id);
        self.go_on(verdict, backlog);
    }

    /// The client has sent all it will. It still gets the replies to what it sent, unless a command
    /// waits: nothing may be delivered to a client that has left.
    fn on_input_end(&mut self) {
        self.has_ended = true;
        if self.verdict == Verdict::Waiting {
            let (verdict, backlog) = self.guard.engine.on_input_end(self.guard.id);
            self.go_on(verdict, backlog);
        }
    }

    /// Goes on with what the engine gives back, if the wait is over.
    fn go_on(&mut self, verdict: Verdict, backlog: Vec<u8>) {
        self.verdict = verdict;
        if matches!(verdict, Verdict::Open | Verdict::Elsewhere) {
            self.is_runnable = !backlog.is_empty();
            self.input = backlog;
            self.head = 0;
        }
    }

    /// Goes on at another engine, which the client's node is a face of now.
    fn hand_over(&mut self) {
        let Guard { engine, id } = &self.guard;
        self.verdict = Verdict::Open;
        if let Some((engine, id, limits)) = engine.hand_over(*id) {
            self.guard = Guard { engine, id };
            self.apply(limits);
        }
    }

    fn apply(&mut self, limits: InputLimits) {
        self.limits = limits;
        self.decoder.set_limits(limits.decoder());
    }

    /// Adds to what is left.
    fn keep(&mut self, bytes: &[u8]) {
        if self.head > self.input.len() / 2 {
            self.compact();
        }
        self.input.extend_from_slice(bytes);
    }

    /// Drops what is done with.
    fn compact(&mut self) {
        self.input.drain(..self.head);
        self.head = 0;
    }
}

/// Has the task polled again once all others that are ready had their turn, those included whose
/// sockets became ready meanwhile. Waking oneself would come before the sockets are looked at, so
/// that one client's long pipeline would be executed as a whole.
pub(crate) fn yield_turn(cx: &mut Context<'_>) {
    let turn = std::pin::pin!(tokio::task::yield_now());
    // The runtime has the waker now, and keeps it for as long as it takes.
    let _ = turn.poll(cx);
}

/// Reads and batches of one client after which it is another's turn.
const STEPS_PER_TURN: usize = 16;
/// What an idle client keeps allocated for half a command.
const INPUT_BYTES_KEPT: usize = 4 * 1_024;

#[cfg(test)]
mod tests;
