//! `server.call` and `server.pcall`: the commands that a script calls.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mlua::MultiValue;
use mlua::Value;
use parking_lot::Mutex;
use tailrace_protocol::Mark;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_protocol::RequestBuffer;
use tailrace_protocol::Version;
use tailrace_protocol::number::append_f64;
use tailrace_storage::Now;

use super::Busy;
use super::host::Shared;
use super::loan;
use super::loan::Loan;
use super::numbers;
use super::raised::ErrorReply;
use super::raw;
use super::rules::Rules;
use super::values::counted;
use crate::call::Call;
use crate::client::ClientId;
use crate::cluster::Counted;
use crate::dispatch;
use crate::double::hooks;
use crate::spec::Flags;
use crate::state::State;

/// What the functions of Lua need to run commands.
#[derive(Default)]
pub(super) struct Calls {
    /// The script that runs, if one does.
    run: Option<Run>,
    /// The command that is called; the room is used again and again.
    request: RequestBuffer,
    /// Its reply, likewise.
    out: Vec<u8>,
    /// What went wrong in a command that was not to. It goes on once the script is over.
    fault: Option<Fault>,
}

/// What a panic leaves.
type Fault = Box<dyn Any + Send>;

/// A script that runs.
struct Run {
    /// Where the state is.
    loan: Arc<Loan>,
    /// The script is over its time, so others may have the state.
    is_lent: bool,
    /// What the state is to hold while a command of the script runs, or for others meanwhile.
    turn: Turn,
    id: ClientId,
    /// The instant that all its commands see.
    now: Now,
    rules: Rules,
    /// A command that writes was called, so the script is not to end halfway.
    has_written: bool,
}

/// What the state holds of the command that runs.
#[derive(Default)]
struct Turn {
    in_exec: bool,
    caller: Option<ClientId>,
    deferred: Vec<u8>,
    shown: Vec<u8>,
    request_bytes: usize,
    reply_start: Mark,
    counted: Counted,
    /// Whose commands a ledger notes.
    noted: u64,
}

impl Turn {
    fn swap(&mut self, state: &mut State) {
        std::mem::swap(&mut self.in_exec, &mut state.in_exec);
        std::mem::swap(&mut self.caller, &mut state.caller);
        std::mem::swap(&mut self.deferred, &mut state.deferred);
        std::mem::swap(&mut self.shown, &mut state.shown);
        std::mem::swap(&mut self.request_bytes, &mut state.request_bytes);
        std::mem::swap(&mut self.reply_start, &mut state.reply_start);
        std::mem::swap(&mut self.counted, &mut state.slot_stats.current);
        if let Some(noted) = hooks::note_client(state, self.noted) {
            self.noted = noted;
        }
    }
}

/// The time in which a script runs. Once this is dropped, even if there was a fault, the state is as it was.
pub(super) struct Stage<'a> {
    state: &'a mut State,
    calls: &'a Mutex<Calls>,
    loan: Arc<Loan>,
}

impl<'a> Stage<'a> {
    pub(super) fn enter(call: &'a mut Call<'_>, rules: Rules, calls: &'a Mutex<Calls>) -> Self {
        let loan = call.state.scripts.loan();
        calls.lock().run = Some(Run {
            loan: Arc::clone(&loan),
            is_lent: false,
            turn: Turn::default(),
            id: call.id,
            now: call.now,
            rules,
            has_written: false,
        });
        Self {
            state: &mut *call.state,
            calls,
            loan,
        }
    }

    /// Runs the script, whose calls find the state.
    pub(super) fn play<T>(&mut self, script: impl FnOnce() -> T) -> T {
        raw::lend(self.state, &self.loan, script)
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        let mut calls = self.calls.lock();
        if let Some(mut run) = calls.run.take()
            && run.is_lent
        {
            run.turn.swap(self.state);
            self.state.scripts.busy = None;
        }
        calls.out.clear();
        if calls.out.capacity() > ROOM_BYTES_MAX {
            calls.out = Vec::new();
        }
    }
}

impl Calls {
    /// The words of the last answer.
    pub(super) fn out(&self) -> &[u8] {
        &self.out
    }

    /// Keeps what a panic left until the script is over.
    pub(super) fn keep_fault(&mut self, fault: Fault) {
        self.fault = Some(fault);
    }

    /// What a panic left, if there was one.
    pub(super) fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// Lends the state if the script is over its time; says where if it did.
    fn lend_if_over(&mut self, shared: &Shared) -> Option<Arc<Loan>> {
        let run = self.run.as_mut()?;
        let mut state = run.loan.hold();
        let now = state.host_mono().unwrap_or_else(|| state.clock.mono());
        if !shared.watch.is_over(now) {
            return None;
        }
        let millis = state.config.settings().busy_reply_threshold_ms;
        tracing::warn!(
            "a script is still running after {millis} ms; SCRIPT KILL ends it unless it has written"
        );
        state.scripts.busy = Some(Busy {
            has_written: run.has_written,
        });
        run.turn.swap(&mut state);
        drop(state);
        run.is_lent = true;
        run.loan.give();
        Some(Arc::clone(&run.loan))
    }
}

