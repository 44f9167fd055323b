//! One run of a script.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mlua::Value;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::Compat;

use super::broken;
use super::cache::Sha;
use super::cache::Slot;
use super::calls::Stage;
use super::interpreter::Interpreter;
use super::numbers;
use super::raised::ErrorReply;
use super::raw::Outcome;
use super::rules::Rules;
use super::values;
use super::values::Fields;
use super::values::Writer;
use crate::call::Call;
use crate::error::CommandError;
use crate::error::ScriptError;
use crate::state::State;

/// A call of a script.
pub(crate) struct Job<'a> {
    /// Which one; it is in the cache.
    pub(crate) slot: Slot,
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
    let rules = Rules::of(call, job)?;
    let interpreter = call.state.scripts.interpreter.take();
    let mut interpreter = interpreter.ok_or(ScriptError::NoScript)?;
    let settings = call.state.config.settings();
    let (compat, millis) = (settings.compat, settings.busy_reply_threshold_ms);
    let script = call.state.scripts.cache.get(job.slot);
    let sha = script
        .filter(|_| compat == Compat::Redis)
        .map(|script| script.sha);
    let shared = Arc::clone(&interpreter.shared);
    let began = call.state.host_mono().unwrap_or(call.now.mono);
    shared.watch.begin(began, millis);
    if let Some(double) = &mut call.state.double {
        // Others may call meanwhile.
        double.fresh.end_row(None, Some(reply.written()));
    }
    let was_in_exec = std::mem::replace(&mut call.state.in_exec, true);
    let mut errors = Vec::new();
    let mut stage = Stage::enter(call, rules, &shared.calls);
    let done = stage.play(|| {
        interpreter.begin(compat).map_err(|error| broken(&error))?;
        execute(&interpreter, job, sha.as_ref(), reply, &mut errors)
    });
    drop(stage);
    call.state.in_exec = was_in_exec;
    let client = call.state.clients.at(call.id);
    client.db = call.db;
    if call.state.is_ending {
        // The end of the server ended the script, too, and as in the reference nothing more is said.
        client.link.kill();
    }
    keep(call.state, interpreter, done.is_err());
    call.state.scripts.cache.touch(job.slot);
    crate::panic::set_command(call.spec.name);
    count(call, &errors);
    Ok(done?)
}

/// Keeps the interpreter for the next run.
fn keep(state: &mut State, interpreter: Box<Interpreter>, has_failed: bool) {
    let used = interpreter.lua.used_memory();
    let is_much = used > interpreter.shared.memory_bytes_max / COLLECT_ABOVE_PART;
    if (has_failed || is_much) && interpreter.collect().is_err() {
        // The next script starts in a new one.
        return state.scripts.flush();
    }
    state.scripts.interpreter = Some(interpreter);
}

/// Counts the errors in a reply. Each error of a command counts as one of the script's, and all that
/// it made up itself as one.
fn count(call: &mut Call<'_>, errors: &[ErrorReply]) {
    let of_commands = errors.iter().filter(|error| error.is_counted).count();
    let has_own = of_commands < errors.len();
    let stats = &mut call.state.stats;
    for _ in 0..of_commands + usize::from(has_own) {
        stats.on_script_failed(call.spec);
    }
    for error in errors {
        // Its first word is that of the line that is sent.
        let line: Vec<u8> = error
            .text
            .iter()
            .copied()
            .map(values::on_one_line)
            .collect();
        stats.on_script_error(&line, error.is_counted);
    }
}

fn execute(
    interpreter: &Interpreter,
    job: &Job<'_>,
    sha: Option<&Sha>,
    reply: &mut ReplyWriter<'_>,
    errors: &mut Vec<ErrorReply>,
) -> Result<(), ScriptError> {
    let Interpreter {
        lua,
        shared,
        fields,
        next,
        ..
    } = interpreter;
    let result = interpreter.run(job.slot, job.keys, job.args, |outcome| {
        let mut writer = Writer {
            lua,
            reply,
            has_booleans: shared.is_resp3.load(Ordering::Relaxed),
            fields,
            next,
            on_error: &mut |error| errors.push(error.clone()),
        };
        match outcome {
            Outcome::Text(text) => writer.reply.bulk(text),
            Outcome::Number(number) => writer.number(number),
            Outcome::Boolean(value) => writer.boolean(value),
            Outcome::Other(value) => writer.write(value)?,
            Outcome::Raised(value) => writer.error(&failure(fields, &value, sha)?),
        }
        Ok(())
    });
    result
        .and_then(|written| written)
        .map_err(|error| broken(&error))
}

/// The reply of a script that failed, in which Redis names its digest.
fn failure(fields: &Fields, value: &Value, sha: Option<&Sha>) -> mlua::Result<ErrorReply> {
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
        if let Some(sha) = sha {
            text.extend_from_slice(sha);
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

/// Garbage of more than this part of what scripts may take is not left lying until the next script.
const COLLECT_ABOVE_PART: usize = 16;
