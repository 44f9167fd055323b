//! One run of a script, and the commands that it calls.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mlua::BorrowedBytes;
use mlua::Lua;
use mlua::MultiValue;
use mlua::Value;
use tailrace_protocol::Mark;
use tailrace_protocol::OwnedRequest;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_protocol::Version;
use tailrace_protocol::number::append_f64;
use tailrace_storage::Compat;
use tailrace_storage::Now;

use super::Busy;
use super::broken;
use super::cache::Sha;
use super::host::Shared;
use super::interpreter::Interpreter;
use super::interpreter::PCALL;
use super::loan;
use super::loan::Loan;
use super::numbers;
use super::raised::ErrorReply;
use super::values::Fields;
use super::values::Reader;
use super::values::Writer;
use super::values::counted;
use crate::call::Call;
use crate::client::ClientId;
use crate::command_table::Lookup;
use crate::dispatch;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::error::ScriptError;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// A call of a script.
pub(crate) struct Job<'a> {
    /// Which one; it is in the cache.
    pub(crate) sha: Sha,
    /// What it finds in `KEYS`.
    pub(crate) keys: Request<'a>,
    /// What it finds in `ARGV`.
    pub(crate) args: Request<'a>,
    /// The caller asked that it changes nothing.
    pub(crate) is_read_only: bool,
}

/// Runs a script and writes its reply.
pub(crate) fn run(
    call: &mut Call<'_>,
    job: &Job<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<(), CommandError> {
    let (id, spec) = (call.id, call.spec);
    let rules = Rules::of(call, job)?;
    let scripts = &mut call.state.scripts;
    let mut interpreter = scripts.interpreter.take().ok_or(ScriptError::NoScript)?;
    let millis = call.state.config.settings().busy_reply_threshold_ms;
    interpreter.shared.watch.begin(&call.state.clock, millis);
    let was_in_exec = std::mem::replace(&mut call.state.in_exec, true);
    let mut errors = Vec::new();
    let mut run = Run::new(call, rules);
    let done = execute(&mut interpreter, job, &mut run, reply, &mut errors);
    drop(run);
    let State {
        scripts,
        clients,
        is_ending,
        ..
    } = &mut *call.state;
    let used = interpreter.lua.used_memory();
    if done.is_err() || used > COLLECT_ABOVE_BYTES {
        // Should this fail, the next script starts in a new one.
        let _ = interpreter.lua.gc_collect();
    }
    if done.is_ok() || interpreter.clean().is_ok() {
        scripts.interpreter = Some(interpreter);
    } else {
        scripts.flush();
    }
    scripts.cache.touch(&job.sha);
    let client = clients.at(id);
    client.db = call.db;
    if *is_ending {
        // The end of the server ended the script, too, and as in the reference nothing more is said.
        client.link.kill();
    }
    call.state.in_exec = was_in_exec;
    crate::panic::set_command(spec.name);
    // Each error of a command counts as one of the script's, and all that it made up itself as one.
    let of_commands = errors.iter().filter(|error| error.is_counted).count();
    let has_own = of_commands < errors.len();
    for _ in 0..of_commands + usize::from(has_own) {
        call.state.stats.on_script_failed(spec);
    }
    for error in errors {
        let stats = &mut call.state.stats;
        stats.on_script_error(&error.text, error.is_counted);
    }
    Ok(done?)
}

fn execute(
    interpreter: &mut Interpreter,
    job: &Job<'_>,
    run: &mut Run<'_>,
    reply: &mut ReplyWriter<'_>,
    errors: &mut Vec<ErrorReply>,
) -> Result<(), ScriptError> {
    let compat = run.state.store.settings().compat;
    let prepared = prepare(interpreter, job, compat);
    prepared.map_err(|error| broken(&error))?;
    let Interpreter {
        lua,
        shared,
        fields,
        server,
        next,
        ..
    } = &*interpreter;
    let cell = RefCell::new(run);
    let result = lua.scope(|scope| {
        let raising = scope.create_function(|lua, args: MultiValue| {
            Ok(perform(lua, &cell, shared, fields, &args)??)
        })?;
        let keeping = scope.create_function(|lua, args: MultiValue| {
            match perform(lua, &cell, shared, fields, &args)? {
                Ok(value) => Ok(value),
                Err(error) => Ok(Value::Table(fields.error_table(lua, &error)?)),
            }
        })?;
        server.raw_set("call", raising)?;
        server.raw_set(PCALL, keeping)?;
        interpreter.run(&job.sha)
    });
    let (is_done, value) = result.map_err(|error| broken(&error))?;
    if !is_done {
        let error = failure(fields, &value, job, compat).map_err(|error| broken(&error))?;
        reply.error(&error.text);
        errors.push(error);
        return Ok(());
    }
    let mut writer = Writer {
        reply,
        has_booleans: shared.is_resp3.load(Ordering::Relaxed),
        fields,
        next,
        on_error: &mut |error| errors.push(error.clone()),
    };
    writer.write(value).map_err(|error| broken(&error))
}

fn prepare(interpreter: &mut Interpreter, job: &Job<'_>, compat: Compat) -> mlua::Result<()> {
    interpreter.begin(compat)?;
    let lua = &interpreter.lua;
    for (name, words) in [("KEYS", job.keys), ("ARGV", job.args)] {
        let table = lua.create_table_with_capacity(words.len(), 0)?;
        for word in words {
            table.raw_push(lua.create_string(word)?)?;
        }
        interpreter.globals.raw_set(name, table)?;
    }
    Ok(())
}

/// The reply of a script that failed.
fn failure(
    fields: &Fields,
    value: &Value,
    job: &Job<'_>,
    compat: Compat,
) -> mlua::Result<ErrorReply> {
    let Value::Table(table) = value else {
        let text = as_text(value).unwrap_or_else(|| b"execution failure".to_vec());
        let text = &text[..text.len().min(100)];
        let text = [b"ERR Error running script, ", text].concat();
        return Ok(ErrorReply::new(text));
    };
    let field = |name| Ok(as_text(&table.raw_get(name)?));
    let text: mlua::Result<_> = field(&fields.err);
    let mut text = text?.unwrap_or_else(|| b"ERR unknown error".to_vec());
    let is_counted = table.raw_get::<Value>(&fields.ignore)? == Value::Boolean(true);
    if let (Some(source), Some(line)) = (field(&fields.source)?, field(&fields.line)?) {
        text.extend_from_slice(b" script: ");
        if compat == Compat::Redis {
            text.extend_from_slice(&job.sha);
            text.extend_from_slice(b", ");
        }
        text.extend_from_slice(b"on ");
        text.extend_from_slice(&source);
        text.push(b':');
        text.extend_from_slice(&line);
        text.push(b'.');
    }
    Ok(ErrorReply { text, is_counted })
}

/// A string or a number as C sees it.
fn as_text(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(crate::args::text(&text.as_bytes()).to_vec()),
        Value::Integer(number) => Some(number.to_string().into_bytes()),
        Value::Number(number) => {
            let mut text = Vec::new();
            numbers::append_general(&mut text, *number, 14);
            Some(text)
        }
        _ => None,
    }
}

