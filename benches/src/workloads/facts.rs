//! What a workload is, for people, and what is hoped for.

/// What is told of a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// A short name, `what/variant`.
    pub(crate) name: &'static str,
    /// What is done, in the few words that fit beside a bar of the chart.
    pub(crate) brief: &'static str,
    /// What is asked: one sentence.
    pub(crate) question: &'static str,
    /// The unit of the figure.
    pub(crate) unit: Unit,
    /// What Tailrace is to reach.
    pub(crate) target: Target,
}

/// What Tailrace is to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// So many times better than the other server.
    Times(f64),
    /// A figure of its own, in the workload's unit.
    Figure(f64),
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) more_is_better: bool,
}

impl Unit {
    /// A unit of which more is better.
    pub(crate) const fn rate(name: &'static str) -> Self {
        Self {
            name,
            more_is_better: true,
        }
    }

    /// A unit of which less is better.
    pub(crate) const fn cost(name: &'static str) -> Self {
        Self {
            name,
            more_is_better: false,
        }
    }
}
