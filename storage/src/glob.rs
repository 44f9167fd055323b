//! Glob patterns of KEYS, SCAN and pattern subscriptions.
//!
//! `*` is any run of bytes, `?` any one byte, `[ab-d]` one of these, `[^a]` none of these, and a backslash
//! takes away the meaning of the byte after it. The corners are the reference's own: a class that is not
//! closed ends with the pattern, bounds of a range may be swapped and compare as signed bytes, and
//! an empty text matches the empty pattern only.

/// Whether upper and lower case letters are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// `a` and `A` differ.
    Sensitive,
    /// ASCII letters match in either case.
    Ignored,
}

/// Returns whether `text` matches `pattern` as a whole.
///
/// Takes time proportional to the product of the lengths at worst: only the last `*` is ever tried again.
#[must_use]
pub fn glob_matches(pattern: &[u8], text: &[u8], case: Case) -> bool {
    let (mut pattern, mut text) = (pattern, text);
    let mut retry: Option<(&[u8], &[u8])> = None;
    let mut stars = 0;

    loop {
        let mut failed = text.is_empty() != pattern.is_empty();
        if let ([first, rest @ ..], [byte, text_rest @ ..]) = (pattern, text) {
            if *first == b'*' {
                let after = skip_stars(rest);
                if after.is_empty() {
                    return true;
                }
                stars += 1;
                if stars > STARS_MAX {
                    return false;
                }
                retry = Some((after, text));
                pattern = after;
                continue;
            }
            if let Some(after) = match_one(*first, rest, *byte, case) {
                text = text_rest;
                pattern = if text.is_empty() {
                    skip_stars(after)
                } else {
                    after
                };
                continue;
            }
            failed = true;
        }
        if !failed {
            return true;
        }
        // A longer match of an earlier star cannot help: the last star could take those bytes as well.
        let Some((after_star, [_, shorter @ ..])) = retry else {
            return false;
        };
        if shorter.is_empty() {
            return false;
        }
        retry = Some((after_star, shorter));
        (pattern, text) = (after_star, shorter);
    }
}

/// How many stars, besides one at the end, a pattern may have and still match: the reference's bound.
const STARS_MAX: usize = 1_000;

fn skip_stars(pattern: &[u8]) -> &[u8] {
    let stars = pattern.iter().take_while(|&&byte| byte == b'*').count();
    pattern.get(stars..).unwrap_or_default()
}

/// Matches one byte against the element that begins with `first`, and returns the pattern after it.
fn match_one(first: u8, rest: &[u8], byte: u8, case: Case) -> Option<&[u8]> {
    match (first, rest) {
        (b'?', _) => Some(rest),
        (b'[', _) => match_class(rest, byte, case),
        (b'\\', [escaped, after @ ..]) => {
            fold(*escaped, case).eq(&fold(byte, case)).then_some(after)
        }
        _ => fold(first, case).eq(&fold(byte, case)).then_some(rest),
    }
}

/// Matches one byte against the class whose `[` was just passed, and returns the pattern after it.
fn match_class(class: &[u8], byte: u8, case: Case) -> Option<&[u8]> {
    let (negated, mut class) = match class {
        [b'^', rest @ ..] => (true, rest),
        _ => (false, class),
    };
    let mut found = false;
    loop {
        class = match class {
            [] => break,
            [b'\\', escaped, rest @ ..] => {
                found |= *escaped == byte;
                rest
            }
            [b']', rest @ ..] => {
                class = rest;
                break;
            }
            [low, b'-', high, rest @ ..] => {
                found |= in_range(*low, *high, byte, case);
                rest
            }
            [one, rest @ ..] => {
                found |= fold(*one, case) == fold(byte, case);
                rest
            }
        };
    }
    (found != negated).then_some(class)
}

fn in_range(low: u8, high: u8, byte: u8, case: Case) -> bool {
    let signed = |byte: u8| byte.cast_signed();
    let (low, high) = if signed(low) > signed(high) {
        (high, low)
    } else {
        (low, high)
    };
    let [low, high, byte] = [low, high, byte].map(|byte| signed(fold(byte, case)));
    (low..=high).contains(&byte)
}

fn fold(byte: u8, case: Case) -> u8 {
    match case {
        Case::Sensitive => byte,
        Case::Ignored => byte.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        glob_matches(pattern.as_bytes(), text.as_bytes(), Case::Sensitive)
    }

    #[test]
    fn the_elements_match_as_documented() {
        assert!(matches("h?llo", "hello") && !matches("h?llo", "hllo"));
        assert!(matches("h[ae]llo", "hallo") && !matches("h[ae]llo", "hillo"));
        assert!(matches("h[^e]llo", "hallo") && !matches("h[^e]llo", "hello"));
        assert!(matches("h[c-a]llo", "hbllo") && !matches("h[c-a]llo", "hdllo"));
        assert!(matches("a\\*b", "a*b") && !matches("a\\*b", "axb"));
        assert!(matches("[\\]]", "]") && matches("a\\", "a\\"));
        assert!(matches("*a*b*", "xaxbx") && !matches("*a*b*", "xbxax"));
    }

    #[test]
    fn an_empty_text_matches_the_empty_pattern_only() {
        assert!(matches("", ""));
        assert!(!matches("*", ""));
        assert!(!matches("**", ""));
    }

    #[test]
    fn a_class_that_is_not_closed_ends_with_the_pattern() {
        assert!(matches("[ab", "a"));
        assert!(!matches("[", "["));
        assert!(matches("[^", "x"));
        assert!(matches("[a-]", "_") && matches("[a-", "-"));
    }

    #[test]
    fn bounds_of_a_range_compare_as_signed_bytes() {
        assert!(!glob_matches(b"[\x01-\xff]", b"a", Case::Sensitive));
        assert!(glob_matches(b"[\x80-\xff]", b"\x90", Case::Sensitive));
    }

    #[test]
    fn case_is_ignored_on_request() {
        assert!(glob_matches(b"NEWS.[a-c]", b"news.B", Case::Ignored));
        assert!(!glob_matches(b"NEWS", b"news", Case::Sensitive));
    }

    #[test]
    fn a_pattern_made_to_hurt_is_answered_soon() {
        let pattern = "a*".repeat(900) + "b";
        assert!(!matches(&pattern, &"a".repeat(20_000)));
        assert!(matches(&"*?".repeat(STARS_MAX), &"a".repeat(STARS_MAX)));
        assert!(!matches(
            &"*?".repeat(STARS_MAX + 1),
            &"a".repeat(STARS_MAX + 1)
        ));
    }

    /// Tries every length for every star.
    fn naive(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => (0..=text.len()).any(|taken| naive(rest, &text[taken..])),
            ([b'?', rest @ ..], [_, text @ ..]) => naive(rest, text),
            ([first, rest @ ..], [byte, text @ ..]) => first == byte && naive(rest, text),
            _ => false,
        }
    }

    proptest! {
        /// For all patterns of stars, blanks and letters, backtracking over the last star only finds
        /// the same matches as trying everything, on every text that is not empty.
        #[test]
        fn trying_only_the_last_star_again_is_enough(
            pattern in "[ab?*]{0,10}",
            text in "[ab]{1,10}",
        ) {
            prop_assert_eq!(
                matches(&pattern, &text),
                naive(pattern.as_bytes(), text.as_bytes()),
            );
        }
    }
}
