//! Errors of client-side caching.

use crate::args::text;

/// Why keys cannot be tracked as a client wishes. Some texts repeat what it sent.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TrackingError {
    /// `CLIENT CACHING` while no keys are tracked.
    Off,
    /// `CLIENT CACHING YES` without `OPTIN`.
    NotOptIn,
    /// `CLIENT CACHING NO` without `OPTOUT`.
    NotOptOut,
    /// `REDIRECT` twice.
    RedirectTwice,
    /// Nobody has the number that `REDIRECT` names.
    NoSuchClient,
    /// `PREFIX` without `BCAST`.
    PrefixOfRead,
    /// `BCAST` while keys that were read are tracked, or the other way round.
    ModeSwitch,
    /// `OPTIN` or `OPTOUT` with `BCAST`.
    ChoiceOfBroadcast,
    /// `OPTIN` with `OPTOUT`.
    BothChoices,
    /// `OPTIN` while `OPTOUT` holds, or the other way round.
    ChoiceSwitch,
    /// A prefix begins like one that the client hears of already.
    OverlapsExisting {
        /// What is asked for.
        prefix: Vec<u8>,
        /// What it has.
        existing: Vec<u8>,
    },
    /// Two prefixes begin alike.
    OverlapsProvided {
        /// The one that comes first.
        prefix: Vec<u8>,
        /// The other.
        other: Vec<u8>,
    },
}

impl TrackingError {
    /// The wire text without the leading `-`.
    pub(super) fn wire(&self) -> Vec<u8> {
        let (prefix, relation, other) = match self {
            Self::OverlapsExisting { prefix, existing } => (prefix, "an existing", existing),
            Self::OverlapsProvided { prefix, other } => (prefix, "another provided", other),
            fixed => return fixed.fixed_text().into(),
        };
        [
            b"ERR Prefix '",
            text(prefix),
            b"' overlaps with ",
            relation.as_bytes(),
            b" prefix '",
            text(other),
            b"'. Prefixes for a single client must not overlap.",
        ]
        .concat()
    }

    /// The texts that name nothing.
    fn fixed_text(&self) -> &'static str {
        match self {
            Self::Off => {
                "ERR CLIENT CACHING can be called only when the client is in tracking mode with \
                 OPTIN or OPTOUT mode enabled"
            }
            Self::NotOptIn => {
                "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
            }
            Self::NotOptOut => {
                "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."
            }
            Self::RedirectTwice => "ERR A client can only redirect to a single other client",
            Self::NoSuchClient => "ERR The client ID you want redirect to does not exist",
            Self::PrefixOfRead => "ERR PREFIX option requires BCAST mode to be enabled",
            Self::ModeSwitch => {
                "ERR You can't switch BCAST mode on/off before disabling tracking for this client, \
                 and then re-enabling it with a different mode."
            }
            Self::ChoiceOfBroadcast => "ERR OPTIN and OPTOUT are not compatible with BCAST",
            Self::BothChoices => "ERR You can't specify both OPTIN mode and OPTOUT mode",
            Self::ChoiceSwitch => {
                "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, \
                 and then re-enabling it with a different mode."
            }
            Self::OverlapsExisting { .. } | Self::OverlapsProvided { .. } => {
                unreachable!("these name something")
            }
        }
    }
}
