//! Servers in the hands of a test: `TESTDOUBLE`.

use tailrace_tests::Caller;

mod clock;
mod crashes;
mod faults;
mod ledger;
mod nodes;
mod off;
mod pushes;
mod spaces;
mod waits;

/// A double whose clock stands still at a thousand seconds.
const FROZEN: &str = "testdouble yes\nclock frozen:1000000\nseed 7";

/// What a client hears of a command, whose words are apart by blanks.
async fn said(client: &mut Caller, line: &str) -> String {
    send(client, line);
    client.reply().await.to_string()
}

/// Sends such a command.
fn send(client: &Caller, line: &str) {
    client.send(&line.split(' ').collect::<Vec<_>>());
}
