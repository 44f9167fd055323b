//! What this server is, as `INFO` and `HELLO` tell it.

use tailrace_storage::UnixMicros;

/// Facts about the running server that do not change.
#[derive(Clone, Debug)]
pub struct ServerInfo {
    /// When it started.
    pub started_at: UnixMicros,
    /// 40 hexadecimal digits that no other run has.
    pub run_id: String,
    /// The port it listens on; 0 if it listens on none.
    pub port: u16,
    /// The executable's path; empty in a library.
    pub executable: String,
    /// The configuration file's path; empty if there was none.
    pub config_file: String,
}
