//! What the binary does before it serves: logging, the working directory, limits, the pid file.

use std::fs::File;
use std::io;
use std::num::NonZero;
use std::path::PathBuf;

use tailrace_server::Config;
use tailrace_server::config::LogLevel;
use tailrace_server::config::Settings;
use tailrace_server::config::system_message;
use tailrace_server::open_files;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload;
use tracing_subscriber::util::SubscriberInitExt;

/// Sends log lines to the log file, or to standard error: standard output carries the one line that
/// says where the server listens. Gives what changes the level later.
pub(crate) fn log_to(settings: &Settings) -> io::Result<impl Fn(LogLevel) + Send + Sync + use<>> {
    let (filter, handle) = reload::Layer::new(filter_of(settings.loglevel));
    let registry = tracing_subscriber::registry().with(filter);
    let lines = tracing_subscriber::fmt::layer().with_target(false);
    if settings.logfile.is_empty() {
        registry.with(lines.with_writer(io::stderr)).init();
    } else {
        let file = File::options()
            .create(true)
            .append(true)
            .open(&settings.logfile)
            .map_err(|error| named(&error, "logfile", &settings.logfile, FILE_HINTS))?;
        registry
            .with(lines.with_ansi(false).with_writer(file))
            .init();
    }
    Ok(move |level| {
        // The handle outlives the subscriber only while the process ends.
        let _ = handle.reload(filter_of(level));
    })
}

fn filter_of(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Debug => LevelFilter::TRACE,
        LogLevel::Verbose => LevelFilter::DEBUG,
        LogLevel::Notice => LevelFilter::INFO,
        LogLevel::Warning => LevelFilter::WARN,
        LogLevel::Nothing => LevelFilter::OFF,
    }
}

/// Makes relative paths mean what the configuration says.
pub(crate) fn change_dir(settings: &Settings) -> io::Result<()> {
    std::env::set_current_dir(&settings.dir)
        .map_err(|error| named(&error, "dir", &settings.dir, DIRECTORY_HINTS))
}

/// Each client takes a file descriptor. Raises the limit for as many as `maxclients` says, or lowers
/// `maxclients` to what the system allows.
pub(crate) fn raise_open_files(config: &mut Config) {
    let wanted = config.settings().maxclients;
    if let Err(clients) = open_files::allow(wanted) {
        tracing::warn!(
            "the system limits the number of open files, so maxclients is {clients} instead of \
             {wanted}; raise the limit with 'ulimit -n'"
        );
        config.lower_maxclients(clients);
    }
}

/// For how many microseconds the server may look for something to do before it sleeps: for none where it would take
/// the only core from its clients, and where several threads would each take one.
pub(crate) fn busy_poll_us(settings: &Settings) -> u64 {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    match settings.threads == 1 && cores > 1 {
        true => settings.busy_poll_us,
        false => 0,
    }
}

/// Names the process in the background, unless the configuration has another file for that.
pub(crate) const PID_FILE: &str = "/var/run/tailrace.pid";

/// The file that names this process, for as long as it runs.
pub(crate) struct PidFile(Option<PathBuf>);

impl PidFile {
    /// Writes it, if the configuration asks for one. The server does without if it cannot, as the
    /// reference does.
    pub(crate) fn write(settings: &Settings) -> Self {
        if settings.pidfile.is_empty() {
            return Self(None);
        }
        let text = format!("{}\n", std::process::id());
        match std::fs::write(&settings.pidfile, text) {
            Ok(()) => Self(Some(PathBuf::from(&settings.pidfile))),
            Err(error) => {
                tracing::warn!(
                    "{}",
                    named(&error, "pidfile", &settings.pidfile, FILE_HINTS)
                );
                Self(None)
            }
        }
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

fn named(error: &io::Error, option: &str, path: &str, hints: Hints) -> io::Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => hints.missing,
        io::ErrorKind::PermissionDenied => hints.forbidden,
        _ => "check the path",
    };
    let problem = system_message(error);
    io::Error::new(error.kind(), format!("{option} {path}: {problem}; {hint}"))
}

/// What to do about a path that does not work.
#[derive(Clone, Copy)]
struct Hints {
    missing: &'static str,
    forbidden: &'static str,
}

/// The file itself is made, so what is missing is above it.
const FILE_HINTS: Hints = Hints {
    missing: "create its directory, or choose another",
    forbidden: "choose a file that you may write to",
};

const DIRECTORY_HINTS: Hints = Hints {
    missing: "create it, or choose another",
    forbidden: "choose a directory that you may enter",
};
