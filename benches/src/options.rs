//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Arg;
use clap::ArgAction;
use clap::ArgMatches;
use clap::Command;
use clap::value_parser;

use crate::fault::Fault;
use crate::peer::Peer;

/// What to measure, and how.
#[derive(Debug)]
pub struct Options {
    /// The other server: a command that takes Valkey's arguments, or `host:port`.
    pub(crate) against: String,
    /// The program `tailrace`; the one beside this program if not given.
    pub(crate) tailrace: Option<PathBuf>,
    /// How many threads serve the sockets of Tailrace; as many as it takes by itself if not given.
    pub(crate) threads: Option<u8>,
    /// What to measure in place of Tailrace, given like `against`.
    pub(crate) subject: Option<String>,
    /// Of how many nodes clusters are compared; none if servers are.
    pub(crate) nodes: Vec<u16>,
    /// Whether a server that only parses is measured, too.
    pub(crate) floor: bool,
    /// Parts of names of workloads; all if empty.
    pub(crate) only: Vec<String>,
    /// How often each server runs each workload.
    pub(crate) runs: usize,
    /// Factor of the work in a run.
    pub(crate) scale: f64,
    /// How many threads make the load.
    pub(crate) load_threads: usize,
    /// After how many seconds a run ends before its work is done.
    pub(crate) seconds_max: u64,
    /// How long a minute of a soak takes.
    pub(crate) minute_seconds: u64,
    /// Where the results go.
    pub(crate) out: PathBuf,
    /// What is done.
    pub(crate) task: Task,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Both servers are compared.
    Compare,
    /// It is told which workloads there are.
    List,
    /// Tailrace is soaked for so many minutes.
    Soak(u16),
    /// A picture is made, at this path, of what the bench `sweep` found.
    DrawSweeps(PathBuf),
    /// This process is the floor of a comparison: a server at a port.
    ServeFloor(u16),
}

impl Options {
    /// Reads the arguments of this process; ends it where they ask for help or are wrong.
    #[must_use]
    pub fn from_command_line() -> Self {
        Self::from_matches(command().get_matches())
    }

    /// Reads arguments, the first of which is the program's name.
    ///
    /// # Errors
    ///
    /// The text to show if they ask for help or are wrong.
    pub fn parse<T: Into<OsString> + Clone>(
        args: impl IntoIterator<Item = T>,
    ) -> Result<Self, String> {
        let matches = command()
            .try_get_matches_from(args)
            .map_err(|error| error.to_string())?;
        Ok(Self::from_matches(matches))
    }

    /// Returns what is measured.
    ///
    /// # Errors
    ///
    /// As [`Peer::parse`] and [`Peer::tailrace`].
    pub(crate) fn subject(&self) -> Result<Peer, Fault> {
        match &self.subject {
            Some(subject) => Peer::parse(subject),
            None => Peer::tailrace(self.tailrace.as_deref(), self.threads),
        }
    }

    fn from_matches(mut matches: ArgMatches) -> Self {
        let floor_port = matches.remove_one("serve-floor");
        let task = if let Some(port) = floor_port {
            Task::ServeFloor(port)
        } else if let Some(path) = matches.remove_one("sweeps") {
            Task::DrawSweeps(path)
        } else if let Some(minutes) = matches.remove_one("soak") {
            Task::Soak(minutes)
        } else if matches.get_flag("list") {
            Task::List
        } else {
            Task::Compare
        };
        Self {
            against: defaulted(&mut matches, "against"),
            tailrace: matches.remove_one("tailrace"),
            threads: matches.remove_one("threads"),
            subject: matches.remove_one("subject"),
            nodes: matches
                .remove_many("nodes")
                .map_or_else(Vec::new, Iterator::collect),
            floor: matches.get_flag("floor"),
            only: matches
                .remove_many("only")
                .map_or_else(Vec::new, Iterator::collect),
            runs: usize::from(defaulted::<u8>(&mut matches, "runs")),
            scale: defaulted(&mut matches, "scale"),
            load_threads: usize::from(defaulted::<u8>(&mut matches, "load-threads")),
            seconds_max: defaulted(&mut matches, "seconds-max"),
            minute_seconds: defaulted(&mut matches, "minute-seconds"),
            out: defaulted(&mut matches, "out"),
            task,
        }
    }
}

fn defaulted<T: Clone + Send + Sync + 'static>(matches: &mut ArgMatches, name: &str) -> T {
    matches
        .remove_one(name)
        .expect("each argument that is read this way has a default")
}

