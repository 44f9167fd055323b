//! Errors of the commands on streams.

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
        /// Whether it is `XREADGROUP` that was called.
        for_group: bool,
    },
    /// `$` or `+` given to `XREADGROUP`.
    Meaningless(char),
    /// The group exists already.
    GroupExists,
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
    pub(super) fn wire(&self) -> Vec<u8> {
        match self {
            Self::NoGroup { key, group } => no_group(key, group, b""),
            Self::NoGroupToRead { key, group } => {
                no_group(key, group, b" in XREADGROUP with GROUP option")
            }
            Self::NoSuchGroup { group, key } => [
                b"NOGROUP No such consumer group '",
                &group[..],
                b"' for key name '",
                key,
                b"'",
            ]
            .concat(),
            Self::Unbalanced { for_group } => {
                let (command, symbol) = match for_group {
                    true => ("xreadgroup", '>'),
                    false => ("xread", '$'),
                };
                format!(
                    "ERR Unbalanced '{command}' list of streams: for each stream key an ID or \
                     '{symbol}' must be specified."
                )
                .into_bytes()
            }
            Self::Meaningless(id) => format!(
                "ERR The {id} ID is meaningless in the context of XREADGROUP: you want to read \
                 the history of this consumer by specifying a proper ID, or use the > ID to get \
                 new messages. The {id} ID would just return an empty result set."
            )
            .into_bytes(),
            fixed => fixed.text().as_bytes().to_vec(),
        }
    }

    /// The texts that name nothing.
    fn text(&self) -> &'static str {
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
            Self::NoGroup { .. }
            | Self::NoGroupToRead { .. }
            | Self::NoSuchGroup { .. }
            | Self::Unbalanced { .. }
            | Self::Meaningless(_) => unreachable!("these name what a client chose"),
        }
    }
}

fn no_group(key: &[u8], group: &[u8], end: &[u8]) -> Vec<u8> {
    [
        b"NOGROUP No such key '",
        key,
        b"' or consumer group '",
        group,
        b"'",
        end,
    ]
    .concat()
}
