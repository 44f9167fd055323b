//! The kinds of values that directives take, and how the reference reads each.
//!
//! The messages are the reference's own: clients see them behind "CONFIG SET failed ... - ".

use std::env;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use super::checks::Check;
use super::events::EventClasses;
use super::limits::OutputLimits;
use super::numbers::parse_integer;
use super::numbers::parse_lenient;
use super::numbers::parse_memory;
use super::value::Value;
use super::words::is_plain;
use crate::args::is_word;

/// What a directive takes. Bounds are inclusive.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// `yes` or `no`.
    YesNo,
    /// A plain integer between two bounds.
    Int(i64, i64),
    /// An amount of memory between two bounds; units are allowed.
    Memory(u64, u64),
    /// An amount of memory, or -1.
    MemoryOrMinusOne,
    /// An amount of memory, or a percentage.
    MemoryOrPercent,
    /// The mode of a file, in octal.
    FileMode,
    /// How often per second; out of bounds is moved to the nearest bound.
    Hertz,
    /// One of these words, in any case.
    OneOf(&'static [&'static str]),
    /// `oom-score-adj`, where two words mean one thing.
    OomScoreAdjust,
    /// What to do on a signal: several words.
    ShutdownOptions,
    /// A text that passes a check.
    Text(Check),
    /// Several addresses.
    Addresses,
    /// Seconds and changes, repeated.
    SavePoints,
    /// Three scores.
    OomScores,
    /// Percentiles to show.
    Percentiles,
    /// Limits per class of clients.
    OutputLimits,
    /// Classes of keyspace events, one letter each.
    Events,
    /// Host and port of another server, or `no one`.
    Primary,
    /// A directory that exists.
    Directory,
}

impl Kind {
    /// Whether a value may be several words.
    pub(super) fn is_list(self) -> bool {
        match self {
            Self::ShutdownOptions
            | Self::Addresses
            | Self::SavePoints
            | Self::OomScores
            | Self::Percentiles
            | Self::OutputLimits
            | Self::Primary => true,
            Self::YesNo
            | Self::Int(..)
            | Self::Memory(..)
            | Self::MemoryOrMinusOne
            | Self::MemoryOrPercent
            | Self::FileMode
            | Self::Hertz
            | Self::OneOf(_)
            | Self::OomScoreAdjust
            | Self::Text(_)
            | Self::Events
            | Self::Directory => false,
        }
    }

    /// Reads the value of the directive `name` from its words: exactly one unless this is a list.
    ///
    /// `current` is kept where the words say nothing about it, and relative directories start there.
    pub(super) fn parse(
        self,
        name: &str,
        words: &[&[u8]],
        current: &Value,
    ) -> Result<Value, String> {
        let word = words.first().copied().unwrap_or_default();
        match self {
            Self::YesNo => parse_yes_no(word),
            Self::Int(min, max) => parse_int(word, min, max).map(Value::Integer),
            Self::Memory(min, max) => parse_bounded_memory(word, min, max),
            Self::MemoryOrMinusOne => parse_memory_or_minus_one(word),
            Self::MemoryOrPercent => parse_memory_or_percent(word),
            Self::FileMode => parse_file_mode(word),
            Self::Hertz => parse_int(word, 0, i64::from(i32::MAX))
                .map(|hertz| Value::Integer(hertz.clamp(HERTZ_MIN, HERTZ_MAX))),
            Self::OneOf(known) => one_of(word, known).map(Value::Word),
            Self::OomScoreAdjust => one_of(word, OOM_WORDS).map(|found| match found {
                "relative" => Value::Word("yes"),
                other => Value::Word(other),
            }),
            Self::ShutdownOptions => parse_shutdown_options(words),
            Self::Text(check) => check(name, word).map(|()| Value::Text(word.into())),
            Self::Addresses => parse_addresses(without_blank(words)),
            Self::SavePoints => parse_save_points(without_blank(words)),
            Self::OomScores => parse_oom_scores(words),
            Self::Percentiles => parse_percentiles(name, without_blank(words)),
            Self::OutputLimits => parse_output_limits(words, current),
            Self::Events => EventClasses::parse(word)
                .map(Value::Events)
                .ok_or_else(|| UNKNOWN_EVENT_CLASS.to_owned()),
            Self::Primary => parse_primary(words),
            Self::Directory => parse_directory(name, word, current),
        }
    }
}

