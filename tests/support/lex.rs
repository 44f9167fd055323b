//! The words of a transcript: quoted strings, symbols and runs of one byte.

use std::collections::BTreeMap;

/// What symbols stand for: the text that is sent for them, and the rendered form that is compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    bound: BTreeMap<String, Bound>,
}

/// What one symbol stands for.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// What a command says for it.
    pub(crate) text: Vec<u8>,
    /// How the reply that it was bound to is rendered.
    pub(crate) rendered: String,
}

impl Symbols {
    pub(crate) fn bind(&mut self, name: &str, bound: Bound) {
        self.bound.insert(name.to_owned(), bound);
    }

    pub(crate) fn bound(&self, name: &str) -> Option<&Bound> {
        self.bound.get(name)
    }

    /// The name that stands for a reply which is rendered like this.
    pub(crate) fn name_of(&self, rendered: &str) -> Option<&str> {
        self.bound
            .iter()
            .find(|(_, bound)| bound.rendered == rendered)
            .map(|(name, _)| name.as_str())
    }

    /// The first of `id1`, `id2` ... that is free.
    pub(crate) fn free_name(&self) -> String {
        (1..)
            .map(|n| format!("id{n}"))
            .find(|name| !self.bound.contains_key(name))
            .expect("numbers do not run out")
    }
}

/// Splits the words of a command, with symbols replaced.
///
/// # Errors
///
/// What is wrong with the line, in words.
pub(crate) fn words(line: &str, symbols: &Symbols) -> Result<Vec<Vec<u8>>, String> {
    let mut rest = line.trim_matches(' ');
    let mut words = Vec::new();
    while !rest.is_empty() {
        let word;
        if let Some(after) = rest.strip_prefix('"') {
            let end = quote_end(after)?;
            word = unescape(&after[..end])?;
            rest = &after[end + 1..];
            if !rest.is_empty() && !rest.starts_with(' ') {
                return Err(format!("no blank after a closing quote: {line}"));
            }
        } else {
            let end = rest.find(' ').unwrap_or(rest.len());
            word = bare(&rest[..end], symbols)?;
            rest = &rest[end..];
        }
        words.push(word);
        rest = rest.trim_start_matches(' ');
    }
    Ok(words)
}

/// Where the string that begins at the front of `text` has its closing quote.
///
/// # Errors
///
/// If it has none.
pub(crate) fn quote_end(text: &str) -> Result<usize, String> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Ok(at),
            _ => {}
        }
    }
    Err(format!("a quote is not closed: {text}"))
}

/// Splits a leading symbol name off: letters, digits and underscores, a letter first.
pub(crate) fn symbol_name(text: &str) -> Option<(&str, &str)> {
    let letter = text.starts_with(|c: char| c.is_ascii_lowercase());
    let end = text
        .find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '_')
        .unwrap_or(text.len());
    letter.then(|| text.split_at(end))
}

fn bare(word: &str, symbols: &Symbols) -> Result<Vec<u8>, String> {
    if let Some(run) = run(word) {
        return Ok(run);
    }
    let mut out = Vec::new();
    let mut parts = word.split('$');
    out.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
    for part in parts {
        let Some((name, rest)) = symbol_name(part) else {
            out.push(b'$');
            out.extend_from_slice(part.as_bytes());
            continue;
        };
        let bound = symbols
            .bound(name)
            .ok_or_else(|| format!("nothing was bound to ${name}"))?;
        out.extend_from_slice(&bound.text);
        out.extend_from_slice(rest.as_bytes());
    }
    Ok(out)
}

/// `<x*5000>`
fn run(word: &str) -> Option<Vec<u8>> {
    let inner = word.strip_prefix('<')?.strip_suffix('>')?;
    let (byte, count) = inner.split_once('*')?;
    let count = count.parse().ok()?;
    (byte.len() == 1).then(|| byte.as_bytes().repeat(count))
}

fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        out.push(match bytes.next() {
            Some(b'r') => b'\r',
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(same @ (b'"' | b'\\')) => same,
            Some(b'x') => {
                let digits: Vec<u8> = bytes.by_ref().take(2).collect();
                std::str::from_utf8(&digits)
                    .ok()
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                    .ok_or_else(|| format!("\\x wants two digits: {text}"))?
            }
            _ => return Err(format!("no such escape: {text}")),
        });
    }
    Ok(out)
}
