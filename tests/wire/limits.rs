//! What a client may send, at each limit and one past it. The texts are the reference's.

use tailrace_protocol::Limits;
use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

/// What becomes of bytes after which nothing follows.
enum Outcome {
    /// The rest is waited for.
    Waits,
    /// This error, and then the end.
    Refused(&'static str),
}

use Outcome::Refused;
use Outcome::Waits;

async fn check(config: &str, table: &[(Vec<u8>, Outcome)]) {
    let server = start(config).await;
    for (bytes, outcome) in table {
        let mut client = Caller::connect(&server);
        client.far().send(bytes);
        let shown = bytes[..bytes.len().min(40)].escape_ascii();
        match outcome {
            Waits => client.assert_silent().await,
            Refused(text) => {
                // What comes after the fault is not looked at.
                client.far().send(b"\r\nPING\r\n");
                let said = String::from_utf8(client.rest().await).unwrap();
                assert_eq!(said, format!("-ERR Protocol error: {text}\r\n"), "{shown}");
            }
        }
    }
    let mut client = Caller::connect(&server);
    client.call(&["PING"]).await;
}

#[tokio::test]
async fn headers_are_taken_up_to_their_limits() {
    let echo = |header: &str| format!("*2\r\n$4\r\nECHO\r\n{header}").into_bytes();
    check(
        "",
        &[
            (b"*2147483647\r\n".to_vec(), Waits),
            (
                b"*2147483648\r\n".to_vec(),
                Refused("invalid multibulk length"),
            ),
            (
                b"*9223372036854775808\r\n".to_vec(),
                Refused("invalid multibulk length"),
            ),
            (b"*02\r\n".to_vec(), Refused("invalid multibulk length")),
            (b"*+2\r\n".to_vec(), Refused("invalid multibulk length")),
            (echo("$536870912\r\n"), Waits),
            (echo("$536870913\r\n"), Refused("invalid bulk length")),
            (echo("$-1\r\n"), Refused("invalid bulk length")),
            (echo("$\r\n"), Refused("invalid bulk length")),
            (echo(":1\r\n"), Refused("expected '$', got ':'")),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_configured_limit_is_the_limit() {
    let echo = |header: &str| format!("*2\r\n$4\r\nECHO\r\n{header}").into_bytes();
    check(
        "proto-max-bulk-len 1mb",
        &[
            (echo("$1048576\r\n"), Waits),
            (echo("$1048577\r\n"), Refused("invalid bulk length")),
        ],
    )
    .await;
}

#[tokio::test]
async fn lines_are_taken_up_to_their_limit() {
    let line = |start: &str, len: usize| {
        let mut line = start.as_bytes().to_vec();
        line.resize(len, b'0');
        line
    };
    let limit = Limits::INLINE_BYTES_MAX;
    let args = "*1\r\n$";
    let beyond = limit + args.len() - 1;
    check(
        "",
        &[
            (line("ECHO ", limit), Waits),
            (line("ECHO ", limit + 1), Refused("too big inline request")),
            (line("*", limit), Waits),
            (line("*", limit + 1), Refused("too big mbulk count string")),
            (line(args, beyond), Waits),
            (line(args, beyond + 1), Refused("too big bulk count string")),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_typed_command_may_be_as_long_as_a_line() {
    let server = start("").await;
    let mut client = Caller::connect(&server);
    let word = "x".repeat(Limits::INLINE_BYTES_MAX - "ECHO ".len());
    client.far().send(format!("ECHO {word}\r\n").as_bytes());
    assert_eq!(client.reply().await.text(), word.as_bytes());
}

/// A stranger cannot make the server hold much.
#[tokio::test]
async fn strangers_may_send_little() {
    let config = "requirepass secret";
    let echo = |header: &str| format!("*2\r\n$4\r\nECHO\r\n{header}").into_bytes();
    check(
        config,
        &[
            (b"*10\r\n".to_vec(), Waits),
            (
                b"*11\r\n".to_vec(),
                Refused("unauthenticated multibulk length"),
            ),
            (
                b"*2147483648\r\n".to_vec(),
                Refused("invalid multibulk length"),
            ),
            (echo("$16384\r\n"), Waits),
            (echo("$16385\r\n"), Refused("unauthenticated bulk length")),
            (echo("$536870913\r\n"), Refused("invalid bulk length")),
        ],
    )
    .await;

    let server = start(config).await;
    let client = Caller::connect(&server);
    let word = "x".repeat(Limits::UNAUTHENTICATED_BULK_BYTES_MAX);
    client.send(&["ECHO", &word]);
    client.send(&["PING", "a", "b", "c", "d", "e", "f", "g", "h", "i"]);
    client.far().half_close();
    let refusal = "-NOAUTH Authentication required.\r\n";
    assert_eq!(client.rest().await, refusal.repeat(2).as_bytes());
}

/// The limits of strangers end with the reply to AUTH, also for what was sent behind it.
#[tokio::test]
async fn the_limits_of_strangers_end_with_auth() {
    let server = start("requirepass secret").await;
    let mut client = Caller::connect(&server);
    let word = "x".repeat(Limits::UNAUTHENTICATED_BULK_BYTES_MAX + 1);
    client.send(&["AUTH", "secret"]);
    client.send(&["ECHO", &word]);
    client.send(&["DEL", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    assert_eq!(client.reply().await.to_string(), "OK");
    assert_eq!(client.reply().await.text(), word.as_bytes());
    assert_eq!(client.reply().await.to_string(), "0");
}

/// A header is a promise, and a promise takes no memory: a hundred clients promise 50 GiB here, and as
/// many promise two thousand million arguments.
#[tokio::test]
async fn a_promise_takes_no_memory() {
    let server = start("").await;
    let before = address_space();
    let mut clients = Vec::new();
    for header in [
        "*2\r\n$4\r\nECHO\r\n$536870912\r\nx",
        "*2147483647\r\n$3\r\nDEL\r\n$1\r\nx",
    ] {
        for _ in 0..100 {
            let client = Caller::connect(&server);
            client.far().send(header.as_bytes());
            clients.push(client);
        }
    }
    settle().await;
    for client in &clients {
        assert_eq!(client.far().unread_bytes(), 0);
    }
    // Other tests run beside this one, and take their part.
    let grown = address_space().saturating_sub(before);
    assert!(grown < 8 * 1_024 * 1_024 * 1_024, "{grown} bytes more");
}

/// Bytes that this process has asked the system for, used or not.
fn address_space() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split(' ').next().unwrap().parse().unwrap();
    pages * 4_096
}
