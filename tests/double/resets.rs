//! Beginning anew, and what clients see of a restart.

use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

use super::FROZEN;
use super::said;
use super::send;
use super::text;

const EMPTY: &str = "clock frozen 1000000\n";
const LOADING: &str = "!LOADING Valkey is loading the dataset in memory";

#[tokio::test]
async fn a_reset_brings_back_the_start() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let mut client = Caller::connect(&server);
    for line in [
        "SET k v",
        "XADD s * f v",
        "TD SNAPSHOT SAVE kept",
        "TD FAULT ADD f CMD GET BEFORE NIL",
        "TD CLOCK TICK 5",
        "TD CLOCK SCALE 3",
        "CONFIG SET maxmemory-policy noeviction maxclients 77 notify-keyspace-events KEA",
        "DEBUG SET-ACTIVE-EXPIRE 0",
        "CLIENT PAUSE 100000 WRITE",
    ] {
        said(&mut test, line).await;
    }
    let digest = said(&mut test, "SCRIPT LOAD return(1)").await;
    said(&mut client, "CLIENT SETNAME worker").await;
    said(&mut client, "SELECT 5").await;
    assert_eq!(said(&mut test, "TD RESET").await, "OK");

    assert_eq!(text(&mut test, "TD STATE").await, EMPTY);
    assert_eq!(said(&mut test, "TD FAULT LIST").await, "[]");
    assert_eq!(said(&mut test, "TD CALLS").await, "[]");
    assert_eq!(
        said(&mut test, "CONFIG GET maxclients").await,
        "[\"maxclients\" \"10000\"]"
    );
    let known = said(
        &mut test,
        &format!("SCRIPT EXISTS {}", digest.trim_matches('"')),
    )
    .await;
    assert_eq!(known, "[0]");
    let stats = said(&mut test, "INFO commandstats").await;
    assert!(!stats.contains("cmdstat_xadd"), "{stats}");
    // The pause is over, and the numbers of calls begin again.
    assert_eq!(said(&mut client, "SET k v").await, "OK");
    let calls = said(&mut test, "TD CALLS CMD SET").await;
    assert!(calls.contains("\"number\" 4 "), "{calls}");
    // What a connection set up for itself is as it was.
    assert_eq!(said(&mut client, "CLIENT GETNAME").await, "\"worker\"");
    assert_eq!(
        text(&mut test, "TD STATE").await,
        format!("{EMPTY}db5 k string v\n")
    );
    assert_eq!(said(&mut test, "TD SNAPSHOT RESTORE kept").await, "OK");
    assert_eq!(said(&mut test, "EXISTS k s").await, "2");
}

/// Whoever ran before leaves nothing that happens to those who run after.
#[tokio::test]
async fn a_reset_ends_what_waits_and_executes_nothing_that_was_held() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let [
        mut reader,
        mut member,
        mut held,
        mut late,
        mut paused,
        mut listener,
        mut watcher,
    ] = std::array::from_fn(|_| Caller::connect(&server));
    said(&mut test, "XGROUP CREATE s g $ MKSTREAM").await;
    send(&reader, "XREAD BLOCK 0 STREAMS s $");
    send(&reader, "ECHO next");
    send(&member, "XREADGROUP GROUP g c BLOCK 0 STREAMS s >");
    said(&mut listener, "SUBSCRIBE news").await;
    said(&mut watcher, "WATCH s").await;
    said(&mut watcher, "MULTI").await;
    said(&mut test, "TD FAULT ADD hold CMD SET BEFORE HOLD").await;
    said(&mut test, "TD FAULT ADD late CMD APPEND AFTER DELAY 1000").await;
    send(&held, "SET held v");
    send(&late, "APPEND late v");
    settle().await;
    said(&mut test, "CLIENT PAUSE 100000 WRITE").await;
    send(&paused, "INCR paused");
    settle().await;
    assert_eq!(said(&mut test, "TD RESET").await, "OK");

    assert_eq!(reader.reply().await.to_string(), "nil-array");
    assert_eq!(reader.reply().await.to_string(), "\"next\"");
    assert_eq!(member.reply().await.to_string(), "nil-array");
    let not_executed = "!ERR the test double was reset before this command was executed";
    assert_eq!(held.reply().await.to_string(), not_executed);
    assert_eq!(paused.reply().await.to_string(), not_executed);
    assert_eq!(late.reply().await.to_string(), "1");
    assert_eq!(text(&mut test, "TD STATE").await, EMPTY);
    assert_eq!(said(&mut test, "TD ASSERT IDLE").await, "OK");
    assert_eq!(said(&mut test, "PUBLISH news now").await, "1");
    let heard = listener.reply().await.to_string();
    assert!(heard.contains("\"now\""), "{heard}");
    assert_eq!(said(&mut watcher, "EXEC").await, "nil-array");
    for client in [&mut held, &mut paused] {
        assert_eq!(said(client, "PING").await, "PONG");
    }
}

