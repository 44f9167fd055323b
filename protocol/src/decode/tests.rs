//! What comes out of bytes, however the network cut them.

use super::*;
use crate::request::OwnedRequest;

#[test]
fn a_pipeline_of_both_forms_is_decoded_in_one_go() {
    let input = b"*2\r\n$4\r\nECHO\r\n$3\r\na\0b\r\nPING\r\n\r\n*0\r\n*1\r\n$4\r\nPI";
    let mut batch = Batch::new();
    let mut decoder = Decoder::default();

    let used = decoder.decode(input, &mut batch, BatchBounds::NONE);

    assert_eq!(used, Ok(input.len() - 10));
    assert_eq!(batch.len(), 2);
    assert_eq!(args(batch.request(input, 0)), [&b"ECHO"[..], b"a\0b"]);
    assert_eq!(args(batch.request(input, 1)), [b"PING"]);
    assert_eq!(batch.input_end(0), 23);
    assert_eq!(decoder.missing_bytes(), 4);
}

fn args(request: crate::Request<'_>) -> Vec<Vec<u8>> {
    let owned: OwnedRequest = request.to_owned();
    owned.as_request().iter().map(<[u8]>::to_vec).collect()
}
