//! Going back to how everything was, and all data as text.

use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

use super::FROZEN;
use super::said;
use super::send;
use super::text;

/// Some keys of all kinds, with a consumer that has an entry and one that never asked.
async fn fill(client: &mut Caller) {
    for line in [
        "XADD s * task resize",
        "XADD s * task mail n 1",
        "XADD s 2000000-5 gone x",
        "XDEL s 2000000-5",
        "XGROUP CREATE s g 0",
        "XGROUP CREATECONSUMER s g idle",
        "XREADGROUP GROUP g dead COUNT 1 STREAMS s >",
        "SET k v PX 60000",
        "SELECT 3",
        "SET n 17",
        "SELECT 0",
    ] {
        let reply = said(client, line).await;
        assert!(!reply.starts_with('!'), "{line}: {reply}");
    }
    client.call(&["SET", "a b", "it's \"\r\n\u{ff}"]).await;
}

const FILLED: &str = r#"clock frozen 1000000
db0 "a b" string "it's \"\r\n\xc3\xbf"
db0 k string v
db0 k expires 1060000
db0 s stream
db0 s last-id 2000000-5
db0 s entries-added 3
db0 s max-deleted-id 2000000-5
db0 s entry 1000000-0 task resize
db0 s entry 1000000-1 task mail n 1
db0 s group g last-delivered-id 1000000-0
db0 s group g entries-read unknown
db0 s group g consumer dead seen 1000000
db0 s group g consumer dead active 1000000
db0 s group g consumer idle seen 1000000
db0 s group g consumer idle active never
db0 s group g pending 1000000-0 consumer dead deliveries 1 delivered 1000000
db3 n string 17
"#;

#[tokio::test]
async fn all_data_are_a_fact_a_line() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    assert_eq!(text(&mut test, "TD STATE").await, "clock frozen 1000000\n");
    fill(&mut test).await;
    assert_eq!(text(&mut test, "TD STATE").await, FILLED);
    // To look leaves no trace, and that time passes is one fact.
    said(&mut test, "TD CLOCK ADVANCE 60000").await;
    let later = FILLED.replace("frozen 1000000", "frozen 1060000");
    assert_eq!(text(&mut test, "TD STATE").await, later);
    assert_eq!(
        text(&mut test, "TD STATE k missing").await,
        "db0 k string v\ndb0 k expires 1060000\n"
    );
    said(&mut test, "TD CLOCK ADVANCE 1").await;
    assert_eq!(text(&mut test, "TD STATE k").await, "");
    said(&mut test, "TD CLOCK REAL").await;
    let shown = text(&mut test, "TD STATE").await;
    assert!(shown.starts_with("clock real\ndb0 "), "{shown}");

    said(&mut test, "HELLO 3").await;
    let shown = said(&mut test, "TD STATE k").await;
    assert_eq!(shown, "=txt:\"\"");
}

#[tokio::test]
async fn a_snapshot_is_gone_back_to_as_often_as_one_likes() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    fill(&mut test).await;
    assert_eq!(said(&mut test, "TD SNAPSHOT SAVE base").await, "OK");
    for _ in 0..2 {
        for line in [
            "TD CLOCK ADVANCE 90000",
            "XADD s * task more",
            "XAUTOCLAIM s g idle 0 0",
            "XGROUP DESTROY s g",
            "FLUSHDB",
            "SET other 1",
            "TD CLOCK SCALE 2",
        ] {
            let reply = said(&mut test, line).await;
            assert!(!reply.starts_with('!'), "{line}: {reply}");
        }
        assert_eq!(said(&mut test, "TD SNAPSHOT RESTORE base").await, "OK");
        assert_eq!(text(&mut test, "TD STATE").await, FILLED);
        assert_eq!(said(&mut test, "TIME").await, "[\"1000\" \"0\"]");
        assert_eq!(said(&mut test, "PTTL k").await, "60000");
        // What is done from here on is not done to the snapshot.
        said(&mut test, "XADD s 3000000-0 task again").await;
        assert_eq!(
            text(&mut test, "TD DIFF base NOW").await,
            "--- base\n+++ NOW\n\
             - db0 s last-id 2000000-5\n+ db0 s last-id 3000000-0\n\
             - db0 s entries-added 3\n+ db0 s entries-added 4\n\
             + db0 s entry 3000000-0 task again\n"
        );
    }
    assert_eq!(said(&mut test, "TD SNAPSHOT DROP base").await, "OK");
    assert_eq!(
        said(&mut test, "TD SNAPSHOT RESTORE base").await,
        "!ERR there is no snapshot 'base', and no other"
    );
}

