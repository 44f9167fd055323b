//! The decoder for those who frame a connection with `tokio-util`.

use std::error::Error;
use std::fmt;
use std::io;

use bytes::Buf;
use bytes::BytesMut;
use tokio_util::codec;

use crate::batch::Batch;
use crate::decode::BatchBounds;
use crate::decode::Decoder;
use crate::error::ProtocolError;
use crate::limits::Limits;
use crate::request::OwnedRequest;
use crate::request::Request;

/// Frames requests: those that arrive, and those that a client sends.
///
/// Each request is copied out of the buffer. A server that wants none of that uses
/// [`Decoder`] itself.
#[derive(Debug, Default)]
pub struct Codec {
    decoder: Decoder,
    batch: Batch,
}

impl Codec {
    /// A codec at the start of a connection.
    pub fn new(limits: Limits) -> Self {
        Self {
            decoder: Decoder::new(limits),
            batch: Batch::new(),
        }
    }

    /// Sets other limits, as after AUTH.
    pub fn set_limits(&mut self, limits: Limits) {
        self.decoder.set_limits(limits);
    }
}

impl codec::Decoder for Codec {
    type Item = OwnedRequest;
    type Error = CodecError;

    fn decode(&mut self, input: &mut BytesMut) -> Result<Option<OwnedRequest>, CodecError> {
        loop {
            let used = self
                .decoder
                .decode(input, &mut self.batch, BatchBounds::ONE)
                .map_err(CodecError::Protocol)?;
            let request = match self.batch.len() {
                0 => None,
                _ => Some(self.batch.request(input, 0).to_owned()),
            };
            input.advance(used);
            input.reserve(self.decoder.missing_bytes().min(RESERVED_BYTES_MAX));
            // One without arguments is passed over.
            if request
                .as_ref()
                .is_none_or(|request| !request.as_request().is_empty())
            {
                return Ok(request);
            }
        }
    }
}

impl codec::Encoder<Request<'_>> for Codec {
    type Error = io::Error;

    fn encode(&mut self, request: Request<'_>, output: &mut BytesMut) -> io::Result<()> {
        let mut bytes = Vec::new();
        request.write_to(&mut bytes);
        output.extend_from_slice(&bytes);
        Ok(())
    }
}

/// Why a framed connection ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum CodecError {
    /// The connection failed.
    Io(io::Error),
    /// The bytes that arrived are no requests.
    Protocol(ProtocolError),
}

impl From<io::Error> for CodecError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Protocol(error) => write!(f, "Protocol error: {error}"),
        }
    }
}

impl Error for CodecError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Protocol(error) => Some(error),
        }
    }
}

/// Bytes to make room for at once, however long the client says that its argument is.
const RESERVED_BYTES_MAX: usize = 64 * 1_024;

#[cfg(test)]
mod tests {
    use tokio_util::codec::Decoder as _;
    use tokio_util::codec::Encoder as _;

    use super::*;

    #[test]
    fn frames_come_out_as_they_went_in() {
        let mut codec = Codec::new(Limits::default());
        let mut wire = BytesMut::from("\r\n*0\r\n");
        let sent: OwnedRequest = ["SET", "key", ""].iter().collect();
        codec.encode(sent.as_request(), &mut wire).unwrap();
        wire.extend_from_slice(b"PING\r\n*1\r\n$3\r\nab");

        let mut received = Vec::new();
        while let Some(request) = codec.decode(&mut wire).unwrap() {
            received.push(format!("{request:?}"));
        }

        assert_eq!(received, [r#"["SET", "key", ""]"#, r#"["PING"]"#]);
        assert_eq!(wire, "*1\r\n$3\r\nab");
    }

    #[test]
    fn what_came_before_a_fault_comes_out_first() {
        let mut codec = Codec::new(Limits::unauthenticated(Limits::BULK_BYTES_MAX));
        let mut wire = BytesMut::from("PING\r\n*11\r\n");

        assert!(codec.decode(&mut wire).unwrap().is_some());
        let fault = codec.decode(&mut wire).unwrap_err();

        let text = "Protocol error: unauthenticated multibulk length";
        assert_eq!(fault.to_string(), text);
    }
}
