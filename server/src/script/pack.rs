//! `struct`: values in the layout of C structures, for scripts.
//!
//! A format is a row of letters. `<` and `>` choose the order of bytes, `!n` aligns to at most n bytes.

use mlua::Error;
use mlua::Lua;
use mlua::MultiValue;
use mlua::Result;
use mlua::Table;
use mlua::Value;

use super::arguments::Arguments;
use super::numbers;

/// The library.
pub(super) fn library(lua: &Lua) -> Result<Table> {
    let library = lua.create_table()?;
    let pack = |lua: &Lua, mut args: MultiValue| {
        if !args.is_empty() {
            // The first value that is missing is nil.
            args.push_back(Value::Nil);
        }
        lua.create_string(pack(&Arguments::new(lua, "pack", &args))?)
    };
    library.raw_set("pack", lua.create_function(pack)?)?;
    let unpack = |lua: &Lua, args: MultiValue| unpack(lua, &Arguments::new(lua, "unpack", &args));
    library.raw_set("unpack", lua.create_function(unpack)?)?;
    let size = |lua: &Lua, args: MultiValue| size(&Arguments::new(lua, "size", &args));
    library.raw_set("size", lua.create_function(size)?)?;
    Ok(library)
}

/// A format, and how far it was read.
struct Format<'a, 'b> {
    args: &'b Arguments<'a>,
    text: Vec<u8>,
    at: usize,
    is_little: bool,
    align: usize,
}

/// One letter of a format, with the size of its value: 0 where that is not known yet.
#[derive(Clone, Copy)]
struct Item {
    letter: u8,
    bytes: usize,
}

impl<'a, 'b> Format<'a, 'b> {
    fn of(args: &'b Arguments<'a>) -> Result<Self> {
        let text = args.string(1)?.as_bytes().to_vec();
        let text = crate::args::text(&text).to_vec();
        Ok(Self {
            args,
            text,
            at: 0,
            is_little: cfg!(target_endian = "little"),
            align: 1,
        })
    }

    fn next(&mut self) -> Result<Option<Item>> {
        let Some(&letter) = self.text.get(self.at) else {
            return Ok(None);
        };
        self.at += 1;
        let bytes = match letter {
            b'B' | b'b' | b'x' => 1,
            b'H' | b'h' => 2,
            b'f' => 4,
            b'L' | b'l' | b'T' | b'd' => 8,
            b'c' => self.number(1)?,
            b'i' | b'I' => {
                let bytes = self.number(4)?;
                if bytes > INTEGER_BYTES_MAX {
                    let why = format!(
                        "integral size {bytes} is larger than limit of {INTEGER_BYTES_MAX}"
                    );
                    return Err(self.args.fail(why));
                }
                bytes
            }
            _ => 0,
        };
        Ok(Some(Item { letter, bytes }))
    }

    /// The number that stands next, or `otherwise` if none does.
    fn number(&mut self, otherwise: usize) -> Result<usize> {
        let mut number = None;
        while let Some(digit @ b'0'..=b'9') = self.text.get(self.at) {
            let digit = usize::from(digit - b'0');
            let next = number.unwrap_or(0) * 10 + digit;
            if next > NUMBER_MAX {
                return Err(self.args.fail("integral size overflow"));
            }
            number = Some(next);
            self.at += 1;
        }
        Ok(number.unwrap_or(otherwise))
    }

    /// How many bytes are left out before a value that would stand at `position`.
    fn padding(&self, position: usize, item: Item) -> usize {
        if item.bytes == 0 || item.letter == b'c' {
            return 0;
        }
        let bytes = item.bytes.min(self.align);
        bytes.wrapping_sub(position & bytes.wrapping_sub(1)) & bytes.wrapping_sub(1)
    }

    /// A letter that stands for no value.
    fn control(&mut self, letter: u8) -> Result<()> {
        match letter {
            b' ' => {}
            b'>' => self.is_little = false,
            b'<' => self.is_little = true,
            b'!' => {
                let align = self.number(8)?;
                if !align.is_power_of_two() {
                    let why = format!("alignment {align} is not a power of 2");
                    return Err(self.args.fail(why));
                }
                self.align = align;
            }
            other => {
                let other = char::from(other);
                return Err(self
                    .args
                    .bad(1, &format!("invalid format option '{other}'")));
            }
        }
        Ok(())
    }

    /// Bytes that are least significant first, in the order that was chosen, or back.
    fn ordered<const N: usize>(&self, mut bytes: [u8; N]) -> [u8; N] {
        if !self.is_little {
            bytes.reverse();
        }
        bytes
    }
}

fn pack(args: &Arguments<'_>) -> Result<Vec<u8>> {
    let mut format = Format::of(args)?;
    let mut out = Vec::new();
    let mut next = 2;
    while let Some(item) = format.next()? {
        let padding = format.padding(out.len(), item);
        out.resize(out.len() + padding, 0);
        match item.letter {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let value = integer(args.number(next)?);
                next += 1;
                put_integer(&mut out, value, item.bytes, format.is_little);
            }
            b'x' => out.push(0),
            b'f' => {
                #[expect(clippy::cast_possible_truncation, reason = "a float has fewer digits")]
                let value = args.number(next)? as f32;
                next += 1;
                out.extend_from_slice(&format.ordered(value.to_le_bytes()));
            }
            b'd' => {
                let value = args.number(next)?;
                next += 1;
                out.extend_from_slice(&format.ordered(value.to_le_bytes()));
            }
            b'c' | b's' => {
                let text = args.string(next)?;
                next += 1;
                let text = text.as_bytes();
                let bytes = if item.bytes == 0 {
                    text.len()
                } else {
                    item.bytes
                };
                let Some(text) = text.get(..bytes) else {
                    return Err(args.bad(next, "string too short"));
                };
                out.extend_from_slice(text);
                if item.letter == b's' {
                    out.push(0);
                }
            }
            letter => format.control(letter)?,
        }
        if out.len() > OUT_BYTES_MAX {
            return Err(Error::MemoryError("not enough memory".into()));
        }
    }
    Ok(out)
}

