//! `DEBUG PROTOCOL type`
//!
//! Replies with a value of that type, for tests of clients.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Version;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::ServerError;

#[expect(
    clippy::approx_constant,
    reason = "these are the reference's digits, and not meant to be a circle's"
)]
pub(super) fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let is_resp3 = reply.version() == Version::Resp3;
    match args.bytes()?.to_ascii_lowercase().as_slice() {
        b"string" => reply.bulk(b"Hello World"),
        b"integer" => reply.integer(12_345),
        b"double" => reply.double(3.141),
        b"bignum" if is_resp3 => reply.raw(&[b"(", BIG_NUMBER, b"\r\n"].concat()),
        b"bignum" => reply.bulk(BIG_NUMBER),
        b"null" => reply.null(),
        b"array" => {
            reply.array(3);
            (0..3).for_each(|number| reply.integer(number));
        }
        b"set" => {
            reply.set(3);
            (0..3).for_each(|number| reply.integer(number));
        }
        b"map" => {
            reply.map(3);
            for number in 0..3 {
                reply.integer(number);
                reply.boolean(number == 1);
            }
        }
        b"attrib" => {
            if is_resp3 {
                reply.raw(b"|1\r\n");
                reply.bulk(b"key-popularity");
                reply.array(2);
                reply.bulk(b"key:123");
                reply.integer(90);
            }
            reply.bulk(b"Some real reply following the attribute");
        }
        b"push" => {
            if !is_resp3 {
                return Err(ServerError::NotInResp2.into());
            }
            call.state.push(call.id, |push| {
                push.push(2);
                push.bulk(b"server-cpu-usage");
                push.integer(42);
            });
            reply.bulk(b"Some real reply following the push reply");
        }
        b"true" => reply.boolean(true),
        b"false" => reply.boolean(false),
        b"verbatim" => reply.verbatim(b"This is a verbatim\nstring"),
        _ => return Err(ServerError::ProtocolKind.into()),
    }
    Ok(Flow::Done)
}

const BIG_NUMBER: &[u8] = b"1234567999999999999999999999999999999";
