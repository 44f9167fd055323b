//! The command line: `tailrace [CONFIG-FILE] [--name value ...] [-]`.
//!
//! It has the reference's grammar, so that scripts that start redis-server or valkey-server work: any
//! directive is an option, an option takes as many values as follow it, `"--port 7000"` may be one
//! argument. A parser for ordinary options cannot say that, so this one is by hand.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use crate::config::Config;
use crate::config::ConfigError;
use crate::config::Loader;
use crate::config::Origin;
use crate::config::split_option;

/// What the command line asks for.
pub enum Start {
    /// To run a server.
    Run(Box<Config>),
    /// To print this line or these lines, and end.
    Print(String),
}

impl Config {
    /// Reads the command line, without the name of the program, and the files it names.
    ///
    /// `stdin` is read to its end if the first or the last argument is `-`.
    ///
    /// # Errors
    ///
    /// What is wrong, where, and what to do about it.
    pub fn from_args(
        args: impl IntoIterator<Item = OsString>,
        mut stdin: impl Read,
    ) -> Result<Start, ConfigError> {
        let args: Vec<Vec<u8>> = args.into_iter().map(OsString::into_vec).collect();
        match args.first().map(Vec::as_slice) {
            Some(b"-h" | b"--help") => return Ok(Start::Print(HELP.to_owned())),
            Some(b"-v" | b"--version") => return Ok(Start::Print(version())),
            _ => {}
        }
        let line = CommandLine::parse(&args)?;
        let mut loader = Loader::new(Self::default());
        if let Some(file) = line.file {
            loader.main_file(Path::new(OsStr::from_bytes(file)))?;
        }
        if line.has_stdin {
            let mut text = Vec::new();
            stdin.read_to_end(&mut text).map_err(|error| {
                ConfigError::new(&Origin::CommandLine, b"-", &format!("can't read: {error}"))
            })?;
            loader.text(&text, Origin::Stdin)?;
        }
        for directive in &line.directives {
            loader.directive(directive, &Origin::CommandLine)?;
        }
        Ok(Start::Run(Box::new(loader.finish()?)))
    }
}

/// The command line, taken apart.
#[derive(Default)]
struct CommandLine<'a> {
    file: Option<&'a [u8]>,
    has_stdin: bool,
    /// Name and values of each option.
    directives: Vec<Vec<Vec<u8>>>,
}

impl<'a> CommandLine<'a> {
    fn parse(args: &'a [Vec<u8>]) -> Result<Self, ConfigError> {
        let mut line = Self {
            file: args
                .first()
                .map(Vec::as_slice)
                .filter(|arg| !arg.starts_with(b"-")),
            ..Self::default()
        };
        // The argument after a bare name is its value even if it looks like a name.
        let mut wants_value = false;
        for (index, arg) in args
            .iter()
            .enumerate()
            .skip(usize::from(line.file.is_some()))
        {
            let is_at_an_end = index == 0 || index + 1 == args.len();
            if arg == b"-" && is_at_an_end {
                line.has_stdin = true;
            } else if let (Some(option), false) = (arg.strip_prefix(b"--"), wants_value) {
                wants_value = line.option(option, args.get(index + 1))?;
            } else if let Some(directive) = line.directives.last_mut() {
                directive.push(arg.clone());
                wants_value = false;
            } else {
                let problem = "unexpected argument; the name of an option starts with '--'";
                return Err(ConfigError::new(&Origin::CommandLine, arg, problem));
            }
        }
        Ok(line)
    }