/// A single empty word stands for no words at all: `--save ""`.
fn without_blank<'a, 'b>(words: &'a [&'b [u8]]) -> &'a [&'b [u8]] {
    if words == [b""] { &[] } else { words }
}

fn parse_yes_no(word: &[u8]) -> Result<Value, String> {
    if is_word(word, "yes") {
        Ok(Value::YesNo(true))
    } else if is_word(word, "no") {
        Ok(Value::YesNo(false))
    } else {
        Err("argument must be 'yes' or 'no'".to_owned())
    }
}

fn parse_int(word: &[u8], min: i64, max: i64) -> Result<i64, String> {
    let number = parse_integer(word).ok_or("argument couldn't be parsed into an integer")?;
    if (min..=max).contains(&number) {
        Ok(number)
    } else {
        Err(out_of_bounds(min, max))
    }
}

fn parse_bounded_memory(word: &[u8], min: u64, max: u64) -> Result<Value, String> {
    let bytes = parse_memory(word).ok_or("argument must be a memory value")?;
    if (min..=max).contains(&bytes) {
        Ok(Value::Bytes(bytes))
    } else {
        Err(out_of_bounds(min, max))
    }
}

fn parse_memory_or_minus_one(word: &[u8]) -> Result<Value, String> {
    // What does not fit is out of bounds like any other negative number.
    let of_memory = || Some(i64::try_from(parse_memory(word)?).unwrap_or(i64::MIN));
    let number = parse_integer(word)
        .or_else(of_memory)
        .ok_or("argument must be a memory value")?;
    if number >= -1 {
        Ok(Value::Integer(number))
    } else {
        Err(out_of_bounds(-1, i64::MAX))
    }
}

fn parse_memory_or_percent(word: &[u8]) -> Result<Value, String> {
    if let Some(bytes) = parse_memory(word) {
        return Ok(Value::Bytes(bytes));
    }
    let percent = word
        .strip_suffix(b"%")
        .and_then(parse_integer)
        .and_then(|percent| u64::try_from(percent).ok())
        .ok_or("argument must be a memory or percent value")?;
    match u8::try_from(percent) {
        Ok(0) => Ok(Value::Bytes(0)),
        Ok(percent @ ..=100) => Ok(Value::Percent(percent)),
        _ => Err("percentage argument must be less or equal to 100".to_owned()),
    }
}

fn parse_file_mode(word: &[u8]) -> Result<Value, String> {
    let bits = parse_lenient(word, 8).ok_or("argument couldn't be parsed as an octal number")?;
    match u32::try_from(bits) {
        Ok(bits @ ..=0o777) => Ok(Value::Mode(bits)),
        _ => Err(out_of_bounds(0, 777)),
    }
}

fn out_of_bounds<T: std::fmt::Display>(min: T, max: T) -> String {
    format!("argument must be between {min} and {max} inclusive")
}

