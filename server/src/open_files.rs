//! Each client takes a file descriptor, and the system limits how many a process may have; some come from its parent.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::PidfdFlags;
use rustix::process::PidfdGetfdFlags;
use rustix::process::getpid;
use rustix::process::pidfd_getfd;
use rustix::process::pidfd_open;

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

/// Another descriptor of what the parent of this process left open, which is owned: of the number alone nobody knows
/// whether it is in use.
///
/// # Errors
///
/// If there is no such descriptor.
pub fn duplicate(fd: u64) -> io::Result<OwnedFd> {
    let fd = i32::try_from(fd).map_err(|_| io::ErrorKind::InvalidInput)?;
    let this = pidfd_open(getpid(), PidfdFlags::empty())?;
    Ok(pidfd_getfd(this, fd, PidfdGetfdFlags::empty())?)
}

/// Descriptors that are not clients': listeners, logs, the runtime's own.
const RESERVED: u64 = 32;
