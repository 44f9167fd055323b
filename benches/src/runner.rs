//! Runs the workloads, one server after the other, and reports.

use std::fs;
use std::io::Write;
use std::process;
use std::time::Duration;

use crate::clock;
use crate::fault::Fault;
use crate::floor;
use crate::load::Bounds;
use crate::nodes;
use crate::options::Options;
use crate::options::Task;
use crate::peer::Peer;
use crate::progress::Progress;
use crate::report;
use crate::results::Measurement;
use crate::results::Results;
use crate::results::Row;
use crate::results::Series;
use crate::server::Server;
use crate::soak;
use crate::sweeps;
use crate::usage::Usage;
use crate::workloads::ALL;
use crate::workloads::Site;
use crate::workloads::Workload;

/// Does what the options say. A comparison of two servers writes a table to `out`, and a JSON file and a chart to
/// the folder that they name.
///
/// # Errors
///
/// - [`Fault::Usage`] if no workload has such a name, or a server is on another machine.
/// - [`Fault::NoProgram`], [`Fault::NotReady`] if a server cannot be started.
/// - Whatever goes wrong in a run ends the comparison: nothing is reported then.
pub fn run(options: &Options, out: &mut impl Write) -> Result<(), Fault> {
    match &options.task {
        Task::Compare if !options.nodes.is_empty() => nodes::compare(options, out),
        Task::Compare => compare(options, out),
        Task::List => {
            let is_all = options.only.is_empty();
            let workloads = chosen(&options.only)?;
            say(out, &report::list(if is_all { ALL } else { &workloads }));
            Ok(())
        }
        Task::Soak(minutes) => soak::run(options, *minutes, out),
        Task::DrawSweeps(path) => {
            sweeps::draw(path)?;
            say(out, &format!("wrote {}\n", path.display()));
            Ok(())
        }
        Task::ServeFloor(port) => floor::serve(*port, out),
    }
}

fn compare(options: &Options, out: &mut impl Write) -> Result<(), Fault> {
    let workloads = chosen(&options.only)?;
    fs::create_dir_all(&options.out)
        .map_err(Fault::io(format!("cannot make {}", options.out.display())))?;

    // A thousand clients need more files than some systems allow at first. If it cannot be had, connecting
    // fails and says so. Servers that are started inherit it.
    drop(rlimit::increase_nofile_limit(OPEN_FILES));
    let progress = Progress::new();
    let bench = Bench::start(options, &progress)?;
    let mut rows = Vec::new();
    for workload in workloads {
        if workload.starts_servers() && !bench.can_start() {
            progress.note(&format!(
                "{}  left out: it starts servers, and one is given by its address",
                workload.facts().name
            ));
            continue;
        }
        match bench.compare(workload) {
            Ok(row) => {
                progress.note(&report::line(&row));
                rows.push(row);
            }
            Err(fault) if fault.is_of_lacking_command() => {
                progress.note(&format!("{fault}; left out"));
            }
            Err(fault) => return Err(fault),
        }
    }
    progress.end();
    publish(&bench.end(rows), options, out)
}

/// Writes the results to their files and to `out`.
///
/// # Errors
///
/// [`Fault::Io`] if a file cannot be written.
pub(crate) fn publish(
    results: &Results,
    options: &Options,
    out: &mut impl Write,
) -> Result<(), Fault> {
    let paths = report::write(results, &options.out)?;
    say(out, &format!("{}\n", report::table(results)));
    for path in paths {
        say(out, &format!("wrote {}\n", path.display()));
    }
    Ok(())
}

/// Whoever reads may have seen enough, as `head` does; the files are there all the same.
fn say(out: &mut impl Write, text: &str) {
    drop(out.write_all(text.as_bytes()));
}

fn chosen(only: &[String]) -> Result<Vec<&'static dyn Workload>, Fault> {
    let is_chosen = |workload: &&dyn Workload| {
        (only.is_empty() && !workload.is_asked_for())
            || only.iter().any(|part| workload.facts().name.contains(part))
    };
    let chosen: Vec<_> = ALL.iter().copied().filter(is_chosen).collect();
    if chosen.is_empty() {
        return Err(Fault::Usage(format!(
            "no workload has a name with {} in it; --list tells which there are",
            only.join(" or ")
        )));
    }
    Ok(chosen)
}

/// When a run ends before its work is done.
pub(crate) fn bounds(options: &Options) -> Bounds {
    Bounds {
        time_max: Duration::from_secs(options.seconds_max),
        silence_max: SILENCE_MAX,
        threads: options.load_threads,
    }
}

/// The servers, ready to be measured.
struct Bench<'a> {
    options: &'a Options,
    progress: &'a Progress,
    subject: Server,
    against: Server,
    floor: Option<Server>,
    /// The machine as it was before the first run.
    machine: String,
}

