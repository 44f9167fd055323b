//! Carries requests to another server, and says which of them it accepted.

use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::net::ToSocketAddrs;

use super::Cargo;
use super::Carried;
use crate::error::MigrateError;

impl Cargo {
    /// Connects, sends everything and reads the replies. A connection that breaks before the first of them is tried
    /// once more.
    pub(crate) fn carry(&self) -> Carried {
        match self.attempt() {
            Err(Broken {
                may_try_again: true,
                ..
            }) => self.attempt(),
            result => result,
        }
        .unwrap_or_else(|broken| Carried::nothing(broken.failure))
    }

    fn attempt(&self) -> Result<Carried, Broken> {
        let mut stream = self.connect().map_err(|error| match error.kind() {
            // The reference hears of that only when it writes.
            ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable => Broken::new(MigrateError::Writing, &error),
            _ => Broken {
                failure: MigrateError::Connecting,
                may_try_again: false,
            },
        })?;
        stream
            .write_all(&self.requests)
            .map_err(|error| Broken::new(MigrateError::Writing, &error))?;
        let mut replies = BufReader::new(stream);
        let mut refusal = None;
        for _ in 0..self.preludes {
            let reply = line(&mut replies).map_err(Broken::reading)?;
            refusal = refusal.or_else(|| refused(&reply));
        }
        let mut taken = Vec::with_capacity(self.keys.len());
        let is_open = refusal.is_none();
        for _ in &self.keys {
            match line(&mut replies) {
                Ok(reply) => {
                    let refused = refused(&reply);
                    taken.push(is_open && refused.is_none());
                    refusal = refusal.or(refused);
                }
                Err(error) if taken.is_empty() && refusal.is_none() => {
                    return Err(Broken::reading(error));
                }
                Err(_) => {
                    refusal = refusal.or(Some(MigrateError::Reading));
                    break;
                }
            }
        }
        Ok(Carried {
            taken,
            failure: refusal,
        })
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::from(ErrorKind::NotFound);
        let Some(port) = self.port else {
            return Err(last);
        };
        for address in (self.host.as_str(), port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, self.timeout) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(self.timeout))?;
                    stream.set_write_timeout(Some(self.timeout))?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// A connection broke, and nothing was taken for all that is known.
struct Broken {
    failure: MigrateError,
    may_try_again: bool,
}

impl Broken {
    fn new(failure: MigrateError, error: &io::Error) -> Self {
        let is_late = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
        Self {
            failure,
            may_try_again: !is_late,
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
    fn reading(error: io::Error) -> Self {
        Self::new(MigrateError::Reading, &error)
    }
}

/// Reads a line, up to its end or to as much as is looked at.
fn line(replies: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    replies.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let end = line.iter().position(|byte| b"\r\n\0".contains(byte));
    line.truncate(end.unwrap_or(line.len()));
    Ok(line)
}

/// What the other server has against a request, if that is its reply.
fn refused(reply: &[u8]) -> Option<MigrateError> {
    let text = reply.strip_prefix(b"-")?;
    Some(MigrateError::Target(text.to_vec()))
}

/// Longer replies are no replies to what is asked.
const LINE_BYTES_MAX: u64 = 1_023;

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn cargo(port: u16, keys: usize) -> Cargo {
        Cargo {
            host: "127.0.0.1".to_owned(),
            port: Some(port),
            timeout: Duration::from_millis(300),
            requests: b"SELECT and so on".to_vec(),
            preludes: 1,
            keys: vec![Box::from(*b"k"); keys],
        }
    }

    /// A server that gives each connection the next of these answers, and closes it then or leaves it open.
    fn carried(answers: Vec<(&'static str, bool)>, keys: usize) -> Carried {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let mut open = Vec::new();
            for (answer, stays) in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut asked = [0; 16];
                stream.read_exact(&mut asked).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
                if stays {
                    open.push(stream);
                }
            }
            open
        });
        let carried = cargo(port, keys).carry();
        drop(server.join().unwrap());
        carried
    }

    #[test]
    fn each_key_is_taken_that_was_accepted() {
        let all = carried(vec![("+OK\r\n+OK\r\n+OK\r\n", true)], 2);
        assert_eq!((all.taken, all.failure), (vec![true, true], None));
        let some = carried(vec![("+OK\r\n-BUSYKEY no\r\n+OK\r\n", true)], 2);
        assert_eq!(some.taken, [false, true]);
        assert_eq!(
            some.failure,
            Some(MigrateError::Target(b"BUSYKEY no".to_vec()))
        );
    }

    #[test]
    fn nothing_is_taken_where_the_database_is_refused() {
        let none = carried(vec![("-ERR DB index\r\n+OK\r\n-ERR other\r\n", true)], 2);
        assert_eq!(none.taken, [false, false]);
        assert_eq!(
            none.failure,
            Some(MigrateError::Target(b"ERR DB index".to_vec()))
        );
    }

    #[test]
    fn what_was_taken_before_the_connection_broke_was_taken() {
        let some = carried(vec![("+OK\r\n+OK\r\n", false)], 2);
        assert_eq!(
            (some.taken, some.failure),
            (vec![true], Some(MigrateError::Reading))
        );
    }

    #[test]
    fn a_connection_that_breaks_at_once_is_tried_again() {
        let second = carried(vec![("", false), ("+OK\r\n+OK\r\n", true)], 1);
        assert_eq!((second.taken, second.failure), (vec![true], None));
        let neither = carried(vec![("+OK\r\n", false), ("", false)], 1);
        assert_eq!(
            (neither.taken, neither.failure),
            (vec![], Some(MigrateError::Reading))
        );
    }

    #[test]
    fn a_server_that_says_nothing_is_waited_for_once() {
        let late = carried(vec![("+OK\r\n", true)], 1);
        assert_eq!(
            (late.taken, late.failure),
            (vec![], Some(MigrateError::Reading))
        );
    }

    #[test]
    fn where_nobody_listens_nothing_is_taken() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        assert_eq!(cargo(port, 1).carry().failure, Some(MigrateError::Writing));
        let mut lost = cargo(port, 1);
        lost.host = "no host at all".to_owned();
        assert_eq!(lost.carry().failure, Some(MigrateError::Connecting));
    }
}
