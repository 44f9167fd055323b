//! A soak: Tailrace alone, for many minutes, under a mixed load of four fifths of what it can do.
//!
//! What is added is trimmed and acknowledged, so that the data stays as it is: memory has to, too, and nobody may have to
//! wait for long. Requests are due at fixed times, and their latency counts from then on: a server that stops for a moment
//! is blamed for all that had to wait meanwhile. `mix.rs` has the load, `verdict.rs` what follows from the figures.

mod mix;
mod verdict;

use std::fs;
use std::io::Write;
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
    let machine = report::machine();
    soak.lay_out()?;

    let peak = soak.run("as fast as it can", soak.minute / PEAK_PART, None)?;
    let rate = requests_per_second(&peak) * PART_OF_PEAK;
    let before = soak.minute_of(&peak)?;
    let mut all = Vec::new();
    for number in 1..=minutes {
        let what = format!("minute {number} of {minutes}");
        let outcome = soak.run(&what, soak.minute, Some(rate))?;
        let minute = soak.minute_of(&outcome)?;
        progress.note(&format!("{what}  {minute}"));
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
        "requests_per_second_at_most": requests_per_second(&peak),
        "requests_per_second": rate,
        "seconds_each": options.minute_seconds,
        "before": before.to_json(),
        "minutes": minutes,
        "verdict": verdict.to_json(),
    });
    report::save(&path, &format!("{whole:#}\n"))?;
    let said = format!(
        "\n{}, {}, {machine}\n{verdict}\nwrote {}\n",
        server.name(),
        clock::today(),
        path.display()
    );
    // Whoever reads may have seen enough; the file is there all the same.
    drop(out.write_all(said.as_bytes()));
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
    fn run(&self, what: &str, time: Duration, rate: Option<f64>) -> Result<Outcome, Fault> {
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
        drive(address, cast, bounds, &mut || Ok(()), &mut |_| {
            let done = clock::now() - start;
            self.progress.advance(millis(done), millis(time));
        })
    }

    /// Sums up the time that ends now.
    fn minute_of(&self, outcome: &Outcome) -> Result<Minute, Fault> {
        let mut control = self.server.control()?;
        let entries = Reader::new(&control.call(&[b"XLEN", mix::KEY])?).integer()?;
        let summary = control.call(&[b"XPENDING", mix::KEY, mix::GROUP])?;
        let mut summary = Reader::new(&summary);
        summary.array()?;
        let usage = self.server.usage()?;
        Ok(Minute {
            requests_per_second: requests_per_second(outcome),
            p50_nanos: outcome.latency.value_at_quantile(0.5),
            p999_nanos: outcome.latency.value_at_quantile(0.999),
            max_nanos: outcome.latency.max(),
            memory_bytes: usage.map(|usage| usage.memory_bytes),
            entries: entries.unsigned_abs(),
            pending: summary.integer()?.unsigned_abs(),
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
