//! A server program that was started here and ends with its value.

use std::env;
use std::fs;
use std::io::BufRead;
use std::io::BufReader;
use std::io::ErrorKind;
use std::path::Path;
use std::path::PathBuf;
use std::process;
use std::process::Child;
use std::process::ChildStdout;
use std::process::Command;
use std::process::Stdio;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::clock;
use crate::fault::Fault;

/// A running server program, in a folder of its own where it finds no data of others.
pub(super) struct Process {
    child: Child,
    folder: PathBuf,
}

impl Process {
    /// Starts a program and waits for a line of its output that has one of `marks` in it.
    ///
    /// # Errors
    ///
    /// - [`Fault::NoProgram`] with `advice` if there is no such program.
    /// - [`Fault::NotReady`] if the line does not come.
    pub(super) fn start(
        program: &str,
        args: &[String],
        advice: &str,
        marks: &[&str],
    ) -> Result<Self, Fault> {
        let folder = new_folder(program)?;
        let spawned = Command::new(absolute(program)?)
            .args(args)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn();
        let child = match spawned {
            Ok(child) => child,
            Err(error) => {
                drop(fs::remove_dir(&folder));
                return Err(not_started(program, advice, error));
            }
        };
        let mut process = Self { child, folder };
        let stdout = process.child.stdout.take();
        let lines = stdout.map_or_else(|| channel().1, lines_of);
        wait_for(&lines, marks).map_err(|log| Fault::NotReady {
            program: program.to_owned(),
            log,
        })?;
        Ok(process)
    }

    /// Returns the id of the process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing that it holds is wanted any more, and one that has ended already is as good.
        drop(self.child.kill());
        drop(self.child.wait());
        drop(fs::remove_dir_all(&self.folder));
    }
}

fn not_started(program: &str, advice: &str, error: std::io::Error) -> Fault {
    if error.kind() == ErrorKind::NotFound {
        return Fault::NoProgram {
            program: program.to_owned(),
            advice: advice.to_owned(),
        };
    }
    Fault::io(format!("cannot start {program}"))(error)
}

/// A name without a folder is looked for by the system; a path must not depend on the working folder.
fn absolute(program: &str) -> Result<PathBuf, Fault> {
    if !program.contains('/') {
        return Ok(program.into());
    }
    std::path::absolute(program).map_err(Fault::io(format!("cannot find {program}")))
}

/// Makes a folder that nobody else has.
fn new_folder(program: &str) -> Result<PathBuf, Fault> {
    let name = Path::new(program).file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let mut number = 0;
    loop {
        let folder = env::temp_dir().join(format!("bench-{name}-{}-{number}", process::id()));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                return Err(Fault::io(format!("cannot make {}", folder.display()))(
                    error,
                ));
            }
        }
    }
}

/// Reads all that a program writes, so that it never waits for a reader.
fn lines_of(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // Once the server is ready nobody listens; the lines are still read.
            drop(sender.send(line));
        }
    });
    receiver
}

/// Returns the last lines if the one with a mark does not come.
fn wait_for(lines: &Receiver<String>, marks: &[&str]) -> Result<(), String> {
    let end = clock::now() + READY_TIME_MAX;
    let mut log = Vec::new();
    while let Ok(line) = lines.recv_timeout(end.saturating_duration_since(clock::now())) {
        if marks.iter().any(|mark| line.contains(mark)) {
            return Ok(());
        }
        log.push(line);
    }
    Err(log
        .split_off(log.len().saturating_sub(LOG_LINES))
        .join("\n"))
}

/// How long a server may take to get ready.
const READY_TIME_MAX: Duration = Duration::from_secs(20);

/// How many lines of a server that failed are shown.
const LOG_LINES: usize = 12;
