//! Binds the addresses of a configuration.

use std::collections::hash_map::RandomState;
use std::fmt::Write;
use std::hash::BuildHasher;
use std::io;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use socket2::Domain;
use socket2::Protocol;
use socket2::Socket;
use socket2::Type;
use tokio::net::UnixListener;

use crate::config::Settings;
use crate::listener::Acceptor;
use crate::listening::Listening;
use crate::open_files;
use crate::start_error::StartError;

/// Sockets that are bound and not yet served.
pub(crate) struct Sockets {
    pub(crate) port: u16,
    tcp: Vec<TcpListener>,
    unix: Option<(String, UnixListener)>,
}

/// Binds every address of `settings`. Port 0 takes one free port for all of them.
pub(crate) fn bind(settings: &Settings) -> Result<Sockets, StartError> {
    let mut sockets = Sockets {
        port: settings.port,
        tcp: Vec::new(),
        unix: None,
    };
    if let Some(fd) = settings.parent.listen_fd {
        (sockets.port, sockets.tcp) = take_bound(fd, settings.tcp_backlog)?;
        return Ok(sockets);
    }
    for _ in 0..PORT_ATTEMPTS {
        match bind_tcp(settings, settings.port) {
            Err(StartError::Listen { source, .. })
                if settings.port == 0 && source.kind() == io::ErrorKind::AddrInUse => {}
            bound => {
                (sockets.port, sockets.tcp) = bound?;
                break;
            }
        }
    }
    if let Some(path) = &settings.unixsocket {
        let failed = |source| StartError::Listen {
            address: path.clone(),
            source,
        };
        // A socket that an earlier run left is in the way; a live server's is replaced, as the
        // reference does.
        let _ = std::fs::remove_file(path);
        let listener = UnixListener::bind(path).map_err(failed)?;
        if let Some(mode) = settings.unixsocketperm {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(path, permissions).map_err(failed)?;
        }
        sockets.unix = Some((path.clone(), listener));
    }
    Ok(sockets)
}

impl Sockets {
    /// The TCP addresses.
    pub(crate) fn addrs(&self) -> Vec<SocketAddr> {
        let addrs = self.tcp.iter().map(TcpListener::local_addr);
        addrs.filter_map(Result::ok).collect()
    }

    /// What `INFO` says of each kind of socket.
    pub(crate) fn describe(&self, settings: &Settings) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.tcp.is_empty() {
            lines.push(describe_tcp(settings, self.port, self.tcp.len()));
        }
        if let Some((path, _)) = &self.unix {
            lines.push(format!("name=unix,bind={path}"));
        }
        lines
    }

    /// Starts to accept on all of them; gives where it listens for TCP, and the path of the Unix socket.
    pub(crate) fn listen(
        self,
        acceptor: &Acceptor,
    ) -> Result<(Listening, Option<String>), StartError> {
        let mut listening = Listening::new(acceptor);
        listening.accept(self.tcp)?;
        let path = self.unix.as_ref().map(|(path, _)| path.clone());
        if let Some((path, listener)) = self.unix {
            tokio::spawn(acceptor.clone().accept_unix(listener, path));
        }
        Ok((listening, path))
    }
}

/// Takes a socket that the parent of this process bound and left open. Clients that connected to it
/// already are waiting.
fn take_bound(fd: u64, backlog: i32) -> Result<(u16, Vec<TcpListener>), StartError> {
    let failed = |source: io::Error| StartError::Listen {
        address: format!("descriptor {fd}"),
        source,
    };
    let listener = open_files::duplicate(fd).and_then(|owned| {
        let socket = Socket::from(owned);
        socket.set_nonblocking(true)?;
        socket.listen(backlog)?;
        Ok(TcpListener::from(socket))
    });
    let listener = listener.map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    Ok((port, vec![listener]))
}

/// What `INFO` says of TCP, where the first `count` addresses are listened on.
pub(crate) fn describe_tcp(settings: &Settings, port: u16, count: usize) -> String {
    let mut line = TCP_LINE.to_owned();
    for addr in settings.bind.iter().take(count) {
        let _ = write!(line, ",bind={addr}");
    }
    if port != 0 {
        let _ = write!(line, ",port={port}");
    }
    line
}

/// Binds the TCP addresses of `settings`, and gives the port.
pub(crate) fn bind_tcp(
    settings: &Settings,
    mut port: u16,
) -> Result<(u16, Vec<TcpListener>), StartError> {
    let mut listeners = Vec::new();
    for name in &settings.bind {
        let optional = name.starts_with('-');
        let name = name.trim_start_matches('-');
        let bound = address(name).and_then(|ip| listen_on(ip, port, settings.tcp_backlog));
        match bound {
            Ok(listener) => {
                port = listener.local_addr().map_or(port, |addr| addr.port());
                listeners.push(listener);
            }
            // A host without IPv6, or an address marked as optional.
            Err(error) if optional || is_unavailable(&error) && !listeners.is_empty() => {}
            Err(source) => {
                return Err(StartError::Listen {
                    address: format!("{name} port {port}"),
                    source,
                });
            }
        }
    }
    Ok((port, listeners))
}

fn is_unavailable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AddrNotAvailable | io::ErrorKind::Unsupported
    ) || error.raw_os_error() == Some(libc::EAFNOSUPPORT)
}

fn address(name: &str) -> io::Result<IpAddr> {
    match name {
        "*" | "0.0.0.0" => Ok(Ipv4Addr::UNSPECIFIED.into()),
        "::*" => Ok(Ipv6Addr::UNSPECIFIED.into()),
        name => match name.parse() {
            Ok(ip) => Ok(ip),
            Err(_) => {
                let mut addrs = std::net::ToSocketAddrs::to_socket_addrs(&(name, 0))?;
                let first = addrs.next().map(|addr| addr.ip());
                first.ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
            }
        },
    }
}

fn listen_on(ip: IpAddr, port: u16, backlog: i32) -> io::Result<TcpListener> {
    let addr = SocketAddr::new(ip, port);
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
    if ip.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&addr.into())?;
    socket.listen(backlog)?;
    Ok(socket.into())
}

/// 40 hexadecimal digits that no other run has.
pub(crate) fn random_id() -> String {
    let mut id = String::with_capacity(48);
    for _ in 0..3 {
        let _ = write!(id, "{:016x}", seed());
    }
    id.truncate(40);
    id
}

/// A number that another run will not have, from the standard library's own randomness.
pub(crate) fn seed() -> u64 {
    RandomState::new().hash_one(0_u8)
}

/// How the line of `INFO` begins that tells of TCP.
pub(crate) const TCP_LINE: &str = "name=tcp";
/// How often a free port is looked for that is free on every address.
const PORT_ATTEMPTS: usize = 100;