    /// Begins an option and says whether the next argument must be its value.
    fn option(&mut self, text: &[u8], next: Option<&Vec<u8>>) -> Result<bool, ConfigError> {
        let error = |problem| ConfigError::new(&Origin::CommandLine, text, problem);
        let unbalanced = |_| error("unbalanced quotes; close every quote");
        let mut words = split_option(text).map_err(unbalanced)?;
        let Some(name) = words.first() else {
            return Err(error("option without a name; write '--name value'"));
        };
        let is_bare = words.len() == 1;
        if let Some(end) = name.iter().position(|byte| *byte == b'=') {
            let name = String::from_utf8_lossy(&name[..end]);
            let problem = format!("name and value are two words; write '--{name} VALUE'");
            return Err(ConfigError::new(
                &Origin::CommandLine,
                name.as_bytes(),
                &problem,
            ));
        }
        // Scripts that build a command line from an empty list write `--save` and nothing.
        let is_followed = next.is_some_and(|next| !next.starts_with(b"--"));
        let is_empty_save = is_bare && name.eq_ignore_ascii_case(b"save") && !is_followed;
        if is_empty_save {
            words.push(Vec::new());
        }
        let is_switch = SWITCHES.iter().any(|switch| name_is(&words, switch));
        let is_switched_on = is_bare && is_switch && !is_followed;
        if is_switched_on {
            words.push(b"yes".to_vec());
        }
        self.directives.push(words);
        Ok(is_bare && !is_empty_save && !is_switched_on)
    }
}

fn name_is(words: &[Vec<u8>], name: &str) -> bool {
    words[0].eq_ignore_ascii_case(name.as_bytes())
}

/// Directives of our own that mean `yes` where nothing follows.
const SWITCHES: &[&str] = &["testdouble", "strict", "exit-with-parent"];

fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let bits = usize::BITS;
    format!("Tailrace server v={version} malloc=mimalloc bits={bits}")
}

const HELP: &str = "\
Usage: tailrace [CONFIG-FILE] [--NAME VALUE ...] [-]
       tailrace -                read the configuration from standard input
       tailrace -v | --version
       tailrace -h | --help

Serves clients of Redis and Valkey, on 127.0.0.1 port 6379 unless told otherwise, until it gets SIGTERM,
SIGINT or SHUTDOWN. Data lives in memory only. The first line on standard output says when it is ready and
where it listens; log lines go to standard error.

A configuration file is a redis.conf or valkey.conf, and each of its directives is an option, too. Options
override standard input, which overrides the file. `redis-cli CONFIG GET '*'` lists the directives and
their values.

Examples:
       tailrace
       tailrace --port 7000 --bind 127.0.0.1 -::1
       tailrace /etc/tailrace.conf --loglevel verbose
       tailrace --port 0 --save '' --appendonly no        any free port, named on the first line
       echo 'maxmemory 128mb' | tailrace -

Tailrace's own directives:
       threads 1..128            threads that serve sockets (1; with several nodes one for each, up to the cores)
       busy-poll-us 0..1000      microseconds for which one thread looks for work before it sleeps, while that is worth it (50)
       nodes 1..1000             nodes of a cluster in this process, each with its port from --port on (1)
       replicas 0..8             replicas of each of them (0)
       cluster-topology FILE     the nodes of a cluster of several processes: id, address and slots of each
       compat valkey|redis       which server to follow where the two differ (valkey)
       testdouble                a server in the hands of a test: it knows TESTDOUBLE (try TD HELP), and its
                                 first line is JSON that says where it listens
       clock real|frozen[:UNIX-MS]|auto[:CLIENTS]
                                 how the clock of a test double goes at first (real)
       faults FILE               the faults of a test double at first, one in each line, as TD FAULT LOAD takes them
       strict                    end with exit status 3 if a test double was asked for commands that there are not
       calls-memory AMOUNT       how much of the calls a test double remembers for TD CALLS (2mb)
       fixture FILE              commands that a test double executes when it starts, one in each line
       seed N                    what chance starts from
       ready-file PATH           where to write the first line, too, once the server listens
       ready-fd N                an open descriptor to write it to
       listen-fd N               an open descriptor of a bound socket to listen on, instead of a port
       exit-with-parent          end when the parent process ends
       idle-exit SECONDS         end when there was no client for so long";
