//! What was measured, and what follows from it.

use hdrhistogram::Histogram;

use crate::load::new_histogram;
use crate::workloads::Facts;
use crate::workloads::Target;

/// One run of one workload on one server.
pub(crate) struct Measurement {
    /// In the unit of the workload.
    pub(crate) value: f64,
    /// In nanoseconds; of each request with its replies.
    pub(crate) latency: Histogram<u64>,
    /// How long the run took.
    pub(crate) seconds: f64,
    /// Processor time of the server during the run, if known.
    pub(crate) cpu_seconds: Option<f64>,
    /// Processor time of those who made the load.
    pub(crate) load_cpu_seconds: Option<f64>,
    /// Resident memory of the server after the run, if known.
    pub(crate) memory_bytes: Option<u64>,
}

/// All runs of one workload on one server, in order.
pub(crate) struct Series {
    runs: Vec<Measurement>,
}

/// One workload on all servers.
pub(crate) struct Row {
    /// What the workload is.
    pub(crate) facts: Facts,
    /// How many nodes each server is, where they are clusters.
    pub(crate) nodes: Option<u16>,
    /// Runs on the server that is measured.
    pub(crate) subject: Series,
    /// Runs on the server that it is compared to.
    pub(crate) against: Series,
    /// Runs on a server that only parses, if there is one and it can do this.
    pub(crate) floor: Option<Series>,
}

/// A comparison as a whole.
pub(crate) struct Results {
    /// Name of the server that is measured.
    pub(crate) subject: String,
    /// Name of the server that it is compared to.
    pub(crate) against: String,
    /// Where it ran.
    pub(crate) machine: String,
    /// The day, as in 2026-11-29.
    pub(crate) date: String,
    /// Factor of the work.
    pub(crate) scale: f64,
    /// One row for each workload.
    pub(crate) rows: Vec<Row>,
}

/// A figure in the middle, and the least and the greatest of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Series {
    /// Makes a series of at least one run.
    pub(crate) fn new(runs: Vec<Measurement>) -> Self {
        assert!(!runs.is_empty(), "a workload is run at least once");
        Self { runs }
    }

    /// Returns the runs in order.
    pub(crate) fn runs(&self) -> &[Measurement] {
        &self.runs
    }

    /// Returns the value in the workload's unit.
    pub(crate) fn value(&self) -> Figure {
        Figure::of(self.runs.iter().map(|run| run.value))
    }

    /// Returns the latencies of all runs together.
    pub(crate) fn latency(&self) -> Histogram<u64> {
        let mut all = new_histogram();
        for run in &self.runs {
            all.add(&run.latency)
                .expect("all histograms have the same bounds");
        }
        all
    }

    /// Returns the median processor time of a run.
    pub(crate) fn cpu_seconds(&self) -> Option<f64> {
        let all: Option<Vec<f64>> = self.runs.iter().map(|run| run.cpu_seconds).collect();
        Some(Figure::of(all?.into_iter()).median)
    }

    /// Returns how many cores the server kept busy.
    pub(crate) fn cores(&self) -> Option<f64> {
        self.cores_of(|run| run.cpu_seconds)
    }

    /// Returns how many cores the load kept busy.
    pub(crate) fn load_cores(&self) -> Option<f64> {
        self.cores_of(|run| run.load_cpu_seconds)
    }

    fn cores_of(&self, cpu_seconds: impl Fn(&Measurement) -> Option<f64>) -> Option<f64> {
        let cores = |run| Some(cpu_seconds(run)? / run.seconds.max(f64::EPSILON));
        let all: Option<Vec<f64>> = self.runs.iter().map(cores).collect();
        Some(Figure::of(all?.into_iter()).median)
    }

    /// Returns the most memory that the server held after a run.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        self.runs.iter().filter_map(|run| run.memory_bytes).max()
    }
}

impl Row {
    /// Returns its name, which tells how many nodes there are.
    pub(crate) fn name(&self) -> String {
        let name = self.facts.name;
        match self.nodes {
            None => name.to_owned(),
            Some(1) => format!("{name}, 1 node"),
            Some(nodes) => format!("{name}, {nodes} nodes"),
        }
    }

    /// Returns how many times better the subject is: above 1 if it is.
    ///
    /// The middle is the ratio of the medians; least and greatest are of runs that came one after the
    /// other, which had the machine in the same state.
    pub(crate) fn ratio(&self) -> Figure {
        let pairs = self.subject.runs.iter().zip(&self.against.runs);
        let pairs = pairs.map(|(subject, against)| self.better(subject.value, against.value));
        let spread = Figure::of(pairs);
        Figure {
            median: self.better(self.subject.value().median, self.against.value().median),
            ..spread
        }
    }

