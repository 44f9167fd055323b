//! Scripts that go on and on, and what others see of it.

use std::io::BufRead;
use std::io::BufReader;
use std::io::Write;
use std::net::TcpStream;

use tailrace_server::Config;
use tailrace_server::Server;
use tailrace_server::blocking;

const ENDLESS: &str = "EVAL \"while true do end\" 0";
const ENDLESS_AFTER_WRITING: &str = "EVAL \"redis.call('SET', 'k', 'v') while true do end\" 0";
const KILLED: &str = "-ERR Script killed by user with SCRIPT KILL. script: on @user_script:1.";
const BUSY: &str =
    "-BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";

/// A client whose replies are lines.
struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(server: &blocking::Server) -> Self {
        Self(BufReader::new(TcpStream::connect(server.addr()).unwrap()))
    }

    fn say(&mut self, command: &str) {
        let line = format!("{command}\r\n");
        self.0.get_mut().write_all(line.as_bytes()).unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn call(&mut self, command: &str) -> String {
        self.say(command);
        self.hear()
    }

    /// What callers of a command heard, as a test double tells it.
    fn replies_told(&mut self, command: &str) -> Vec<String> {
        self.say(&format!("TD CALLS CMD {command}\r\nPING"));
        let lines: Vec<_> = std::iter::repeat_with(|| self.hear())
            .take_while(|line| line != "+PONG")
            .collect();
        let told = lines.windows(3).filter(|lines| lines[0] == "reply");
        told.map(|lines| lines[2].clone()).collect()
    }

    /// Asks until the server is busy.
    fn wait_until_busy(&mut self) {
        while self.call("PING") != BUSY {}
    }

    /// Asks until the client with this ID waits.
    fn wait_until_blocked(&mut self, id: &str) {
        let mut line = String::new();
        while !line.contains(" flags=b ") {
            assert!(self.call(&format!("CLIENT LIST ID {id}")).starts_with('$'));
            line = self.hear();
            self.hear();
        }
    }
}

/// A server with a single thread for sockets, which a script has all to itself at first.
fn start() -> blocking::Server {
    start_with("")
}

fn start_with(lines: &str) -> blocking::Server {
    let config = Config::embedded()
        .with("threads 1\nbusy-reply-threshold 1")
        .unwrap()
        .with(lines)
        .unwrap();
    blocking::Server::start(Server::builder().config(config)).unwrap()
}

#[test]
fn a_script_that_does_not_end_can_be_ended() {
    let server = start();
    let mut caller = Client::connect(&server);
    let mut before = Client::connect(&server);
    assert_eq!(before.call("MULTI"), "+OK");
    caller.say(ENDLESS);

    let mut other = Client::connect(&server);
    other.wait_until_busy();
    assert_eq!(other.call("GET k"), BUSY);
    assert_eq!(other.call("SHUTDOWN"), BUSY);
    assert_eq!(other.call("MULTI"), "+OK");
    assert_eq!(other.call("GET k"), BUSY);
    let because = BUSY.strip_prefix('-').unwrap();
    let discarded = format!("-EXECABORT Transaction discarded because of: {because}");
    assert_eq!(before.call("EXEC"), discarded);
    assert_eq!(other.call("DISCARD"), "+OK");

    assert_eq!(other.call("SCRIPT KILL"), "+OK");
    assert_eq!(caller.hear(), KILLED);
    assert_eq!(caller.call("GET k"), "$-1");
    assert_eq!(before.call("PING"), "+PONG");
    assert_eq!(server.stop(), None);
}

/// A clock that stands still ends no script's time.
#[test]
fn a_test_double_has_patience_with_a_script_by_the_time_of_its_host() {
    let server = start_with("testdouble yes\nclock frozen:1000000");
    let (mut caller, mut other) = (Client::connect(&server), Client::connect(&server));
    caller.say(&format!("SET k v\r\nINCR n\r\n{ENDLESS}\r\nINCR n"));
    other.wait_until_busy();
    assert_eq!(other.call("SCRIPT KILL"), "+OK");
    assert_eq!(
        [caller.hear(), caller.hear(), caller.hear(), caller.hear()],
        ["+OK", ":1", KILLED, ":2"]
    );
    // Others called amid the pipeline.
    for (command, replies) in [
        ("set", &["+OK"][..]),
        ("eval", &[KILLED]),
        ("incr", &[":1", ":2"]),
    ] {
        assert_eq!(other.replies_told(command), replies);
    }
    assert_eq!(server.stop(), None);
}

