//! Inline commands: a line of words as a person types them, with quotes and escapes.

use crate::error::ProtocolError;
use crate::number;
use crate::request::Span;

/// Splits a line (without its line end) into words, appending their bytes to `bytes` and where they
/// lie in it to `spans`.
///
/// - Words are separated by blanks. Vertical tab and form feed may stand before a word but do not
///   end one.
/// - In double quotes `\n`, `\r`, `\t`, `\b`, `\a` and `\xHH` stand for bytes, and `\` before
///   anything else for that.
/// - In single quotes `\'` is a quote, and every other byte is itself.
/// - A word goes on after a closing quote: `"a"b` is `ab`. If `quotes_end_words`, a blank must follow.
/// - The byte 0xFF stands in a word only as `\xff`; sent as it is, it is left out, as the model does
///   (where it is the number that means "no byte").
///
/// # Errors
///
/// [`ProtocolError::UnbalancedQuotes`] if the line ends inside quotes, or a word does not end where it
/// must. What was appended before stays.
pub(crate) fn split(
    line: &[u8],
    quotes_end_words: bool,
    spans: &mut Vec<Span>,
    bytes: &mut Vec<u8>,
) -> Result<(), ProtocolError> {
    let mut rest = line;
    while let Some(start) = rest.iter().position(|byte| !number::is_blank(*byte)) {
        let word_start = bytes.len();
        rest = take_word(&rest[start..], quotes_end_words, bytes)?;
        spans.push(Span::new(word_start, bytes.len()));
    }
    Ok(())
}

/// Appends the word at the start of `rest` to `word` and returns what comes after it.
fn take_word<'a>(
    mut rest: &'a [u8],
    quotes_end_words: bool,
    word: &mut Vec<u8>,
) -> Result<&'a [u8], ProtocolError> {
    while let [first, tail @ ..] = rest {
        rest = match first {
            b'"' => take_double_quoted(tail, word)?,
            b'\'' => take_single_quoted(tail, word)?,
            b' ' | b'\t' | b'\r' | b'\n' => return Ok(tail),
            byte => {
                push_plain(word, *byte);
                tail
            }
        };
        if quotes_end_words && matches!(first, b'"' | b'\'') {
            return match rest.first() {
                Some(byte) if !number::is_blank(*byte) => Err(ProtocolError::UnbalancedQuotes),
                _ => Ok(rest),
            };
        }
    }
    Ok(rest)
}

/// Takes what follows an opening `"` up to the closing one.
///
/// An escape counts only if the line goes on behind it, as it must for the quote to be closed. So the
/// word `"\"` at the end of a line is one backslash.
fn take_double_quoted<'a>(
    mut rest: &'a [u8],
    word: &mut Vec<u8>,
) -> Result<&'a [u8], ProtocolError> {
    loop {
        let (byte, tail) = match rest {
            [] => return Err(ProtocolError::UnbalancedQuotes),
            [b'\\', b'x', high, low, tail @ ..]
                if !tail.is_empty() && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                word.push(hex_value(*high) << 4 | hex_value(*low));
                rest = tail;
                continue;
            }
            [b'\\', escaped, tail @ ..] if !tail.is_empty() => (unescape(*escaped), tail),
            [b'"', tail @ ..] => return Ok(tail),
            [byte, tail @ ..] => (*byte, tail),
        };
        push_plain(word, byte);
        rest = tail;
    }
}

/// Takes what follows an opening `'` up to the closing one.
fn take_single_quoted<'a>(
    mut rest: &'a [u8],
    word: &mut Vec<u8>,
) -> Result<&'a [u8], ProtocolError> {
    loop {
        let (byte, tail) = match rest {
            [] => return Err(ProtocolError::UnbalancedQuotes),
            [b'\\', b'\'', tail @ ..] if !tail.is_empty() => (b'\'', tail),
            [b'\'', tail @ ..] => return Ok(tail),
            [byte, tail @ ..] => (*byte, tail),
        };
        push_plain(word, byte);
        rest = tail;
    }
}