fn one_of(word: &[u8], known: &[&'static str]) -> Result<&'static str, String> {
    let found = known.iter().find(|known| is_word(word, known));
    found.copied().ok_or_else(|| {
        let known = known.join(", ");
        format!("argument(s) must be one of the following: {known}")
    })
}

fn parse_shutdown_options(words: &[&[u8]]) -> Result<Value, String> {
    let words = if words.is_empty() {
        &[&b""[..]][..]
    } else {
        words
    };
    let mut chosen = Vec::new();
    for word in words {
        chosen.push(one_of(word, SHUTDOWN_WORDS)?);
    }
    if chosen.contains(&"save") && chosen.contains(&"nosave") {
        return Err("shutdown options SAVE and NOSAVE can't be used simultaneously".to_owned());
    }
    let is_chosen = |word: &&&'static str| **word != "default" && chosen.contains(*word);
    let mut shown: Vec<&'static str> = SHUTDOWN_WORDS.iter().filter(is_chosen).copied().collect();
    if shown.is_empty() {
        shown.push("default");
    }
    Ok(Value::Words(shown))
}

fn parse_addresses(words: &[&[u8]]) -> Result<Value, String> {
    if words.len() > ADDRESSES_MAX {
        return Err("Too many bind addresses specified.".to_owned());
    }
    if !words.iter().all(|word| is_plain(word)) {
        return Err("an address has no blanks, quotes or the like".to_owned());
    }
    Ok(Value::Texts(
        words.iter().map(|word| Box::from(*word)).collect(),
    ))
}

fn parse_save_points(words: &[&[u8]]) -> Result<Value, String> {
    let points = words.chunks_exact(2);
    let is_whole = points.remainder().is_empty();
    let parse = |point: &[&[u8]]| {
        let seconds = parse_lenient(point[0], 10).filter(|seconds| *seconds >= 1)?;
        let changes = parse_lenient(point[1], 10).filter(|changes| *changes >= 0)?;
        Some([seconds, changes])
    };
    let points: Option<Vec<[i64; 2]>> = points.map(parse).collect();
    points
        .filter(|_| is_whole)
        .map(|points| Value::Integers(points.concat()))
        .ok_or_else(|| "Invalid save parameters".to_owned())
}

fn parse_oom_scores(words: &[&[u8]]) -> Result<Value, String> {
    if words.len() != 3 {
        return Err(WRONG_COUNT.to_owned());
    }
    let parse = |word: &&[u8]| {
        parse_lenient(word, 10).filter(|score| (-OOM_SCORE_MAX..=OOM_SCORE_MAX).contains(score))
    };
    let scores: Option<Vec<i64>> = words.iter().map(parse).collect();
    scores.map(Value::Integers).ok_or_else(|| {
        "Invalid oom-score-adj-values, elements must be between -2000 and 2000.".to_owned()
    })
}

fn parse_percentiles(name: &str, words: &[&[u8]]) -> Result<Value, String> {
    let mut percentiles = Vec::new();
    for word in words {
        let percentile: f64 = str::from_utf8(word)
            .ok()
            .and_then(|word| word.parse().ok())
            .filter(|percentile: &f64| !percentile.is_nan())
            .ok_or_else(|| format!("Invalid {name} parameters"))?;
        if !(0.0..=100.0).contains(&percentile) {
            return Err(format!("{name} parameters should sit between [0.0,100.0]"));
        }
        percentiles.push(percentile);
    }
    Ok(Value::Percentiles(percentiles))
}

fn parse_output_limits(words: &[&[u8]], current: &Value) -> Result<Value, String> {
    let current = match current {
        Value::Limits(limits) => **limits,
        _ => OutputLimits::default(),
    };
    let limits = current.with(words)?;
    Ok(Value::Limits(Box::new(limits)))
}

fn parse_primary(words: &[&[u8]]) -> Result<Value, String> {
    if words == [b""] {
        return Ok(Value::Text(Box::default()));
    }
    let [host, port] = words else {
        return Err(WRONG_COUNT.to_owned());
    };
    if host.eq_ignore_ascii_case(b"no") && port.eq_ignore_ascii_case(b"one") {
        return Ok(Value::Text(Box::default()));
    }
    let is_port = |port: &i64| (0..=i64::from(u16::MAX)).contains(port);
    parse_lenient(port, 10)
        .filter(is_port)
        .ok_or("Invalid primary port")?;
    Ok(Value::Text(words.join(&b' ').into()))
}

fn parse_directory(name: &str, word: &[u8], current: &Value) -> Result<Value, String> {
    if word.is_empty() {
        return Err(format!("{name} can't be empty"));
    }
    let start = match current {
        Value::Text(start) => Path::new(std::ffi::OsStr::from_bytes(start)),
        _ => Path::new(""),
    };
    let path = start.join(std::ffi::OsStr::from_bytes(word));
    let path = fs::canonicalize(path).map_err(|error| system_message(&error))?;
    if !path.is_dir() {
        return Err("Not a directory".to_owned());
    }
    Ok(Value::Text(path.into_os_string().into_vec().into()))
}

/// The directory that the process runs in, as CONFIG GET dir shows it.
pub(super) fn working_directory() -> Value {
    let path = env::current_dir().unwrap_or_default();
    Value::Text(path.into_os_string().into_vec().into())
}

/// The system's words for an error, without the number that the standard library adds.
pub fn system_message(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

const WRONG_COUNT: &str = "wrong number of arguments";
/// Both references say so, though Redis knows more of them.
pub(super) const UNKNOWN_EVENT_CLASS: &str =
    "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";
const OOM_WORDS: &[&str] = &["no", "yes", "relative", "absolute"];
const SHUTDOWN_WORDS: &[&str] = &[
    "default", "save", "nosave", "now", "force", "safe", "failover",
];

/// How many addresses `bind` takes, as in the reference.
const ADDRESSES_MAX: usize = 16;
/// Twice the kernel's own bound, because a score may be relative to the one at start.
const OOM_SCORE_MAX: i64 = 2_000;
const HERTZ_MIN: i64 = 1;
const HERTZ_MAX: i64 = 500;
