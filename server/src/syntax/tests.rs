//! The syntax of every command, and what is none.

use super::Argument;
use super::Kind;
use super::parse;
use crate::commands::COMMANDS;
use crate::spec::Audience;
use crate::spec::Spec;

fn every_spec() -> impl Iterator<Item = &'static Spec> {
    let families = COMMANDS.iter().map(|spec| (*spec, spec.subcommands));
    families.flat_map(|(spec, subcommands)| [spec].into_iter().chain(subcommands.iter().copied()))
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
