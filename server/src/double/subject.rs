//! What a request is about: its keys, and the group and the consumer that it names.

use tailrace_protocol::Request;

use crate::args::is_word;
use crate::spec::Spec;

/// What a request is about, as far as it can be read.
#[derive(Debug, Default)]
pub(crate) struct Subject<'a> {
    pub(crate) keys: Vec<&'a [u8]>,
    pub(crate) group: Option<&'a [u8]>,
    pub(crate) consumer: Option<&'a [u8]>,
}

impl<'a> Subject<'a> {
    /// Reads a request of this command.
    pub(crate) fn of(spec: &'static Spec, request: Request<'a>) -> Self {
        let keys = spec.keys_of(request).unwrap_or_default();
        let keys = keys.iter().filter_map(|key| request.get(key.position));
        let (group, consumer) = match spec.name {
            "xreadgroup" => {
                let mut words = request.iter();
                let at = words
                    .position(|word| is_word(word, "group"))
                    .unwrap_or(request.len());
                (request.get(at + 1), request.get(at + 2))
            }
            "xack" => (request.get(2), None),
            "xclaim" | "xautoclaim" => (request.get(2), request.get(3)),
            "xpending" => (request.get(2), pending_consumer(request)),
            "xgroup|createconsumer" | "xgroup|delconsumer" => (request.get(3), request.get(4)),
            "xgroup|create" | "xgroup|setid" | "xgroup|destroy" => (request.get(3), None),
            _ => (None, None),
        };
        Self {
            keys: keys.collect(),
            group,
            consumer,
        }
    }
}

/// `XPENDING key group [[IDLE ms] start end count [consumer]]`
fn pending_consumer(request: Request<'_>) -> Option<&[u8]> {
    let has_idle = request.get(3).is_some_and(|word| is_word(word, "idle"));
    request.get(if has_idle { 8 } else { 6 })
}
