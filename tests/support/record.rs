//! Writes down replies for a transcript, with symbols for what the clock made.

use crate::control::Control;
use crate::lex::Bound;
use crate::lex::Symbols;
use crate::render;
use crate::value::Value;

/// Renders `value`; ids made by the clock become symbols, and wall-clock times offsets from now.
pub(crate) fn recorded(value: &Value, symbols: &mut Symbols, control: &mut Control) -> String {
    let rendered = render::reply(value);
    let mut text = String::new();
    let mut rest = rendered.as_str();
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from
            .find(|c: char| !c.is_ascii_digit() && c != '-')
            .unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        if is_clock_id(number) && before.ends_with('"') && after.starts_with('"') {
            text.push_str(&before[..before.len() - 1]);
            text.push('$');
            text.push_str(&symbol_for(number, symbols));
            rest = &after[1..];
            continue;
        }
        text.push_str(before);
        let stands_alone = !before.ends_with(|c: char| !c.is_whitespace() && c != '[')
            && !after.starts_with(|c: char| !c.is_whitespace() && c != ']' && c != '}');
        let relative = stands_alone.then(|| relative(number, control)).flatten();
        text.push_str(relative.as_deref().unwrap_or(number));
        rest = after;
    }
    text.push_str(rest);
    text
}

/// `1700000000000-0`: thirteen digits are milliseconds of this age, and no transcript makes such ids by hand.
fn is_clock_id(text: &str) -> bool {
    text.split_once('-').is_some_and(|(ms, seq)| {
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        ms.len() == 13 && digits(ms) && !seq.is_empty() && digits(seq)
    })
}

fn symbol_for(id: &str, symbols: &mut Symbols) -> String {
    let rendered = format!("\"{id}\"");
    if let Some(name) = symbols.name_of(&rendered) {
        return name.to_owned();
    }
    let name = symbols.free_name();
    let text = id.as_bytes().to_vec();
    symbols.bind(&name, Bound { text, rendered });
    name
}

fn relative(number: &str, control: &mut Control) -> Option<String> {
    let (word, unit_micros, round) = match number.len() {
        13 => ("~now", 1_000, 1_000),
        10 => ("~unix", 1_000_000, 1),
        _ => return None,
    };
    let number: i64 = number.parse().ok()?;
    let off = number - control.wall_micros() / unit_micros;
    let off = (off + round / 2).div_euclid(round) * round;
    Some(if off == 0 {
        word.to_owned()
    } else {
        format!("{word}{off:+}")
    })
}

/// What is kept of very many replies.
#[derive(Debug)]
pub(crate) struct Summary {
    count: usize,
    errors: usize,
    hash: u64,
    last: Option<Value>,
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            count: 0,
            errors: 0,
            hash: FNV_OFFSET,
            last: None,
        }
    }
}

impl Summary {
    pub(crate) fn add(&mut self, value: Value) {
        self.count += 1;
        self.errors += usize::from(matches!(value, Value::Error(_)));
        for byte in render::reply(&value).bytes().chain([b'\n']) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        }
        self.last = Some(value);
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn text(&self) -> String {
        let last = self.last.as_ref().map(render::reply).unwrap_or_default();
        format!(
            "({} replies, {} errors, hash {:016x}, the last {last})",
            self.count, self.errors, self.hash
        )
    }
}

/// The start and the factor of FNV-1a, a hash that is short to write and the same everywhere.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;
