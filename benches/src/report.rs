//! What a person or a program gets to see of the results.

mod chart;
mod draw;
mod format;
mod json;
mod sweeps;
mod table;

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::thread;

pub(crate) use self::format::mebibytes;
pub(crate) use self::format::micros;
pub(crate) use self::format::short;
pub(crate) use self::sweeps::render as render_sweeps;
pub(crate) use self::table::line;
pub(crate) use self::table::list;
pub(crate) use self::table::table;
use crate::fault::Fault;
use crate::results::Results;

/// Writes the JSON file and the chart to a folder, and returns their paths.
///
/// # Errors
///
/// [`Fault::Io`] if a file cannot be written.
pub(crate) fn write(results: &Results, folder: &Path) -> Result<[PathBuf; 2], Fault> {
    let json = folder.join("side-by-side.json");
    let chart = folder.join("side-by-side.svg");
    save(&json, &json::render(results))?;
    save(&chart, &chart::render(results)?)?;
    Ok([json, chart])
}

/// Writes a text to a file.
///
/// # Errors
///
/// [`Fault::Io`] if it cannot be written.
pub(crate) fn save(path: &Path, text: &str) -> Result<(), Fault> {
    fs::write(path, text).map_err(Fault::io(format!("cannot write {}", path.display())))
}

/// Names the machine: processor, how many cores this process may use, kernel.
pub(crate) fn machine() -> String {
    let info = read("/proc/cpuinfo");
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{model}, {cores} cores, Linux {}", kernel.trim())
}

/// Names the machine, and how busy it is before something is measured.
pub(crate) fn machine_before() -> String {
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or_default();
    format!("{}, load {load} before", machine())
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
