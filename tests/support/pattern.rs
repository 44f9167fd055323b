//! What a transcript expects of a reply, and whether a reply is that.

use crate::lex::Bound;
use crate::lex::Symbols;
use crate::lex::quote_end;
use crate::lex::symbol_name;
use crate::render;
use crate::value::Value;

/// An expectation, parsed.
#[derive(Debug)]
pub(crate) enum Pattern {
    /// Rendered text, in which `...` matches any characters.
    Text(String),
    /// `$name`
    Symbol(String),
    /// `~120`, `~now+50`, `~unix-10`: an offset from something.
    Near(Origin, i64),
    /// `...`: any number of elements, or any reply.
    Any,
    /// Brackets and what is between them.
    Group { open: String, items: Vec<Self> },
}

/// What a number that depends on the clock counts from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    Zero,
    NowMillis,
    NowSeconds,
}

/// What matching needs to know about the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The server's wall clock, in microseconds.
    pub(crate) wall_micros: i64,
    /// How far a number that depends on the clock may be off.
    pub(crate) tolerance_ms: i64,
}

impl Pattern {
    /// Parses the text of one reply.
    ///
    /// # Errors
    ///
    /// What is wrong with the text, in words.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let whole = text.starts_with('!') || text.starts_with("attribute ");
        if whole || text.starts_with('(') {
            return Ok(Self::Text(text.to_owned()));
        }
        let mut rest = text;
        let pattern = parse_one(&mut rest)?;
        if rest.trim().is_empty() {
            Ok(pattern)
        } else {
            Err(format!("more than one reply: {text}"))
        }
    }

    /// Whether it needs to know what the time is.
    pub(crate) fn asks_for_time(&self) -> bool {
        match self {
            Self::Near(origin, _) => !matches!(origin, Origin::Zero),
            Self::Group { items, .. } => items.iter().any(Self::asks_for_time),
            _ => false,
        }
    }

    /// Whether `value` is what was expected. Binds the symbols that were free.
    pub(crate) fn matches(&self, value: &Value, symbols: &mut Symbols, moment: Moment) -> bool {
        match self {
            Self::Any => true,
            Self::Text(text) => {
                // An error is quoted among others and bare on a line of its own.
                let inside =
                    render::scalar(value).is_some_and(|inside| text_matches(text, &inside));
                inside || text_matches(text, &render::reply(value))
            }
            Self::Near(origin, offset) => near(*origin, *offset, value, moment),
            Self::Symbol(name) => symbol_matches(name, value, symbols),
            Self::Group { open, items } => {
                render::aggregate(value).is_some_and(|(kind, _, values)| {
                    kind == open && all_match(items, values, symbols, moment)
                })
            }
        }
    }
}

fn all_match(
    patterns: &[Pattern],
    values: &[Value],
    symbols: &mut Symbols,
    moment: Moment,
) -> bool {
    let Some((first, rest)) = patterns.split_first() else {
        return values.is_empty();
    };
    if matches!(first, Pattern::Any) {
        let before = symbols.clone();
        return (0..=values.len()).any(|skipped| {
            *symbols = before.clone();
            all_match(rest, &values[skipped..], symbols, moment)
        });
    }
    values.split_first().is_some_and(|(value, others)| {
        first.matches(value, symbols, moment) && all_match(rest, others, symbols, moment)
    })
}

fn symbol_matches(name: &str, value: &Value, symbols: &mut Symbols) -> bool {
    let Some(rendered) = render::scalar(value) else {
        return false;
    };
    if let Some(bound) = symbols.bound(name) {
        return bound.rendered == rendered;
    }
    let text = match value {
        Value::Integer(number) => number.to_string().into_bytes(),
        other => other.text().to_vec(),
    };
    symbols.bind(name, Bound { text, rendered });
    true
}

fn near(origin: Origin, offset: i64, value: &Value, moment: Moment) -> bool {
    let Value::Integer(number) = *value else {
        return false;
    };
    let (start, slack) = match origin {
        Origin::Zero => (0, moment.tolerance_ms),
        Origin::NowMillis => (moment.wall_micros / 1_000, moment.tolerance_ms),
        // Servers round milliseconds to seconds where they show them.
        Origin::NowSeconds => (
            moment.wall_micros / 1_000_000,
            1 + moment.tolerance_ms / 1_000,
        ),
    };
    (number - start - offset).abs() <= slack
}

/// Whether `text` is `pattern`, in which every `...` stands for any characters.
fn text_matches(pattern: &str, text: &str) -> bool {
    let Some((head, middle)) = pattern.split_once("...") else {
        return pattern == text;
    };
    let Some(mut rest) = text.strip_prefix(head) else {
        return false;
    };
    let mut parts: Vec<&str> = middle.split("...").collect();
    let tail = parts.pop().unwrap_or_default();
    // The first place where a part fits leaves most room for those after it.
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(tail)
}

fn parse_one(rest: &mut &str) -> Result<Pattern, String> {
    *rest = rest.trim_start();
    for open in ["push >[", "[", "~{", "{"] {
        if let Some(after) = rest.strip_prefix(open) {
            *rest = after;
            return parse_group(open, rest);
        }
    }
    let end = token_end(rest)?;
    let (token, after) = rest.split_at(end);
    *rest = after;
    if token.is_empty() {
        return Err("an element is missing".to_owned());
    }
    parse_token(token)
}

fn parse_group(open: &str, rest: &mut &str) -> Result<Pattern, String> {
    let close = if open.ends_with('[') { ']' } else { '}' };
    let mut items = Vec::new();
    loop {
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(close) {
            *rest = after;
            let open = open.to_owned();
            return Ok(Pattern::Group { open, items });
        }
        if rest.is_empty() {
            return Err(format!("{close} is missing"));
        }
        items.push(parse_one(rest)?);
    }
}

/// Where the token at the front of `text` ends; a quoted string is one whatever is in it.
fn token_end(text: &str) -> Result<usize, String> {
    let bare_end = text
        .find(|c: char| c.is_whitespace() || c == ']' || c == '}')
        .unwrap_or(text.len());
    match text[..bare_end].find('"') {
        None => Ok(bare_end),
        Some(quote) => Ok(quote + 1 + quote_end(&text[quote + 1..])? + 1),
    }
}

fn parse_token(token: &str) -> Result<Pattern, String> {
    if token == "..." {
        return Ok(Pattern::Any);
    }
    if let Some((name, "")) = token.strip_prefix('$').and_then(symbol_name) {
        return Ok(Pattern::Symbol(name.to_owned()));
    }
    let Some(number) = token.strip_prefix('~') else {
        return Ok(Pattern::Text(token.to_owned()));
    };
    let (origin, offset) = if let Some(offset) = number.strip_prefix("now") {
        (Origin::NowMillis, offset)
    } else if let Some(offset) = number.strip_prefix("unix") {
        (Origin::NowSeconds, offset)
    } else {
        (Origin::Zero, number)
    };
    let offset = if offset.is_empty() { "0" } else { offset };
    offset
        .parse()
        .map(|offset| Pattern::Near(origin, offset))
        .map_err(|_| format!("no number: {token}"))
}
