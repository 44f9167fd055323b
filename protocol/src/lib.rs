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

mod batch;
mod codec;
mod decode;
mod error;
mod inline;
mod limits;
pub mod number;
mod reply;
mod request;

pub use batch::Batch;
pub use codec::Codec;
pub use codec::CodecError;
pub use decode::BatchBounds;
pub use decode::Decoder;
pub use error::ProtocolError;
pub use limits::Limits;
pub use reply::Mark;
pub use reply::ReplyWriter;
pub use reply::Version;
pub use request::Iter;
pub use request::OwnedRequest;
pub use request::Request;