/// Looks after a script that runs for a while: it is to end if it was killed, and gives up the state if
/// it is over its time.
pub(super) fn look_after(shared: &Shared) -> mlua::Result<()> {
    shared.watch.check()?;
    let lent_by = shared.calls.lock().lend_if_over(shared);
    if let Some(loan) = lent_by {
        loan::give_up_worker();
        loan.go_on();
        shared.watch.check()?;
    }
    Ok(())
}

/// What came of a command that a script called; the words are in [`Calls::out`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Answer {
    /// Its reply.
    Reply,
    /// The text of an error: the command's, which counted it, or the script's.
    Error {
        /// It is in the statistics already.
        is_counted: bool,
    },
    /// There is none: the script is to end.
    Killed,
}

/// Runs the command that `read` reads from the arguments of a call.
pub(super) fn perform(
    shared: &Shared,
    read: impl FnOnce(&mut RequestBuffer) -> Result<(), &'static str>,
) -> Answer {
    if shared.watch.is_killed() {
        return Answer::Killed;
    }
    let mut calls = shared.calls.lock();
    let Calls {
        run, request, out, ..
    } = &mut *calls;
    out.clear();
    request.clear(ROOM_BYTES_MAX);
    let done = match (read(request), run) {
        (Err(text), _) => Err(ErrorReply::new(text)),
        (_, None) => Err(ErrorReply::new("ERR no script runs")),
        (Ok(()), Some(run)) => {
            let version = match shared.is_resp3.load(Ordering::Relaxed) {
                true => Version::Resp3,
                false => Version::Resp2,
            };
            run.command(request.as_request(), version, out)
        }
    };
    let error = match (done, out.strip_prefix(b"-")) {
        (Ok(()), None) => return Answer::Reply,
        (Ok(()), Some(line)) => counted(line.trim_ascii_end()),
        (Err(error), _) => error,
    };
    *out = error.text;
    Answer::Error {
        is_counted: error.is_counted,
    }
}

/// Reads the arguments of a function as a request.
pub(super) fn read_request(
    args: &MultiValue,
    request: &mut RequestBuffer,
) -> Result<(), &'static str> {
    if args.is_empty() {
        return Err(NO_ARGUMENTS);
    }
    for arg in args {
        match (arg, numbers::of(arg)) {
            (Value::String(text), _) => request.push(&text.as_bytes()),
            (_, Some(number)) => push_number(request, number),
            _ => return Err(WRONG_ARGUMENTS),
        }
    }
    Ok(())
}

/// Adds a number as an argument.
pub(super) fn push_number(request: &mut RequestBuffer, number: f64) {
    request.push_with(|bytes| {
        if number.is_nan() && number.is_sign_negative() {
            bytes.push(b'-');
        }
        append_f64(bytes, if number == 0.0 { 0.0 } else { number });
    });
}

impl Run {
    /// Runs a command, if the script may call it, and writes its reply to `out`.
    fn command(
        &mut self,
        request: Request<'_>,
        version: Version,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorReply> {
        let loan = Arc::clone(&self.loan);
        let mut state = loan.hold();
        if !self.is_lent {
            return self.command_on(&mut state, request, version, out);
        }
        self.turn.swap(&mut state);
        let done = self.command_on(&mut state, request, version, out);
        state.scripts.busy = Some(Busy {
            has_written: self.has_written,
        });
        self.turn.swap(&mut state);
        done
    }

    fn command_on(
        &mut self,
        state: &mut State,
        request: Request<'_>,
        version: Version,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorReply> {
        state.begin_slot_call();
        let spec = self.rules.admit(state, self.id, self.has_written, request);
        let spec = spec.map_err(|(spec, text)| {
            state.stats.on_refused_in_script(spec, &text);
            if let (None, Some(double)) = (spec, &mut state.double) {
                let name = request.get(0).unwrap_or_default();
                double.stage.note_unsupported(name);
            }
            ErrorReply {
                text,
                is_counted: true,
            }
        })?;
        self.has_written |= spec.flags.has(Flags::WRITE);
        let mut reply = ReplyWriter::new(out, version);
        let began = state.clock.mono();
        dispatch::run_in_script(state, self.id, spec, request, self.now, &mut reply);
        let micros = state.micros_since(began);
        let nanos = micros.saturating_mul(1_000);
        state.stats.by_command.on_measured(spec, nanos);
        state.log_if_slow(self.id, spec, request, self.now, micros);
        Ok(())
    }
}

/// Errors of a call that names no command.
pub(super) const NO_ARGUMENTS: &str = "ERR Please specify at least one argument for this call";
pub(super) const WRONG_ARGUMENTS: &str = "ERR Command arguments must be strings or integers";
/// How much room for commands and replies is kept from one to the next.
const ROOM_BYTES_MAX: usize = 64 * 1_024;