/// What a run may do.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// It may not write, nor publish.
    is_read_only: bool,
    /// Memory was used up when it began, and it does not say that this does not matter.
    is_out_of_memory: bool,
}

impl Rules {
    /// Checks whether the script may run at all.
    fn of(call: &mut Call<'_>, job: &Job<'_>) -> Result<Self, CommandError> {
        let script = call.state.scripts.cache.get(&job.sha);
        let flags = script.ok_or(ScriptError::NoScript)?.flags;
        if let Some(cluster) = &call.state.cluster {
            if flags.no_cluster && !flags.says_nothing {
                return Err(ClusterError::ScriptNoCluster.into());
            }
            let is_free = flags.says_nothing || flags.allow_cross_slot;
            cluster.begin_script(is_free, job.keys);
        }
        let limit = call.state.config.settings().maxmemory_bytes;
        let is_full = limit > 0 && call.state.store.bytes() as u64 > limit;
        if !flags.says_nothing && !flags.no_writes {
            if job.is_read_only {
                return Err(ScriptError::WritesUnderReadOnly.into());
            }
            if is_full && !flags.allow_oom {
                return Err(ScriptError::OutOfMemory.into());
            }
        }
        Ok(Self {
            is_read_only: job.is_read_only || flags.no_writes,
            is_out_of_memory: is_full && !flags.allow_oom,
        })
    }
}

/// A script that runs.
struct Run<'a> {
    /// Invariant: not to be used while `is_lent`.
    state: &'a mut State,
    loan: Arc<Loan>,
    /// The script is over its time, so the state is where others find it.
    is_lent: bool,
    /// What the state is to hold while a command of the script runs, or for others meanwhile.
    turn: Turn,
    id: ClientId,
    /// The instant that all its commands see.
    now: Now,
    rules: Rules,
    /// A command that writes was called, so the script is not to end halfway.
    has_written: bool,
    /// The reply of a command, used again and again.
    out: Vec<u8>,
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
}

