//! One row of the table of directives: what it is called, takes, defaults to and promises.

use super::kind::Kind;

/// What Tailrace knows about a directive.
pub(super) struct Directive {
    /// The name, in lower case.
    pub(super) name: &'static str,
    /// An older name that works the same, or nothing.
    pub(super) alias: &'static str,
    /// What values it takes.
    pub(super) kind: Kind,
    /// What it is when nobody says otherwise, written as in a file.
    pub(super) default: &'static str,
    /// When it may change.
    pub(super) change: Change,
    /// What a value is worth.
    pub(super) effect: Effect,
    /// CONFIG GET shows it only when asked for by its whole name.
    pub(super) is_hidden: bool,
    /// Its value must not show up in logs and in MONITOR.
    pub(super) is_secret: bool,
}

/// When a directive may change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// At any time.
    Live,
    /// At start only.
    Fixed,
    /// At start, and later by those whom `enable-protected-configs` trusts.
    Guarded,
}

/// What a value is worth: whether Tailrace does what it says.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    /// Tailrace does what any value says.
    Used,
    /// Any value is kept and shown, and changes nothing that a client could rely on.
    Kept,
    /// Other values would promise what Tailrace does not do. The text says what to do instead.
    Only(&'static [&'static str], &'static str),
    /// Values that contain one of these words would promise what Tailrace does not do.
    Never(&'static [&'static str], &'static str),
}

/// Makes a row.
pub(super) const fn row(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    change: Change,
    effect: Effect,
) -> Directive {
    Directive {
        name,
        alias: "",
        kind,
        default,
        change,
        effect,
        is_hidden: false,
        is_secret: false,
    }
}

impl Directive {
    /// Lets the directive be found by an older name, too.
    pub(super) const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = alias;
        self
    }

    /// Keeps the row out of what patterns show.
    pub(super) const fn hidden(mut self) -> Self {
        self.is_hidden = true;
        self
    }

    /// Keeps the value out of logs.
    pub(super) const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }
}

impl Effect {
    /// Says why a value, as CONFIG GET shows it, is refused.
    pub(super) fn refusal(self, shown: &[u8]) -> Option<String> {
        let mut words = shown.split(|byte| *byte == b' ');
        let (is_refused, advice) = match self {
            Self::Used | Self::Kept => (false, ""),
            Self::Only(values, advice) => {
                (values.iter().all(|value| value.as_bytes() != shown), advice)
            }
            Self::Never(refused, advice) => {
                let is_refused = |word| refused.iter().any(|refused| refused.as_bytes() == word);
                (words.any(is_refused), advice)
            }
        };
        is_refused.then(|| {
            let shown = String::from_utf8_lossy(shown);
            format!("'{shown}' is not possible: {advice}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Effect;

    #[test]
    fn a_refusal_names_the_value_and_says_what_to_do() {
        let effect = Effect::Only(&["no"], "leave it at 'no'");
        assert_eq!(effect.refusal(b"no"), None);
        let refusal = effect.refusal(b"yes").unwrap();
        assert_eq!(refusal, "'yes' is not possible: leave it at 'no'");
    }

    #[test]
    fn one_refused_word_is_enough() {
        let effect = Effect::Never(&["save"], "");
        assert!(effect.refusal(b"save now").is_some());
        assert!(effect.refusal(b"nosave now").is_none());
    }
}
