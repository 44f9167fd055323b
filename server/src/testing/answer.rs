//! What takes time: awaited by a test with a runtime, waited for by one without.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;
use std::task::Wake;
use std::task::Waker;
use std::thread;
use std::thread::Thread;

use tokio::sync::oneshot;

use super::TestError;
use crate::double::jobs::Outcome;

/// Something that was asked for and is under way. It goes on if nobody waits for it.
#[must_use = "what was asked for may fail"]
pub struct Answer<T> {
    coming: Result<oneshot::Receiver<Outcome>, TestError>,
    read: fn(Outcome) -> T,
    /// The caller's thread may be the one that serves.
    is_here: bool,
}

impl<T> Answer<T> {
    pub(super) fn new(
        coming: Result<oneshot::Receiver<Outcome>, TestError>,
        read: fn(Outcome) -> T,
        is_here: bool,
    ) -> Self {
        Self {
            coming,
            read,
            is_here,
        }
    }

    /// Waits for it on this thread.
    ///
    /// # Errors
    ///
    /// [`TestError`] says what is the case instead, and that this thread serves if the server was started by
    /// [`TestServer::start_here`](super::TestServer::start_here).
    pub fn wait(self) -> Result<T, TestError> {
        if self.is_here {
            return Err(TestError::WouldBlock);
        }
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut cx = Context::from_waker(&waker);
        let mut coming = self.coming?;
        loop {
            match Pin::new(&mut coming).poll(&mut cx) {
                Poll::Ready(outcome) => return read(outcome, self.read),
                Poll::Pending => thread::park(),
            }
        }
    }
}

impl<T: 'static> IntoFuture for Answer<T> {
    type Output = Result<T, TestError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self {
            coming, read: of, ..
        } = self;
        Box::pin(async move { read(coming?.await, of) })
    }
}

fn read<T>(
    outcome: Result<Outcome, oneshot::error::RecvError>,
    of: fn(Outcome) -> T,
) -> Result<T, TestError> {
    match outcome {
        Err(_) => Err(TestError::Ended),
        Ok(Outcome::Failed(reason)) => Err(TestError::Not(reason)),
        Ok(outcome) => Ok(of(outcome)),
    }
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
