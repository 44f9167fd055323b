//! Whose behaviour counts where the references differ.

/// Which of two servers to agree with where they differ.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Compat {
    /// Valkey 9.1.
    #[default]
    Valkey,
    /// Redis 8.6.
    Redis,
}
