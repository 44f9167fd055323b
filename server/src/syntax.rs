//! The notation in which a command says what arguments it takes, as `COMMAND DOCS` tells them.
//!
//! A syntax is a row of arguments, apart by blanks:
//!
//! | written | means |
//! | --- | --- |
//! | `group` | a value of this name, a string |
//! | `count:integer` | a value of another type; one that is named like its type need not say so |
//! | `newkey:key#1` | a key that the second of the command's key specs finds; without `#1` the first |
//! | `addr<ip:port>` | a value that is shown by another name |
//! | `NOMKSTREAM` | this word, named `nomkstream` |
//! | `equal:'='` | this word, named otherwise |
//! | `LIMIT count:integer` | the word and behind it the value, which are one argument |
//! | `strategy(MAXLEN \| MINID)` | one of these arguments |
//! | `data(field value)` | these arguments in a row |
//! | `STREAMS streams(key... id...)` | the word and behind it the group |
//! | `[x]` | an argument that may be left out |
//! | `x...` | an argument that may come again, without the word in front of it |
//! | `TOKEN... x` | an argument that may come again, with the word in front of it |
//! | `name@6.2.0` | an argument that came with this version |
//! | `name!2.8.12` | an argument that nobody should use since this version |
//! | `name{Words.}` | an argument that needs an explanation |
//!
//! What follows a name stands in this order: type, `<>`, `@`, `!`, `{}`, `()`, `...`. XREAD, for example:
//!
//! `[COUNT count:integer] [BLOCK milliseconds:integer] STREAMS streams(key... id...)`

/// An argument, or a group of them.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct Argument<'a> {
    /// What it is called.
    pub name: String,
    /// What it consists of.
    pub kind: Kind<'a>,
    /// The word in front of it, or that it consists of.
    pub token: Option<&'a str>,
    /// An explanation, where one is needed.
    pub summary: Option<&'a str>,
    /// The version that it came with, if the command is older.
    pub since: Option<&'a str>,
    /// The version since which nobody should use it.
    pub deprecated_since: Option<&'a str>,
    /// Whether it may be left out.
    pub is_optional: bool,
    /// Whether it may come again.
    pub is_repeated: bool,
    /// Whether the word in front of it comes again, too. Invariant: only if the argument is repeated.
    pub repeats_token: bool,
}

/// What an argument consists of.
#[derive(Debug, Default, Eq, PartialEq)]
pub enum Kind<'a> {
    /// Its token.
    #[default]
    Token,
    /// A value.
    Value {
        /// Its type, by the name that clients know.
        type_name: &'a str,
        /// What it is called where it is shown, if not by its name.
        display: Option<&'a str>,
        /// Which of the command's key specs finds it, if it is a key.
        key_spec: Option<i64>,
    },
    /// One of these.
    OneOf(Vec<Argument<'a>>),
    /// All of these.
    Block(Vec<Argument<'a>>),
}

/// Where a text breaks the notation.
#[derive(Debug, Eq, PartialEq)]
pub struct Malformed<'a> {
    wanted: &'static str,
    at: &'a str,
}

