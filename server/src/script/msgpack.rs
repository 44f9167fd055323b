//! `cmsgpack`: MessagePack for scripts.

use mlua::Function;
use mlua::Lua;
use mlua::MultiValue;
use mlua::Result;
use mlua::Table;
use mlua::Value;
use rmp::Marker;
use rmp::encode;

use super::arguments::Arguments;
use super::numbers;
use super::raised::Raised;

/// The library. `next` walks through tables.
pub(super) fn library(lua: &Lua, next: &Function) -> Result<Table> {
    let library = lua.create_table()?;
    let next = next.clone();
    let pack = move |lua: &Lua, args: MultiValue| {
        let args = Arguments::new(lua, "pack", &args);
        if args.len() == 0 {
            return Err(args.bad(0, "MessagePack pack needs input."));
        }
        let mut out = Vec::new();
        for index in 1..=args.len() {
            let value = args.get(index).cloned().unwrap_or_default();
            append(&mut out, value, 0, &next)?;
        }
        lua.create_string(out)
    };
    library.raw_set("pack", lua.create_function(pack)?)?;
    let all = |lua: &Lua, args: MultiValue| {
        let args = Arguments::new(lua, "unpack", &args);
        unpack(lua, &args, 0, 0)
    };
    library.raw_set("unpack", lua.create_function(all)?)?;
    let one = |lua: &Lua, args: MultiValue| {
        let args = Arguments::new(lua, "unpack_one", &args);
        let offset = optional(&args, 2)?;
        unpack(lua, &args, 1, offset)
    };
    library.raw_set("unpack_one", lua.create_function(one)?)?;
    let some = |lua: &Lua, args: MultiValue| {
        let args = Arguments::new(lua, "unpack_limit", &args);
        let (limit, offset) = (args.integer(2)?, optional(&args, 3)?);
        unpack(lua, &args, limit, offset)
    };
    library.raw_set("unpack_limit", lua.create_function(some)?)?;
    library.raw_set("_NAME", "cmsgpack")?;
    library.raw_set("_VERSION", "lua-cmsgpack 0.4.0")?;
    library.raw_set("_COPYRIGHT", "Copyright (C) 2012, Redis Ltd.")?;
    library.raw_set("_DESCRIPTION", "MessagePack C implementation for Lua")?;
    Ok(library)
}

fn optional(args: &Arguments<'_>, index: usize) -> Result<i64> {
    match args.get(index) {
        None | Some(Value::Nil) => Ok(0),
        Some(_) => args.integer(index),
    }
}

/// Writes a value. Tables that lie too deep, which may hold themselves, are written as nil.
fn append(out: &mut Vec<u8>, value: Value, depth: usize, next: &Function) -> Result<()> {
    match value {
        Value::Boolean(value) => written(encode::write_bool(out, value)),
        Value::Integer(value) => written(encode::write_sint(out, value)),
        Value::Number(value) => append_number(out, value),
        Value::String(text) => {
            let text = text.as_bytes();
            let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
            written(encode::write_str_len(out, len));
            out.extend_from_slice(&text);
        }
        Value::Table(table) if depth < DEPTH_MAX => append_table(out, &table, depth, next)?,
        _ => written(encode::write_nil(out)),
    }
    Ok(())
}

fn append_number(out: &mut Vec<u8>, value: f64) {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is compared right after"
    )]
    let (short, whole) = (value as f32, numbers::truncated(value));
    #[expect(clippy::cast_precision_loss, reason = "that is the question")]
    if value.is_finite() && whole as f64 == value {
        written(encode::write_sint(out, whole));
    } else if f64::from(short) == value {
        written(encode::write_f32(out, short));
    } else {
        written(encode::write_f64(out, value));
    }
}

