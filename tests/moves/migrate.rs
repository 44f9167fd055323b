//! Keys that are carried over by MIGRATE.

use std::io::Write as _;
use std::net::SocketAddr;
use std::net::TcpListener;

use tailrace_tests::Embedded;
use tailrace_tests::Reference;
use tailrace_tests::Target;
use tailrace_tests::Value;

use super::reference_to;
use super::side::Side;

#[test]
fn keys_are_carried_from_one_tailrace_to_another() {
    let (one, two) = (started(), started());
    carry(one.address(), two.address());
}

#[test]
fn keys_are_carried_to_the_reference_and_from_it() {
    let Some(binary) = reference_to("carry keys to the reference") else {
        return;
    };
    let here = started();
    let there = Reference::start(&binary).unwrap();
    carry(here.address(), there.address());
    // What the two say is compared by the same story.
    carry(there.address(), here.address());
}

/// A story that ends alike whoever is on which side.
fn carry(from: SocketAddr, to: SocketAddr) {
    let (mut here, mut there) = (Side::new(from), Side::new(to));
    here.say("FLUSHALL");
    there.say("FLUSHALL");
    let migrate = format!("MIGRATE 127.0.0.1 {}", to.port());
    prepare(&mut here);

    // One key, with its deadline; to another database.
    assert_eq!(said(&mut here, &format!("{migrate} text 1 5000")), "OK");
    assert_eq!(said(&mut here, "EXISTS text"), "0");
    assert_eq!(said(&mut there, "EXISTS text"), "0");
    there.say("SELECT 1");
    assert_eq!(said(&mut there, "GET text"), "\"hello\"");
    let Value::Integer(ttl) = there.say("TTL text") else {
        panic!("a time to live is a number");
    };
    assert!((90..=100).contains(&ttl), "{ttl}");
    there.say("SELECT 0");

    // A stream as a copy, then over that, then in its place.
    let shown = said(&mut here, "XINFO STREAM s FULL");
    assert_eq!(said(&mut here, &format!("{migrate} s 0 5000 COPY")), "OK");
    assert_eq!(said(&mut here, "XINFO STREAM s FULL"), shown);
    assert_eq!(said(&mut there, "XINFO STREAM s FULL"), shown);
    let busy = "!ERR Target instance replied with error: BUSYKEY Target key name already exists.";
    assert_eq!(said(&mut here, &format!("{migrate} s 0 5000")), busy);
    assert_eq!(said(&mut here, "EXISTS s"), "1");
    assert_eq!(
        said(&mut here, &format!("{migrate} s 0 5000 REPLACE")),
        "OK"
    );
    assert_eq!(said(&mut here, "EXISTS s"), "0");
    assert_eq!(said(&mut there, "XINFO STREAM s FULL"), shown);

    several(&mut here, &mut there, to.port());
    passwords(&mut here, &mut there, to.port());
}

fn prepare(here: &mut Side) {
    for line in [
        "SET text hello EX 100",
        "XADD s 1-1 f v",
        "XADD s 2-1 f w",
        "XADD s 3-1 f x",
        "XGROUP CREATE s g 0",
        "XREADGROUP GROUP g a COUNT 2 STREAMS s >",
        "XDEL s 2-1",
    ] {
        let reply = here.say(line);
        assert!(!matches!(reply, Value::Error(_)), "{line}: {reply}");
    }
}

