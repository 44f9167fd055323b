//! A soak: Tailrace alone, for many minutes, under a mixed load of four fifths of what it can do.
//!
//! What is added is trimmed and acknowledged, so that the data stays as it is: memory has to, too, and nobody may have to
//! wait for long. Requests are due at fixed times, and their latency counts from then on: a server that stops for a moment
//! is blamed for all that had to wait meanwhile. `mix.rs` has the load, `verdict.rs` what follows from the figures.

mod mix;
mod verdict;

use std::fs;
use std::io::Write;
use std::process;
use std::time::Duration;

use serde_json::json;

use self::mix::CLIENTS;
use self::mix::clients;
use self::verdict::Minute;
use self::verdict::Verdict;
use crate::clock;
use crate::fault::Fault;
use crate::load::Bounds;
use crate::load::Cast;
use crate::load::Outcome;
use crate::load::drive;
use crate::options::Options;
use crate::progress::Progress;
use crate::report;
use crate::resp::Reader;
use crate::server::Server;
use crate::usage::Usage;

/// Soaks the server for so many minutes, tells each on `out`, and writes all of them to a JSON file.
///
/// # Errors
///
/// As a comparison; a verdict is no error, whatever it is.
pub(crate) fn run(options: &Options, minutes: u16, out: &mut impl Write) -> Result<(), Fault> {
    fs::create_dir_all(&options.out)
        .map_err(Fault::io(format!("cannot make {}", options.out.display())))?;
    let server = Server::start(&options.subject()?)?;
    let progress = Progress::new();
    let soak = Soak {
        server: &server,
        progress: &progress,
        minute: Duration::from_secs(options.minute_seconds),
    };
    let machine = report::machine_before();
    soak.lay_out()?;

    let before = soak.run("as fast as it can", soak.minute / PEAK_PART, None)?;
    let rate = before.requests_per_second * PART_OF_PEAK;
    let mut say = |text: String| {
        // Whoever reads may have seen enough; the file is written all the same.
        progress.aside(|| drop(out.write_all(text.as_bytes()).and_then(|()| out.flush())));
    };
    say(format!("as fast as it can  {before}\n"));
    let mut all = Vec::new();
    for number in 1..=minutes {
        let what = format!("minute {number} of {minutes}");
        let minute = soak.run(&what, soak.minute, Some(rate))?;
        say(format!("{what}  {minute}\n"));
        all.push(minute);
    }
    progress.end();
    soak.clear()?;

    let verdict = Verdict::of(&before, &all);
    let path = options.out.join("soak.json");
    let minutes: Vec<_> = all.iter().map(Minute::to_json).collect();
    let whole = json!({
        "subject": server.name(),
        "machine": machine,
        "date": clock::today(),
        "requests_per_second": rate,
        "seconds_each": options.minute_seconds,
        "before": before.to_json(),
        "minutes": minutes,
        "verdict": verdict.to_json(),
    });
    report::save(&path, &format!("{whole:#}\n"))?;
    say(format!(
        "\n{}, {}, {machine}\n{verdict}\nwrote {}\n",
        server.name(),
        clock::today(),
        path.display()
    ));
    Ok(())
}

struct Soak<'a> {
    server: &'a Server,
    progress: &'a Progress,
    minute: Duration,
}

impl Soak<'_> {
    fn lay_out(&self) -> Result<(), Fault> {
        self.clear()?;
        let create: &[&[u8]] = &[
            b"XGROUP",
            b"CREATE",
            mix::KEY,
            mix::GROUP,
            b"0",
            b"MKSTREAM",
        ];
        self.server.control()?.call(create).map(drop)
    }

    fn clear(&self) -> Result<(), Fault> {
        let delete: &[&[u8]] = &[b"DEL", mix::KEY, mix::STRING_KEY, mix::COUNTER_KEY];
        self.server.control()?.call(delete).map(drop)
    }

    /// Makes the load for a time, with so many requests a second or as many as there can be.
    fn run(&self, what: &str, time: Duration, rate: Option<f64>) -> Result<Minute, Fault> {
        let (before, kept_before) = (self.cpu_seconds()?, self.server.kept_seconds());
        let outcome = self.drive(what, time, rate)?;
        let (after, kept_after) = (self.cpu_seconds()?, self.server.kept_seconds());
        let seconds = outcome.elapsed.as_secs_f64().max(f64::EPSILON);
        let cores = |before: Option<f64>, after: Option<f64>| Some((after? - before?) / seconds);
        let mut control = self.server.control()?;
        let entries = Reader::new(&control.call(&[b"XLEN", mix::KEY])?).integer()?;
        let summary = control.call(&[b"XPENDING", mix::KEY, mix::GROUP])?;
        let mut summary = Reader::new(&summary);
        summary.array()?;
        Ok(Minute {
            requests_per_second: requests_per_second(&outcome),
            p50_nanos: outcome.latency.value_at_quantile(0.5),
            p999_nanos: outcome.latency.value_at_quantile(0.999),
            max_nanos: outcome.latency.max(),
            cores: cores(before.0, after.0),
            load_cores: cores(before.1, after.1),
            kept: cores(kept_before, kept_after),
            memory_bytes: self.server.usage()?.map(|usage| usage.memory_bytes),
            entries: entries.unsigned_abs(),
            pending: summary.integer()?.unsigned_abs(),
        })
    }

    /// Returns the processor time of the server and of the load so far.
    fn cpu_seconds(&self) -> Result<(Option<f64>, Option<f64>), Fault> {
        let load = Usage::of_process(process::id())?;
        let seconds = |usage: Option<Usage>| usage.map(|usage| usage.cpu_seconds);
        Ok((seconds(self.server.usage()?), seconds(load)))
    }

    fn drive(&self, what: &str, time: Duration, rate: Option<f64>) -> Result<Outcome, Fault> {
        self.progress.begin(what.to_owned());
        let bounds = Bounds {
            time_max: time,
            silence_max: SILENCE_MAX,
            threads: 1,
        };
        let every = rate.map(|rate| Duration::from_secs_f64(f64::from(CLIENTS) / rate.max(1.0)));
        let cast = Cast {
            leads: clients(every),
            others: Vec::new(),
        };
        let start = clock::now();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let address = self.server.address();
        drive(&[address], cast, bounds, &mut || Ok(()), &mut |_| {
            let done = clock::now() - start;
            self.progress.advance(millis(done), millis(time));
        })
    }
}

fn requests_per_second(outcome: &Outcome) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no 16 digits")]
    let requests = outcome.latency.len() as f64;
    requests / outcome.elapsed.as_secs_f64().max(f64::EPSILON)
}

/// The load, as a part of the most that there can be.
const PART_OF_PEAK: f64 = 0.8;

/// The most is found out in this part of a minute.
const PEAK_PART: u32 = 6;

/// A minute in which nothing is heard for so long has failed.
const SILENCE_MAX: Duration = Duration::from_secs(20);
