//! What the binary does before it serves: logging, the working directory, limits, the pid file.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use tailrace_server::Config;
use tailrace_server::config::LogLevel;
use tailrace_server::config::Settings;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

/// Sends log lines to the log file, or to standard error: standard output carries the one line that
/// says where the server listens.
pub(crate) fn log_to(settings: &Settings) -> io::Result<()> {
    let level = match settings.loglevel {
        LogLevel::Debug => LevelFilter::TRACE,
        LogLevel::Verbose => LevelFilter::DEBUG,
        LogLevel::Notice => LevelFilter::INFO,
        LogLevel::Warning => LevelFilter::WARN,
        LogLevel::Nothing => LevelFilter::OFF,
    };
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_target(false)
        .with_span_events(FmtSpan::NONE);
    if settings.logfile.is_empty() {
        subscriber.with_writer(io::stderr).init();
    } else {
        let file = File::options()
            .create(true)
            .append(true)
            .open(&settings.logfile)
            .map_err(|error| named(&error, "logfile", &settings.logfile))?;
        subscriber.with_ansi(false).with_writer(file).init();
    }
    Ok(())
}

/// Makes relative paths mean what the configuration says.
pub(crate) fn change_dir(settings: &Settings) -> io::Result<()> {
    std::env::set_current_dir(&settings.dir).map_err(|error| named(&error, "dir", &settings.dir))
}

/// Each client takes a file descriptor. Raises the limit for as many as `maxclients` says, or lowers
/// `maxclients` to what the system allows.
pub(crate) fn raise_open_files(config: &mut Config) {
    let wanted = config.settings().maxclients as u64 + RESERVED_FILES;
    let allowed = rlimit::increase_nofile_limit(wanted).unwrap_or(wanted);
    if allowed < wanted {
        let clients = allowed.saturating_sub(RESERVED_FILES).max(1);
        tracing::warn!(
            "the system allows {allowed} open files, so maxclients is {clients} instead of {}; \
             raise the limit with 'ulimit -n'",
            config.settings().maxclients
        );
        config.lower_maxclients(usize::try_from(clients).unwrap_or(usize::MAX));
    }
}

/// The file that names this process, for as long as it runs.
pub(crate) struct PidFile(Option<PathBuf>);

impl PidFile {
    /// Writes it, if the configuration asks for one.
    pub(crate) fn write(settings: &Settings) -> io::Result<Self> {
        if settings.pidfile.is_empty() {
            return Ok(Self(None));
        }
        std::fs::write(&settings.pidfile, format!("{}\n", std::process::id()))
            .map_err(|error| named(&error, "pidfile", &settings.pidfile))?;
        Ok(Self(Some(PathBuf::from(&settings.pidfile))))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // Somebody may have removed it already.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn named(error: &io::Error, option: &str, path: &str) -> io::Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "create it, or name one that exists",
        io::ErrorKind::PermissionDenied => "name one that you may write to",
        _ => "check the path",
    };
    io::Error::new(error.kind(), format!("{option} {path}: {error}; {hint}"))
}

/// Descriptors that are not clients': listeners, logs, the runtime's own.
const RESERVED_FILES: u64 = 32;
