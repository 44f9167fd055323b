//! Forms of commands, written as their manual pages are, and what is made of them.
//!
//! ```text
//! XADD $stream [NOMKSTREAM] ( $new_id | * ) ( $field $value ) ...
//! ```
//!
//! | written | means |
//! | --- | --- |
//! | `WORD` | itself |
//! | `$name` | one of the words of that name in `symbols.rs`; `$filter` is a form itself |
//! | `[ ... ]` | there or not |
//! | `( ... \| ... )` | one of these |
//! | `{ [ ... ] [ ... ] }` | some of these in any order, now and then one of them twice |
//! | `...` | what stands before it, one to three times |
//! | `;` | the next command of the same client, with nothing between them |
//! | `!` in front | exactly so: no wrong forms are made of it |

use std::iter::Peekable;
use std::str::SplitWhitespace;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::BoxedStrategy;
use proptest::prelude::Just;
use proptest::prelude::Strategy;
use proptest::sample::select;
use proptest::sample::subsequence;
use proptest::strategy::Union;

use super::symbols;
use super::wrong;

/// A command, its name first.
pub(super) type Words = Vec<Vec<u8>>;

/// What makes words.
type Maker = BoxedStrategy<Words>;

/// Makes commands of one of these forms.
pub(super) fn one_of(forms: &[&str]) -> BoxedStrategy<Vec<Words>> {
    Union::new(forms.iter().map(|form| commands(form))).boxed()
}

/// Makes commands of this form.
fn commands(form: &str) -> BoxedStrategy<Vec<Words>> {
    let (form, is_exact) = match form.strip_prefix('!') {
        Some(form) => (form, true),
        None => (form, false),
    };
    let makers: Vec<Maker> = form.split(';').map(command).collect();
    if is_exact {
        makers.boxed()
    } else {
        let makers: Vec<Maker> = makers.into_iter().map(wrong::some_wrong).collect();
        makers.boxed()
    }
}

fn command(form: &str) -> Maker {
    let spaced = ["[", "]", "(", ")", "{", "}", "|"]
        .iter()
        .fold(form.replace("$filter", symbols::FILTER), |form, mark| {
            form.replace(mark, &format!(" {mark} "))
        });
    let mut tokens = spaced.split_whitespace().peekable();
    let maker = all(parts(&mut tokens));
    assert_eq!(tokens.next(), None, "unbalanced: {form}");
    maker
}

/// Parses up to a closing bracket, which is left there, or to the end.
fn parts(tokens: &mut Peekable<SplitWhitespace<'_>>) -> Vec<Maker> {
    let mut parts: Vec<Maker> = Vec::new();
    while let Some(&token) = tokens.peek() {
        if ["]", ")", "}", "|"].contains(&token) {
            break;
        }
        tokens.next();
        match token {
            "[" => parts.push(perhaps(all(closed(tokens, "]")))),
            "(" => parts.push(choice(tokens)),
            "{" => parts.push(any_order(tokens)),
            "..." => {
                let repeated = parts.pop().expect("something stands before the dots");
                parts.push(vec(repeated, 1..=3).prop_map(joined).boxed());
            }
            _ => parts.push(word(token)),
        }
    }
    parts
}

fn closed(tokens: &mut Peekable<SplitWhitespace<'_>>, bracket: &str) -> Vec<Maker> {
    let parts = parts(tokens);
    assert_eq!(tokens.next(), Some(bracket));
    parts
}

fn choice(tokens: &mut Peekable<SplitWhitespace<'_>>) -> Maker {
    let mut choices = Vec::new();
    loop {
        choices.push(all(parts(tokens)));
        if tokens.next() != Some("|") {
            return Union::new(choices).boxed();
        }
    }
}

fn any_order(tokens: &mut Peekable<SplitWhitespace<'_>>) -> Maker {
    let mut options = Vec::new();
    while tokens.next_if_eq(&"[").is_some() {
        options.push(all(closed(tokens, "]")));
    }
    assert_eq!(tokens.next(), Some("}"));
    let numbers: Vec<usize> = (0..options.len()).collect();
    let once = subsequence(numbers, 0..=options.len()).prop_shuffle();
    let again = vec(0..options.len(), 0..=options.len());
    let order = Union::new_weighted(vec![(9, once.boxed()), (1, again.boxed())]);
    (options, order)
        .prop_map(|(made, order)| order.iter().flat_map(|&at| made[at].clone()).collect())
        .boxed()
}

fn word(token: &str) -> Maker {
    match token.strip_prefix('$') {
        Some(name) if !name.is_empty() => select(symbols::words(name))
            .prop_map(|word| vec![word])
            .boxed(),
        _ => Just(vec![token.as_bytes().to_vec()]).boxed(),
    }
}

fn perhaps(maker: Maker) -> Maker {
    option::of(maker)
        .prop_map(Option::unwrap_or_default)
        .boxed()
}

fn all(parts: Vec<Maker>) -> Maker {
    parts.prop_map(joined).boxed()
}

fn joined(parts: Vec<Words>) -> Words {
    parts.into_iter().flatten().collect()
}
