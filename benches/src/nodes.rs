//! Compares clusters of several sizes: `--nodes`.

use std::fs;
use std::io::Write;
use std::process;

use crate::clock;
use crate::cluster::Cluster;
use crate::fault::Fault;
use crate::options::Options;
use crate::peer::Peer;
use crate::progress::Progress;
use crate::report;
use crate::results::Measurement;
use crate::results::Results;
use crate::results::Row;
use crate::results::Series;
use crate::runner::bounds;
use crate::runner::cpu_seconds;
use crate::runner::publish;
use crate::usage::Usage;
use crate::workloads::Site;
use crate::workloads::spread;
use crate::workloads::spread::Spread;

/// Compares clusters of each of the sizes that the options name, one after the other, and reports as a comparison of
/// servers does.
///
/// # Errors
///
/// As the comparison of servers.
pub(crate) fn compare(options: &Options, out: &mut impl Write) -> Result<(), Fault> {
    let works = chosen(&options.only)?;
    fs::create_dir_all(&options.out)
        .map_err(Fault::io(format!("cannot make {}", options.out.display())))?;
    let machine = report::machine_before();
    let progress = Progress::new();
    let mut of_whom = None;
    // By work, so that sizes stand beside each other.
    let mut rows: Vec<Vec<Row>> = works.iter().map(|_| Vec::new()).collect();
    for &nodes in &options.nodes {
        let pair = Pair {
            options,
            progress: &progress,
            nodes,
            subject: Cluster::start(&options.subject()?, nodes)?,
            against: Cluster::start(&Peer::parse(&options.against)?, nodes)?,
        };
        for (work, rows) in works.iter().zip(&mut rows) {
            let row = pair.compare(work)?;
            progress.note(&report::line(&row));
            rows.push(row);
        }
        of_whom = Some(pair.names());
    }
    progress.end();
    let Some([subject, against, manners]) = of_whom else {
        return Err(Fault::Usage("--nodes names no size".to_owned()));
    };
    let results = Results {
        machine: format!("{machine}; {manners}"),
        subject,
        against,
        date: clock::today(),
        scale: options.scale,
        rows: rows.into_iter().flatten().collect(),
    };
    publish(&results, options, out)
}

fn chosen(only: &[String]) -> Result<Vec<&'static Spread>, Fault> {
    let is_named = |work: &&Spread| only.iter().any(|part| work.facts().name.contains(part));
    let works: Vec<_> = spread::ALL
        .iter()
        .filter(|work| only.is_empty() || is_named(work))
        .collect();
    if works.is_empty() {
        let names: Vec<&str> = spread::ALL.iter().map(|work| work.facts().name).collect();
        return Err(Fault::Usage(format!(
            "no workload of clusters has a name with {} in it; there are {}",
            only.join(" or "),
            names.join(", ")
        )));
    }
    Ok(works)
}

/// Two clusters of one size, ready to be measured.
struct Pair<'a> {
    options: &'a Options,
    progress: &'a Progress,
    nodes: u16,
    subject: Cluster,
    against: Cluster,
}

impl Pair<'_> {
    /// The names of both, and how the nodes of each live.
    fn names(&self) -> [String; 3] {
        let (subject, against) = (&self.subject, &self.against);
        let manners = format!("nodes in {} against {}", subject.manner(), against.manner());
        [
            subject.name().to_owned(),
            against.name().to_owned(),
            manners,
        ]
    }

    /// Runs a work on both in turn, so that a change of the machine's state meets both.
    fn compare(&self, work: &Spread) -> Result<Row, Fault> {
        let (mut subject, mut against) = (Vec::new(), Vec::new());
        for number in 1..=self.options.runs {
            subject.push(self.run_on(&self.subject, work, number)?);
            against.push(self.run_on(&self.against, work, number)?);
        }
        Ok(Row {
            facts: work.facts(),
            nodes: Some(self.nodes),
            subject: Series::new(subject),
            against: Series::new(against),
            floor: None,
        })
    }

    fn run_on(
        &self,
        cluster: &Cluster,
        work: &Spread,
        number: usize,
    ) -> Result<Measurement, Fault> {
        let (name, runs) = (work.facts().name, self.options.runs);
        self.progress.begin(format!(
            "{name}  nodes {}  run {number} of {runs}  {}",
            self.nodes,
            cluster.name()
        ));
        let mut on_progress = |done, of| self.progress.advance(done, of);
        let first = &cluster.nodes()[0].server;
        let bounds = bounds(self.options);
        let mut site = Site::new(first, self.options.scale, bounds, &mut on_progress);
        measure(work, cluster, &mut site).map_err(|fault| Fault::Run {
            run: format!("{name}, {} nodes, on {}", self.nodes, cluster.name()),
            source: Box::new(fault),
        })
    }
}

fn measure(work: &Spread, cluster: &Cluster, site: &mut Site<'_>) -> Result<Measurement, Fault> {
    spread::clear(cluster)?;
    work.prepare(cluster, site)?;
    let load_before = Usage::of_process(process::id())?;
    let before = cluster.usage()?;
    let start = clock::now();
    let sample = work.measure(cluster, site)?;
    let seconds = (clock::now() - start).as_secs_f64();
    let after = cluster.usage()?;
    let load_after = Usage::of_process(process::id())?;
    spread::clear(cluster)?;
    Ok(Measurement {
        value: sample.value,
        latency: sample.latency,
        seconds,
        cpu_seconds: cpu_seconds(before, after),
        load_cpu_seconds: cpu_seconds(load_before, load_after),
        memory_bytes: after.map(|usage| usage.memory_bytes),
    })
}