fn command() -> Command {
    Command::new("tailrace-benches")
        .about("Runs the same workloads against Tailrace and another server, in turn.")
        .arg(
            Arg::new("against")
                .long("against")
                .value_name("COMMAND|HOST:PORT")
                .help("The other server: a command that takes Valkey's arguments, or an address")
                .default_value("valkey-server"),
        )
        .arg(
            Arg::new("tailrace")
                .long("tailrace")
                .value_name("PATH")
                .help("The program tailrace, if not the one beside this program")
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            Arg::new("threads")
                .long("threads")
                .value_name("N")
                .help("How many threads serve the sockets of Tailrace")
                .value_parser(value_parser!(u8).range(1..=128)),
        )
        .arg(
            Arg::new("floor")
                .long("floor")
                .help("Measures a server, too, that only parses commands and answers constants")
                .action(ArgAction::SetTrue),
        )
        .arg(
            Arg::new("only")
                .long("only")
                .value_name("NAME")
                .help("Only workloads whose name contains this; may be given again")
                .action(ArgAction::Append),
        )
        .arg(
            Arg::new("list")
                .long("list")
                .help("Tells which workloads there are")
                .action(ArgAction::SetTrue),
        )
        .arg(
            Arg::new("soak")
                .long("soak")
                .value_name("MINUTES")
                .help("Soaks Tailrace in a mixed load at 80 % of the most, and watches its memory")
                .value_parser(value_parser!(u16).range(1..=1_440)),
        )
        .arg(
            Arg::new("sweeps")
                .long("sweeps")
                .value_name("FILE")
                .help("Makes a picture of what `cargo bench --bench sweep` found")
                .value_parser(value_parser!(PathBuf)),
        )
        .args(amounts())
        .args(internal())
        .arg(
            Arg::new("out")
                .long("out")
                .value_name("DIR")
                .help("Where the results go")
                .value_parser(value_parser!(PathBuf))
                .default_value("target/side-by-side"),
        )
}

fn amounts() -> [Arg; 5] {
    [
        Arg::new("nodes")
            .long("nodes")
            .value_name("N,N...")
            .help("Clusters of so many nodes: Tailrace in one process, the other with a process for each")
            .value_delimiter(',')
            .conflicts_with_all(["floor", "soak"])
            .value_parser(value_parser!(u16).range(1..=64)),
        Arg::new("runs")
            .long("runs")
            .value_name("N")
            .help("How often each server runs each workload")
            .value_parser(value_parser!(u8).range(1..=99))
            .default_value("5"),
        Arg::new("scale")
            .long("scale")
            .value_name("FACTOR")
            .help("Factor of the work in a run")
            .value_parser(scale)
            .default_value("1"),
        Arg::new("load-threads")
            .long("load-threads")
            .value_name("N")
            .help("How many threads make the load")
            .value_parser(value_parser!(u8).range(1..=64))
            .default_value("1"),
        Arg::new("seconds-max")
            .long("seconds-max")
            .value_name("N")
            .help("After how many seconds a run ends before its work is done")
            .value_parser(value_parser!(u64).range(1..=3_600))
            .default_value("20"),
    ]
}

/// What tests need, who measures another server, and this program when it starts
/// itself.
fn internal() -> [Arg; 4] {
    [
        Arg::new("minute-seconds")
            .long("minute-seconds")
            .help("How long a minute of a soak takes")
            .value_parser(value_parser!(u64).range(1..=60))
            .default_value("60")
            .hide(true),
        Arg::new("subject")
            .long("subject")
            .value_name("COMMAND|HOST:PORT")
            .help("What to measure in place of Tailrace, given like --against"),
        Arg::new("serve-floor")
            .long("port")
            .help("Is the floor of a comparison, at this port")
            .value_parser(value_parser!(u16))
            .hide(true),
        Arg::new("bind").long("bind").hide(true),
    ]
}

fn scale(text: &str) -> Result<f64, String> {
    let scale: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if scale > 0.0 && scale <= SCALE_MAX {
        return Ok(scale);
    }
    Err(format!("not above 0 and up to {SCALE_MAX}"))
}

/// A hundred times the work fills the memory of a common machine.
const SCALE_MAX: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options, String> {
        Options::parse(["tailrace-benches"].iter().chain(args))
    }

    #[test]
    fn without_arguments_everything_is_measured_against_valkey() {
        let options = parse(&[]).unwrap();

        assert_eq!(options.against, "valkey-server");
        assert_eq!(options.runs, 5);
        assert!(options.only.is_empty() && !options.floor);
        assert_eq!((options.task, options.threads), (Task::Compare, None));
        assert!(options.nodes.is_empty());
    }

    #[test]
    fn clusters_have_sizes_and_no_floor() {
        assert_eq!(parse(&["--nodes", "1,2,4"]).unwrap().nodes, [1, 2, 4]);
        assert!(parse(&["--nodes", "2", "--floor"]).is_err());
    }

    #[test]
    fn amounts_out_of_bounds_are_refused() {
        for args in [
            ["--scale", "0"],
            ["--scale", "101"],
            ["--scale", "NaN"],
            ["--runs", "0"],
            ["--runs", "100"],
            ["--load-threads", "0"],
            ["--seconds-max", "0"],
            ["--threads", "0"],
            ["--soak", "0"],
            ["--nodes", "0"],
            ["--nodes", "1,65"],
            ["--soak", "1441"],
        ] {
            assert!(parse(&args).is_err(), "{args:?}");
        }
    }
}