fn append_table(out: &mut Vec<u8>, table: &Table, depth: usize, next: &Function) -> Result<()> {
    let (mut count, mut max, mut is_array) = (0_u32, 0, true);
    for pair in table.pairs::<Value, Value>() {
        count += 1;
        match pair?.0 {
            Value::Integer(index) if (1..=i64::from(i32::MAX)).contains(&index) => {
                max = max.max(index);
            }
            _ => is_array = false,
        }
    }
    if is_array && max == i64::from(count) {
        written(encode::write_array_len(out, count));
        for index in 1..=max {
            append(out, table.raw_get(index)?, depth + 1, next)?;
        }
        return Ok(());
    }
    written(encode::write_map_len(out, count));
    let mut key = Value::Nil;
    loop {
        let (found, value): (Value, Value) = next.call((table, key))?;
        if found.is_nil() {
            return Ok(());
        }
        append(out, found.clone(), depth + 1, next)?;
        append(out, value, depth + 1, next)?;
        key = found;
    }
}

/// A vector takes whatever is written to it.
fn written<T, E: std::fmt::Debug>(result: std::result::Result<T, E>) {
    result.expect("memory takes all that is written");
}

/// Why bytes are not MessagePack.
#[derive(Clone, Copy)]
enum Broken {
    TooShort,
    Format,
}

/// A table that is half read.
struct Open {
    table: Table,
    /// How many pieces are still to come: two for each pair of a map.
    left: usize,
    /// For an array, how many elements are there.
    len: Option<i64>,
    /// The key whose value comes next.
    key: Option<Value>,
}

impl Open {
    fn put(&mut self, value: Value) -> Result<()> {
        self.left -= 1;
        if let Some(len) = &mut self.len {
            *len += 1;
            return self.table.raw_set(*len, value);
        }
        match self.key.take() {
            None => {
                self.key = Some(value);
                Ok(())
            }
            Some(Value::Nil) => Err(Raised::Text(b"table index is nil".to_vec()).into()),
            Some(Value::Number(key)) if key.is_nan() => {
                Err(Raised::Text(b"table index is NaN".to_vec()).into())
            }
            Some(key) => self.table.raw_set(key, value),
        }
    }
}

/// One step of what is read.
enum Piece {
    Value(Value),
    Array(usize),
    Map(usize),
}

/// Reads up to `limit` values from `offset` on, and says where the next one begins; all, if both
/// are 0.
fn unpack(lua: &Lua, args: &Arguments<'_>, limit: i64, offset: i64) -> Result<MultiValue> {
    let data = args.string(1)?;
    let data = data.as_bytes();
    let len = data.len();
    if offset < 0 || limit < 0 {
        return Err(args.fail(format!(
            "Invalid request to unpack with offset of {offset} and limit of {len}."
        )));
    }
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let Some(mut rest) = data.get(start..) else {
        return Err(args.fail(format!(
            "Start offset {offset} greater than input length {len}."
        )));
    };
    let reads_all = limit == 0 && offset == 0;
    let mut values = MultiValue::new();
    let mut count = 0;
    while !rest.is_empty() && (reads_all || count < limit) {
        if values.len() >= VALUES_MAX {
            return Err(args.fail(TOO_MANY));
        }
        values.push_back(read_value(lua, args, &mut rest)?);
        count += 1;
    }
    if !reads_all {
        let next = match rest.is_empty() {
            true => -1,
            false => i64::try_from(len - rest.len()).unwrap_or(i64::MAX),
        };
        values.push_front(Value::Integer(next));
    }
    Ok(values)
}

