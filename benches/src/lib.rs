//! Runs the same workloads against Tailrace and another server of the same protocol, in turn, on this
//! machine, and reports what each did.
//!
//! Start with [`runner`](run), then `workloads/`: a row of the report is a constant there and one line in
//! its list. `load.rs` is the client that makes the load, `skim.rs` counts replies, `server.rs`
//! starts what is measured, `report/` turns results into a table, a JSON file and a chart.
//!
//! **Invariant:** a figure is only ever made from runs in which no reply was an error.

mod clock;
mod cluster;
mod control;
mod fault;
mod floor;
mod load;
mod nodes;
mod options;
mod peer;
mod progress;
mod report;
mod resp;
mod results;
mod runner;
mod server;
mod skim;
mod soak;
mod sweeps;
mod usage;
mod workloads;

pub use fault::Fault;
pub use options::Options;
pub use runner::run;