impl Turn {
    fn swap(&mut self, state: &mut State) {
        std::mem::swap(&mut self.in_exec, &mut state.in_exec);
        std::mem::swap(&mut self.caller, &mut state.caller);
        std::mem::swap(&mut self.deferred, &mut state.deferred);
        std::mem::swap(&mut self.shown, &mut state.shown);
        std::mem::swap(&mut self.request_bytes, &mut state.request_bytes);
        std::mem::swap(&mut self.reply_start, &mut state.reply_start);
    }
}

impl Drop for Run<'_> {
    /// Takes back what was lent, even if there was a fault.
    fn drop(&mut self) {
        if self.is_lent {
            self.loan.take_back(self.state);
            self.turn.swap(self.state);
            self.state.scripts.busy = None;
        }
    }
}

/// `server.call`: runs a command, and gives its reply.
fn perform(
    lua: &Lua,
    run: &RefCell<&mut Run<'_>>,
    shared: &Arc<Shared>,
    fields: &Fields,
    args: &MultiValue,
) -> mlua::Result<Result<Value, ErrorReply>> {
    if shared.watch.take_time_over() {
        let mut run = run.try_borrow_mut().map_err(mlua::Error::external)?;
        run.lend();
        loan::give_up_worker();
        return Ok(Ok(Value::Nil));
    }
    let request = match request_of(args) {
        Ok(request) => request,
        Err(text) => return Ok(Err(ErrorReply::new(text))),
    };
    let mut run = run.try_borrow_mut().map_err(mlua::Error::external)?;
    let version = match shared.is_resp3.load(Ordering::Relaxed) {
        true => Version::Resp3,
        false => Version::Resp2,
    };
    let mut out = std::mem::take(&mut run.out);
    out.clear();
    let done = run.command(request.as_request(), version, &mut out);
    let result = done.map(|()| match out.strip_prefix(b"-") {
        None => Reader {
            lua,
            fields,
            rest: &out,
        }
        .read()
        .map(Ok),
        Some(line) => Ok(Err(counted(line.trim_ascii_end()))),
    });
    run.out = out;
    result.unwrap_or_else(|error| Ok(Err(error)))
}

/// The arguments of a call as a request.
pub(super) fn request_of(args: &MultiValue) -> Result<OwnedRequest, &'static str> {
    if args.is_empty() {
        return Err("ERR Please specify at least one argument for this call");
    }
    let fits = |arg: &Value| matches!(arg, Value::String(_) | Value::Integer(_) | Value::Number(_));
    if !args.iter().all(fits) {
        return Err("ERR Command arguments must be strings or integers");
    }
    Ok(args.iter().map(Word::of).collect())
}

/// One argument as bytes.
enum Word {
    Text(BorrowedBytes),
    Number(Vec<u8>),
}

impl Word {
    fn of(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text.as_bytes()),
            number => {
                let number = numbers::of(number).unwrap_or_default();
                let mut text = Vec::new();
                if number.is_nan() && number.is_sign_negative() {
                    text.push(b'-');
                }
                append_f64(&mut text, if number == 0.0 { 0.0 } else { number });
                Self::Number(text)
            }
        }
    }
}

impl AsRef<[u8]> for Word {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Text(text) => text,
            Self::Number(text) => text,
        }
    }
}

