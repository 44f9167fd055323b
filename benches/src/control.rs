//! A plain connection for what is not measured: preparing, asking, cleaning up.

use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::time::Duration;

use crate::fault::Fault;
use crate::resp::Reader;
use crate::resp::push_command;
use crate::skim::Skimmer;

/// A connection that sends one command at a time and waits for its reply.
pub(crate) struct Control {
    stream: TcpStream,
}

impl Control {
    /// Connects.
    pub(crate) fn open(address: SocketAddr) -> Result<Self, Fault> {
        let doing = format!("cannot connect to {address}");
        let stream = TcpStream::connect(address).map_err(Fault::io(&doing))?;
        stream
            .set_read_timeout(Some(REPLY_TIME_MAX))
            .map_err(Fault::io(&doing))?;
        Ok(Self { stream })
    }

    /// Sends one command and returns the bytes of its reply, which is no error.
    pub(crate) fn call(&mut self, args: &[&[u8]]) -> Result<Vec<u8>, Fault> {
        let name = || args.first().map_or_else(String::new, |name| lossy(name));
        let mut request = Vec::new();
        push_command(&mut request, args);
        self.stream
            .write_all(&request)
            .map_err(Fault::io(format!("cannot send {}", name())))?;

        let mut reply = Vec::new();
        let mut skimmer = Skimmer::default();
        let mut buffer = [0; 4_096];
        while skimmer.replies() == 0 {
            let len = self
                .stream
                .read(&mut buffer)
                .map_err(Fault::io(format!("no reply to {}", name())))?;
            if len == 0 {
                let end = std::io::ErrorKind::UnexpectedEof.into();
                return Err(Fault::io(format!("no reply to {}", name()))(end));
            }
            skimmer.feed(&buffer[..len])?;
            reply.extend_from_slice(&buffer[..len]);
        }
        Ok(reply)
    }

    /// Returns what the server tells about itself, `None` if it has no INFO.
    pub(crate) fn info(&mut self) -> Result<Option<Info>, Fault> {
        match self.call(&[b"INFO"]) {
            Ok(reply) => Ok(Reader::new(&reply).bulk()?.map(|text| Info(lossy(text)))),
            Err(Fault::ErrorReply(_)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}

/// The text of INFO.
pub(crate) struct Info(String);

impl Info {
    /// Returns the value of a field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| {
            let (key, value) = line.trim_end().split_once(':')?;
            (key == name).then_some(value)
        })
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// How long a reply is waited for: deleting what a run left behind may take a while.
const REPLY_TIME_MAX: Duration = Duration::from_secs(30);