impl<'a> Bench<'a> {
    fn start(options: &'a Options, progress: &'a Progress) -> Result<Self, Fault> {
        let mut subject = Server::start(&options.subject()?)?;
        let mut against = Server::start(&Peer::parse(&options.against)?)?;
        if subject.name() == against.name() {
            subject.name_by_port();
            against.name_by_port();
        }
        let floor = match options.floor {
            true => Some(Server::start(&Peer::floor()?)?),
            false => None,
        };
        Ok(Self {
            options,
            progress,
            subject,
            against,
            floor,
            machine: report::machine_before(),
        })
    }

    fn can_start(&self) -> bool {
        self.subject.was_started() && self.against.was_started()
    }

    /// Runs a workload on all servers in turn, so that a change of the machine's state meets all.
    fn compare(&self, workload: &dyn Workload) -> Result<Row, Fault> {
        let (mut subject, mut against, mut floor) = (Vec::new(), Vec::new(), Vec::new());
        for number in 1..=self.options.runs {
            subject.push(self.run_on(&self.subject, workload, number)?);
            against.push(self.run_on(&self.against, workload, number)?);
            if let Some(server) = &self.floor
                && workload.has_floor()
            {
                floor.push(self.run_on(server, workload, number)?);
            }
        }
        Ok(Row {
            facts: workload.facts(),
            nodes: None,
            subject: Series::new(subject),
            against: Series::new(against),
            floor: (!floor.is_empty()).then(|| Series::new(floor)),
        })
    }

    fn run_on(
        &self,
        server: &Server,
        workload: &dyn Workload,
        number: usize,
    ) -> Result<Measurement, Fault> {
        let (name, runs) = (workload.facts().name, self.options.runs);
        self.progress
            .begin(format!("{name}  run {number} of {runs}  {}", server.name()));
        let mut on_progress = |done, of| self.progress.advance(done, of);
        let bounds = bounds(self.options);
        let mut site = Site::new(server, self.options.scale, bounds, &mut on_progress);

        measure(workload, &mut site, server).map_err(|fault| Fault::Run {
            run: format!("{name} on {}", server.name()),
            source: Box::new(fault),
        })
    }

    /// Ends the servers that were started.
    fn end(self, rows: Vec<Row>) -> Results {
        Results {
            subject: self.subject.name().to_owned(),
            against: self.against.name().to_owned(),
            machine: self.machine,
            date: clock::today(),
            scale: self.options.scale,
            rows,
        }
    }
}

fn measure(
    workload: &dyn Workload,
    site: &mut Site<'_>,
    server: &Server,
) -> Result<Measurement, Fault> {
    site.clear()?;
    workload.prepare(site)?;
    let load_before = Usage::of_process(process::id())?;
    let before = usage(workload, server)?;
    let start = clock::now();
    let sample = workload.measure(site)?;
    let seconds = (clock::now() - start).as_secs_f64();
    let after = usage(workload, server)?;
    let load_after = Usage::of_process(process::id())?;
    site.clear()?;

    Ok(Measurement {
        value: sample.value,
        latency: sample.latency,
        seconds,
        cpu_seconds: cpu_seconds(before, after),
        load_cpu_seconds: cpu_seconds(load_before, load_after),
        memory_bytes: after.map(|usage| usage.memory_bytes),
    })
}

/// Returns the processor time between two looks, if both are known.
pub(crate) fn cpu_seconds(before: Option<Usage>, after: Option<Usage>) -> Option<f64> {
    Some(after?.cpu_seconds - before?.cpu_seconds)
}

/// What a server uses says nothing about a workload that starts others.
fn usage(workload: &dyn Workload, server: &Server) -> Result<Option<Usage>, Fault> {
    if workload.starts_servers() {
        return Ok(None);
    }
    server.usage()
}

/// Files that may be open: the clients of the largest load, and some.
const OPEN_FILES: u64 = 4_096;

/// A run in which nothing is heard for so long has failed.
const SILENCE_MAX: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_are_chosen_by_a_part_of_their_name() {
        let names = |only: &[&str]| -> Vec<&str> {
            let only: Vec<String> = only.iter().map(|&part| part.to_owned()).collect();
            chosen(&only)
                .unwrap()
                .iter()
                .map(|w| w.facts().name)
                .collect()
        };

        assert!(names(&[]).contains(&"add/p1") && !names(&[]).contains(&"hostile/quiet"));
        assert!(names(&["hostile"]).len() > 1);
        assert_eq!(names(&["dd/p16", "group/100"]), ["add/p16", "group/100"]);
        assert!(chosen(&["nothing".to_owned()]).is_err());
    }

    #[test]
    fn no_two_workloads_have_one_name() {
        let mut names: Vec<&str> = ALL.iter().map(|workload| workload.facts().name).collect();
        names.sort_unstable();
        names.dedup();

        assert_eq!(names.len(), ALL.len());
    }
}
