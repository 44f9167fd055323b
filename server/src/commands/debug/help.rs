//! `DEBUG HELP`

use tailrace_protocol::ReplyWriter;

use crate::commands::encode;

pub(super) fn write(reply: &mut ReplyWriter<'_>) {
    encode::help(
        reply,
        "DEBUG",
        &[
            (
                "CHANGE-REPL-ID",
                "Give the history of the data another name.",
            ),
            ("DIGEST", "A hash of all data."),
            (
                "DIGEST-VALUE <key> [<key> ...]",
                "A hash of the value of each key.",
            ),
            ("ERROR <text>", "Answer with this error."),
            ("LOG <message>", "Write a line to the log."),
            ("OBJECT <key> [FAST]", "A line about the value of a key."),
            ("PANIC", "End the server as a fault in a command would."),
            (
                "PAUSE-CRON <0|1>",
                "Accepted, as some other switches of the reference: there is nothing to switch.",
            ),
            (
                "POPULATE <count> [<prefix>] [<size>]",
                "Create strings named key:<number>.",
            ),
            ("PROTOCOL <type>", "A value of a type of the protocol."),
            (
                "RELOAD [MERGE] [NOFLUSH]",
                "Remove what is due; all else would be the same when it was read again.",
            ),
            (
                "SET-ACTIVE-EXPIRE <0|1>",
                "Whether keys that are due are removed before somebody asks for them.",
            ),
            ("SLEEP <seconds>", "Serve nobody for so long."),
            ("STRINGMATCH-TEST", "Match many random patterns."),
        ],
    );
}
