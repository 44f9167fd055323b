//! Errors of the commands on streams.

use crate::args::text;

/// Why a command on a stream failed. Some texts repeat names that a client chose.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum StreamError {
    /// `0-0` was asked for as the ID of an entry.
    IdZero,
    /// The ID asked for is not above the last one.
    IdNotGreater,
    /// There is no ID above the last one.
    IdsExhausted,
    /// The entry holds more than the reference would keep.
    TooLarge,
    /// `MAXLEN` below zero.
    MaxLenNegative,
    /// `LIMIT` below zero.
    LimitNegative,
    /// `LIMIT` without `MAXLEN` or `MINID`.
    LimitWithoutStrategy,
    /// `LIMIT` without `~`.
    LimitWithoutApproximation,
    /// `MAXLEN` and `MINID`, or one of them twice.
    TwoStrategies,
    /// `XTRIM` without `MAXLEN` or `MINID`.
    StrategyMissing,
    /// Nothing lies behind the greatest ID.
    IntervalStart,
    /// Nothing lies before the least ID.
    IntervalEnd,
    /// `GROUP` given to `XREAD`.
    GroupInXread,
    /// `NOACK` given to `XREAD`.
    NoAckInXread,
    /// `>` given to `XREAD`.
    NewInXread,
    /// `XREADGROUP` without `GROUP`.
    GroupMissing,
    /// Keys and IDs are not equally many.
    Unbalanced {
        /// `xread` or `xreadgroup`.
        command: &'static str,
        /// What may stand for each key, in words.
        wanted: &'static str,
    },
    /// `$` or `+` given to `XREADGROUP`.
    Meaningless(char),
    /// The group exists already.
    GroupExists,
    /// `XGROUP` of a missing key.
    KeyRequired,
    /// `ENTRIESREAD` below -1.
    EntriesReadNegative,
    /// `ENTRIESADDED` below zero.
    EntriesAddedNegative,
    /// `MAXDELETEDID` above the ID to set.
    MaxDeletedAboveId,
    /// The ID to set is below one that was deleted.
    BelowMaxDeleted,
    /// The ID to set is below that of an entry.
    BelowTop,
    /// `ENTRIESADDED` below the number of entries.
    AddedBelowLen,
    /// `COUNT` of `XAUTOCLAIM` below one, or no number.
    CountNotPositive,
    /// A minimal idle time that is not a number.
    MinIdle {
        /// Who asked for it, in capitals.
        command: &'static str,
    },
    /// An option of `XCLAIM` whose value is not a number.
    ClaimOption(&'static str),
    /// Neither an ID nor an option of `XCLAIM`.
    UnknownClaimOption(Vec<u8>),
    /// The key or its group is missing.
    NoGroup {
        /// The key.
        key: Vec<u8>,
        /// The group.
        group: Vec<u8>,
    },
    /// As [`Self::NoGroup`], in the words of `XREADGROUP`.
    NoGroupToRead {
        /// The key.
        key: Vec<u8>,
        /// The group.
        group: Vec<u8>,
    },
    /// As [`Self::NoGroup`], in the words of `XGROUP` and `XINFO`.
    NoSuchGroup {
        /// The group.
        group: Vec<u8>,
        /// The key.
        key: Vec<u8>,
    },
}

impl StreamError {
    /// The wire text without the leading `-`.
    pub(super) fn wire(&self) -> Vec<u8> {
        match self {
            Self::NoGroup { key, group } => no_group(key, group, b""),
            Self::NoGroupToRead { key, group } => {
                no_group(key, group, b" in XREADGROUP with GROUP option")
            }
            Self::NoSuchGroup { group, key } => [
                b"NOGROUP No such consumer group '",
                text(group),
                b"' for key name '",
                text(key),
                b"'",
            ]
            .concat(),
            Self::UnknownClaimOption(option) => {
                [b"ERR Unrecognized XCLAIM option '", text(option), b"'"].concat()
            }
            Self::MinIdle { command } => {
                format!("ERR Invalid min-idle-time argument for {command}").into()
            }
            Self::ClaimOption(option) => {
                format!("ERR Invalid {option} option argument for XCLAIM").into()
            }
            Self::Unbalanced { command, wanted } => format!(
                "ERR Unbalanced '{command}' list of streams: for each stream key an {wanted} must \
                 be specified."
            )
            .into(),
            Self::Meaningless(id) => format!(
                "ERR The {id} ID is meaningless in the context of XREADGROUP: you want to read \
                 the history of this consumer by specifying a proper ID, or use the > ID to get \
                 new messages. The {id} ID would just return an empty result set."
            )
            .into(),
            fixed => fixed.fixed_text().into(),
        }
    }

    /// The texts that name nothing.
    fn fixed_text(&self) -> &'static str {
        match self {
            Self::IdZero => "ERR The ID specified in XADD must be greater than 0-0",
            Self::IdNotGreater => {
                "ERR The ID specified in XADD is equal or smaller than the target stream top item"
            }
            Self::IdsExhausted => {
                "ERR The stream has exhausted the last possible ID, unable to add more items"
            }
            Self::TooLarge => "ERR Elements are too large to be stored",
            Self::MaxLenNegative => "ERR The MAXLEN argument must be >= 0.",
            Self::LimitNegative => "ERR The LIMIT argument must be >= 0.",
            Self::LimitWithoutStrategy => {
                "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
            }
            Self::LimitWithoutApproximation => {
                "ERR syntax error, LIMIT cannot be used without the special ~ option"
            }
            Self::TwoStrategies => {
                "ERR syntax error, MAXLEN and MINID options at the same time are not compatible"
            }
            Self::StrategyMissing => {
                "ERR syntax error, XTRIM must be called with a trimming strategy"
            }
            Self::IntervalStart => "ERR invalid start ID for the interval",
            Self::IntervalEnd => "ERR invalid end ID for the interval",
            Self::GroupInXread => {
                "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead."
            }
            Self::NoAckInXread => {
                "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead."
            }
            Self::NewInXread => {
                "ERR The > ID can be specified only when calling XREADGROUP using the GROUP \
                 <group> <consumer> option."
            }
            Self::GroupMissing => "ERR Missing GROUP option for XREADGROUP",
            Self::GroupExists => "BUSYGROUP Consumer Group name already exists",
            Self::KeyRequired => {
                "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you \
                 may want to use the MKSTREAM option to create an empty stream automatically."
            }
            Self::EntriesReadNegative => "ERR value for ENTRIESREAD must be positive or -1",
            Self::EntriesAddedNegative => "ERR entries_added must be positive",
            Self::MaxDeletedAboveId => {
                "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id"
            }
            Self::BelowMaxDeleted => {
                "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id"
            }
            Self::BelowTop => {
                "ERR The ID specified in XSETID is smaller than the target stream top item"
            }
            Self::AddedBelowLen => {
                "ERR The entries_added specified in XSETID is smaller than the target stream length"
            }
            Self::CountNotPositive => "ERR COUNT must be > 0",
            Self::NoGroup { .. }
            | Self::NoGroupToRead { .. }
            | Self::UnknownClaimOption(_)
            | Self::MinIdle { .. }
            | Self::ClaimOption(_)
            | Self::NoSuchGroup { .. }
            | Self::Unbalanced { .. }
            | Self::Meaningless(_) => unreachable!("these name something"),
        }
    }
}

fn no_group(key: &[u8], group: &[u8], end: &[u8]) -> Vec<u8> {
    [
        b"NOGROUP No such key '",
        text(key),
        b"' or consumer group '",
        text(group),
        b"'",
        end,
    ]
    .concat()
}