fn read_value(lua: &Lua, args: &Arguments<'_>, rest: &mut &[u8]) -> Result<Value> {
    let mut open: Vec<Open> = Vec::new();
    loop {
        if open.len() > VALUES_MAX {
            return Err(args.fail(TOO_MANY));
        }
        let piece = read_piece(lua, rest)?.map_err(|broken| {
            args.fail(match broken {
                Broken::TooShort => "Missing bytes in input.",
                Broken::Format => "Bad data format in input.",
            })
        })?;
        let (left, len) = match piece {
            Piece::Value(_) => (0, None),
            Piece::Array(left) => (left, Some(0)),
            Piece::Map(pairs) => (pairs * 2, None),
        };
        let mut value = match piece {
            Piece::Value(value) => Some(value),
            Piece::Array(_) | Piece::Map(_) => {
                let table = lua.create_table()?;
                let key = None;
                open.push(Open {
                    table,
                    left,
                    len,
                    key,
                });
                None
            }
        };
        // What is complete goes into what it is part of.
        while let Some(top) = open.last_mut() {
            if let Some(value) = value.take() {
                top.put(value)?;
            }
            if top.left > 0 {
                break;
            }
            value = open.pop().map(|top| Value::Table(top.table));
        }
        if let Some(value) = value {
            return Ok(value);
        }
    }
}

/// Reads one value that holds no others, or how many a table holds.
fn read_piece(lua: &Lua, rest: &mut &[u8]) -> Result<std::result::Result<Piece, Broken>> {
    let Some((&first, behind)) = rest.split_first() else {
        return Ok(Err(Broken::TooShort));
    };
    let marker = Marker::from_u8(first);
    let head = match marker {
        Marker::U8 | Marker::I8 | Marker::Str8 => 1,
        Marker::U16 | Marker::I16 | Marker::Str16 | Marker::Array16 | Marker::Map16 => 2,
        Marker::U32 | Marker::I32 | Marker::F32 => 4,
        Marker::Str32 | Marker::Array32 | Marker::Map32 => 4,
        Marker::U64 | Marker::I64 | Marker::F64 => 8,
        _ => 0,
    };
    let Some((head, behind)) = behind.split_at_checked(head) else {
        return Ok(Err(Broken::TooShort));
    };
    let bits = head
        .iter()
        .fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let count = usize::try_from(bits).unwrap_or(usize::MAX);
    *rest = behind;
    let text_len = match marker {
        Marker::FixStr(len) => usize::from(len),
        Marker::Str8 | Marker::Str16 | Marker::Str32 => count,
        _ => return Ok(piece(marker, bits, count).ok_or(Broken::Format)),
    };
    let Some((text, behind)) = behind.split_at_checked(text_len) else {
        return Ok(Err(Broken::TooShort));
    };
    *rest = behind;
    Ok(Ok(Piece::Value(Value::String(lua.create_string(text)?))))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "the marker says what the bits are, and numbers of a script are doubles"
)]
fn piece(marker: Marker, bits: u64, count: usize) -> Option<Piece> {
    let number = match marker {
        Marker::Null => return Some(Piece::Value(Value::Nil)),
        Marker::True => return Some(Piece::Value(Value::Boolean(true))),
        Marker::False => return Some(Piece::Value(Value::Boolean(false))),
        Marker::FixArray(len) => return Some(Piece::Array(len.into())),
        Marker::FixMap(len) => return Some(Piece::Map(len.into())),
        Marker::Array16 | Marker::Array32 => return Some(Piece::Array(count)),
        Marker::Map16 | Marker::Map32 => return Some(Piece::Map(count)),
        Marker::FixPos(value) => value.into(),
        Marker::FixNeg(value) => value.into(),
        Marker::U8 | Marker::U16 | Marker::U32 => bits as f64,
        // Lua's own integers are signed.
        Marker::U64 | Marker::I64 => (bits as i64) as f64,
        Marker::I8 => (bits as i8).into(),
        Marker::I16 => (bits as i16).into(),
        Marker::I32 => (bits as i32).into(),
        Marker::F32 => f32::from_bits(bits as u32).into(),
        Marker::F64 => f64::from_bits(bits),
        _ => return None,
    };
    Some(Piece::Value(Value::Number(number)))
}

/// How deep tables are written.
const DEPTH_MAX: usize = 16;
/// The reference keeps all that it reads on Lua's stack, which ends here.
const VALUES_MAX: usize = 7_990;
const TOO_MANY: &str =
    "stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)";
