//! `CLIENT HELP`

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::commands::encode;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "client|help",
    arity: 2,
    flags: Flags::LOADING.and(Flags::STALE),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Lists the subcommands.",
    since: "5.0.0",
    ..Spec::of(run)
};

fn run(_: &mut Call<'_>, _: Args<'_>, reply: &mut ReplyWriter<'_>) -> Result<Flow, CommandError> {
    encode::help(reply, "CLIENT", LINES);
    Ok(Flow::Done)
}

const LINES: &[(&str, &str)] = &[
    (
        "CACHING (YES|NO)",
        "Track the keys of the next command, or do not; see TRACKING.",
    ),
    (
        "CAPA <capability> [<capability> ...]",
        "Note what the client can do: REDIRECT.",
    ),
    ("GETNAME", "The name of this connection."),
    (
        "GETREDIR",
        "Who hears of changed keys: a connection, 0 for this one, -1 for none.",
    ),
    ("ID", "The number of this connection."),
    (
        "IMPORT-SOURCE (ON|OFF)",
        "Keys that are due are there for this client while import-mode is on.",
    ),
    ("INFO", "A line about this connection."),
    (
        "KILL <address>",
        "Close the connection from an address, even this one.",
    ),
    (
        "KILL <filter> <value> [<filter> <value> ...]",
        "Close the connections that fit all filters; see LIST. Not this one, unless SKIPME NO.",
    ),
    (
        "LIST [<filter> <value> ...]",
        "A line about each connection that fits all filters: ID, TYPE, ADDR, LADDR, IP, USER, \
         NAME, LIB-NAME, LIB-VER, DB, FLAGS, CAPA, any of these as NOT-..., MAXAGE, IDLE, SKIPME.",
    ),
    (
        "NO-EVICT (ON|OFF)",
        "Never close this connection to save memory.",
    ),
    ("NO-TOUCH (ON|OFF)", "Leave the access times of keys alone."),
    (
        "PAUSE <milliseconds> [WRITE|ALL]",
        "Hold all commands, or those that write.",
    ),
    (
        "REPLY (ON|OFF|SKIP)",
        "Send replies, none, or not the next.",
    ),
    (
        "SETINFO (LIB-NAME|LIB-VER) <value>",
        "Note the client's library.",
    ),
    ("SETNAME <name>", "Name this connection."),
    (
        "TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> ...] [OPTIN] [OPTOUT] [NOLOOP]",
        "Say when keys change that this connection read, or all that begin with a prefix.",
    ),
    (
        "TRACKINGINFO",
        "Which keys are tracked for this connection.",
    ),
    (
        "UNBLOCK <id> [TIMEOUT|ERROR]",
        "End the wait of another connection.",
    ),
    ("UNPAUSE", "Run what PAUSE holds."),
];
