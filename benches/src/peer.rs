//! How to get at a server that is to be measured.

use std::env;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::path::Path;
use std::path::PathBuf;

use crate::fault::Fault;

/// A server to measure: one to start, or one that runs.
#[derive(Clone, Debug)]
pub(crate) enum Peer {
    /// The program `tailrace`.
    Tailrace {
        /// Where it is.
        path: PathBuf,
        /// How many threads serve sockets; as many as it takes by itself if not given.
        threads: Option<u8>,
        /// How many nodes of a cluster it is, if it is one.
        nodes: Option<u16>,
    },
    /// This program, as a server that only parses; see `floor.rs`.
    Floor(PathBuf),
    /// A program that takes Valkey's arguments, with arguments of its own before them.
    Program {
        /// The program, a path or a name to look for.
        program: String,
        /// What to give it before the port.
        args: Vec<String>,
    },
    /// A server that runs on this machine.
    Address(SocketAddr),
}

impl Peer {
    /// Reads `host:port` or a command.
    ///
    /// # Errors
    ///
    /// [`Fault::Usage`] if the host is not this machine, or there is nothing to read.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        if let Some((host, port)) = text.rsplit_once(':')
            && let Ok(port) = port.parse()
        {
            let host = match host {
                "localhost" => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
                host => host.trim_matches(['[', ']']).parse().ok(),
            };
            return host
                .filter(IpAddr::is_loopback)
                .map(|host| Self::Address(SocketAddr::new(host, port)))
                .ok_or_else(|| {
                    Fault::Usage(format!(
                        "{text} is not on this machine; a network would be what is measured"
                    ))
                });
        }
        let mut words = text.split_whitespace().map(str::to_owned);
        let Some(program) = words.next() else {
            return Err(Fault::Usage("there is no server to compare to".to_owned()));
        };
        Ok(Self::Program {
            program,
            args: words.collect(),
        })
    }

    /// Returns Tailrace as it was built, with so many threads: the program at `path`, else the one beside this
    /// program.
    ///
    /// # Errors
    ///
    /// [`Fault::NoProgram`] if it is not there.
    pub(crate) fn tailrace(path: Option<&Path>, threads: Option<u8>) -> Result<Self, Fault> {
        let path = match path {
            Some(path) => path.to_owned(),
            None => this_program()?.with_file_name("tailrace"),
        };
        if path.is_file() {
            return Ok(Self::Tailrace {
                path,
                threads,
                nodes: None,
            });
        }
        Err(Fault::NoProgram {
            program: path.display().to_string(),
            advice: TAILRACE_ADVICE.to_owned(),
        })
    }

    /// Returns this program as a server that only parses.
    ///
    /// # Errors
    ///
    /// [`Fault::Io`] if it cannot be told where it is.
    pub(crate) fn floor() -> Result<Self, Fault> {
        this_program().map(Self::Floor)
    }
}

fn this_program() -> Result<PathBuf, Fault> {
    env::current_exe().map_err(Fault::io("cannot tell where this program is"))
}

/// How to get the program that is measured.
const TAILRACE_ADVICE: &str = "Build it first, with `cargo build --release -p tailrace-server`, \
    or say where it is with `--tailrace PATH`.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_from_a_command() {
        let address = Peer::parse("localhost:6379").unwrap();
        assert!(matches!(address, Peer::Address(at) if at.port() == 6379));

        let command = Peer::parse("valkey-server --io-threads 2").unwrap();
        let Peer::Program { program, args } = command else {
            panic!("{command:?}");
        };
        assert_eq!(program, "valkey-server");
        assert_eq!(args, ["--io-threads", "2"]);
    }

    #[test]
    fn another_machine_is_refused() {
        assert!(Peer::parse("192.0.2.1:6379").is_err());
        assert!(Peer::parse("").is_err());
    }
}
