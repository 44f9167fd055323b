//! Each client takes a file descriptor, and the system limits how many a process may have.

/// Raises the limit of the process so that it allows this many clients.
///
/// # Errors
///
/// How many clients it allows, if it cannot be raised so far.
pub fn allow(clients: usize) -> Result<(), usize> {
    let wanted = (clients as u64).saturating_add(RESERVED);
    let allowed = rlimit::increase_nofile_limit(wanted).unwrap_or(wanted);
    if allowed >= wanted {
        return Ok(());
    }
    let clients = allowed.saturating_sub(RESERVED).max(1);
    Err(usize::try_from(clients).unwrap_or(usize::MAX))
}

/// Descriptors that are not clients': listeners, logs, the runtime's own.
const RESERVED: u64 = 32;
