//! What the system tells about this process and its host, as far as it does.

use std::fs;

/// Processor time since the process began, in seconds.
pub(crate) struct ProcessorTime {
    pub(crate) user_s: f64,
    pub(crate) system_s: f64,
}

/// The system's name and version, and the kind of processor.
pub(crate) fn system() -> String {
    let kernel = |name| {
        let text = fs::read_to_string(format!("/proc/sys/kernel/{name}"));
        text.map_or_else(|_| String::new(), |text| text.trim_end().to_owned())
    };
    match (kernel("ostype"), kernel("osrelease")) {
        (name, release) if name.is_empty() || release.is_empty() => {
            format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
        }
        (name, release) => format!("{name} {release} {}", std::env::consts::ARCH),
    }
}

/// The memory that the process takes.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    kilobytes(&status, "VmRSS:")
}

/// What the system shows of the process's memory, line by line: sizes and what they are made of.
pub(crate) fn memory_lines() -> Vec<String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_about_memory = |line: &&str| line.starts_with("Vm") || line.starts_with("Rss");
    let lines = status.lines().filter(is_about_memory);
    lines.map(|line| line.replace('\t', " ")).collect()
}

/// The memory of the host.
pub(crate) fn system_memory_bytes() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    kilobytes(&info, "MemTotal:")
}

/// How long the process has kept processors busy.
pub(crate) fn processor_time() -> Option<ProcessorTime> {
    read_processor_time("/proc/self/stat")
}

/// How long this thread has, which serves the clients unless there are others.
pub(crate) fn thread_time() -> Option<ProcessorTime> {
    read_processor_time("/proc/thread-self/stat")
}

#[expect(clippy::cast_precision_loss, reason = "the unit is 10 ms anyway")]
fn read_processor_time(path: &str) -> Option<ProcessorTime> {
    let stat = fs::read_to_string(path).ok()?;
    // The name of the program, in brackets, may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(11);
    let mut seconds = || {
        let ticks: u64 = fields.next()?.parse().ok()?;
        Some(ticks as f64 / TICKS_PER_SECOND)
    };
    Some(ProcessorTime {
        user_s: seconds()?,
        system_s: seconds()?,
    })
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    let number: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(number * 1_024)
}

/// The kernel's unit towards programs, the same on every host.
const TICKS_PER_SECOND: f64 = 100.0;
