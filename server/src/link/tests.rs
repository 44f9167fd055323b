//! What leaves through a link, and when.

use std::sync::Arc;

use super::*;

/// Takes some bytes at a time, and none once it has its fill.
struct Slow {
    taken: Arc<Mutex<Vec<u8>>>,
    at_once: usize,
    room: Arc<AtomicUsize>,
}

impl Outlet for Slow {
    fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.room.load(Ordering::Relaxed);
        let count = bytes.len().min(self.at_once).min(room);
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.room.store(room - count, Ordering::Relaxed);
        self.taken.lock().extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.try_write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            result => Poll::Ready(result),
        }
    }
}

#[test]
fn bytes_leave_in_the_order_in_which_they_came() {
    let taken = Arc::new(Mutex::new(Vec::new()));
    let room = Arc::new(AtomicUsize::new(5));
    let link = Link::new(Box::new(Slow {
        taken: Arc::clone(&taken),
        at_once: 3,
        room: Arc::clone(&room),
    }));
    let mut cx = Context::from_waker(Waker::noop());

    assert_eq!(link.enqueue(&mut b"abcd".to_vec()), 4);
    link.flush();
    assert_eq!(link.enqueue(&mut b"efg".to_vec()), 3);
    assert!(link.poll_flush(&mut cx).is_pending());
    assert_eq!(*taken.lock(), b"abcde");
    assert_eq!(link.enqueue(&mut b"hi".to_vec()), 4);
    room.store(100, Ordering::Relaxed);
    // The task waits for the socket, and will be woken by it.
    link.flush();
    assert_eq!(link.waiting(), 4);
    assert!(link.poll_flush(&mut cx).is_ready());
    assert_eq!(*taken.lock(), b"abcdefghi");
    assert_eq!(link.waiting(), 0);
}

#[test]
fn a_long_reply_is_not_written_in_one_turn() {
    let room = Arc::new(AtomicUsize::new(usize::MAX));
    let link = Link::new(Box::new(Slow {
        taken: Arc::default(),
        at_once: usize::MAX,
        room: Arc::clone(&room),
    }));
    let mut cx = Context::from_waker(Waker::noop());
    link.enqueue(&mut vec![b'x'; TURN_BYTES_MAX]);
    link.flush();
    assert_eq!(link.waiting(), 0);
    room.store(TURN_BYTES_MAX, Ordering::Relaxed);
    link.enqueue(&mut vec![b'x'; TURN_BYTES_MAX + 1]);
    assert!(link.poll_flush(&mut cx).is_pending());
    assert_eq!(link.waiting(), 1);
}

#[test]
fn what_piles_up_stays_in_order_and_in_chunks() {
    let taken = Arc::new(Mutex::new(Vec::new()));
    let room = Arc::new(AtomicUsize::new(1));
    let link = Link::new(Box::new(Slow {
        taken: Arc::clone(&taken),
        at_once: usize::MAX,
        room: Arc::clone(&room),
    }));
    let mut cx = Context::from_waker(Waker::noop());
    let mut sent = Vec::new();
    for (byte, len) in [10, CHUNK_BYTES_MAX, 1, 3 * CHUNK_BYTES_MAX, 5, 5]
        .into_iter()
        .enumerate()
    {
        let bytes = vec![u8::try_from(byte).unwrap(); len];
        sent.extend_from_slice(&bytes);
        link.enqueue(&mut bytes.clone());
        assert!(link.poll_flush(&mut cx).is_pending());
    }
    assert_eq!(link.pending.lock().full.len(), 3);
    assert_eq!(link.waiting(), sent.len() - 1);
    room.store(usize::MAX, Ordering::Relaxed);
    while link.poll_flush(&mut cx).is_pending() {}
    assert!(*taken.lock() == sent);
    assert_eq!(link.waiting(), 0);
}

#[test]
fn what_waits_for_a_socket_that_failed_is_dropped() {
    struct Gone;
    impl Outlet for Gone {
        fn try_write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
        fn poll_write(&mut self, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
        }
    }
    let link = Link::new(Box::new(Gone));
    link.enqueue(&mut b"abc".to_vec());
    link.flush();
    assert_eq!(link.waiting(), 0);
    assert_eq!(link.enqueue(&mut b"abc".to_vec()), 0);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(matches!(link.poll_flush(&mut cx), Poll::Ready(Err(_))));
}