/// Several keys at once, some of them missing or refused; in transactions and scripts.
fn several(here: &mut Side, there: &mut Side, port: u16) {
    let migrate = |keys: &str| -> Vec<Vec<u8>> {
        let line = format!("MIGRATE 127.0.0.1 {port} '' 0 5000 {keys}");
        let words = line.split(' ').map(|word| word.replace('\'', ""));
        words.map(String::into_bytes).collect()
    };
    for line in ["MSET a 1 b 2 c 3 d 4", "SET e 5"] {
        here.say(line);
    }
    there.say("SET b taken");
    assert_eq!(here.ask(&migrate("KEYS x y")).to_string(), "NOKEY");
    assert_eq!(here.ask(&migrate("KEYS")).to_string(), "NOKEY");
    let busy = "!ERR Target instance replied with error: BUSYKEY Target key name already exists.";
    assert_eq!(here.ask(&migrate("KEYS a x b c")).to_string(), busy);
    assert_eq!(said(here, "MGET a b c d"), "[nil \"2\" nil \"4\"]");
    assert_eq!(said(there, "MGET a b c d"), "[\"1\" \"taken\" \"3\" nil]");
    here.say("MULTI");
    here.ask(&migrate("REPLACE KEYS b"));
    here.say("EXISTS b");
    assert_eq!(said(here, "EXEC"), "[OK 0]");
    assert_eq!(said(there, "GET b"), "\"2\"");
    let port = port.to_string();
    let script = "return {redis.call('MIGRATE', '127.0.0.1', ARGV[1], KEYS[1], '0', '5000'), redis.call('EXISTS', KEYS[1])}";
    let reply = here.ask(&["EVAL", script, "1", "e", &port]);
    assert_eq!(reply.to_string(), "[OK 0]");
    assert_eq!(said(there, "GET e"), "\"5\"");
}

fn passwords(here: &mut Side, there: &mut Side, port: u16) {
    let migrate = format!("MIGRATE 127.0.0.1 {port} d 0 5000");
    there.say("CONFIG SET requirepass secret");
    // The reference keeps a connection that was let in before.
    there.say("CLIENT KILL TYPE normal SKIPME yes");
    let refused = "!ERR Target instance replied with error: NOAUTH Authentication required.";
    assert_eq!(said(here, &migrate), refused);
    let wrong = "!ERR Target instance replied with error: WRONGPASS invalid username-password pair or user is disabled.";
    assert_eq!(said(here, &format!("{migrate} AUTH wrong")), wrong);
    assert_eq!(
        said(here, &format!("{migrate} AUTH2 default secret COPY")),
        "OK"
    );
    there.ask(&["CONFIG", "SET", "requirepass", ""]);
    assert_eq!(said(there, "GET d"), "\"4\"");
    let range = "!ERR Target instance replied with error: ERR DB index is out of range";
    let far = format!("MIGRATE 127.0.0.1 {port} d 99 5000");
    assert_eq!(said(here, &far), range);
    assert_eq!(said(here, "GET d"), "\"4\"");
}

/// Everybody waits for the end, as no key may change on its way; a server that says nothing is given up, and nothing is lost.
#[test]
fn nobody_changes_a_key_on_its_way() {
    let server = started();
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = silent.local_addr().unwrap().port();
    let (mut one, mut two) = (Side::new(server.address()), Side::new(server.address()));
    one.say("SET k v");
    one.client
        .say(&["MIGRATE", "127.0.0.1", &port.to_string(), "k", "0", "400"]);
    let (_mute, _) = silent.accept().unwrap();
    two.client.say(&["APPEND", "k", "more"]);
    let reply = one.reply().to_string();
    assert_eq!(reply, "!IOERR error or timeout reading to target instance");
    assert_eq!(two.reply(), Value::Integer(5));
    assert_eq!(said(&mut one, "GET k"), "\"vmore\"");
}

/// The other server has the keys, so that they are removed here also if nobody waits for the reply.
#[test]
fn a_client_that_leaves_takes_nothing_back() {
    let server = started();
    let slow = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = slow.local_addr().unwrap().port();
    let (mut one, mut two) = (Side::new(server.address()), Side::new(server.address()));
    one.say("SET k v");
    one.client
        .say(&["MIGRATE", "127.0.0.1", &port.to_string(), "k", "0", "20000"]);
    let (mut target, _) = slow.accept().unwrap();
    one.client.half_close();
    // The server closes it, since nothing is left to be said.
    one.client.wait_for_end(std::time::Duration::from_secs(20));
    two.client.say(&["EXISTS", "k"]);
    target.write_all(b"+OK\r\n+OK\r\n").unwrap();
    assert_eq!(two.reply(), Value::Integer(0));
}

fn started() -> Embedded {
    Embedded::start_in_time().unwrap()
}

fn said(side: &mut Side, line: &str) -> String {
    side.say(line).to_string()
}
