//! What the `HELP` subcommand of every container sends.

use tailrace_protocol::ReplyWriter;

/// Writes what `command` (in capitals) can do: a line that names a subcommand, then indented lines
/// that explain it, for each in turn.
pub(super) fn write(reply: &mut ReplyWriter<'_>, command: &str, lines: &[&str]) {
    let head = format!("{command} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
    reply.array(lines.len() + 3);
    reply.simple(&head);
    for line in lines {
        reply.simple(line);
    }
    reply.simple("HELP");
    reply.simple("    Show this text.");
}
