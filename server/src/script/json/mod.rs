//! `cjson`: JSON for scripts.
//!
//! It takes and gives what the reference's library does, which is not quite JSON: numbers may be
//! hexadecimal or infinite, strings hold any bytes, `/` is escaped, and arrays with holes are arrays
//! as long as few are missing. So no library for JSON proper would do.

mod decode;
mod encode;
mod number;

use std::sync::Arc;

use mlua::Function;
use mlua::Lua;
use mlua::MultiValue;
use mlua::Result;
use mlua::Table;
use mlua::Value;
use parking_lot::Mutex;

use super::arguments::Arguments;
use super::numbers;

/// What scripts may set, for all that follow.
#[derive(Clone, Debug)]
struct Options {
    /// Arrays with too many holes are objects, not an error.
    sparse_convert: bool,
    /// So many times as long as it has elements may an array be; 0 is without end.
    sparse_ratio: i64,
    /// Arrays up to this length may have any holes.
    sparse_safe: i64,
    encode_depth_max: i64,
    decode_depth_max: i64,
    encode_invalid: Invalid,
    decode_invalid: bool,
    precision: i64,
    keep_buffer: bool,
}

/// What becomes of numbers that JSON does not have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Invalid {
    Refused,
    Written,
    Null,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sparse_convert: false,
            sparse_ratio: 2,
            sparse_safe: 10,
            encode_depth_max: 1_000,
            decode_depth_max: 1_000,
            encode_invalid: Invalid::Refused,
            decode_invalid: true,
            precision: 14,
            keep_buffer: true,
        }
    }
}

/// The library, with options of its own. `next` walks through tables.
pub(super) fn library(lua: &Lua, next: &Function) -> Result<Table> {
    let options = Arc::new(Mutex::new(Options::default()));
    let library = lua.create_table()?;
    let shared = Arc::clone(&options);
    let walk = next.clone();
    let encode = move |lua: &Lua, args: MultiValue| {
        let args = Arguments::new(lua, "encode", &args);
        if args.len() != 1 {
            return Err(args.bad(1, "expected 1 argument"));
        }
        let options = shared.lock().clone();
        let value = args.get(1).cloned().unwrap_or_default();
        let text = encode::encode(value, &options, &walk).map_err(|error| match error {
            encode::Failure::Text(text) => args.fail(text),
            encode::Failure::Lua(error) => error,
        })?;
        lua.create_string(text)
    };
    library.raw_set("encode", lua.create_function(encode)?)?;
    let shared = Arc::clone(&options);
    let decode = move |lua: &Lua, args: MultiValue| {
        let args = Arguments::new(lua, "decode", &args);
        if args.len() != 1 {
            return Err(args.bad(1, "expected 1 argument"));
        }
        let text = args.string(1)?;
        let options = shared.lock().clone();
        decode::decode(lua, &text.as_bytes(), &options).map_err(|error| match error {
            decode::Failure::Text(text) => args.fail(text),
            decode::Failure::Lua(error) => error,
        })
    };
    library.raw_set("decode", lua.create_function(decode)?)?;
    add_settings(lua, &library, &options)?;
    let walk = next.clone();
    let new = move |lua: &Lua, _: MultiValue| self::library(lua, &walk);
    library.raw_set("new", lua.create_function(new)?)?;
    library.raw_set("null", Value::NULL)?;
    library.raw_set("_NAME", "cjson")?;
    library.raw_set("_VERSION", "2.1.0")?;
    Ok(library)
}

/// A function that sets options, if it is given something, and replies with what they are.
type Setting = fn(&Arguments<'_>, &Lua, &mut Options) -> Result<MultiValue>;

fn add_settings(lua: &Lua, library: &Table, options: &Arc<Mutex<Options>>) -> Result<()> {
    let add = |name: &'static str, args_max: usize, set: Setting| {
        let options = Arc::clone(options);
        let function = lua.create_function(move |lua, args: MultiValue| {
            let args = Arguments::new(lua, name, &args);
            if args.len() > args_max {
                return Err(args.bad(args_max + 1, "found too many arguments"));
            }
            set(&args, lua, &mut options.lock())
        })?;
        library.raw_set(name, function)
    };
    add("encode_sparse_array", 3, |args, _, options| {
        let mut values = MultiValue::new();
        values.push_back(boolean(args, &mut options.sparse_convert)?);
        values.push_back(integer(args, 2, &mut options.sparse_ratio, 0..=INT_MAX)?);
        values.push_back(integer(args, 3, &mut options.sparse_safe, 0..=INT_MAX)?);
        Ok(values)
    })?;
    add("encode_max_depth", 1, |args, _, options| {
        let value = integer(args, 1, &mut options.encode_depth_max, 1..=INT_MAX)?;
        Ok([value].into_iter().collect())
    })?;
    add("decode_max_depth", 1, |args, _, options| {
        let value = integer(args, 1, &mut options.decode_depth_max, 1..=INT_MAX)?;
        Ok([value].into_iter().collect())
    })?;
    add("encode_number_precision", 1, |args, _, options| {
        let value = integer(args, 1, &mut options.precision, 1..=14)?;
        Ok([value].into_iter().collect())
    })?;
    add("encode_keep_buffer", 1, |args, _, options| {
        let value = boolean(args, &mut options.keep_buffer)?;
        Ok([value].into_iter().collect())
    })?;
    add("decode_invalid_numbers", 1, |args, _, options| {
        let value = boolean(args, &mut options.decode_invalid)?;
        Ok([value].into_iter().collect())
    })?;
    add("encode_invalid_numbers", 1, |args, lua, options| {
        let names = [Invalid::Refused, Invalid::Written, Invalid::Null];
        if let Some(index) = choice(args, &["off", "on", "null"])? {
            options.encode_invalid = names[index];
        }
        let value = match options.encode_invalid {
            Invalid::Refused => Value::Boolean(false),
            Invalid::Written => Value::Boolean(true),
            Invalid::Null => Value::String(lua.create_string("null")?),
        };
        Ok([value].into_iter().collect())
    })
}

/// The first argument as one of these words, or as a boolean for the first two.
fn choice(args: &Arguments<'_>, words: &[&str]) -> Result<Option<usize>> {
    match args.get(1) {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Boolean(is_on)) => Ok(Some(usize::from(*is_on))),
        Some(_) => {
            let asked = args.string(1)?;
            let asked = asked.to_string_lossy();
            let found = words.iter().position(|word| *word == asked);
            let unknown = || args.bad(1, &format!("invalid option '{asked}'"));
            found.map(Some).ok_or_else(unknown)
        }
    }
}

fn boolean(args: &Arguments<'_>, option: &mut bool) -> Result<Value> {
    if let Some(index) = choice(args, &["off", "on"])? {
        *option = index == 1;
    }
    Ok(Value::Boolean(*option))
}

fn integer(
    args: &Arguments<'_>,
    index: usize,
    option: &mut i64,
    range: std::ops::RangeInclusive<i64>,
) -> Result<Value> {
    if !matches!(args.get(index), None | Some(Value::Nil)) {
        let value = i64::from(numbers::as_int(args.integer(index)?));
        if !range.contains(&value) {
            let (min, max) = (range.start(), range.end());
            return Err(args.bad(1, &format!("expected integer between {min} and {max}")));
        }
        *option = value;
    }
    Ok(Value::Integer(*option))
}

/// The largest `int` of C.
const INT_MAX: i64 = i32::MAX as i64;
