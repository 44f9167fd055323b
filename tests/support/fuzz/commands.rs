//! A server and some clients: commands, cuts, departures and time, and then a look at all that is left.
//!
//! An input is a row of steps, one to a few bytes each. Nothing is random but the input.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::LazyLock;

use tailrace_server::Config;
use tailrace_server::ManualClock;
use tailrace_server::Millis;
use tailrace_server::Server;
use tailrace_server::UnixMillis;
use tokio::runtime::Runtime;

use super::bytes::Bytes;
use super::crowd::Fuzzed;
use super::inspect::Inspector;
use super::speaker;

pub(super) fn run(input: &[u8]) {
    RUNTIME.with_borrow(|runtime| {
        runtime.block_on(async {
            play(&mut Bytes::new(input)).await;
            // What the server leaves behind ends.
            turns(SETTLE_TURNS).await;
        });
    });
}

async fn play(bytes: &mut Bytes<'_>) {
    let clock = Arc::new(ManualClock::starting_at(START));
    let builder = Server::builder().config(CONFIG.clone()).manual_clock(clock);
    let server = builder.start().await.expect("it listens nowhere");
    let mut inspector = Inspector::connect(&server).await;
    inspector.prepare().await;
    let mut clients: Vec<Fuzzed> = NAMES.map(|name| Fuzzed::connect(&server, name)).into();
    for _ in 0..STEPS_MAX {
        if bytes.is_empty() {
            break;
        }
        step(&server, &mut clients, bytes).await;
    }
    for client in &clients {
        client.far().open_window(usize::MAX);
        client.far().deliver_in_pieces_of(usize::MAX);
    }
    turns(SETTLE_TURNS).await;
    assert_eq!(server.fault(), None);
    inspector.check(&server, &mut clients).await;
    assert_eq!(server.fault(), None);
}

async fn step(server: &Server, clients: &mut [Fuzzed], bytes: &mut Bytes<'_>) {
    let choice = bytes.next();
    let number = usize::from(choice >> 6);
    let client = &mut clients[number];
    if client.is_over() && choice & 1 == 0 {
        client.check();
        *client = Fuzzed::connect(server, NAMES[number]);
    }
    match choice & 31 {
        0..=20 => client.say(&speaker::command(bytes)),
        // As people type it, or as nobody should.
        21 => {
            let mut line = speaker::command(bytes).join(&b' ');
            line.extend_from_slice(b"\r\n");
            client.send(&line);
        }
        22 => {
            let len = bytes.below(64);
            client.send(bytes.take(len));
        }
        // Half now, and the other half with whatever comes next.
        23 => {
            let words = speaker::command(bytes);
            let wire = crate::client::encode(&words);
            client.send(&wire[..bytes.below(256).min(wire.len())]);
        }
        24 => client.far().deliver_in_pieces_of(1 + bytes.below(32)),
        25 => client.far().open_window(bytes.one_of(WINDOWS)),
        26 | 27 => server.advance(Millis(bytes.one_of(SPANS_MS))),
        28 => {
            client.end();
            match bytes.below(3) {
                0 => client.far().half_close(),
                1 => client.far().hang_up(),
                _ => client.far().cut(),
            }
        }
        29 => {
            client.check();
            *client = Fuzzed::connect(server, NAMES[number]);
        }
        _ => client.say(&["EXEC"]),
    }
    // A pipeline grows until somebody gets a turn.
    if choice & 32 == 0 {
        turns(STEP_TURNS).await;
    }
}

/// Gives the server's tasks turns.
pub(super) async fn turns(count: usize) {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}

thread_local! {
    /// It has neither sockets nor timers to look after, so that a turn costs nothing.
    static RUNTIME: RefCell<Runtime> = RefCell::new(
        tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime without drivers needs nothing"),
    );
}

/// It listens nowhere; its clients come in memory.
static CONFIG: LazyLock<Config> = LazyLock::new(|| {
    Config::embedded()
        .with("bind ''\nenable-debug-command yes\nproto-max-bulk-len 1mb\nclient-query-buffer-limit 4mb")
        .expect("the configuration is right")
});

const START: UnixMillis = UnixMillis(1_750_000_000_000);
/// As many clients as the two highest bits of a step can name.
const NAMES: [char; 4] = ['a', 'b', 'c', 'd'];
/// Commands past that tell nothing new, and every command may copy a megabyte.
const STEPS_MAX: usize = 400;
const WINDOWS: &[usize] = &[0, 1, 100, usize::MAX];
const SPANS_MS: &[u64] = &[0, 1, 5, 99, 1_000, 60_000, 100_000_000];
/// A client's way from its request to the end is a few turns.
const STEP_TURNS: usize = 6;
pub(super) const SETTLE_TURNS: usize = 64;
