//! Writes replies as the transcripts show them.

use crate::value::Value;

/// How wide a line may become before a reply is spread over several.
const WIDTH_MAX: usize = 110;

/// A string of one repeated byte is written `<x*64>` from this length on.
const RUN_LEN_MIN: usize = 64;

/// Renders `value` as it stands in a transcript: on one line if it fits, otherwise indented over several.
pub(crate) fn reply(value: &Value) -> String {
    if let Value::Error(text) = value {
        let text = escape(text);
        return if text.trim() == text {
            format!("!{text}")
        } else {
            format!("!\"{text}\"")
        };
    }
    let mut out = String::new();
    block(value, 0, &mut out);
    out
}

/// Renders anything that has no elements; `None` for what has.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    Some(match value {
        Value::Simple(text) => simple(text),
        Value::Error(text) => format!("!\"{}\"", escape(text)),
        Value::Integer(number) => number.to_string(),
        Value::Double(number) => format!("{number}d"),
        Value::BigNumber(number) => format!("{number}n"),
        Value::Boolean(truth) => truth.to_string(),
        Value::Bulk(text) => run(text).unwrap_or_else(|| format!("\"{}\"", escape(text))),
        Value::Verbatim(format, text) => format!("={format}:\"{}\"", escape(text)),
        Value::Nil => "nil".to_owned(),
        Value::NilArray => "nil-array".to_owned(),
        Value::Null => "null".to_owned(),
        Value::Array(_) | Value::Set(_) | Value::Push(_) => return None,
        Value::Map(_) | Value::Attribute(..) => return None,
    })
}

/// The brackets and the elements of an aggregate, as [`scalar`] and the patterns see them.
pub(crate) fn aggregate(value: &Value) -> Option<(&'static str, &'static str, &[Value])> {
    Some(match value {
        Value::Array(items) => ("[", "]", items),
        Value::Set(items) => ("~{", "}", items),
        Value::Push(items) => ("push >[", "]", items),
        Value::Map(items) => ("{", "}", items),
        _ => return None,
    })
}

/// Writes bytes so that they fit between double quotes.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'\r' => text.push_str("\\r"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

fn simple(text: &[u8]) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphabetic() || b"@_|-".contains(byte);
    let word = escape(text);
    let reserved = matches!(
        word.as_str(),
        "" | "nil" | "nil-array" | "null" | "true" | "false" | "push" | "attribute"
    );
    if text.iter().all(plain) && !reserved {
        word
    } else {
        format!("+\"{word}\"")
    }
}

fn run(text: &[u8]) -> Option<String> {
    let first = text.first().filter(|byte| byte.is_ascii_alphanumeric())?;
    let repeats = text.len() >= RUN_LEN_MIN && text.iter().all(|byte| byte == first);
    repeats.then(|| format!("<{}*{}>", char::from(*first), text.len()))
}

fn line(value: &Value) -> String {
    if let Value::Attribute(items, of) = value {
        return format!("attribute {{{}}} {}", lines(items), line(of));
    }
    let Some((open, close, items)) = aggregate(value) else {
        return scalar(value).expect("what has no elements is a scalar");
    };
    format!("{open}{}{close}", lines(items))
}

fn lines(items: &[Value]) -> String {
    items.iter().map(line).collect::<Vec<_>>().join(" ")
}

/// Appends `value` to `out`, whose last line is `indent` deep and still empty.
fn block(value: &Value, indent: usize, out: &mut String) {
    let whole = line(value);
    let Some((open, close, items)) = aggregate(value) else {
        return out.push_str(&whole);
    };
    if indent + whole.len() <= WIDTH_MAX || items.is_empty() {
        return out.push_str(&whole);
    }
    out.push_str(open);
    let step = if is_paired(value, items) { 2 } else { 1 };
    let mut width = usize::MAX;
    for chunk in items.chunks(step) {
        let short = lines(chunk);
        if width.saturating_add(short.len() + 1) <= WIDTH_MAX {
            out.push(' ');
            out.push_str(&short);
            width += short.len() + 1;
            continue;
        }
        newline(out, indent + 2);
        let (last, keys) = chunk.split_last().expect("a chunk is not empty");
        for key in keys {
            out.push_str(&line(key));
            out.push(' ');
        }
        let before = out.len();
        block(last, indent + 2, out);
        let spread = out[before..].contains('\n');
        width = if spread {
            usize::MAX
        } else {
            indent + 2 + short.len()
        };
    }
    newline(out, indent);
    out.push_str(close);
}

/// Whether keys and values alternate, which RESP2 does not say.
fn is_paired(value: &Value, items: &[Value]) -> bool {
    let mut keys = items.iter().step_by(2);
    let looks_paired =
        items.len().is_multiple_of(2) && keys.all(|key| matches!(key, Value::Bulk(_)));
    matches!(value, Value::Map(_)) || looks_paired
}

fn newline(out: &mut String, indent: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}
