//! Commands that put data in, all or none.

use tailrace_server::Config;
use tailrace_server::Server;
use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

use super::FROZEN;
use super::said;
use super::send;
use super::text;

const ORDERS: &str = "
# Two orders, one of which a worker has.
XADD orders 1-1 sku 7 \"note\" \"two\\nlines\"
XADD orders 2-1 sku 8
XGROUP CREATE orders workers 0
XREADGROUP GROUP workers alice COUNT 1 BLOCK 0 STREAMS orders >
SELECT 2
SET k 'v w' PX 5000
";

const LOADED: &str = r#"clock frozen 1000000
db0 orders stream
db0 orders last-id 2-1
db0 orders entries-added 2
db0 orders max-deleted-id 0-0
db0 orders entry 1-1 sku 7 note "two\nlines"
db0 orders entry 2-1 sku 8
db0 orders group workers last-delivered-id 1-1
db0 orders group workers entries-read 1
db0 orders group workers consumer alice seen 1000000
db0 orders group workers consumer alice active 1000000
db0 orders group workers pending 1-1 consumer alice deliveries 1 delivered 1000000
db2 k string "v w"
db2 k expires 1005000
"#;

async fn load(client: &mut Caller, script: &str) -> String {
    let reply = client.call(&["TD", "FIXTURE", "LOAD", script]).await;
    reply.to_string()
}

#[tokio::test]
async fn lines_are_executed_in_order() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let mut reader = Caller::connect(&server);
    send(&reader, "XREAD BLOCK 0 STREAMS orders 0");
    settle().await;
    assert_eq!(load(&mut test, ORDERS).await, "6");
    assert_eq!(text(&mut test, "TD STATE").await, LOADED);
    // Its SELECT was for its own lines, and who waited sees all that they brought.
    assert_eq!(said(&mut test, "EXISTS orders").await, "1");
    let read = reader.reply().await.to_string();
    assert!(read.contains("\"2-1\""), "{read}");
    assert_eq!(load(&mut test, "\n# nothing\n\n").await, "0");
}

#[tokio::test]
async fn the_first_error_undoes_everything() {
    let server = start(&format!("{FROZEN}\nnotify-keyspace-events KEA")).await;
    let mut test = Caller::connect(&server);
    let mut listener = Caller::connect(&server);
    let mut watcher = Caller::connect(&server);
    assert_eq!(load(&mut test, ORDERS).await, "6");
    said(&mut listener, "PSUBSCRIBE *").await;
    said(&mut watcher, "WATCH orders").await;
    said(&mut watcher, "MULTI").await;
    said(&mut watcher, "PING").await;
    let changes = said(&mut test, "INFO persistence").await;
    for (wrong, error) in [
        (
            "XADD orders 1-1 f v",
            "The ID specified in XADD is equal or smaller than the target stream top item",
        ),
        (
            "GET orders",
            "WRONGTYPE Operation against a key holding the wrong kind of value",
        ),
        (
            "LPUSH l v",
            "unknown command 'LPUSH', with args beginning with: 'l' 'v'",
        ),
        ("XGROUP FLY s", "unknown subcommand 'FLY'. Try XGROUP HELP."),
        ("GET", "wrong number of arguments for 'get' command"),
        ("SET k \"v", "unbalanced quotes"),
        (
            "CONFIG SET maxmemory 1",
            "CONFIG SET is not for fixtures, which have commands that read and write keys, and SELECT",
        ),
        (
            "EVAL return 0",
            "EVAL is not for fixtures, which have commands that read and write keys, and SELECT",
        ),
        (
            "TD RESET",
            "TESTDOUBLE RESET is not for fixtures, which have commands that read and write keys, and SELECT",
        ),
        ("SELECT 99", "DB index is out of range"),
    ] {
        let script =
            format!("SELECT 1\r\nSET k v\n\n SELECT 0\nXADD orders 9-9 f v\n{wrong}\nSET l v");
        let heard = load(&mut test, &script).await;
        let heard = heard.trim_matches(['!', '"']).replace("\\\"", "\"");
        assert_eq!(
            heard,
            format!("ERR line 6, {wrong}: {error}; nothing was changed")
        );
        assert_eq!(text(&mut test, "TD STATE").await, LOADED);
    }
    listener.assert_silent().await;
    assert_eq!(said(&mut watcher, "EXEC").await, "[PONG]");
    assert_eq!(said(&mut test, "INFO persistence").await, changes);
    assert_eq!(said(&mut test, "EXISTS orders").await, "1");
}

#[tokio::test]
async fn a_server_starts_with_one() {
    let directory = tempfile();
    let path = directory.join("orders.txt");
    std::fs::write(&path, ORDERS).unwrap();
    let config = format!("{FROZEN}\nfixture {}", path.display());
    let server = start(&config).await;
    let mut test = Caller::connect(&server);
    assert_eq!(said(&mut test, "CLIENT ID").await, "1");
    assert_eq!(text(&mut test, "TD STATE").await, LOADED);
    said(&mut test, "FLUSHALL").await;
    said(&mut test, "TD RESET").await;
    assert_eq!(text(&mut test, "TD STATE").await, LOADED);
    drop(server);

    std::fs::write(&path, "SET k v\nGET\n").unwrap();
    assert_eq!(
        start_error(&config).await,
        format!(
            "fixture {}, line 2, GET: wrong number of arguments for 'get' command; mend that line, or start \
             without --fixture",
            path.display()
        )
    );
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(
        start_error(&config).await,
        format!(
            "cannot read the fixture {}: No such file or directory; check what --fixture names",
            path.display()
        )
    );
    assert_eq!(
        start_error(&format!("fixture {}", path.display())).await,
        "--fixture is for test doubles; add --testdouble, or leave it out"
    );
}

async fn start_error(config: &str) -> String {
    let config = Config::embedded().with(config).unwrap();
    let started = Server::builder().config(config).start().await;
    started.err().expect("it does not start").to_string()
}

/// A directory of this test's own.
fn tempfile() -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("tailrace-fixture-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    for (wrong, error) in [
        ("FIXTURE LOAD", "syntax error; try TD FIXTURE HELP"),
        ("FIXTURE LOAD a b", "syntax error; try TD FIXTURE HELP"),
        (
            "FIXTURE KEEP a",
            "'KEEP' is not known of FIXTURE; try TD FIXTURE HELP",
        ),
    ] {
        let heard = said(&mut test, &format!("TD {wrong}")).await;
        assert_eq!(heard, format!("!ERR {error}"));
    }
    let help = said(&mut test, "TD FIXTURE HELP").await;
    assert!(help.contains("--fixture"), "{help}");
}
