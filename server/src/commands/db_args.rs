//! Numbers of databases, as several commands take them.

use tailrace_protocol::number::parse_i64;
use tailrace_storage::Store;

use crate::error::CommandError;
use crate::error::KeyspaceError;

/// Reads the number of a database that there is.
pub(super) fn database(text: &[u8], store: &Store) -> Result<usize, CommandError> {
    let number = parse_i64(text).ok_or(CommandError::NotAnInteger)?;
    let number = i32::try_from(number).map_err(|_| KeyspaceError::NotInInt)?;
    existing(number, store)
}

/// As [`database`], with another error for what is no number of 32 bits. `SWAPDB` reads both of its
/// numbers before it looks whether there are such databases.
pub(super) fn number(text: &[u8], error: KeyspaceError) -> Result<i32, CommandError> {
    let number = parse_i64(text).and_then(|number| i32::try_from(number).ok());
    Ok(number.ok_or(error)?)
}

/// The database of this number, if there is one.
pub(super) fn existing(number: i32, store: &Store) -> Result<usize, CommandError> {
    usize::try_from(number)
        .ok()
        .filter(|&db| db < store.databases())
        .ok_or(CommandError::DbIndex)
}
