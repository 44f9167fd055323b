//! `bit`: operations on numbers as 32 bits, for scripts.

use mlua::Lua;
use mlua::MultiValue;
use mlua::Result;
use mlua::Table;

use super::arguments::Arguments;

/// The library.
pub(super) fn library(lua: &Lua) -> Result<Table> {
    let bit = lua.create_table()?;
    let add = |name: &'static str, run: fn(&Arguments<'_>) -> Result<u32>| -> Result<()> {
        let function = lua.create_function(move |lua, args: MultiValue| {
            run(&Arguments::new(lua, name, &args)).map(|bits| f64::from(bits.cast_signed()))
        })?;
        bit.raw_set(name, function)
    };
    add("tobit", |args| bits(args, 1))?;
    add("bnot", |args| Ok(!bits(args, 1)?))?;
    add("band", |args| fold(args, |all, next| all & next))?;
    add("bor", |args| fold(args, |all, next| all | next))?;
    add("bxor", |args| fold(args, |all, next| all ^ next))?;
    add("lshift", |args| shift(args, |bits, by| bits << by))?;
    add("rshift", |args| shift(args, |bits, by| bits >> by))?;
    add("arshift", |args| {
        shift(args, |bits, by| (bits.cast_signed() >> by).cast_unsigned())
    })?;
    add("rol", |args| shift(args, u32::rotate_left))?;
    add("ror", |args| shift(args, u32::rotate_right))?;
    add("bswap", |args| Ok(bits(args, 1)?.swap_bytes()))?;
    let to_hex = |lua: &Lua, args: MultiValue| to_hex(&Arguments::new(lua, "tohex", &args));
    bit.raw_set("tohex", lua.create_function(to_hex)?)?;
    Ok(bit)
}

fn fold(args: &Arguments<'_>, with: fn(u32, u32) -> u32) -> Result<u32> {
    let mut all = bits(args, 1)?;
    for index in (2..=args.len()).rev() {
        all = with(all, bits(args, index)?);
    }
    Ok(all)
}

fn shift(args: &Arguments<'_>, by: fn(u32, u32) -> u32) -> Result<u32> {
    Ok(by(bits(args, 1)?, bits(args, 2)? & 31))
}

/// So many of the lower digits; in capitals if the number is negative.
fn to_hex(args: &Arguments<'_>) -> Result<String> {
    let value = bits(args, 1)?;
    let count = match args.get(2) {
        None => 8,
        Some(_) => bits(args, 2)?.cast_signed(),
    };
    let digits = if count < 0 {
        format!("{value:08X}")
    } else {
        format!("{value:08x}")
    };
    let count = usize::try_from(count.unsigned_abs()).unwrap_or(8).min(8);
    Ok(digits[8 - count..].to_owned())
}

/// The number's 32 lower bits. Adding 2^52 + 2^51 rounds it, half to even, and leaves them at the
/// end of the sum, as the reference has it.
fn bits(args: &Arguments<'_>, index: usize) -> Result<u32> {
    let sum = args.number(index)? + 6_755_399_441_055_744.0;
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is wanted")]
    Ok(sum.to_bits() as u32)
}
