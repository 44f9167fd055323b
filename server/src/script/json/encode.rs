//! Values of a script to JSON.

use mlua::Error;
use mlua::Function;
use mlua::Table;
use mlua::Value;

use super::Invalid;
use super::Options;
use crate::script::arguments::type_name;
use crate::script::numbers;

/// Why a value has no JSON.
pub(super) enum Failure {
    /// In the words of the reference.
    Text(String),
    /// Lua has no memory left.
    Lua(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Lua(error)
    }
}

/// A table that is half written. A table may hold itself, so they are kept here and not on the
/// stack of the thread.
enum Open {
    Array { table: Table, at: i64, len: i64 },
    Object { table: Table, key: Value },
}

/// Writes `value` as JSON.
pub(super) fn encode(value: Value, options: &Options, next: &Function) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    let mut open = Vec::new();
    let mut value = value;
    loop {
        append(&mut out, value, options, &mut open)?;
        value = loop {
            let Some(top) = open.last_mut() else {
                return Ok(out);
            };
            match top {
                Open::Array { at, len, .. } if at == len => {
                    out.push(b']');
                    open.pop();
                }
                Open::Array { table, at, .. } => {
                    if *at > 0 {
                        out.push(b',');
                    }
                    *at += 1;
                    break table.raw_get(*at)?;
                }
                Open::Object { table, key } => {
                    let is_first = key.is_nil();
                    let (found, value): (Value, Value) =
                        next.call((&*table, std::mem::take(key)))?;
                    if found.is_nil() {
                        out.push(b'}');
                        open.pop();
                        continue;
                    }
                    if !is_first {
                        out.push(b',');
                    }
                    append_key(&mut out, &found, options)?;
                    *key = found;
                    break value;
                }
            }
        };
    }
}

fn append(
    out: &mut Vec<u8>,
    value: Value,
    options: &Options,
    open: &mut Vec<Open>,
) -> Result<(), Failure> {
    match value {
        Value::Nil => out.extend_from_slice(b"null"),
        Value::LightUserData(pointer) if pointer.0.is_null() => out.extend_from_slice(b"null"),
        Value::Boolean(true) => out.extend_from_slice(b"true"),
        Value::Boolean(false) => out.extend_from_slice(b"false"),
        Value::String(text) => append_string(out, &text.as_bytes()),
        Value::Integer(_) | Value::Number(_) => append_number(out, &value, options)?,
        Value::Table(table) => {
            let depth = i64::try_from(open.len() + 1).unwrap_or(i64::MAX);
            if depth > options.encode_depth_max.min(DEPTH_MAX) {
                return Err(Failure::Text(format!(
                    "Cannot serialise, excessive nesting ({depth})"
                )));
            }
            match array_len(&table, options)? {
                Some(len) if len > 0 => {
                    out.push(b'[');
                    open.push(Open::Array { table, at: 0, len });
                }
                _ => {
                    out.push(b'{');
                    let key = Value::Nil;
                    open.push(Open::Object { table, key });
                }
            }
        }
        other => return Err(refused(&other, "type not supported")),
    }
    Ok(())
}

/// The length of a table that is an array; `None` if it is an object, and so for one whose last index
/// looked at is no `int` of C.
fn array_len(table: &Table, options: &Options) -> Result<Option<i64>, Failure> {
    let (mut max, mut items) = (0, 0);
    for pair in table.pairs::<Value, Value>() {
        let index = numbers::of(&pair?.0).filter(|index| *index >= 1.0 && index.fract() == 0.0);
        let Some(index) = index else {
            return Ok(None);
        };
        if index > f64::from(max) {
            max = numbers::truncated_to_int(index);
        }
        items += 1;
    }
    let max = i64::from(max);
    let is_sparse = options.sparse_ratio > 0
        && max > options.sparse_ratio.saturating_mul(items)
        && max > options.sparse_safe;
    match is_sparse {
        false => Ok(Some(max)),
        true if options.sparse_convert => Ok(None),
        true => Err(Failure::Text(
            "Cannot serialise table: excessively sparse array".into(),
        )),
    }
}

fn append_key(out: &mut Vec<u8>, key: &Value, options: &Options) -> Result<(), Failure> {
    match key {
        Value::String(text) => append_string(out, &text.as_bytes()),
        Value::Integer(_) | Value::Number(_) => {
            out.push(b'"');
            append_number(out, key, options)?;
            out.push(b'"');
        }
        other => return Err(refused(other, "table key must be a number or string")),
    }
    out.push(b':');
    Ok(())
}

fn append_number(out: &mut Vec<u8>, value: &Value, options: &Options) -> Result<(), Failure> {
    let number = numbers::of(value).unwrap_or_default();
    match options.encode_invalid {
        _ if number.is_finite() => {}
        Invalid::Refused => return Err(refused(value, "must not be NaN or Inf")),
        Invalid::Written if number.is_nan() => {
            out.extend_from_slice(b"nan");
            return Ok(());
        }
        Invalid::Written => {}
        Invalid::Null => {
            out.extend_from_slice(b"null");
            return Ok(());
        }
    }
    let precision = usize::try_from(options.precision).unwrap_or(14);
    numbers::append_general(out, number, precision);
    Ok(())
}

fn append_string(out: &mut Vec<u8>, text: &[u8]) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' | b'/' => out.extend_from_slice(&[b'\\', byte]),
            8 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            12 => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0..=31 | 127 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

fn refused(value: &Value, why: &str) -> Failure {
    Failure::Text(format!("Cannot serialise {}: {why}", type_name(value)))
}

/// However deep a script allows tables to be, the reference's stack ends near here.
const DEPTH_MAX: i64 = 2_600;