#[tokio::test]
async fn what_differs_is_shown_as_lines() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    fill(&mut test).await;
    said(&mut test, "TD SNAPSHOT SAVE before").await;
    assert_eq!(text(&mut test, "TD DIFF before .").await, "");
    said(&mut test, "TD CLOCK ADVANCE 5000").await;
    said(&mut test, "XCLAIM s g idle 0 1000000-0").await;
    said(&mut test, "DEL k").await;
    said(&mut test, "TD SNAPSHOT SAVE after").await;
    let differs = "\
- clock frozen 1000000
+ clock frozen 1005000
- db0 k string v
- db0 k expires 1060000
- db0 s group g consumer idle seen 1000000
+ db0 s group g consumer idle seen 1005000
- db0 s group g consumer idle active never
+ db0 s group g consumer idle active 1005000
- db0 s group g pending 1000000-0 consumer dead deliveries 1 delivered 1000000
+ db0 s group g pending 1000000-0 consumer idle deliveries 2 delivered 1005000
";
    for other in ["after", "now", "."] {
        let head = format!("--- before\n+++ {other}\n");
        assert_eq!(
            text(&mut test, &format!("TD DIFF before {other}")).await,
            head + differs
        );
    }
    let lines = text(&mut test, "TD DIFF after before").await;
    assert!(lines.contains("+ db0 k string v\n"), "{lines}");
}

/// What stands behind it in the same write happens at the time that it went back to.
#[tokio::test]
async fn a_pipeline_goes_back_at_once() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    said(&mut test, "SET k v PX 5").await;
    said(&mut test, "TD SNAPSHOT SAVE base").await;
    said(&mut test, "TD CLOCK ADVANCE 5000").await;
    for line in ["TD SNAPSHOT RESTORE base", "XADD s * f v", "PTTL k", "TIME"] {
        send(&test, line);
    }
    for expected in ["OK", "\"1000000-0\"", "5", "[\"1000\" \"0\"]"] {
        assert_eq!(test.reply().await.to_string(), expected);
    }
}

/// Readers that wait are attempted again; nothing else of a client changes.
#[tokio::test]
async fn who_waits_is_attempted_again() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    said(&mut test, "XADD s 1-1 f v").await;
    said(&mut test, "XGROUP CREATE s g 0").await;
    said(&mut test, "TD SNAPSHOT SAVE full").await;
    said(&mut test, "FLUSHALL").await;
    said(&mut test, "XGROUP CREATE s g $ MKSTREAM").await;
    said(&mut test, "XGROUP CREATE s h $").await;
    let [mut of_g, mut of_h, mut plain] = std::array::from_fn(|_| Caller::connect(&server));
    send(&of_g, "XREADGROUP GROUP g c BLOCK 0 STREAMS s >");
    send(&of_h, "XREADGROUP GROUP h c BLOCK 0 STREAMS s >");
    send(&plain, "XREAD BLOCK 0 STREAMS s 0");
    settle().await;
    said(&mut test, "TD SNAPSHOT RESTORE full").await;
    let entry = "[[\"s\" [[\"1-1\" [\"f\" \"v\"]]]]]";
    assert_eq!(of_g.reply().await.to_string(), entry);
    assert_eq!(plain.reply().await.to_string(), entry);
    let refused = of_h.reply().await.to_string();
    assert!(refused.starts_with("!NOGROUP"), "{refused}");
    assert_eq!(said(&mut of_g, "XLEN s").await, "1");
}

#[tokio::test]
async fn watched_keys_break_and_caches_forget() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let mut watcher = Caller::connect(&server);
    let mut spared = Caller::connect(&server);
    let mut cache = Caller::connect(&server);
    said(&mut test, "SET k v").await;
    said(&mut test, "TD SNAPSHOT SAVE base").await;
    said(&mut watcher, "WATCH k").await;
    said(&mut spared, "WATCH nothing").await;
    said(&mut cache, "HELLO 3").await;
    said(&mut cache, "CLIENT TRACKING ON").await;
    said(&mut cache, "GET k").await;
    said(&mut test, "TD SNAPSHOT RESTORE base").await;
    assert_eq!(
        cache.reply().await.to_string(),
        "push >[\"invalidate\" null]"
    );
    for (client, result) in [(&mut watcher, "nil-array"), (&mut spared, "[PONG]")] {
        said(client, "MULTI").await;
        said(client, "PING").await;
        assert_eq!(said(client, "EXEC").await, result);
    }
}