fn unpack(lua: &Lua, args: &Arguments<'_>) -> Result<MultiValue> {
    let mut format = Format::of(args)?;
    let data = args.string(2)?;
    let data = data.as_bytes();
    let start = match args.get(3) {
        None | Some(Value::Nil) => 1,
        Some(_) => args.integer(3)?,
    };
    if start == 0 {
        return Err(args.bad(3, "offset must be 1 or greater"));
    }
    let too_short = || args.bad(2, "data string too short");
    // A negative offset is a very large one.
    let mut at = usize::try_from(start - 1).map_err(|_| too_short())?;
    let mut values: Vec<Value> = Vec::new();
    while let Some(item) = format.next()? {
        at += format.padding(at, item);
        let rest = data.get(at..).ok_or_else(too_short)?;
        let bytes = rest.get(..item.bytes).ok_or_else(too_short)?;
        let mut taken = item.bytes;
        match item.letter {
            b'b' | b'B' | b'h' | b'H' | b'l' | b'L' | b'T' | b'i' | b'I' => {
                let is_signed = item.letter.is_ascii_lowercase();
                values.push(Value::Number(get_integer(
                    bytes,
                    is_signed,
                    format.is_little,
                )));
            }
            b'x' => {}
            b'f' => {
                let bytes = bytes.try_into().expect("a float has four bytes");
                values.push(Value::Number(
                    f32::from_le_bytes(format.ordered(bytes)).into(),
                ));
            }
            b'd' => {
                let bytes = bytes.try_into().expect("a double has eight bytes");
                values.push(Value::Number(f64::from_le_bytes(format.ordered(bytes))));
            }
            b'c' => {
                if taken == 0 {
                    let size = values.pop();
                    let size = size.and_then(|size| lua.coerce_number(size).ok().flatten());
                    let Some(size) = size else {
                        return Err(args.fail("format 'c0' needs a previous size"));
                    };
                    taken = usize::try_from(numbers::truncated(size)).map_err(|_| too_short())?;
                }
                let text = rest.get(..taken).ok_or_else(too_short)?;
                values.push(Value::String(lua.create_string(text)?));
            }
            b's' => {
                let Some(end) = rest.iter().position(|&byte| byte == 0) else {
                    return Err(args.fail("unfinished string in data"));
                };
                values.push(Value::String(lua.create_string(&rest[..end])?));
                taken = end + 1;
            }
            letter => format.control(letter)?,
        }
        at += taken;
    }
    values.push(Value::Integer(i64::try_from(at + 1).unwrap_or(i64::MAX)));
    Ok(values.into())
}

fn size(args: &Arguments<'_>) -> Result<i64> {
    let mut format = Format::of(args)?;
    let mut at: usize = 0;
    while let Some(item) = format.next()? {
        at += format.padding(at, item);
        match item.letter {
            b's' => return Err(args.bad(1, "option 's' has no fixed size")),
            b'c' if item.bytes == 0 => {
                return Err(args.bad(1, "option 'c0' has no fixed size"));
            }
            letter if !letter.is_ascii_alphanumeric() => format.control(letter)?,
            _ => {}
        }
        at = at.saturating_add(item.bytes);
    }
    Ok(i64::try_from(at).unwrap_or(i64::MAX))
}

/// The bits of a number as an integer, signed if it is negative.
fn integer(value: f64) -> u64 {
    if value < 0.0 {
        numbers::truncated(value).cast_unsigned()
    } else {
        numbers::truncated_unsigned(value)
    }
}

fn put_integer(out: &mut Vec<u8>, value: u64, bytes: usize, is_little: bool) {
    let mut wide = [0; INTEGER_BYTES_MAX];
    let start = out.len();
    wide[..8].copy_from_slice(&value.to_le_bytes());
    out.extend_from_slice(&wide[..bytes]);
    if !is_little {
        out[start..].reverse();
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "every number of a script is a double"
)]
fn get_integer(bytes: &[u8], is_signed: bool, is_little: bool) -> f64 {
    let fold = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    let value = if is_little {
        bytes.iter().rev().fold(0, fold)
    } else {
        bytes.iter().fold(0, fold)
    };
    if !is_signed {
        return value as f64;
    }
    // Where the sign is, modulo the 64 bits that there are: of more than eight bytes one of the lower is
    // taken for it, as on x86-64.
    let at = u32::try_from(bytes.len() * 8 + 63).unwrap_or_default();
    let above = u64::MAX.wrapping_shl(at);
    let is_negative = value & above != 0;
    let signed = if is_negative { value | above } else { value };
    signed.cast_signed() as f64
}

/// An integer has at most so many bytes.
const INTEGER_BYTES_MAX: usize = 32;
/// The largest number in a format, an `int` of C.
const NUMBER_MAX: usize = i32::MAX as usize;
/// A script may not take more than that in any case.
const OUT_BYTES_MAX: usize = 512 * 1_024 * 1_024;
