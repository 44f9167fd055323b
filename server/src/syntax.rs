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
mod tests {
    use super::Argument;
    use super::Kind;
    use super::parse;
    use crate::commands::COMMANDS;
    use crate::spec::Audience;
    use crate::spec::Spec;

    fn every_spec() -> impl Iterator<Item = &'static Spec> {
        let families = COMMANDS.iter().map(|spec| (*spec, spec.subcommands));
        families
            .flat_map(|(spec, subcommands)| [spec].into_iter().chain(subcommands.iter().copied()))
    }

    fn arguments_of(spec: &Spec) -> Vec<Argument<'_>> {
        parse(spec.syntax).unwrap_or_else(|fault| panic!("{}: {fault:?}", spec.name))
    }

    fn value(type_name: &str) -> Kind<'_> {
        Kind::Value {
            type_name,
            display: None,
            key_spec: (type_name == "key").then_some(0),
        }
    }

    #[test]
    fn every_command_has_a_well_formed_syntax() {
        for spec in every_spec() {
            arguments_of(spec);
        }
    }

    #[test]
    fn every_syntax_fits_the_arity() {
        // A container's subcommands have the arguments, what is for the system does not tell them,
        // and CLUSTER MIGRATESLOTS notices by itself when most of them are missing.
        let is_exact = |spec: &&Spec| {
            spec.subcommands.is_empty()
                && spec.audience != Audience::System
                && spec.name != "cluster|migrateslots"
        };
        for spec in every_spec().filter(is_exact) {
            let words_min = spec.name.split('|').count() + row_words_min(&arguments_of(spec));
            let wanted = usize::try_from(spec.arity.unsigned_abs()).unwrap();
            assert_eq!(words_min, wanted, "{}", spec.name);
        }
    }

    fn row_words_min(row: &[Argument<'_>]) -> usize {
        let needed = row.iter().filter(|argument| !argument.is_optional);
        needed.map(words_min).sum()
    }

    /// How many words the argument has at least if it is there.
    fn words_min(argument: &Argument<'_>) -> usize {
        let behind_token = match &argument.kind {
            Kind::Token => 0,
            Kind::Value { .. } => 1,
            Kind::OneOf(choices) => choices.iter().map(words_min).min().unwrap_or(0),
            Kind::Block(row) => row_words_min(row),
        };
        behind_token + usize::from(argument.token.is_some())
    }

    #[test]
    fn a_value_is_named_and_typed() {
        let arguments = parse("key count:integer cursor pattern").unwrap();
        let facts: Vec<_> = arguments.iter().map(|a| (&*a.name, &a.kind)).collect();
        let expected = [
            ("key", &value("key")),
            ("count", &value("integer")),
            ("cursor", &value("string")),
            ("pattern", &value("pattern")),
        ];
        assert_eq!(facts, expected);
    }

    #[test]
    fn a_word_belongs_to_the_name_behind_it_only() {
        let arguments = parse("NX XX FULL [count] MAXLEN@6.2.0 threshold LIMIT count").unwrap();
        let facts: Vec<_> = arguments.iter().map(|a| (&*a.name, a.token)).collect();
        let expected = [
            ("nx", Some("NX")),
            ("xx", Some("XX")),
            ("full", Some("FULL")),
            ("count", None),
            ("maxlen", Some("MAXLEN")),
            ("threshold", None),
            ("count", Some("LIMIT")),
        ];
        assert_eq!(facts, expected);
    }

    #[test]
    fn everything_that_may_follow_a_name_does() {
        let [argument] = &parse("[TO... to:key#1<there>@1.2.3!4.5.6{Why.}]").unwrap()[..] else {
            panic!("not one argument");
        };
        let expected = Argument {
            name: "to".to_owned(),
            kind: Kind::Value {
                type_name: "key",
                display: Some("there"),
                key_spec: Some(1),
            },
            token: Some("TO"),
            summary: Some("Why."),
            since: Some("1.2.3"),
            deprecated_since: Some("4.5.6"),
            is_optional: true,
            is_repeated: true,
            repeats_token: true,
        };
        assert_eq!(*argument, expected);
    }

    #[test]
    fn the_dots_of_a_repetition_are_no_part_of_a_version() {
        let [argument] = &parse("id@6.2.0...").unwrap()[..] else {
            panic!("not one argument");
        };
        assert_eq!(
            (argument.since, argument.is_repeated),
            (Some("6.2.0"), true)
        );
    }

    #[test]
    fn groups_nest() {
        let [argument] =
            &parse("trim(by(MAXLEN|MINID) [op(eq:'=' | about:'~')] threshold)...").unwrap()[..]
        else {
            panic!("not one argument");
        };
        let Kind::Block(parts) = &argument.kind else {
            panic!("{argument:?}");
        };
        assert!(argument.is_repeated);
        let [by, op, threshold] = &parts[..] else {
            panic!("{parts:?}");
        };
        assert!(matches!(&by.kind, Kind::OneOf(choices) if choices.len() == 2));
        assert!(matches!(&op.kind, Kind::OneOf(choices) if choices[1].token == Some("~")));
        assert!(op.is_optional);
        assert_eq!(threshold.kind, value("string"));
    }

    #[test]
    fn what_is_no_syntax_is_refused() {
        let faults = [
            "[x",
            "x]",
            "g(x",
            "g()",
            "g(x|)",
            "g(x|y z)",
            "g(x y|z)",
            "x:number",
            "x:'y",
            "x<y",
            "x{y",
            "a|b",
            "_",
            "TO... [x]",
            "x@",
        ];
        for text in faults {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
