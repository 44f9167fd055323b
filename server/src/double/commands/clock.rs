//! `TESTDOUBLE CLOCK [what [...]]`
//!
//! The one clock by which IDs are made, keys expire, entries become idle and waits end.
//!
//! Behaviour worth knowing:
//! - What moves it replies with what the wall shows then, in milliseconds, when everything that became due
//!   has happened and is written.
//! - Frozen, nothing becomes due by itself.
//! - With `TICK`, each request that a client sends moves it when it comes, and all that is due by then has happened before it
//!   is executed, each at its own instant. EXEC and a script are one command; what is kept back moves it only once.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::number::parse_f64;
use tailrace_storage::Millis;
use tailrace_storage::UnixMillis;

use super::FLAGS;
use super::double;
use super::fail;
use super::help;
use super::syntax;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::clock::Clock;
use crate::double::clock::Pace;
use crate::double::jobs;
use crate::double::jobs::Task;
use crate::double::jobs::Until;
use crate::double::stage::Stage;
use crate::error::CommandError;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "testdouble|clock",
    arity: -2,
    syntax: "[action [argument...]]",
    flags: FLAGS,
    group: Group::Server,
    summary: "Tells the time, and moves it.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let Some(action) = args.next() else {
        tell(call, reply);
        return Ok(Flow::Done);
    };
    let task = match action.to_ascii_lowercase().as_slice() {
        b"help" => {
            args.end()?;
            help::write(reply, HELP);
            return Ok(Flow::Done);
        }
        b"advance" => Task::Advance(Until::Passed(millis(&mut args)?)),
        b"to" => Task::Advance(Until::Wall(millis(&mut args)?.0)),
        b"next" if args.is_empty() => Task::Advance(Until::Deadlines(1)),
        b"next" => Task::Advance(Until::Deadlines(count(&mut args)?)),
        b"run" => run_until_settled(&mut args)?,
        action => return set(call, action, args, reply),
    };
    args.end()?;
    Ok(jobs::leave(call, task))
}

/// Changes how the clock goes, which is done at once.
fn set(
    call: &mut Call<'_>,
    action: &[u8],
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let action = Setting::parse(action, &mut args)?;
    args.end()?;
    let double = double(call);
    action.apply(&double.stage);
    double.stage.bell.notify_one();
    reply.unsigned(double.stage.clock.now().wall.0 / 1_000);
    Ok(Flow::Done)
}

/// How the clock is to go.
enum Setting {
    Pace(Pace),
    Freeze(Option<UnixMillis>),
    TurnWall(i64),
    Auto(usize),
    Tick(Millis),
}

impl Setting {
    fn parse(action: &[u8], args: &mut Args<'_>) -> Result<Self, CommandError> {
        Ok(match action {
            b"real" => Self::Pace(Pace::Real),
            b"freeze" if args.peek().is_none() => Self::Freeze(None),
            b"freeze" => Self::Freeze(Some(UnixMillis(millis(args)?.0))),
            b"scale" => Self::Pace(Pace::Scaled(factor(args.bytes()?)?)),
            b"skew" => Self::TurnWall(args.integer()?),
            b"tick" => Self::Tick(millis(args)?),
            b"auto" => Self::Auto(usize::try_from(count(args)?).unwrap_or(usize::MAX)),
            other => {
                let other = String::from_utf8_lossy(other);
                return Err(fail(format!(
                    "there is no CLOCK {other}; try TD CLOCK HELP"
                )));
            }
        })
    }

    fn apply(self, stage: &Stage) {
        let clock = &stage.clock;
        match self {
            Self::Pace(pace) => clock.set_pace(pace),
            Self::Freeze(at) => clock.freeze(at),
            Self::TurnWall(millis) => return clock.turn_wall(i128::from(millis) * 1_000),
            Self::Auto(_) | Self::Tick(_) => clock.freeze(None),
        }
        stage.set_tick(match self {
            Self::Tick(by) => by,
            _ => Millis(0),
        });
        stage.jobs.lock().auto = match self {
            Self::Auto(clients) => Some(clients),
            _ => None,
        };
    }
}

