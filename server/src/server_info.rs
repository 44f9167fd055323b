//! What this server is, as `INFO` and `HELLO` tell it.

use std::hash::BuildHasher;

use tailrace_storage::Compat;
use tailrace_storage::UnixMicros;

use crate::config::Settings;

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The version of Valkey whose behaviour this is.
pub(crate) const VALKEY_VERSION: &str = "9.1.2";
/// What that version says towards clients that know Redis only.
pub(crate) const REDIS_VERSION_OF_VALKEY: &str = "7.2.4";
/// The version of Redis whose behaviour this is with `compat redis`.
pub(crate) const REDIS_VERSION: &str = "8.6.3";

/// 16 hexadecimal digits that another version does not have.
pub(crate) fn build_id() -> String {
    let hash = foldhash::fast::FixedState::default().hash_one(VERSION);
    format!("{hash:016x}")
}

/// Facts about the running server that do not change.
#[derive(Clone, Debug)]
pub struct ServerInfo {
    /// When it started.
    pub started_at: UnixMicros,
    /// 40 hexadecimal digits that no other run has.
    pub run_id: String,
    /// 40 hexadecimal digits that name the history of the data towards replicas.
    pub replication_id: String,
    /// Each kind of socket: its name, where it is bound, and the port.
    pub listeners: Vec<String>,
    /// The port it listens on; 0 if it listens on none.
    pub port: u16,
    /// Who supervises the process, or `no`.
    pub supervisor: &'static str,
    /// The executable's path; empty in a library.
    pub executable: String,
    /// The configuration file's path; empty if there was none.
    pub config_file: String,
}

/// Which server this says it is, so that clients find what they look for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Identity {
    /// Its name.
    pub server: &'static str,
    /// Its version.
    pub version: &'static str,
}

impl Identity {
    /// What the settings ask for.
    pub fn of(settings: &Settings) -> Self {
        match settings.compat {
            Compat::Redis => Self {
                server: "redis",
                version: REDIS_VERSION,
            },
            Compat::Valkey if settings.extended_redis_compatibility => Self {
                server: "redis",
                version: REDIS_VERSION_OF_VALKEY,
            },
            Compat::Valkey => Self {
                server: "valkey",
                version: VALKEY_VERSION,
            },
        }
    }
}
