//! The logs of slow commands, and of those with large requests or replies, as `SLOWLOG` and
//! `COMMANDLOG` show them.

use std::collections::VecDeque;

use tailrace_protocol::Request;
use tailrace_storage::Now;
use tailrace_storage::UnixMicros;

use crate::args::text;
use crate::client::Client;
use crate::client::ClientId;
use crate::client::ReplyMode;
use crate::commands::hello;
use crate::commands::migrate;
use crate::config::Config;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// The logs of commands.
#[derive(Debug, Default)]
pub struct CommandLogs {
    /// Those that took long.
    pub slow: CommandLog,
    /// Those that were sent in many bytes.
    pub large_requests: CommandLog,
    /// Those that were answered in many bytes.
    pub large_replies: CommandLog,
}

/// Commands that stood out, newest first.
#[derive(Debug, Default)]
pub struct CommandLog {
    entries: VecDeque<LoggedCommand>,
    next_id: u64,
}

/// A command that stood out.
#[derive(Debug)]
pub struct LoggedCommand {
    /// Counts from zero since the start.
    pub id: u64,
    /// When it ran.
    pub at: UnixMicros,
    /// How long it took, in microseconds, or how many bytes it had.
    pub value: u64,
    /// What was sent, shortened.
    pub args: Vec<Box<[u8]>>,
    /// Who sent it.
    pub addr: String,
    /// The name of that client.
    pub name: Vec<u8>,
}

impl CommandLog {
    /// Adds a command, and forgets the oldest ones beyond `entries_max`.
    fn push(&mut self, logged: Logged<'_>, value: u64, entries_max: usize) {
        if entries_max == 0 {
            return;
        }
        let Logged {
            request,
            client,
            config,
            at,
        } = logged;
        let entry = LoggedCommand {
            id: self.next_id,
            at,
            value,
            args: shortened(request, config),
            addr: client.addr.clone(),
            // As the reference shows it: a zero byte ends it.
            name: text(&client.name).to_vec(),
        };
        self.next_id += 1;
        self.entries.push_front(entry);
        self.entries.truncate(entries_max);
    }

    /// From the newest on.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &LoggedCommand> {
        self.entries.iter()
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}

/// A command as it was called.
#[derive(Clone, Copy)]
struct Logged<'a> {
    request: Request<'a>,
    client: &'a Client,
    config: &'a Config,
    at: UnixMicros,
}

impl State {
    /// Logs a command if it took long, and samples it as an event.
    pub(crate) fn log_if_slow(
        &mut self,
        id: ClientId,
        spec: &'static Spec,
        request: Request<'_>,
        at: Now,
        micros: u64,
    ) {
        self.on_command_took(spec, micros, at.wall);
        let settings = self.config.settings();
        let above = settings.slowlog_log_slower_than_us;
        let is_slow = above.is_some_and(|above| micros >= above);
        if !is_slow || spec.flags.has(Flags::SKIP_COMMANDLOG) {
            return;
        }
        // Its client may have been ended by what it did.
        let Some(client) = self.clients.get(id) else {
            return;
        };
        let logged = Logged {
            request,
            client,
            config: &self.config,
            at: at.wall,
        };
        self.logs
            .slow
            .push(logged, micros, settings.slowlog_max_len);
    }

    /// Logs a command if it was sent or answered in many bytes.
    #[inline]
    pub(crate) fn log_if_large(
        &mut self,
        id: ClientId,
        spec: &'static Spec,
        request: Request<'_>,
        at: Now,
        bytes: CallBytes,
    ) {
        let settings = self.config.settings();
        let has_large_request = is_from(bytes.request, settings.request_logged_from_bytes);
        let has_large_reply = is_from(bytes.reply + bytes.pushed, settings.reply_logged_from_bytes);
        if (has_large_request || has_large_reply) && !spec.flags.has(Flags::SKIP_COMMANDLOG) {
            self.log_large(id, request, at, bytes);
        }
    }

    /// Logs a command by what of it is large.
    #[cold]
    fn log_large(&mut self, id: ClientId, request: Request<'_>, at: Now, bytes: CallBytes) {
        let settings = self.config.settings();
        // What is not sent has no length.
        let is_heard = |client: &Client| client.reply_mode == ReplyMode::On;
        let reply_bytes = match self.clients.get(id).is_some_and(is_heard) {
            true => bytes.reply,
            false => 0,
        };
        let reply_bytes = reply_bytes + bytes.pushed;
        let has_large_request = is_from(bytes.request, settings.request_logged_from_bytes);
        let has_large_reply = is_from(reply_bytes, settings.reply_logged_from_bytes);
        let Some(client) = self.clients.get(id) else {
            return;
        };
        let logged = Logged {
            request,
            client,
            config: &self.config,
            at: at.wall,
        };
        if has_large_request {
            let log = &mut self.logs.large_requests;
            log.push(logged, bytes.request as u64, settings.large_requests_max);
        }
        if has_large_reply {
            let log = &mut self.logs.large_replies;
            log.push(logged, reply_bytes as u64, settings.large_replies_max);
        }
    }
}