fn run_until_settled(args: &mut Args<'_>) -> Result<Task, CommandError> {
    let by = millis(args)?;
    let (clients, patience) = match args.keyword("settle") {
        true => (count(args)?, millis(args)?),
        false => (0, Millis(0)),
    };
    Ok(Task::Run {
        by,
        clients: usize::try_from(clients).unwrap_or(usize::MAX),
        patience,
    })
}

/// Replies with the state of the clock.
fn tell(call: &mut Call<'_>, reply: &mut ReplyWriter<'_>) {
    let now = call.now;
    let timers = call.state.timers(now);
    let blocked = call.state.blocked_clients();
    let double = double(call);
    let auto = double.stage.jobs.lock().auto;
    let mode = mode(double.stage.clock.pace(), auto, double.stage.tick());
    reply.map(6);
    reply.bulk(b"mode");
    reply.bulk(mode.as_bytes());
    reply.bulk(b"now");
    reply.unsigned(now.wall.0 / 1_000);
    reply.bulk(b"next");
    match timers.next {
        None => reply.null(),
        Some(next) => {
            reply.unsigned((now.wall.0 + next.0.saturating_sub(now.mono.0)).div_ceil(1_000))
        }
    }
    reply.bulk(b"timers");
    reply.unsigned(timers.count as u64);
    reply.bulk(b"blocked");
    reply.unsigned(blocked as u64);
    reply.bulk(b"auto");
    match auto {
        None => reply.null(),
        Some(clients) => reply.unsigned(clients as u64),
    }
}

fn mode(pace: Pace, auto: Option<usize>, tick: Millis) -> String {
    match pace {
        Pace::Real => "real".to_owned(),
        Pace::Frozen if auto.is_some() => "auto".to_owned(),
        Pace::Frozen if tick.0 > 0 => format!("tick {}", tick.0),
        Pace::Frozen => "frozen".to_owned(),
        Pace::Scaled(factor) => format!("scale {factor}"),
    }
}

fn millis(args: &mut Args<'_>) -> Result<Millis, CommandError> {
    syntax::time(args)
}

fn count(args: &mut Args<'_>) -> Result<u64, CommandError> {
    syntax::time(args).map(|Millis(number)| number)
}

fn factor(text: &[u8]) -> Result<f64, CommandError> {
    let factor = parse_f64(text).ok_or(CommandError::NotAFloat)?;
    match factor > 0.0 && factor <= SCALE_MAX {
        true => Ok(factor),
        false => Err(fail(format!(
            "the clock can run up to {SCALE_MAX} times as fast, and not {factor} times; FREEZE stops it"
        ))),
    }
}

/// A day in a tenth of a second.
const SCALE_MAX: f64 = 1_000_000.0;

pub(super) const HELP: &[&str] = &[
    "CLOCK",
    "    Tells the mode, the time, and of this node what is due next and how many clients wait.",
    "CLOCK REAL | FREEZE [unix-ms] | SCALE <factor>",
    "    Lets the clock run, stand still, or run at another speed.",
    "CLOCK ADVANCE <ms> | TO <unix-ms> | NEXT [deadlines]",
    "    Moves the clock. Everything that is due on the way has happened, in order, when it replies.",
    "CLOCK RUN <ms> [SETTLE <clients> <real-ms>]",
    "    Moves it from deadline to deadline, each time once so many clients wait again.",
    "CLOCK AUTO <clients>",
    "    Freezes it, and moves it to the next deadline whenever so many clients wait.",
    "CLOCK TICK <ms>",
    "    Freezes it, and moves it by so much before each command of a client but TESTDOUBLE; 0 ends that.",
    "CLOCK SKEW <ms>",
    "    Turns the wall clock alone, backwards if negative.",
];