/// A command that a script may not call, if there is such a command, and the text of the error.
type Refused = (Option<&'static Spec>, Vec<u8>);

impl<'a> Run<'a> {
    fn new(call: &'a mut Call<'_>, rules: Rules) -> Self {
        Self {
            loan: call.state.scripts.loan(),
            is_lent: false,
            turn: Turn::default(),
            id: call.id,
            now: call.now,
            rules,
            has_written: false,
            out: Vec::new(),
            state: call.state,
        }
    }

    /// The script is over its time: others may have the state, to be told so.
    fn lend(&mut self) {
        let millis = self.state.config.settings().busy_reply_threshold_ms;
        tracing::warn!(
            "a script is still running after {millis} ms; SCRIPT KILL ends it unless it has written"
        );
        self.state.scripts.busy = Some(Busy {
            has_written: self.has_written,
        });
        self.turn.swap(self.state);
        self.loan.give(self.state);
        self.is_lent = true;
    }

    /// Runs a command, if the script may call it, and writes its reply to `out`.
    fn command(
        &mut self,
        request: Request<'_>,
        version: Version,
        out: &mut Vec<u8>,
    ) -> Result<(), ErrorReply> {
        if !self.is_lent {
            let admission = (self.rules, &mut self.has_written);
            return run_command(
                self.state, self.id, admission, request, self.now, version, out,
            );
        }
        let mut state = self.loan.lock().expect("it is lent until the run ends");
        self.turn.swap(&mut state);
        let admission = (self.rules, &mut self.has_written);
        let done = run_command(
            &mut state, self.id, admission, request, self.now, version, out,
        );
        state.scripts.busy = Some(Busy {
            has_written: self.has_written,
        });
        self.turn.swap(&mut state);
        done
    }
}

fn run_command(
    state: &mut State,
    id: ClientId,
    (rules, has_written): (Rules, &mut bool),
    request: Request<'_>,
    now: Now,
    version: Version,
    out: &mut Vec<u8>,
) -> Result<(), ErrorReply> {
    let spec = rules.admit(state, id, *has_written, request);
    let spec = spec.map_err(|(spec, text)| {
        state.stats.on_refused_in_script(spec, &text);
        ErrorReply {
            text,
            is_counted: true,
        }
    })?;
    *has_written |= spec.flags.has(Flags::WRITE);
    let mut reply = ReplyWriter::new(out, version);
    let began = state.clock.mono();
    dispatch::run_in_script(state, id, spec, request, now, &mut reply);
    let micros = state.micros_since(began);
    let nanos = micros.saturating_mul(1_000);
    state.stats.by_command.on_measured(spec, nanos);
    state.log_if_slow(id, spec, request, now, micros);
    Ok(())
}

impl Rules {
    /// Checks whether the script may call a command; otherwise which one, if there is one, and the
    /// text of the error.
    fn admit(
        self,
        state: &State,
        id: ClientId,
        has_written: bool,
        request: Request<'_>,
    ) -> Result<&'static Spec, Refused> {
        let is_redis = state.store.settings().compat == Compat::Redis;
        let words = |valkey: &str, redis: &str| if is_redis { redis } else { valkey }.into();
        let spec = match state.commands.look_up(request) {
            Lookup::Found(spec) => spec,
            Lookup::UnknownSubcommand(container) if !is_redis => {
                let error = dispatch::unknown_subcommand(request, container);
                return Err((None, error.wire()));
            }
            Lookup::UnknownSubcommand(_) | Lookup::Unknown => {
                return Err((None, words(UNKNOWN_COMMAND, UNKNOWN_COMMAND_OF_REDIS)));
            }
        };
        let refused = |text| Err((Some(spec), text));
        if !spec.fits(request.len()) {
            return refused(words(WRONG_COUNT, WRONG_COUNT_OF_REDIS));
        }
        if spec.flags.has(Flags::NOSCRIPT) {
            return refused(words(NOT_ALLOWED, NOT_ALLOWED_OF_REDIS));
        }
        let is_refused = self.is_out_of_memory && !has_written;
        if is_refused && spec.flags.has(Flags::DENYOOM) {
            return refused(CommandError::OutOfMemory.wire());
        }
        let may_write = spec.flags.has(Flags::WRITE | Flags::MAY_REPLICATE);
        if self.is_read_only && may_write {
            return refused(READ_ONLY.into());
        }
        if state.cluster.is_some() {
            let routed = state.route_in_script(id, spec, request);
            routed.map_err(|error| (Some(spec), CommandError::from(error).wire()))?;
        }
        Ok(spec)
    }
}

const UNKNOWN_COMMAND: &str = "ERR Unknown command called from script";
const UNKNOWN_COMMAND_OF_REDIS: &str = "ERR Unknown Redis command called from script";
const WRONG_COUNT: &str = "ERR Wrong number of args calling command from script";
const WRONG_COUNT_OF_REDIS: &str = "ERR Wrong number of args calling Redis command from script";
const NOT_ALLOWED: &str = "ERR This Valkey command is not allowed from script";
const NOT_ALLOWED_OF_REDIS: &str = "ERR This Redis command is not allowed from script";
const READ_ONLY: &str = "ERR Write commands are not allowed from read-only scripts.";
/// Garbage of more than that is not left lying until the next script.
const COLLECT_ABOVE_BYTES: usize = 64 * 1_024 * 1_024;
