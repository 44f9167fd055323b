//! One connection of a load.

use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::time::Instant;

use mio::net::TcpStream;
use socket2::SockRef;

use super::Hearing;
use super::Talker;
use crate::clock;
use crate::fault::Fault;
use crate::skim::Skimmer;

/// One connection, with what it says and what it is waiting for.
pub(super) struct Connection {
    stream: TcpStream,
    talker: Box<dyn Talker>,
    hearing: Hearing,
    skimmer: Skimmer,
    /// Bytes of the request that the socket has taken.
    sent: usize,
    /// Replies to the request on its way; 0 when there is none.
    expected: u64,
    asked_at: Instant,
    /// Bytes of the replies so far, if those are what is counted.
    heard: usize,
    /// Room for what is dropped, which nobody writes to.
    dropped: Vec<MaybeUninit<u8>>,
    /// The replies so far, if the talker reads them.
    replies: Vec<u8>,
}

/// All replies to one request have come, or messages have.
pub(super) struct Answer {
    pub(super) at: Instant,
    pub(super) units: u64,
    /// From when on the time counts, if it does.
    pub(super) timed_from: Option<Instant>,
    /// The last read filled the buffer, so that there may be more to read without another event.
    pub(super) may_have_more: bool,
}

impl Connection {
    /// Connects, and waits until that is done.
    pub(super) fn open(address: SocketAddr, talker: Box<dyn Talker>) -> Result<Self, Fault> {
        let doing = || format!("cannot connect to {address}");
        let stream = std::net::TcpStream::connect(address).map_err(Fault::io(doing()))?;
        stream.set_nodelay(true).map_err(Fault::io(doing()))?;
        stream.set_nonblocking(true).map_err(Fault::io(doing()))?;
        Ok(Self {
            stream: TcpStream::from_std(stream),
            hearing: talker.hearing(),
            talker,
            skimmer: Skimmer::default(),
            sent: 0,
            expected: 0,
            asked_at: clock::now(),
            heard: 0,
            dropped: Vec::new(),
            replies: Vec::new(),
        })
    }

    /// Returns what is to be polled.
    pub(super) fn source(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Whether the next request has to wait.
    pub(super) fn is_held(&self) -> bool {
        self.talker.is_held()
    }

    /// When the next request is due, if that is later than `now`.
    pub(super) fn held_until(&mut self, now: Instant) -> Option<Instant> {
        self.talker.held_until(now)
    }

    /// Sends the next request; false if there is none.
    pub(super) fn say(&mut self, now: Instant) -> Result<bool, Fault> {
        if self.hearing == Hearing::Listen && self.expected > 0 {
            return Ok(true);
        }
        self.expected = self.talker.prepare();
        if self.expected == 0 {
            return Ok(false);
        }
        self.sent = 0;
        self.heard = 0;
        self.asked_at = now;
        self.flush()?;
        Ok(true)
    }

    /// Sends what is left of the request, as far as the socket takes it.
    pub(super) fn flush(&mut self) -> Result<(), Fault> {
        while self.expected > 0 {
            let rest = &self.talker.request()[self.sent..];
            if rest.is_empty() {
                break;
            }
            match self.stream.write(rest) {
                Ok(sent) => self.sent += sent,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::io("cannot send")(error)),
            }
        }
        Ok(())
    }

    /// Reads until the request is answered or there is nothing to read for now.
    pub(super) fn hear(&mut self, buffer: &mut [u8]) -> Result<Option<Answer>, Fault> {
        loop {
            // Of a long reply whose length is known, the first bytes tell whether it is an error.
            let (room, read) = match self.hearing {
                Hearing::Bytes(len) if len >= DROPPED_BYTES_MIN && self.heard == 0 => {
                    (HEAD_BYTES, self.stream.read(&mut buffer[..HEAD_BYTES]))
                }
                Hearing::Bytes(len) if len >= DROPPED_BYTES_MIN => {
                    self.dropped.resize(len, MaybeUninit::uninit());
                    let socket = SockRef::from(&self.stream);
                    // The system counts what it drops, but does not copy it.
                    let read = socket.recv_with_flags(&mut self.dropped, libc::MSG_TRUNC);
                    (len, read)
                }
                _ => (buffer.len(), self.stream.read(buffer)),
            };
            let len = match read {
                Ok(0) if self.expected == 0 => return Ok(None),
                Ok(0) => return Err(Fault::io("cannot read")(ErrorKind::UnexpectedEof.into())),
                Ok(len) => len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Fault::io("cannot read")(error)),
            };
            let filled = len == room;
            // What was dropped is counted and not looked at.
            let bytes = &buffer[..len.min(buffer.len())];
            let is_first_read = self.expected > 0 && self.replies.is_empty();
            if self.hearing == Hearing::Read
                && is_first_read
                && let Some(units) = self.talker.on_known(bytes)
            {
                self.expected = 0;
                return Ok(Some(self.answer(clock::now(), units, filled)));
            }
            let is_answered = match self.hearing {
                Hearing::Bytes(expected) => {
                    if self.heard == 0 && bytes.first() == Some(&b'-') {
                        self.skimmer.feed(bytes)?;
                    }
                    self.heard += len;
                    self.heard >= expected
                }
                Hearing::Listen => {
                    self.skimmer.feed_alike(bytes, self.talker.message())?;
                    self.expected > 0 && self.skimmer.replies() >= self.expected
                }
                Hearing::Count | Hearing::Read => {
                    self.skimmer.feed(bytes)?;
                    if self.hearing == Hearing::Read {
                        self.replies.extend_from_slice(bytes);
                    }
                    self.expected > 0 && self.skimmer.replies() >= self.expected
                }
            };
            if is_answered {
                return self.answered(filled).map(Some);
            }
            // A read that left room has taken all there was; what comes later is another event.
            if !filled {
                return Ok(None);
            }
        }
    }

    fn answered(&mut self, may_have_more: bool) -> Result<Answer, Fault> {
        let at = clock::now();
        let units = match self.hearing {
            Hearing::Listen => self.talker.on_messages(self.skimmer.take_replies()),
            Hearing::Bytes(len) => {
                if self.heard != len || self.expected == 0 {
                    return Err(Fault::Unexpected(format!(
                        "{} bytes in place of {len}",
                        self.heard
                    )));
                }
                self.expected = 0;
                self.talker.on_replies(&[])?
            }
            Hearing::Count | Hearing::Read => {
                let replies = self.skimmer.take_replies();
                if replies != self.expected || !self.skimmer.is_between_replies() {
                    return Err(Fault::Unexpected(format!(
                        "{replies} replies to {} commands",
                        self.expected
                    )));
                }
                self.expected = 0;
                let units = self.talker.on_replies(&self.replies)?;
                self.replies.clear();
                units
            }
        };
        Ok(self.answer(at, units, may_have_more))
    }

    fn answer(&self, at: Instant, units: u64, may_have_more: bool) -> Answer {
        Answer {
            at,
            units,
            timed_from: self.talker.timed_from(self.asked_at),
            may_have_more,
        }
    }
}

/// Replies of so many bytes and more are dropped unread, but for their first bytes.
const DROPPED_BYTES_MIN: usize = 4_096;

/// As much of a reply as an error is to show of itself.
const HEAD_BYTES: usize = 64;
