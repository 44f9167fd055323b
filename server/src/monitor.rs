//! Shows commands to the clients that asked for them with `MONITOR`.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::Now;

use crate::client::Client;
use crate::client::ClientId;
use crate::client::ReplyMode;
use crate::command_log::is_secret;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

impl State {
    /// Lets a client see all commands from now on. Whether it did not before.
    pub(crate) fn start_monitoring(&mut self, id: ClientId) -> bool {
        let client = self.clients.at(id);
        let is_new = !std::mem::replace(&mut client.is_monitor, true);
        if is_new {
            self.monitors.push(id);
        }
        is_new
    }

    /// Lets a client see no more commands.
    pub(crate) fn stop_monitoring(&mut self, id: ClientId) {
        let client = self.clients.at(id);
        if std::mem::take(&mut client.is_monitor) {
            self.monitors.retain(|&monitor| monitor != id);
        }
    }

    /// Shows a command that ran to all monitors, unless it is for whoever runs the server.
    #[cold]
    pub(crate) fn show_to_monitors(
        &mut self,
        id: ClientId,
        spec: &'static Spec,
        request: Request<'_>,
        now: Now,
    ) {
        if spec.flags.has(Flags::ADMIN | Flags::SKIP_MONITOR) {
            return;
        }
        self.show_call(id, request, now);
    }

    /// Shows a call of a script, before the commands of the script are shown.
    #[cold]
    pub(crate) fn show_call(&mut self, id: ClientId, request: Request<'_>, now: Now) {
        let client = self.clients.at(id);
        let (db, address) = (client.db, address(client));
        let line = self.line(db, &address, request, now);
        self.show(id, &line);
    }

    /// Shows a command that a script called.
    #[cold]
    pub(crate) fn show_in_script(
        &mut self,
        id: ClientId,
        spec: &'static Spec,
        db: usize,
        request: Request<'_>,
        now: Now,
    ) {
        if !spec.flags.has(Flags::ADMIN | Flags::SKIP_MONITOR) {
            let line = self.line(db, "lua", request, now);
            self.show(id, &line);
        }
    }

    /// Shows what a client did to those who look on at its node.
    fn show(&mut self, id: ClientId, line: &str) {
        let face = self.face_of(id);
        for index in 0..self.monitors.len() {
            let monitor = self.monitors[index];
            let client = self.clients.at(monitor);
            if face.is_some_and(|face| client.face != face) {
                continue;
            }
            // It is a reply, unlike a message: it comes only to those who want replies, and at once.
            match client.reply_mode {
                ReplyMode::On if self.caller == Some(monitor) => {
                    let mut reply = ReplyWriter::new(&mut self.shown, client.version);
                    if !client.closing {
                        reply.simple(line);
                    }
                }
                ReplyMode::On | ReplyMode::SkipNext => {
                    self.push(monitor, |reply| reply.simple(line));
                }
                ReplyMode::Off | ReplyMode::Skip => {}
            }
        }
    }

    fn line(&self, db: usize, from: &str, request: Request<'_>, now: Now) -> String {
        let (secs, micros) = (now.wall.0 / 1_000_000, now.wall.0 % 1_000_000);
        let mut line = format!("{secs}.{micros:06} [{db} {from}]");
        for (index, arg) in request.iter().enumerate() {
            line.push_str(" \"");
            if is_secret(request, index, &self.config) {
                line.push_str("(redacted)");
            } else {
                push_quoted(&mut line, arg);
            }
            line.push('"');
        }
        line
    }
}

fn address(client: &Client) -> String {
    if client.unix {
        let path = client.addr.strip_suffix(":0").unwrap_or(&client.addr);
        format!("unix:{path}")
    } else {
        client.addr.clone()
    }
}

/// Appends bytes so that they stand between quotation marks on one line.
fn push_quoted(line: &mut String, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'\\' | b'"' => line.extend(['\\', char::from(byte)]),
            b'\n' => line.push_str("\\n"),
            b'\r' => line.push_str("\\r"),
            b'\t' => line.push_str("\\t"),
            BELL => line.push_str("\\a"),
            BACKSPACE => line.push_str("\\b"),
            b' '..=b'~' => line.push(char::from(byte)),
            _ => {
                let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
                line.extend(['\\', 'x', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
}

const BELL: u8 = 7;
const BACKSPACE: u8 = 8;

#[cfg(test)]
mod tests {
    use super::push_quoted;

    #[test]
    fn any_bytes_stand_on_one_line() {
        let mut line = String::new();
        push_quoted(&mut line, b"a\x00\x07\x08\x1b\x7f\xff\t\\\"'\r\n ~");
        assert_eq!(line, r#"a\x00\a\b\x1b\x7f\xff\t\\\"'\r\n ~"#);
    }
}