/// Whether so many bytes are logged, given from how many on that is so.
#[inline]
fn is_from(bytes: usize, from: Option<u64>) -> bool {
    from.is_some_and(|from| bytes as u64 >= from)
}

/// How many bytes a command was sent and answered in. As in the reference, each command of `EXEC`
/// has the request of `EXEC`, and the replies of those before it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallBytes {
    pub(crate) request: usize,
    pub(crate) reply: usize,
    /// What counts as answered although CLIENT REPLY may silence the client: what else it was sent since the
    /// command before, and what a script hears.
    pub(crate) pushed: usize,
}

fn shortened(request: Request<'_>, config: &Config) -> Vec<Box<[u8]>> {
    let is_whole = request.len() <= ARGS_MAX;
    let shown = if is_whole {
        request.len()
    } else {
        ARGS_MAX - 1
    };
    let mut args: Vec<Box<[u8]>> = Vec::with_capacity(shown + 1);
    for (index, arg) in request.iter().take(shown).enumerate() {
        args.push(match arg.len().checked_sub(ARG_BYTES_MAX) {
            _ if is_secret(request, index, config) => Box::from(*b"(redacted)"),
            None | Some(0) => arg.into(),
            Some(more) => {
                let more = format!("... ({more} more bytes)");
                [&arg[..ARG_BYTES_MAX], more.as_bytes()].concat().into()
            }
        });
    }
    if !is_whole {
        let more = format!("... ({} more arguments)", request.len() - shown);
        args.push(more.into_bytes().into());
    }
    args
}

/// Whether an argument is a password, which must not show up where others can read it. Commands that
/// are refused before anything is taken for a password are shown whole, as the reference shows them.
pub(crate) fn is_secret(request: Request<'_>, index: usize, config: &Config) -> bool {
    let word = |at: usize| request.get(at).unwrap_or_default();
    let is = |at: usize, name: &str| word(at).eq_ignore_ascii_case(name.as_bytes());
    if is(0, "auth") {
        return index > 0 && request.len() <= 3;
    }
    if is(0, "hello") {
        return hello::is_secret(request, index);
    }
    if is(0, "migrate") {
        return migrate::is_secret(request, index);
    }
    if is(0, "acl") && is(1, "getuser") {
        return index == 2;
    }
    let is_value = index >= 3 && index % 2 == 1 && request.len().is_multiple_of(2);
    is(0, "config") && is(1, "set") && is_value && config.is_secret(word(index - 1))
}

/// How many arguments are kept; the last one says how many more there were.
const ARGS_MAX: usize = 32;
/// How much of an argument is kept.
const ARG_BYTES_MAX: usize = 128;

#[cfg(test)]
mod tests {
    use tailrace_protocol::OwnedRequest;

    use super::shortened;
    use crate::config::Config;

    fn shown(words: &[&str]) -> Vec<String> {
        let request: OwnedRequest = words.iter().collect();
        let args = shortened(request.as_request(), &Config::default());
        let texts = args.iter().map(|arg| String::from_utf8_lossy(arg));
        texts.map(|text| text.into_owned()).collect()
    }

    #[test]
    fn long_commands_are_shortened() {
        assert_eq!(shown(&["del"; 32]), ["del"; 32]);
        let many = shown(&["del"; 44]);
        assert_eq!(many.len(), 32);
        assert_eq!(many[31], "... (13 more arguments)");
        let (fits, long) = ("x".repeat(128), "x".repeat(129));
        assert_eq!(shown(&[&fits])[0], fits);
        assert_eq!(shown(&[&long]), [format!("{fits}... (1 more bytes)")]);
    }

    #[test]
    fn passwords_are_hidden() {
        let hidden = "(redacted)";
        assert_eq!(shown(&["AUTH", "p"]), ["AUTH", hidden]);
        assert_eq!(
            shown(&["hello", "3", "AUTH", "u", "p", "SETNAME", "n"]),
            ["hello", "3", "AUTH", hidden, hidden, "SETNAME", "n"]
        );
        assert_eq!(
            shown(&["CONFIG", "SET", "maxmemory", "1", "requirepass", "p"]),
            ["CONFIG", "SET", "maxmemory", "1", "requirepass", hidden]
        );
    }
}