    /// Returns how close the subject comes to a server that only parses: 1 if it is as fast.
    pub(crate) fn part_of_floor(&self) -> Option<f64> {
        let floor = self.floor.as_ref()?;
        Some(self.better(self.subject.value().median, floor.value().median))
    }

    /// Returns how many times better than the other server one is that only parses.
    pub(crate) fn floor_ratio(&self) -> Option<f64> {
        let floor = self.floor.as_ref()?;
        Some(self.better(floor.value().median, self.against.value().median))
    }

    /// Whether the subject reached what it is to reach.
    pub(crate) fn is_met(&self) -> bool {
        match self.facts.target {
            Target::Times(times) => self.ratio().median >= times,
            Target::Figure(figure) if self.facts.unit.more_is_better => {
                self.subject.value().median >= figure
            }
            Target::Figure(figure) => self.subject.value().median <= figure,
        }
    }

    fn better(&self, subject: f64, against: f64) -> f64 {
        let (more, less) = if self.facts.unit.more_is_better {
            (subject, against)
        } else {
            (against, subject)
        };
        if more == less {
            return 1.0;
        }
        more / less.max(f64::MIN_POSITIVE)
    }
}

impl Figure {
    /// Sums up at least one value.
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Self {
            median,
            min: values[0],
            max: values[values.len() - 1],
        }
    }

    /// Returns how far apart least and greatest are, as a part of the median.
    pub(crate) fn spread(self) -> f64 {
        (self.max - self.min) / self.median.max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::workloads::Unit;

    /// A row of runs with these values, for tests of what is made of it.
    pub(crate) fn row(unit: Unit, subject: &[f64], against: &[f64]) -> Row {
        Row {
            facts: Facts {
                name: "add/p16",
                brief: "XADD, 16 in each write",
                question: "How fast?",
                unit,
                target: Target::Times(2.5),
            },
            nodes: None,
            subject: series(subject),
            against: series(against),
            floor: None,
        }
    }

    /// Results with these rows, for tests of how they are shown.
    pub(crate) fn results(rows: Vec<Row>) -> Results {
        Results {
            subject: "Tailrace 0.1.0".to_owned(),
            against: "Valkey 9".to_owned(),
            machine: "a machine".to_owned(),
            date: "2026-11-29".to_owned(),
            scale: 1.0,
            rows,
        }
    }

    /// Runs with these values.
    pub(crate) fn series(values: &[f64]) -> Series {
        let run = |value: &f64| {
            let mut latency = new_histogram();
            latency.record(1_500).unwrap();
            Measurement {
                value: *value,
                latency,
                seconds: 2.0,
                cpu_seconds: Some(1.0),
                load_cpu_seconds: Some(0.5),
                memory_bytes: None,
            }
        };
        Series::new(values.iter().map(run).collect())
    }

    #[test]
    fn the_median_of_two_lies_between_them() {
        let figure = Figure::of([4.0, 2.0].into_iter());

        assert_eq!(figure.median, 3.0);
        assert_eq!((figure.min, figure.max), (2.0, 4.0));
        assert_eq!(Figure::of([9.0, 1.0, 2.0].into_iter()).median, 2.0);
    }

    #[test]
    fn a_ratio_above_one_is_better_whatever_the_unit() {
        let rate = row(
            Unit::rate("entries/s"),
            &[20.0, 40.0, 30.0],
            &[10.0, 10.0, 10.0],
        );
        assert_eq!(
            rate.ratio(),
            Figure {
                median: 3.0,
                min: 2.0,
                max: 4.0
            }
        );

        let size = row(Unit::cost("bytes"), &[50.0], &[100.0]);
        assert_eq!(size.ratio().median, 2.0);
    }

    #[test]
    fn a_target_is_times_better_or_a_figure() {
        let rate = Unit::rate("entries/s");
        assert!(row(rate, &[2.5], &[1.0]).is_met());
        assert!(!row(rate, &[2.4], &[1.0]).is_met());

        let mut figure = row(rate, &[0.9], &[0.0]);
        figure.facts.target = Target::Figure(0.9);
        assert!(figure.is_met());
        figure.facts.target = Target::Figure(0.91);
        assert!(!figure.is_met());
    }

    #[test]
    fn how_close_the_floor_is_does_not_depend_on_the_unit() {
        let mut rate = row(Unit::rate("entries/s"), &[30.0], &[10.0]);
        assert_eq!(rate.part_of_floor(), None);
        rate.floor = Some(series(&[40.0]));
        assert_eq!(rate.part_of_floor(), Some(0.75));

        let mut time = row(Unit::cost("us"), &[40.0], &[60.0]);
        time.floor = Some(series(&[30.0]));
        assert_eq!(time.part_of_floor(), Some(0.75));
    }

    #[test]
    fn cores_are_processor_time_by_time() {
        assert_eq!(
            row(Unit::rate("entries/s"), &[1.0], &[1.0]).subject.cores(),
            Some(0.5)
        );
    }
}
