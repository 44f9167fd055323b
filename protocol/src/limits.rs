//! How much a client may ask the decoder to take.

/// The bounds that a [`Decoder`](crate::Decoder) enforces. None of them reserves memory: an argument
/// takes room as its bytes arrive, never because a header promised it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Arguments of one command, its name included.
    pub args_max: usize,
    /// Bytes of one argument, as `proto-max-bulk-len` says.
    pub bulk_bytes_max: usize,
    /// Bytes of one line: an inline command, or a header (`*3`, `$5`) without its line end.
    pub inline_bytes_max: usize,
    /// Whether the client may use the bounds above in full. A client that still has to say who it
    /// is may send only [`Self::UNAUTHENTICATED_ARGS_MAX`] arguments of
    /// [`Self::UNAUTHENTICATED_BULK_BYTES_MAX`] bytes, and gets errors of its own beyond.
    pub authenticated: bool,
    /// Whether a closing quote ends a word of an inline command, so that `"a"b` is an error, as in
    /// Redis. Else the word goes on, as in Valkey.
    pub quotes_end_words: bool,
}

impl Limits {
    /// Arguments of one command: as many as a 32-bit count can say, so that a DEL of a million
    /// keys works.
    pub const ARGS_MAX: usize = i32::MAX as usize;
    /// Bytes of one argument unless configured otherwise: 512 MiB.
    pub const BULK_BYTES_MAX: usize = 512 * 1_024 * 1_024;
    /// Bytes of one line: 64 KiB. Nobody types more, and no header needs more.
    pub const INLINE_BYTES_MAX: usize = 64 * 1_024;
    /// Arguments of one command before authentication: enough for `HELLO 3 AUTH user password
    /// SETNAME name`.
    pub const UNAUTHENTICATED_ARGS_MAX: usize = 10;
    /// Bytes of one argument before authentication: 16 KiB, so that strangers cannot fill memory.
    pub const UNAUTHENTICATED_BULK_BYTES_MAX: usize = 16 * 1_024;

    /// The bounds of a client that is authenticated, or need not be.
    pub const fn authenticated(bulk_bytes_max: usize) -> Self {
        Self {
            args_max: Self::ARGS_MAX,
            bulk_bytes_max,
            inline_bytes_max: Self::INLINE_BYTES_MAX,
            authenticated: true,
            quotes_end_words: false,
        }
    }

    /// The bounds of a client that has yet to authenticate. `bulk_bytes_max` still decides which
    /// of the two errors a longer argument gets.
    pub const fn unauthenticated(bulk_bytes_max: usize) -> Self {
        Self {
            authenticated: false,
            ..Self::authenticated(bulk_bytes_max)
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::authenticated(Self::BULK_BYTES_MAX)
    }
}
