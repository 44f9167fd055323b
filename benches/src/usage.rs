//! What a server has used of the machine.

use std::fs;
use std::time::Duration;

use crate::control::Info;
use crate::fault::Fault;

/// Processor time and memory of a server.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Processor time since the server was started, of all its threads.
    pub(crate) cpu_seconds: f64,
    /// Resident memory now.
    pub(crate) memory_bytes: u64,
}

impl Usage {
    /// Reads what the system knows about a process.
    ///
    /// # Errors
    ///
    /// [`Fault::Io`] if there is no such process.
    pub(crate) fn of_process(pid: u32) -> Result<Option<Self>, Fault> {
        let read = |file: &str| {
            let path = format!("/proc/{pid}/{file}");
            fs::read_to_string(&path).map_err(Fault::io(format!("cannot read {path}")))
        };
        let (stat, status) = (read("stat")?, read("status")?);
        Ok(cpu_seconds(&stat)
            .zip(resident_bytes(&status))
            .map(|(cpu_seconds, memory_bytes)| Self {
                cpu_seconds,
                memory_bytes,
            }))
    }

    /// Reads what a server tells about itself, for one whose process is not known.
    pub(crate) fn of_info(info: &Info) -> Option<Self> {
        let seconds = |field| info.field(field)?.parse::<f64>().ok();
        Some(Self {
            cpu_seconds: seconds("used_cpu_user")? + seconds("used_cpu_sys")?,
            memory_bytes: info.field("used_memory_rss")?.parse().ok()?,
        })
    }
}

/// Returns how long threads of a process were ready to run and had no processor, since it was started, and how long the host
/// of a virtual machine ran something else in place of it, since that was started. Nothing where the system does not tell.
pub(crate) fn kept_seconds(pid: u32) -> Option<f64> {
    // Not every system has this file.
    fs::metadata(format!("/proc/{pid}/schedstat")).ok()?;
    let mut waited_nanos = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        // One that has ended meanwhile has none any more.
        if let Ok(stat) = fs::read_to_string(thread.path().join("schedstat")) {
            waited_nanos += thread_waited_nanos(&stat)?;
        }
    }
    let waited = Duration::from_nanos(waited_nanos).as_secs_f64();
    Some(waited + stolen_seconds(&fs::read_to_string("/proc/stat").ok()?)?)
}

/// Behind the time that a thread ran there is the time that it waited for a processor.
fn thread_waited_nanos(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Of all processors together, the eighth number is what was stolen.
fn stolen_seconds(stat: &str) -> Option<f64> {
    let all = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: f64 = all.split_ascii_whitespace().nth(7)?.parse().ok()?;
    Some(ticks / TICKS_PER_SECOND)
}

/// User and system time are the 14th and 15th field; the second, a name in parentheses, may hold spaces.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / TICKS_PER_SECOND)
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kib * 1_024)
}

/// The unit in which Linux tells processor time to programs, on every machine this may run on.
const TICKS_PER_SECOND: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_moves_no_field() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 9 9 9";

        assert_eq!(cpu_seconds(stat), Some(3.0));
    }

    #[test]
    fn this_process_has_some_memory() {
        let usage = Usage::of_process(std::process::id()).unwrap().unwrap();

        assert!(usage.memory_bytes > 0);
    }

    #[test]
    fn what_was_stolen_is_that_of_all_processors() {
        let stat = "cpu  9 8 7 6 5 4 3 250 2 1\ncpu0 9 8 7 6 5 4 3 100 2 1\n";

        assert_eq!(stolen_seconds(stat), Some(2.5));
    }

    #[test]
    fn what_a_thread_waited_stands_behind_what_it_ran() {
        assert_eq!(
            thread_waited_nanos("331135393287 2812931043 50082\n"),
            Some(2_812_931_043)
        );
        assert_eq!(thread_waited_nanos(""), None);
    }
}
