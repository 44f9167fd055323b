//! RESP2 and RESP3 on the wire: bytes in, requests out; replies in, bytes out.
//!
//! This crate owns framing and nothing else. It does not know what a stream is, it never reads a
//! socket, and it never builds a tree of reply values: a handler states a reply through
//! [`ReplyWriter`] in the order in which it goes out.
//!
//! - [`Decoder`] finds whole requests in an input buffer and notes in a reusable [`Batch`] where
//!   their arguments lie; [`Request`] is one of them, borrowed.
//! - [`ReplyWriter`] appends replies to a `Vec<u8>`, in the dialect ([`Version`]) of the client.
//! - [`number`] reads and writes numbers as clients see them.
//! - [`Codec`] is the same decoder for those who frame with `tokio-util`.
//!
//! # Examples
//!
//! Half a command stays with the caller, who gives it again when more has arrived.
//!
//! ```
//! use tailrace_protocol::{Batch, BatchBounds, Decoder, Limits, ReplyWriter, Version};
//!
//! let mut decoder = Decoder::new(Limits::default());
//! let mut batch = Batch::new();
//! let mut input = b"PING\r\n*2\r\n$4\r\nECHO\r\n$2\r\nh".to_vec();
//!
//! let used = decoder.decode(&input, &mut batch, BatchBounds::NONE)?;
//! assert_eq!((used, batch.len()), (6, 1));
//! assert_eq!(batch.request(&input, 0).get(0), Some(&b"PING"[..]));
//!
//! input.drain(..used);
//! input.extend_from_slice(b"i\r\n");
//! decoder.decode(&input, &mut batch, BatchBounds::NONE)?;
//! let mut output = Vec::new();
//! let mut reply = ReplyWriter::new(&mut output, Version::Resp3);
//! for arg in batch.request(&input, 0).skip(1) {
//!     reply.bulk(arg);
//! }
//! assert_eq!(output, b"$2\r\nhi\r\n");
//! # Ok::<(), tailrace_protocol::ProtocolError>(())
//! ```

mod batch;
mod codec;
mod decode;
mod error;
mod inline;
mod limits;
pub mod number;
mod reply;
mod request;
mod requests;

pub use batch::Batch;
pub use codec::Codec;
pub use codec::CodecError;
pub use decode::BatchBounds;
pub use decode::Decoder;
pub use error::ProtocolError;
pub use limits::Limits;
pub use reply::IdPairs;
pub use reply::Mark;
pub use reply::Pieces;
pub use reply::ReplyWriter;
pub use reply::Room;
pub use reply::Stamp;
pub use reply::Version;
pub use reply::reply_bytes;
pub use request::Iter;
pub use request::OwnedRequest;
pub use request::Request;
pub use request::RequestBuffer;
pub use requests::OwnedRequests;
