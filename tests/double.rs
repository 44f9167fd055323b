//! Servers in the hands of a test: `TESTDOUBLE`.

use tailrace_tests::Caller;
use tailrace_tests::Value;

mod beginnings;
mod calls;
mod clock;
mod cluster;
mod crashes;
mod faults;
mod fixtures;
mod ledger;
mod nodes;
mod off;
mod pushes;
mod resets;
mod snapshots;
mod spaces;
mod waits;
mod whole;

/// A double whose clock stands still at a thousand seconds.
const FROZEN: &str = "testdouble yes\nclock frozen:1000000\nseed 7";

/// What a client hears of a command, whose words are apart by blanks.
async fn said(client: &mut Caller, line: &str) -> String {
    send(client, line);
    client.reply().await.to_string()
}

/// What a client hears of such a command, as plain text.
async fn text(client: &mut Caller, line: &str) -> String {
    send(client, line);
    match client.reply().await {
        Value::Bulk(text) => String::from_utf8_lossy(&text).into_owned(),
        other => panic!("{line}: {other}"),
    }
}

/// Sends such a command.
fn send(client: &Caller, line: &str) {
    client.send(&line.split(' ').collect::<Vec<_>>());
}
