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
            Self::IdZero => b"ERR The ID specified in XADD must be greater than 0-0".to_vec(),
            Self::IdNotGreater => b"ERR The ID specified in XADD is equal or smaller than the \
                target stream top item"
                .to_vec(),
            Self::IdsExhausted => b"ERR The stream has exhausted the last possible ID, unable to \
                add more items"
                .to_vec(),
            Self::GroupExists => b"BUSYGROUP Consumer Group name already exists".to_vec(),
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
