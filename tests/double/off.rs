//! What is not there without `--testdouble`.

use tailrace_tests::Caller;
use tailrace_tests::start;

#[tokio::test]
async fn without_the_switch_the_command_is_unknown() {
    let server = start("").await;
    let mut client = Caller::connect(&server);
    for name in ["TESTDOUBLE", "TD"] {
        let reply = client.call(&[name, "CLOCK"]).await.to_string();
        let unknown =
            format!("!\"ERR unknown command '{name}', with args beginning with: 'CLOCK' \"");
        assert_eq!(reply, unknown);
    }
}

#[tokio::test]
async fn it_is_not_listed_and_takes_no_part_in_transactions_and_scripts() {
    let plain = start("").await;
    let double = start("testdouble yes").await;
    let count = |server| async move {
        let reply = Caller::connect(server).call(&["COMMAND", "COUNT"]).await;
        reply.to_string()
    };
    assert_eq!(count(&double).await, count(&plain).await);

    let mut client = Caller::connect(&double);
    client.call(&["MULTI"]).await;
    let reply = client.call(&["TD", "CLOCK"]).await.to_string();
    assert_eq!(
        reply,
        "!ERR Command 'testdouble|clock' not allowed inside a transaction"
    );
    client.call(&["DISCARD"]).await;
    let script = ["EVAL", "return redis.pcall('TD', 'CLOCK').err", "0"];
    let reply = client.call(&script).await.to_string();
    assert_eq!(
        reply,
        "\"ERR This Valkey command is not allowed from script\""
    );
}

#[tokio::test]
async fn a_pause_does_not_hold_it() {
    let server = start("testdouble yes").await;
    let mut client = Caller::connect(&server);
    client.call(&["CLIENT", "PAUSE", "100000"]).await;
    let help = client.call(&["TD", "CLOCK", "HELP"]).await.to_string();
    assert!(help.contains("ADVANCE"), "{help}");
}

#[tokio::test]
async fn what_has_not_run_is_in_no_slow_log() {
    let server = start("testdouble yes\nslowlog-log-slower-than 0").await;
    let mut client = Caller::connect(&server);
    client.call(&["MULTI"]).await;
    client.call(&["SET", "k", "v"]).await;
    client.call(&["DISCARD"]).await;
    client.call(&["NOSUCH"]).await;
    client
        .call(&["TD", "FAULT", "ADD", "f", "CMD", "GET", "BEFORE", "NIL"])
        .await;
    client.call(&["GET", "k"]).await;
    let logged = client.call(&["SLOWLOG", "GET"]).await.to_string();
    for (name, times) in [
        ("MULTI", 1),
        ("DISCARD", 1),
        ("SET", 0),
        ("NOSUCH", 0),
        ("GET", 0),
    ] {
        let found = logged.matches(&format!("[\"{name}\"")).count();
        assert_eq!(found, times, "{name}: {logged}");
    }
}