/// Appends a byte that stands for itself, unless it is the one that cannot.
fn push_plain(word: &mut Vec<u8>, byte: u8) {
    if byte != 0xff {
        word.push(byte);
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'a' => 0x07,
        other => other,
    }
}

/// The value of a digit that was found to be hexadecimal.
fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit.to_ascii_lowercase() - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each was sent to the reference behind ECHO.
    #[test]
    fn words_are_split_as_the_reference_splits_them() {
        let cases: [(&[u8], &[&[u8]]); 22] = [
            (b"", &[]),
            (b" \t\x0b\x0c\r ", &[]),
            (b"a b", &[b"a", b"b"]),
            (b"a\rb", &[b"a", b"b"]),
            (b"\x0ba\x0bb", &[b"a\x0bb"]),
            (b"\"\"", &[b""]),
            (b"\"\" ''", &[b"", b""]),
            (b"\"a\"b", &[b"ab"]),
            (b"a'b c'd\"e f\"", &[b"ab cde f"]),
            (br#""\n\r\t\b\a\q\\\"""#, &[b"\n\r\t\x08\x07q\\\""]),
            (br#""\x00\xfF\x4""#, &[b"\x00\xffx4"]),
            (br"'\n\''", &[b"\\n'"]),
            (b"\xfe\x80", &[b"\xfe\x80"]),
            // The byte that the reference cannot tell from none.
            (b"\xff\xfe", &[b"\xfe"]),
            (b"a\xff \xff", &[b"a", b""]),
            (b"\"a\xff\"", &[b"a"]),
            (b"\"a\\\xff\"", &[b"a"]),
            (b"'a\xff'", &[b"a"]),
            // An escape needs something behind it; here the quote has to be closed.
            (br#""\""#, &[b"\\"]),
            (br#""\x41""#, &[b"A"]),
            (br"'a\'", &[b"a\\"]),
            (br"\n", &[b"\\n"]),
        ];
        for (line, words) in cases {
            let words = words.iter().map(|word| word.to_vec()).collect();
            assert_eq!(split_up(line), Ok(words), "{line:?}");
        }
    }

    #[test]
    fn a_line_that_ends_inside_quotes_is_refused() {
        for line in [
            &b"\""[..],
            b"'",
            b"a \"b",
            b"a'b",
            b"\"a\\",
            b"\"\\x41",
            b"\"a'",
        ] {
            let fault = Err(ProtocolError::UnbalancedQuotes);
            assert_eq!(split_up(line), fault, "{line:?}");
        }
    }

    #[test]
    fn where_a_quote_ends_a_word_nothing_may_follow_it() {
        let split_up = |line| split_as(line, true);
        for line in [&b"\"a\"b"[..], b"'a''b'", b"\"\"\"a\"\"\""] {
            let fault = Err(ProtocolError::UnbalancedQuotes);
            assert_eq!(split_up(line), fault, "{line:?}");
        }
        let words = Ok(vec![b"ab".to_vec(), b"c".to_vec()]);
        for line in [&b"\"ab\" c"[..], b"a\"b\"\t'c'", b"ab c"] {
            assert_eq!(split_up(line), words, "{line:?}");
        }
    }

    fn split_up(line: &[u8]) -> Result<Vec<Vec<u8>>, ProtocolError> {
        split_as(line, false)
    }

    fn split_as(line: &[u8], quotes_end_words: bool) -> Result<Vec<Vec<u8>>, ProtocolError> {
        let mut spans = Vec::new();
        let mut bytes = Vec::new();
        split(line, quotes_end_words, &mut spans, &mut bytes)?;
        let request = crate::Request::new(&spans, &bytes);
        Ok(request.iter().map(<[u8]>::to_vec).collect())
    }
}
