//! What the binary does for the process that started it: says where it listens, and ends when it is not
//! needed any more.

use std::fs::File;
use std::io;
use std::io::Write;
use std::os::fd::RawFd;
use std::path::Path;
use std::time::Duration;

use libc::STDERR_FILENO;
use serde_json::json;
use tailrace_server::Cluster;
use tailrace_server::config::ParentSettings;
use tailrace_server::open_files;

/// Where a test double listens, as one line of JSON.
pub(crate) fn describe(server: &Cluster) -> String {
    let addrs = server.addrs();
    let nodes: Vec<String> = server.node_addrs().iter().map(url).collect();
    let port = addrs.first().map(std::net::SocketAddr::port);
    json!({
        "url": addrs.first().map(url),
        "port": port,
        "nodes": nodes,
        "unixsocket": server.unix_path(),
        "pid": std::process::id(),
        "version": env!("CARGO_PKG_VERSION"),
    })
    .to_string()
}

fn url(addr: &std::net::SocketAddr) -> String {
    format!("redis://{addr}")
}

/// Tells the parent that the server listens, wherever it wants to hear of it.
pub(crate) fn announce(settings: &ParentSettings, line: &str) -> io::Result<()> {
    let line = format!("{line}\n");
    if let Some(path) = &settings.ready_file {
        // Whoever sees the file sees all of it.
        let path = Path::new(path);
        let unfinished = path.with_added_extension(std::process::id().to_string());
        std::fs::write(&unfinished, &line).and_then(|()| std::fs::rename(&unfinished, path))?;
    }
    if let Some(fd) = settings.ready_fd {
        // A pipe, a socket as Node makes them, or a file.
        let owned = open_files::duplicate(fd).map_err(|error| {
            let reason = format!("cannot write to descriptor {fd}: {error}; check --ready-fd");
            io::Error::new(error.kind(), reason)
        })?;
        File::from(owned).write_all(line.as_bytes())?;
        // Who reads to the end has all of it, unless it is where the log goes.
        match RawFd::try_from(fd) {
            Ok(fd) if fd > STDERR_FILENO => nix::unistd::close(fd)?,
            _ => {}
        }
    }
    Ok(())
}

/// The parent at the start: if it ends, the process gets another one.
pub(crate) struct Parent(u32);

impl Parent {
    /// Whoever is the parent now.
    pub(crate) fn now() -> Self {
        Self(std::os::unix::process::parent_id())
    }

    /// Waits until the server is not needed any more, and says why; for ever if nobody asked for that.
    pub(crate) async fn until_unneeded(self, settings: ParentSettings, server: &Cluster) -> String {
        let idle_max = Duration::from_secs(settings.idle_exit_s);
        let mut idle = Duration::ZERO;
        if !settings.exits_with_parent && idle_max.is_zero() {
            std::future::pending::<()>().await;
        }
        loop {
            tokio::time::sleep(LOOKS_EVERY).await;
            if settings.exits_with_parent && std::os::unix::process::parent_id() != self.0 {
                return "the parent process has ended".to_owned();
            }
            idle = match server.has_clients() {
                true => Duration::ZERO,
                false => idle + LOOKS_EVERY,
            };
            if !idle_max.is_zero() && idle >= idle_max {
                return format!("there was no client for {} s", settings.idle_exit_s);
            }
        }
    }
}

/// How often it is looked whether the server is needed. The signal that Linux has for the end of a parent comes
/// when the thread ends that started the process, which may be long before.
const LOOKS_EVERY: Duration = Duration::from_millis(100);