/// What a script acknowledges once it is over its time is noted as its caller's.
#[test]
fn a_ledger_knows_who_called_a_script_that_others_spoke_amid() {
    let server = start_with("testdouble yes");
    let (mut caller, mut other) = (Client::connect(&server), Client::connect(&server));
    assert_eq!(other.call("TD LEDGER ON"), "+OK");
    assert_eq!(other.call("XGROUP CREATE s g 0 MKSTREAM"), "+OK");
    for (client, consumer) in [(&mut caller, "alice"), (&mut other, "bob NOACK")] {
        assert_eq!(client.call("XADD s * f v"), "$15");
        client.hear();
        client.say(&format!(
            "XREADGROUP GROUP g {consumer} STREAMS s >\r\nECHO read"
        ));
        while client.hear() != "read" {}
    }
    caller.say(
        "EVAL \"for i = 1, 2e7 do end local read = redis.call('XPENDING', 's', 'g', '-', '+', 1, 'alice') \
         return redis.call('XACK', 's', 'g', read[1][1])\" 0",
    );
    other.wait_until_busy();
    assert_eq!(caller.hear(), ":1");
    assert_eq!(other.call("TD ASSERT EXACTLY-ONCE s g"), "+OK");
    assert_eq!(server.stop(), None);
}

#[test]
fn a_script_cannot_keep_others_from_ending_it() {
    let server = start();
    let (mut caller, mut other) = (Client::connect(&server), Client::connect(&server));
    for catches in [
        "pcall(f)",
        "xpcall(f, f)",
        "coroutine.resume(coroutine.create(f))",
    ] {
        caller.say(&format!(
            "EVAL \"local f = function() while true do end end while true do {catches} end\" 0"
        ));
        other.wait_until_busy();
        assert_eq!(other.call("SCRIPT KILL"), "+OK", "{catches}");
        assert_eq!(caller.hear(), KILLED, "{catches}");
    }
    assert_eq!(server.stop(), None);
}

#[test]
fn a_script_that_has_written_is_not_ended_halfway() {
    let server = start();
    let (mut caller, mut other) = (Client::connect(&server), Client::connect(&server));
    let mut reader = Client::connect(&server);
    let id = reader.call("CLIENT ID");
    reader.say("XREAD BLOCK 0 STREAMS s $");
    other.wait_until_blocked(id.trim_start_matches(':'));
    caller
        .say("EVAL \"redis.call('XADD', 's', '1-1', 'f', 'v') for i = 1, 2e7 do end return 7\" 0");
    other.wait_until_busy();
    assert!(other.call("SCRIPT KILL").starts_with("-UNKILLABLE "));
    assert_eq!(caller.hear(), ":7");
    assert_eq!(
        reader.hear(),
        "*1",
        "who waited is served once the script is over"
    );
    assert_eq!(other.call("PING"), "+PONG");

    // Unless the whole server ends.
    caller.say(ENDLESS_AFTER_WRITING);
    other.wait_until_busy();
    other.say("SHUTDOWN NOSAVE");
    assert_eq!(other.hear(), "");
    assert_eq!(
        caller.hear(),
        "",
        "nor is anything said to who called the script"
    );
    assert_eq!(server.stop(), None);
}

#[test]
fn a_server_can_be_stopped_while_a_script_runs_on() {
    let server = start();
    let (mut caller, mut other) = (Client::connect(&server), Client::connect(&server));
    caller.say(ENDLESS_AFTER_WRITING);
    other.wait_until_busy();
    assert_eq!(server.stop(), None);
}
