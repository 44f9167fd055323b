//! Splits a line of configuration into words, with the quoting rules of redis.conf.
//!
//! `"..."` knows the escapes `\n \r \t \b \a \xHH`, `'...'` only `\'`. A quote may open in the middle
//! of a word, and the word goes on after it closes: `a"b c"d` is one word.

/// A quote was opened and never closed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnbalancedQuotes;

/// Splits `line` at blanks.
pub(crate) fn split_words(line: &[u8]) -> Result<Vec<Vec<u8>>, UnbalancedQuotes> {
    let mut words = Vec::new();
    let mut rest = skip_blanks(line);
    while !rest.is_empty() {
        let mut word = Vec::new();
        rest = skip_blanks(take_word(rest, &mut word)?);
        words.push(word);
    }
    Ok(words)
}

/// Whether a word stands for itself in a line, without quotes.
pub(super) fn is_plain(word: &[u8]) -> bool {
    let is_plain =
        |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'#' | b'\\');
    !word.is_empty() && word.iter().all(is_plain)
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == VERTICAL_TAB;
    let start = text.iter().position(|byte| !is_blank(byte));
    start.map_or(&[], |start| &text[start..])
}

fn take_word<'a>(text: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], UnbalancedQuotes> {
    let mut rest = text;
    loop {
        rest = match rest {
            [] | [b' ' | b'\n' | b'\r' | b'\t', ..] => return Ok(rest),
            [b'"', tail @ ..] => take_double_quoted(tail, word)?,
            [b'\'', tail @ ..] => take_single_quoted(tail, word)?,
            [byte, tail @ ..] => {
                word.push(*byte);
                tail
            }
        };
    }
}

fn take_double_quoted<'a>(
    text: &'a [u8],
    word: &mut Vec<u8>,
) -> Result<&'a [u8], UnbalancedQuotes> {
    let mut rest = text;
    loop {
        let (byte, tail) = match rest {
            [] => return Err(UnbalancedQuotes),
            [b'"', tail @ ..] => return Ok(tail),
            [b'\\', escaped, tail @ ..] => unescape(*escaped, tail),
            [byte, tail @ ..] => (*byte, tail),
        };
        word.push(byte);
        rest = tail;
    }
}

fn unescape(escaped: u8, tail: &[u8]) -> (u8, &[u8]) {
    if let (b'x', [high, low, after @ ..]) = (escaped, tail)
        && let (Some(high), Some(low)) = (hex_digit(*high), hex_digit(*low))
    {
        return (high * 16 + low, after);
    }
    let byte = match escaped {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => BACKSPACE,
        b'a' => BELL,
        other => other,
    };
    (byte, tail)
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

fn take_single_quoted<'a>(
    text: &'a [u8],
    word: &mut Vec<u8>,
) -> Result<&'a [u8], UnbalancedQuotes> {
    let mut rest = text;
    loop {
        let (byte, tail) = match rest {
            [] => return Err(UnbalancedQuotes),
            [b'\'', tail @ ..] => return Ok(tail),
            [b'\\', b'\'', tail @ ..] => (b'\'', tail),
            [byte, tail @ ..] => (*byte, tail),
        };
        word.push(byte);
        rest = tail;
    }
}

const BELL: u8 = 0x07;
const BACKSPACE: u8 = 0x08;
const VERTICAL_TAB: u8 = 0x0b;

#[cfg(test)]
mod tests {
    use super::UnbalancedQuotes;
    use super::split_words;

    fn words(line: &str) -> Vec<String> {
        let split = split_words(line.as_bytes()).unwrap();
        let text = |word: Vec<u8>| String::from_utf8_lossy(&word).into_owned();
        split.into_iter().map(text).collect()
    }

    #[test]
    fn words_end_at_blanks() {
        assert_eq!(words("  save\t60   1\r"), ["save", "60", "1"]);
        assert_eq!(words(" \t "), [""; 0]);
    }

    #[test]
    fn quotes_hold_blanks_and_escapes() {
        assert_eq!(words(r#"a "b\n\t\"\x41\q" ''"#), ["a", "b\n\t\"Aq", ""]);
        assert_eq!(words(r"'it\'s \n' x"), [r"it's \n", "x"]);
        assert_eq!(words(r#""\xzz""#), ["xzz"]);
    }

    #[test]
    fn a_word_goes_on_after_its_quote() {
        assert_eq!(words(r#"a"b c"d 'e'f"#), ["ab cd", "ef"]);
    }

    #[test]
    fn an_open_quote_is_an_error() {
        for line in ["\"a", "'a", "a \"b c", "\"a\\", "\"a\\\""] {
            assert_eq!(
                split_words(line.as_bytes()),
                Err(UnbalancedQuotes),
                "{line}"
            );
        }
    }
}
