//! The log of slow commands, as `SLOWLOG` and `COMMANDLOG` show it.

use std::collections::VecDeque;

use tailrace_protocol::Request;
use tailrace_storage::UnixMicros;

use crate::client::Client;
use crate::config::Config;

/// The commands that took long, newest first.
#[derive(Debug, Default)]
pub struct CommandLog {
    entries: VecDeque<LoggedCommand>,
    next_id: u64,
}

/// A command that took long.
#[derive(Debug)]
pub struct LoggedCommand {
    /// Counts from zero since the start.
    pub id: u64,
    /// When it ran.
    pub at: UnixMicros,
    /// How long it took.
    pub micros: u64,
    /// What was sent, shortened.
    pub args: Vec<Box<[u8]>>,
    /// Who sent it.
    pub addr: String,
    /// The name of that client.
    pub name: Vec<u8>,
}

impl CommandLog {
    /// Adds a command, and forgets the oldest ones beyond `entries_max`.
    pub(crate) fn push(
        &mut self,
        request: Request<'_>,
        client: &Client,
        config: &Config,
        at: UnixMicros,
        micros: u64,
    ) {
        let entry = LoggedCommand {
            id: self.next_id,
            at,
            micros,
            args: shortened(request, config),
            addr: client.addr.clone(),
            name: client.name.clone(),
        };
        self.next_id += 1;
        self.entries.push_front(entry);
        self.entries.truncate(config.settings().slowlog_max_len);
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

/// Whether an argument is a password, which must not show up where others can read it.
pub(crate) fn is_secret(request: Request<'_>, index: usize, config: &Config) -> bool {
    let word = |at: usize| request.get(at).unwrap_or_default();
    let is = |at: usize, name: &str| word(at).eq_ignore_ascii_case(name.as_bytes());
    if is(0, "auth") {
        return index > 0;
    }
    if is(0, "hello") {
        // HELLO version AUTH user password
        let follows = |back: usize| index > back && is(index - back, "auth");
        return follows(1) || follows(2);
    }
    let is_value = index >= 3 && index % 2 == 1;
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