/// What the ledger knows goes with the data.
#[tokio::test]
async fn the_ledger_goes_back_as_well() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    for line in [
        "TD SNAPSHOT SAVE none",
        "TD LEDGER ON",
        "XADD s 1-1 f v",
        "XGROUP CREATE s g 0",
        "XREADGROUP GROUP g c STREAMS s >",
        "TD SNAPSHOT SAVE read",
        "XACK s g 1-1",
    ] {
        said(&mut test, line).await;
    }
    let kept = "TD ASSERT AT-LEAST-ONCE s g";
    assert_eq!(said(&mut test, kept).await, "OK");
    said(&mut test, "TD SNAPSHOT RESTORE read").await;
    let unacknowledged = said(&mut test, kept).await;
    assert!(unacknowledged.contains("1-1"), "{unacknowledged}");
    // A fixture that is undone was not noted, either.
    let script = "XACK s g 1-1\nNOSUCH";
    test.call(&["TD", "FIXTURE", "LOAD", script]).await;
    assert_eq!(said(&mut test, kept).await, unacknowledged);
    said(&mut test, "XACK s g 1-1").await;
    assert_eq!(said(&mut test, kept).await, "OK");
    // Where there was none it begins anew.
    said(&mut test, "TD SNAPSHOT RESTORE none").await;
    let unknown = said(&mut test, kept).await;
    assert!(unknown.contains("knows no stream s"), "{unknown}");
    said(&mut test, "TD RESET").await;
    let off = said(&mut test, "TD LEDGER").await;
    assert!(off.starts_with("[\"mode\" \"off\""), "{off}");
}

/// How long it takes is measured by `benches/benches/snapshot.rs`.
#[tokio::test]
async fn a_hundred_thousand_entries_are_the_same_afterwards() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    let script = "for i = 1, 100000 do redis.call('XADD', 's', i .. '-0', 'n', i) end";
    said(&mut test, "SET other 1").await;
    assert_eq!(test.call(&["EVAL", script, "0"]).await.to_string(), "nil");
    said(&mut test, "XGROUP CREATE s g 0").await;
    test.call(&[
        "XREADGROUP",
        "GROUP",
        "g",
        "c",
        "COUNT",
        "10000",
        "STREAMS",
        "s",
        ">",
    ])
    .await;
    let before = text(&mut test, "TD STATE").await;
    assert_eq!(before.matches(" entry ").count(), 100_000);
    assert_eq!(before.matches(" pending ").count(), 10_000);
    said(&mut test, "TD SNAPSHOT SAVE base").await;
    said(&mut test, "XTRIM s MAXLEN 5").await;
    said(&mut test, "XGROUP DESTROY s g").await;
    assert_ne!(text(&mut test, "TD STATE").await, before);
    said(&mut test, "TD SNAPSHOT RESTORE base").await;
    assert!(text(&mut test, "TD STATE").await == before);
}

#[tokio::test]
async fn snapshots_are_listed_and_what_is_wrong_is_said() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    assert_eq!(said(&mut test, "TD SNAPSHOT LIST").await, "[]");
    said(&mut test, "SET k v").await;
    said(&mut test, "TD SNAPSHOT SAVE one").await;
    said(&mut test, "TD CLOCK AUTO 3").await;
    said(&mut test, "TD SNAPSHOT SAVE two").await;
    let list = said(&mut test, "TD SNAPSHOT LIST").await;
    for part in [
        r#""one" "clock" "frozen 1000000" "keys" 1 "bytes" "#,
        r#""two" "clock" "auto 1000000" "keys" 1 "bytes" "#,
    ] {
        assert!(list.contains(part), "{list}");
    }
    for (wrong, error) in [
        (
            "SNAPSHOT",
            "wrong number of arguments for 'testdouble|snapshot' command; try TD SNAPSHOT HELP",
        ),
        ("SNAPSHOT SAVE", "syntax error; try TD SNAPSHOT HELP"),
        ("SNAPSHOT SAVE a b", "syntax error; try TD SNAPSHOT HELP"),
        (
            "SNAPSHOT SAVE now",
            "NOW and . name what is there now; choose another name",
        ),
        (
            "SNAPSHOT DROP three",
            "there is no snapshot 'three'; there are: one, two",
        ),
        (
            "SNAPSHOT KEEP one",
            "'KEEP' is not known of SNAPSHOT; try TD SNAPSHOT HELP",
        ),
        ("DIFF one", "syntax error; try TD DIFF HELP"),
        (
            "DIFF one three",
            "there is no snapshot 'three'; there are: one, two",
        ),
    ] {
        assert_eq!(
            said(&mut test, &format!("TD {wrong}")).await,
            format!("!ERR {error}")
        );
    }
    for sub in ["SNAPSHOT", "STATE", "DIFF"] {
        let help = said(&mut test, &format!("TD {sub} HELP")).await;
        assert!(help.contains(sub), "{help}");
    }
}

#[tokio::test]
async fn by_how_much_commands_move_the_clock_comes_back_with_a_snapshot() {
    let server = start(FROZEN).await;
    let mut test = Caller::connect(&server);
    for line in [
        "TD CLOCK TICK 5",
        "TD SNAPSHOT SAVE ticking",
        "TD CLOCK TICK 0",
        "TD SNAPSHOT RESTORE ticking",
        "SET k v",
    ] {
        said(&mut test, line).await;
    }
    let state = text(&mut test, "TD STATE").await;
    assert!(state.starts_with("clock frozen 1000005\n"), "{state}");
}