#[tokio::test]
async fn a_reset_ends_a_pause_of_everything() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let mut client = Caller::connect(&server);
    said(&mut test, "TD PAUSE").await;
    send(&client, "SET k v");
    settle().await;
    said(&mut test, "TD RESET").await;
    let refused = client.reply().await.to_string();
    assert!(
        refused.contains("before this command was executed"),
        "{refused}"
    );
    assert_eq!(said(&mut client, "EXISTS k").await, "0");
    said(&mut test, "TD PAUSE").await;
    said(&mut test, "TD RESTART").await;
    assert_eq!(said(&mut test, "PING").await, "PONG");
}

#[tokio::test]
async fn a_restart_takes_no_clients_and_then_loads() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    said(&mut test, "XADD s 1-1 f v").await;
    said(&mut test, "XGROUP CREATE s g 0").await;
    said(&mut test, "XREADGROUP GROUP g c STREAMS s >").await;
    let before = text(&mut test, "TD STATE s").await;
    let id = run_id(&mut test).await;
    let [idle, reader] = std::array::from_fn(|_| Caller::connect(&server));
    send(&reader, "XREAD BLOCK 0 STREAMS s $");
    settle().await;
    assert_eq!(
        said(&mut test, "TD RESTART DOWN 500 LOADING 2000").await,
        "OK"
    );
    assert_eq!(idle.rest().await, b"");
    assert_eq!(reader.rest().await, b"");
    // Down: whoever comes is gone.
    let refused = Caller::connect(&server);
    send(&refused, "PING");
    assert_eq!(refused.rest().await, b"");
    assert_eq!(
        said(&mut test, "PING").await,
        "!ERR TD RESTART keeps the server down until 1000500; TD CLOCK TO 1000500 brings it back"
    );
    assert_eq!(said(&mut test, "TD CLOCK ADVANCE 499").await, "1000499");
    assert_eq!(Caller::connect(&server).rest().await, b"");
    // Loading: commands that need no data are answered.
    assert_eq!(said(&mut test, "TD CLOCK NEXT").await, "1000500");
    let mut client = Caller::connect(&server);
    for line in [
        "PING",
        "XLEN s",
        "XREAD BLOCK 0 STREAMS s $",
        "EVAL return(1) 0",
    ] {
        assert_eq!(said(&mut client, line).await, LOADING, "{line}");
    }
    assert_eq!(
        said(&mut client, "GET").await,
        "!ERR wrong number of arguments for 'get' command"
    );
    let hello = said(&mut client, "HELLO 2").await;
    assert!(hello.contains("\"proto\" 2"), "{hello}");
    said(&mut client, "MULTI").await;
    assert_eq!(said(&mut client, "XLEN s").await, LOADING);
    let aborted = said(&mut client, "EXEC").await;
    assert!(aborted.starts_with("!EXECABORT"), "{aborted}");
    assert_eq!(field(&mut client, "persistence", "loading").await, "1");
    said(&mut test, "TD CLOCK ADVANCE 1999").await;
    assert_eq!(said(&mut client, "XLEN s").await, LOADING);
    said(&mut test, "TD CLOCK ADVANCE 1").await;
    assert_eq!(said(&mut client, "XLEN s").await, "1");
    assert_eq!(field(&mut client, "persistence", "loading").await, "0");
    assert_eq!(text(&mut test, "TD STATE s").await, before);
    assert_ne!(run_id(&mut test).await, id);
    let calls = said(&mut test, "TD CALLS COUNT ERRORS CMD XLEN").await;
    assert_eq!(calls, "3");
}

