//! What the bench `sweep` found: how the cost of an action depends on how much there is of something.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::Value;

use crate::clock;
use crate::fault::Fault;
use crate::report;

/// Makes a picture of what criterion has kept beside this program, and writes it to a file.
///
/// # Errors
///
/// - [`Fault::Usage`] if nothing was measured yet.
/// - [`Fault::Io`] if a file cannot be read or written, [`Fault::Unexpected`] if one is not as criterion writes them.
pub(crate) fn draw(to: &Path) -> Result<(), Fault> {
    let program =
        std::env::current_exe().map_err(Fault::io("cannot tell where this program is"))?;
    let target = program.parent().and_then(Path::parent);
    let folder = target.map_or_else(PathBuf::new, |target| target.join("criterion"));
    let (sweeps, measured_at) = read(&folder)?;
    let foot = format!("{}, {}", clock::date_of(measured_at), report::machine());
    report::save(to, &report::render_sweeps(&sweeps, &foot)?)
}

/// How the cost of an action depends on something.
#[derive(Debug, PartialEq)]
pub(crate) struct Sweep {
    /// What is done, as in `add`.
    pub(crate) action: &'static str,
    /// What there is more and more of, as in `entries`.
    pub(crate) by: String,
    /// How many there are, ascending, and the nanoseconds.
    pub(crate) points: Vec<(u64, f64)>,
}

impl Sweep {
    /// Returns how many times the cost with the fewest the greatest is.
    pub(crate) fn growth(&self) -> f64 {
        let costs = || self.points.iter().map(|&(_, nanos)| nanos);
        let first = costs().next().unwrap_or(1.0);
        costs().fold(0.0, f64::max) / first.max(f64::MIN_POSITIVE)
    }
}

/// Reads all sweeps, and when the last of them was measured.
fn read(folder: &Path) -> Result<(Vec<Sweep>, SystemTime), Fault> {
    let mut sweeps = Vec::new();
    let mut measured_at = SystemTime::UNIX_EPOCH;
    for &action in ACTIONS {
        let prefix = format!("sweep-{action}-by-");
        for group in folders(folder) {
            let name = group
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let Some(by) = name.strip_prefix(&prefix) else {
                continue;
            };
            let mut points = Vec::new();
            for point in folders(&group) {
                let count = point
                    .file_name()
                    .and_then(|name| name.to_str()?.parse().ok());
                let file = point.join("new/sample.json");
                let (Some(count), Ok(facts)) = (count, fs::metadata(&file)) else {
                    continue;
                };
                measured_at = measured_at.max(facts.modified().unwrap_or(SystemTime::UNIX_EPOCH));
                points.push((count, least(&file)?));
            }
            points.sort_by_key(|&(count, _)| count);
            if !points.is_empty() {
                sweeps.push(Sweep {
                    action,
                    by: by.to_owned(),
                    points,
                });
            }
        }
    }
    if sweeps.is_empty() {
        return Err(Fault::Usage(format!(
            "there is no measurement in {}; make one with `cargo bench -p tailrace-benches --bench sweep`",
            folder.display()
        )));
    }
    Ok((sweeps, measured_at))
}

/// Returns the folders in a folder by name; none if there is no such folder.
fn folders(of: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(of).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = all
        .map(|file| file.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

/// Returns the nanoseconds of the quickest sample: whatever else a machine does only adds to what something costs.
fn least(file: &Path) -> Result<f64, Fault> {
    let text =
        fs::read_to_string(file).map_err(Fault::io(format!("cannot read {}", file.display())))?;
    let samples: Value = serde_json::from_str(&text).unwrap_or_default();
    let column = |name: &str| samples[name].as_array().cloned().unwrap_or_default();
    let (times, counts) = (column("times"), column("iters"));
    let each = times.iter().zip(&counts);
    each.filter_map(|(time, count)| Some(time.as_f64()? / count.as_f64()?))
        .min_by(f64::total_cmp)
        .ok_or_else(|| Fault::Unexpected(format!("{} has no samples", file.display())))
}

/// What is done, in the order of the picture.
const ACTIONS: &[&str] = &["add", "read", "acknowledge", "wake"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_criterion_has_kept_is_read_in_order() {
        let folder = std::env::temp_dir().join(format!("sweeps-{}", std::process::id()));
        for (name, nanos) in [
            ("sweep-add-by-pending entries/10000", 140.5),
            ("sweep-add-by-pending entries/1000", 100.5),
            ("append/1000", 7.0),
        ] {
            let point = folder.join(name).join("new");
            fs::create_dir_all(&point).unwrap();
            let times = [nanos * 30.0, nanos * 10.0, nanos * 21.0];
            let text = format!("{{\"iters\":[10,10,20],\"times\":{times:?}}}");
            fs::write(point.join("sample.json"), text).unwrap();
        }

        let (sweeps, measured_at) = read(&folder).unwrap();

        fs::remove_dir_all(&folder).unwrap();
        assert!(measured_at > SystemTime::UNIX_EPOCH);
        let expected = Sweep {
            action: "add",
            by: "pending entries".to_owned(),
            points: vec![(1_000, 100.5), (10_000, 140.5)],
        };
        assert_eq!(sweeps, [expected]);
        assert!((sweeps[0].growth() - 1.398).abs() < 0.001);
    }

    #[test]
    fn who_has_measured_nothing_is_told_how() {
        let fault = read(Path::new("/nowhere")).unwrap_err();

        assert!(fault.to_string().contains("--bench sweep"), "{fault}");
    }
}
