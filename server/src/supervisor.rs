//! Who keeps the process running: nobody, in the foreground or in the background, or a supervisor that
//! wants to hear how it fares.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::SocketAddr;
use std::os::unix::net::UnixDatagram;

use nix::sys::signal::Signal;
use tailrace_server::config::Settings;
use tailrace_server::config::Supervision;

/// Who supervises this process.
pub(crate) enum Supervisor {
    /// Nobody.
    Nobody,
    /// Upstart, which has been told by now that the process is there.
    Upstart,
    /// systemd, which is told on this socket.
    Systemd(OsString),
}

impl Supervisor {
    /// Finds the supervisor that the configuration speaks of. If it is not there, the server does
    /// without, as the reference does.
    pub(crate) fn find(settings: &Settings) -> Self {
        let upstart = std::env::var_os("UPSTART_JOB").map(|_| Self::Upstart);
        let systemd = std::env::var_os("NOTIFY_SOCKET").map(Self::Systemd);
        let (found, missing) = match settings.supervised {
            Supervision::No => return Self::Nobody,
            Supervision::Auto => return upstart.or(systemd).unwrap_or(Self::Nobody).greet(),
            Supervision::Upstart => (upstart, "UPSTART_JOB"),
            Supervision::Systemd => (systemd, "NOTIFY_SOCKET"),
        };
        let Some(supervisor) = found else {
            tracing::warn!(
                "supervised: {missing} is not set, so there is no supervisor to talk to"
            );
            return Self::Nobody;
        };
        supervisor.greet()
    }

    /// What INFO calls it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Nobody => "no",
            Self::Upstart => "upstart",
            Self::Systemd(_) => "systemd",
        }
    }

    /// Says that the server serves.
    pub(crate) fn on_ready(&self) {
        self.tell("STATUS=Ready to accept connections\nREADY=1\n");
    }

    /// Says that the server ends.
    pub(crate) fn on_stopping(&self) {
        self.tell("STOPPING=1\n");
    }

    fn greet(self) -> Self {
        match &self {
            Self::Nobody => {}
            Self::Upstart => {
                tracing::info!(
                    "supervised by upstart, which wants this process to stop for a moment"
                );
                // It is continued once upstart has seen that.
                if let Err(error) = nix::sys::signal::raise(Signal::SIGSTOP) {
                    tracing::warn!("supervised: cannot stop for upstart: {error}");
                }
            }
            Self::Systemd(_) => {
                tracing::info!("supervised by systemd");
                self.tell("STATUS=Starting\n");
            }
        }
        self
    }

    fn tell(&self, state: &str) {
        if let Self::Systemd(socket) = self
            && let Err(error) = notify(socket, state)
        {
            tracing::warn!("supervised: cannot tell systemd: {error}");
        }
    }
}

/// Sends a line to systemd. A name that begins with `@` is not one of a file.
fn notify(socket: &OsStr, state: &str) -> io::Result<()> {
    let address = match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => abstract_address(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    let sender = UnixDatagram::unbound()?;
    sender.send_to_addr(state.as_bytes(), &address).map(drop)
}

#[cfg(target_os = "linux")]
fn abstract_address(name: &[u8]) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt;
    SocketAddr::from_abstract_name(name)
}

#[cfg(not(target_os = "linux"))]
fn abstract_address(_name: &[u8]) -> io::Result<SocketAddr> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Goes into the background: the process that was started ends well, and another one goes on, without a
/// terminal. Threads would not come along, so this comes before the first one.
///
/// # Errors
///
/// What the system says, if it has no room for a process, or no way to do this.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn detach() -> io::Result<()> {
    let (keeps_directory, keeps_output) = (true, false);
    nix::unistd::daemon(keeps_directory, keeps_output).map_err(io::Error::from)
}

/// As above, on a system that has its own way to run servers.
#[cfg(target_vendor = "apple")]
pub(crate) fn detach() -> io::Result<()> {
    let problem = "daemonize yes: this system runs servers with launchd; leave it at 'no'";
    Err(io::Error::new(io::ErrorKind::Unsupported, problem))
}