/// Nobody else could move a clock that stands still.
#[tokio::test]
async fn a_server_that_is_down_is_up_again_when_who_asked_for_that_leaves() {
    let server = start(FROZEN).await;
    for loading in [0, 2_000] {
        let mut test = Caller::connect(&server);
        said(&mut test, "SET k v").await;
        let restart = format!("TD RESTART DOWN 500 LOADING {loading}");
        assert_eq!(said(&mut test, &restart).await, "OK");
        let other = Caller::connect(&server);
        assert_eq!(
            other.rest().await,
            b"",
            "one that comes and goes changes nothing"
        );
        assert_eq!(Caller::connect(&server).rest().await, b"");
        drop(test);
        settle().await;

        let mut client = Caller::connect(&server);
        let expected = match loading {
            0 => "\"v\"",
            _ => LOADING,
        };
        assert_eq!(said(&mut client, "GET k").await, expected);
        said(&mut client, &format!("TD CLOCK ADVANCE {loading}")).await;
        assert_eq!(said(&mut client, "GET k").await, "\"v\"");
    }
}

#[tokio::test]
async fn a_restart_keeps_data_or_loses_them_or_the_groups() {
    for (fate, entries, groups) in [
        ("", "1", "1"),
        (" KEEP", "1", "1"),
        (" LOSE-GROUPS", "1", "0"),
        (" lose", "0", "0"),
    ] {
        let server = start(FROZEN).await;
        let mut test = Caller::connect(&server);
        said(&mut test, "XADD s 1-1 f v").await;
        said(&mut test, "XGROUP CREATE s g 0").await;
        said(&mut test, "SET k v").await;
        said(&mut test, "CONFIG SET maxclients 77").await;
        said(&mut test, "TD FAULT ADD f CMD GET TIMES 2 BEFORE NIL").await;
        let digest = said(&mut test, "SCRIPT LOAD return(1)").await;
        said(&mut test, "WATCH s").await;
        said(&mut test, &format!("TD RESTART{fate}")).await;
        let clock = said(&mut test, "TD CLOCK").await;
        assert!(clock.contains("\"next\" nil"), "{clock}");
        assert_eq!(said(&mut test, "XLEN s").await, entries, "{fate}");
        assert_eq!(said(&mut test, "EXISTS k").await, entries, "{fate}");
        let state = text(&mut test, "TD STATE s").await;
        let found = state.matches("last-delivered-id").count();
        assert_eq!(found.to_string(), groups, "{fate}");
        assert_eq!(
            said(&mut test, "CONFIG GET maxclients").await,
            "[\"maxclients\" \"10000\"]"
        );
        let known = format!("SCRIPT EXISTS {}", digest.trim_matches('"'));
        assert_eq!(said(&mut test, &known).await, "[0]");
        assert_eq!(said(&mut test, "GET k").await, "nil");
        said(&mut test, "MULTI").await;
        assert_eq!(said(&mut test, "EXEC").await, "nil-array");
        assert_eq!(said(&mut Caller::connect(&server), "PING").await, "PONG");
    }
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    for (wrong, error) in [
        ("RESET k", "syntax error; try TD RESET HELP"),
        (
            "RESTART SOON",
            "'SOON' is not known of RESTART; try TD RESTART HELP",
        ),
        (
            "RESTART LOSE KEEP",
            "'KEEP' is not known of RESTART; try TD RESTART HELP",
        ),
        ("RESTART DOWN", "syntax error; try TD RESTART HELP"),
        (
            "RESTART DOWN x",
            "value is not an integer or out of range; try TD RESTART HELP",
        ),
        (
            "RESTART LOADING -1",
            "-1 is not within 0 and 1000000000000000",
        ),
    ] {
        let heard = said(&mut test, &format!("TD {wrong}")).await;
        assert_eq!(heard, format!("!ERR {error}"));
    }
    assert_eq!(said(&mut test, "PING").await, "PONG");
    for sub in ["RESET", "RESTART"] {
        let help = said(&mut test, &format!("TD {sub} HELP")).await;
        assert!(help.contains("LOSE-GROUPS"), "{help}");
    }
}

async fn run_id(client: &mut Caller) -> String {
    field(client, "server", "run_id").await
}

/// A field of a section of INFO.
async fn field(client: &mut Caller, section: &str, name: &str) -> String {
    let info = text(client, &format!("INFO {section}")).await;
    let mut lines = info.lines().filter_map(|line| line.split_once(':'));
    let found = lines.find(|(field, _)| *field == name);
    found.map(|(_, value)| value.to_owned()).unwrap_or_default()
}