/// Reads a syntax.
///
/// # Errors
///
/// [`Malformed`] at the first character that the notation does not allow.
pub fn parse(syntax: &str) -> Result<Vec<Argument<'_>>, Malformed<'_>> {
    let mut parser = Parser { rest: syntax };
    let mut arguments = Vec::new();
    while !parser.is_at_end() {
        arguments.push(parser.argument()?);
    }
    Ok(arguments)
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn argument(&mut self) -> Result<Argument<'a>, Malformed<'a>> {
        self.skip_blanks();
        if self.takes("[") {
            let mut argument = self.argument()?;
            self.expect("]", "the end of what may be left out")?;
            argument.is_optional = true;
            return Ok(argument);
        }
        let is_token = self.rest.starts_with(|c: char| c.is_ascii_uppercase());
        if !is_token {
            return self.operand();
        }
        let token = self.word()?;
        let repeats_token = self.takes("...");
        let mut argument = if repeats_token || self.is_before_operand() {
            self.skip_blanks();
            self.operand()?
        } else {
            let name = token.to_ascii_lowercase();
            self.annotated(name, Kind::Token)?
        };
        argument.token = Some(token);
        argument.is_repeated |= repeats_token;
        argument.repeats_token = repeats_token;
        Ok(argument)
    }

    /// What has a name of its own: a value, a group, or a word that is named otherwise.
    fn operand(&mut self) -> Result<Argument<'a>, Malformed<'a>> {
        let name = self.word()?;
        if self.takes(":'") {
            let token = self.up_to("'")?;
            let mut argument = self.annotated(name.to_owned(), Kind::Token)?;
            argument.token = Some(token);
            return Ok(argument);
        }
        let value = self.value(name)?;
        let mut argument = self.annotated(name.to_owned(), value)?;
        if self.takes("(") {
            argument.kind = self.group()?;
        }
        argument.is_repeated = self.takes("...");
        Ok(argument)
    }

    fn value(&mut self, name: &'a str) -> Result<Kind<'a>, Malformed<'a>> {
        let at = self.rest;
        let type_name = if self.takes(":") {
            self.word()?
        } else if TYPES.contains(&name) {
            name
        } else {
            STRING
        };
        if !TYPES.contains(&type_name) {
            let wanted = "a type";
            return Err(Malformed { wanted, at });
        }
        let key_spec = (type_name == KEY).then(|| i64::from(self.takes("#1")));
        Ok(Kind::Value {
            type_name,
            key_spec,
            display: self.behind("<", |parser| parser.up_to(">"))?,
        })
    }

    fn annotated(&mut self, name: String, kind: Kind<'a>) -> Result<Argument<'a>, Malformed<'a>> {
        Ok(Argument {
            name,
            kind,
            since: self.behind("@", Self::version)?,
            deprecated_since: self.behind("!", Self::version)?,
            summary: self.behind("{", |parser| parser.up_to("}"))?,
            ..Argument::default()
        })
    }

    /// The members of a group up to its end. A bar after the first one makes it a choice.
    fn group(&mut self) -> Result<Kind<'a>, Malformed<'a>> {
        let mut members = vec![self.argument()?];
        self.skip_blanks();
        let is_choice = self.rest.starts_with('|');
        while !self.takes(")") {
            if is_choice {
                self.expect("|", "another choice")?;
            }
            members.push(self.argument()?);
            self.skip_blanks();
        }
        Ok(if is_choice {
            Kind::OneOf(members)
        } else {
            Kind::Block(members)
        })
    }

    fn word(&mut self) -> Result<&'a str, Malformed<'a>> {
        let word = start(self.rest, |c| c.is_ascii_alphanumeric() || c == '-');
        self.take(word, "a name or a word")
    }

    /// Digits and dots; the dots of a repetition are no part of it.
    fn version(&mut self) -> Result<&'a str, Malformed<'a>> {
        let is_in = |c: char| c.is_ascii_digit() || c == '.';
        let version = start(self.rest, is_in).trim_end_matches('.');
        self.take(version, "a version")
    }

    /// Takes what the rest starts with, which was wanted and may not be nothing.
    fn take(&mut self, text: &'a str, wanted: &'static str) -> Result<&'a str, Malformed<'a>> {
        let at = self.rest;
        if text.is_empty() {
            return Err(Malformed { wanted, at });
        }
        self.rest = at.get(text.len()..).unwrap_or_default();
        Ok(text)
    }

    /// What `read` finds, if `mark` is in front of it.
    fn behind(
        &mut self,
        mark: &str,
        read: impl FnOnce(&mut Self) -> Result<&'a str, Malformed<'a>>,
    ) -> Result<Option<&'a str>, Malformed<'a>> {
        self.takes(mark).then(|| read(self)).transpose()
    }

    fn up_to(&mut self, end: &'static str) -> Result<&'a str, Malformed<'a>> {
        let (at, wanted) = (self.rest, end);
        let (text, rest) = at.split_once(end).ok_or(Malformed { wanted, at })?;
        self.rest = rest;
        Ok(text)
    }

    fn expect(&mut self, mark: &str, wanted: &'static str) -> Result<(), Malformed<'a>> {
        self.skip_blanks();
        let at = self.rest;
        if self.takes(mark) {
            Ok(())
        } else {
            Err(Malformed { wanted, at })
        }
    }

    fn takes(&mut self, mark: &str) -> bool {
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest.is_empty()
    }

    /// Whether a blank and then a name follow. A word behind which something else stands is complete.
    fn is_before_operand(&self) -> bool {
        let next = self.rest.trim_start();
        next.len() < self.rest.len() && next.starts_with(|c: char| c.is_ascii_lowercase())
    }
}

/// The longest part of `text` from its start on that consists of such characters.
fn start(text: &str, is_in: impl Fn(char) -> bool) -> &str {
    let end = text.find(|c| !is_in(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

const KEY: &str = "key";
const STRING: &str = "string";
/// What values there are, by the names that clients know.
const TYPES: &[&str] = &[KEY, STRING, "integer", "double", "pattern", "unix-time"];

#[cfg(test)]
mod tests;
