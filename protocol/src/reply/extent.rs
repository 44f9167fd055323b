//! How far replies reach that were written before.

/// How many bytes the first of `replies` takes, attributes before it included; nothing if it is not whole, or no reply.
///
/// ```
/// use tailrace_protocol::reply_bytes;
///
/// assert_eq!(reply_bytes(b"*2\r\n:1\r\n$2\r\nhi\r\n+OK\r\n"), Some(16));
/// assert_eq!(reply_bytes(b"*2\r\n:1\r\n"), None);
/// ```
pub fn reply_bytes(replies: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut elements_left = 1_usize;
    while elements_left > 0 {
        let kind = *replies.get(at)?;
        let line = &replies[at + 1..];
        let (line, rest) = line.split_at(line.iter().position(|byte| *byte == b'\r')?);
        if rest.get(1) != Some(&b'\n') {
            return None;
        }
        at += 1 + line.len() + 2;
        elements_left -= 1;
        // Lengths below 0 are nulls.
        let count = || Some(usize::try_from(number(line)?).unwrap_or(0));
        let elements = match kind {
            b'+' | b'-' | b':' | b',' | b'#' | b'(' | b'_' => 0,
            b'$' | b'!' | b'=' => {
                let bytes = number(line)?;
                at = at.checked_add(usize::try_from(bytes).map_or(0, |bytes| bytes + 2))?;
                0
            }
            b'*' | b'~' | b'>' => count()?,
            b'%' => count()?.checked_mul(2)?,
            // What it is about follows.
            b'|' => count()?.checked_mul(2)?.checked_add(1)?,
            _ => return None,
        };
        elements_left = elements_left.checked_add(elements)?;
    }
    (at <= replies.len()).then_some(at)
}

fn number(line: &[u8]) -> Option<i64> {
    std::str::from_utf8(line).ok()?.parse().ok()
}
