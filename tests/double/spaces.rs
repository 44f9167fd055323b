//! Servers of their own in one process: nothing of one is seen in another.

use std::net::SocketAddr;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use tailrace_server::Config;
use tailrace_server::Server;
use tailrace_server::blocking;
use tailrace_tests::Arrival;
use tailrace_tests::Client;

use super::FROZEN;

/// A process, as far as spaces are concerned.
pub(super) fn process(lines: &str) -> blocking::Server {
    let config = Config::embedded()
        .with(&format!("{FROZEN}\nthreads 4\n{lines}"))
        .unwrap();
    blocking::Server::start(Server::builder().config(config)).unwrap()
}

/// A client that says what it hears.
pub(super) struct Talker(Client);

impl Talker {
    pub(super) fn at(addr: SocketAddr) -> Self {
        Self(Client::connect(addr).unwrap())
    }

    /// At the address that a reply to SPACE NEW names.
    pub(super) fn of(reply: &str) -> Self {
        Self::at(address(reply))
    }

    pub(super) fn ask(&mut self, line: &str) -> String {
        self.send(line);
        self.hear()
    }

    fn send(&mut self, line: &str) {
        self.0.say(&line.split(' ').collect::<Vec<_>>());
    }

    fn hear(&mut self) -> String {
        assert!(self.0.poll(Some(PATIENCE)), "nothing comes");
        match self.0.take() {
            Some(Arrival::Reply(value)) => value.to_string(),
            _ => "(closed)".to_owned(),
        }
    }
}

fn address(reply: &str) -> SocketAddr {
    let url = reply.trim_matches('"');
    let address = url.strip_prefix("redis://").expect("it is a url");
    address.parse().unwrap()
}

#[test]
fn a_space_has_everything_of_its_own() {
    let server = process("");
    let mut test = Talker::at(server.addr());
    let urls = [test.ask("TD SPACE NEW"), test.ask("TD SPACE NEW")];
    let mut spaces = urls.clone().map(|url| Talker::of(&url));
    assert_ne!(urls[0], urls[1]);
    for (at, space) in spaces.iter_mut().enumerate() {
        let add = format!("XADD s * from {at}");
        assert_eq!(space.ask(&add), "\"1000000-0\"");
        assert_eq!(space.ask("XLEN s"), "1");
    }
    let [one, other] = &mut spaces;
    assert_eq!(one.ask("TD CLOCK ADVANCE 5000"), "1005000");
    assert_eq!(one.ask("TD FAULT ADD f CMD GET ALWAYS BEFORE BUSY"), "OK");
    assert_eq!(other.ask("TIME"), "[\"1000\" \"0\"]");
    assert_eq!(other.ask("GET k"), "nil");
    assert_eq!(test.ask("XLEN s"), "0");
    assert_eq!(other.ask("TD CALLS COUNT"), "4");
    assert_eq!(test.ask("TD CALLS COUNT"), "1");
    assert!(one.ask("GET k").starts_with("!BUSY"));
}

#[test]
fn spaces_are_shown_and_freed() {
    let server = process("");
    let mut test = Talker::at(server.addr());
    assert_eq!(test.ask("TD SPACE LIST"), "[]");
    assert_eq!(
        test.ask("TD SPACE FREE 7"),
        "!ERR there is no space '7', and no other"
    );
    let url = test.ask("TD SPACE NEW");
    let bare = url.trim_matches('"');
    let shown = format!("[[\"id\" 1 \"url\" {url} \"nodes\" [{url}] \"owner\" nil]]");
    assert_eq!(test.ask("TD SPACE LIST"), shown);
    assert_eq!(
        test.ask("TD SPACE FREE 7"),
        format!("!ERR there is no space '7'; there are: 1 at {bare}")
    );
    let mut client = Talker::of(&url);
    assert_eq!(client.ask("TD SPACE LIST"), shown);
    client.send("XREAD BLOCK 0 STREAMS s $");
    assert_eq!(test.ask(&format!("TD SPACE FREE {bare}")), "OK");
    assert_eq!(client.hear(), "(closed)");
    assert!(TcpStream::connect(address(&url)).is_err());
    assert_eq!(test.ask("TD SPACE LIST"), "[]");
    for (wrong, error) in [
        (
            "NEW TWICE",
            "!ERR 'TWICE' is not known of a new space; try TD SPACE HELP",
        ),
        ("NEW NODES 0", "!ERR 0 is not within 1 and 1000 nodes"),
        (
            "MOVE",
            "!ERR 'MOVE' is not known of SPACE; try TD SPACE HELP",
        ),
        ("FREE", "!ERR syntax error; try TD SPACE HELP"),
    ] {
        assert_eq!(test.ask(&format!("TD SPACE {wrong}")), error);
    }
}

/// Who frees the space that it is in is answered, as is who asks for its end.
#[test]
fn a_space_ends_from_within_or_with_its_owner() {
    let server = process("");
    let mut test = Talker::at(server.addr());
    let mut inside = Talker::of(&test.ask("TD SPACE NEW"));
    assert_eq!(inside.ask("TD SPACE FREE 1"), "OK");
    assert_eq!(inside.hear(), "(closed)");

    let mut inside = Talker::of(&test.ask("TD SPACE NEW"));
    assert_eq!(inside.ask("SHUTDOWN NOSAVE NOW"), "(closed)");
    // Its client is closed first.
    while test.ask("TD SPACE LIST") != "[]" {}

    let mut maker = Talker::at(server.addr());
    let owned = [
        maker.ask("TD SPACE NEW OWNED"),
        maker.ask("TD SPACE NEW OWNED"),
    ];
    let stays = maker.ask("TD SPACE NEW");
    let mut guests = owned.map(|url| Talker::of(&url));
    assert_eq!(guests[0].ask("PING"), "PONG");
    assert_eq!(guests[1].ask("PING"), "PONG");
    drop(maker);
    assert_eq!(guests[0].hear(), "(closed)");
    assert_eq!(guests[1].hear(), "(closed)");
    let mut left = Talker::of(&stays);
    assert_eq!(left.ask("PING"), "PONG");
    let list = test.ask("TD SPACE LIST");
    assert!(
        list.contains("\"id\" 5") && list.matches("url").count() == 1,
        "{list}"
    );

    drop(server);
    assert_eq!(left.hear(), "(closed)");
}

/// Two servers that go on from one state, each by itself.
#[test]
fn a_space_may_begin_with_a_snapshot() {
    let server = process("");
    let mut test = Talker::at(server.addr());
    test.ask("XADD s 1-1 f v");
    test.ask("XGROUP CREATE s g 0");
    test.ask("XREADGROUP GROUP g c STREAMS s >");
    assert_eq!(test.ask("TD SNAPSHOT SAVE begun"), "OK");
    test.ask("TD CLOCK ADVANCE 5000");
    test.ask("DEL s");
    let urls = [0, 1].map(|_| test.ask("TD SPACE NEW FROM begun"));
    let [mut one, mut other] = urls.map(|url| Talker::of(&url));
    assert_eq!(one.ask("XACK s g 1-1"), "1");
    assert_eq!(other.ask("XPENDING s g - + 1"), "[[\"1-1\" \"c\" 0 1]]");
    assert_eq!(other.ask("TIME"), "[\"1000\" \"0\"]");
    assert_eq!(other.ask("TD CLOCK ADVANCE 70"), "1000070");
    assert_eq!(one.ask("TIME"), "[\"1000\" \"0\"]");
    assert_eq!(test.ask("EXISTS s"), "0");
    assert_eq!(
        test.ask("TD SPACE NEW FROM other"),
        "!ERR there is no snapshot 'other'; there are: begun"
    );
    assert_eq!(test.ask("TD SPACE LIST").matches("url").count(), 2);
}

/// What is configured once for the process is not for its spaces.
#[test]
fn a_space_is_as_the_process_was_started() {
    let server = process("databases 3\nrequirepass secret\nbind 0.0.0.0");
    let mut test = Talker::at(server.addr());
    assert_eq!(test.ask("AUTH secret"), "OK");
    assert_eq!(test.ask("CONFIG SET maxclients 7"), "OK");
    let url = test.ask("TD SPACE NEW");
    let mut inside = Talker::of(&url);
    assert!(inside.ask("GET k").starts_with("!NOAUTH"));
    assert_eq!(inside.ask("AUTH secret"), "OK");
    assert_eq!(inside.ask("SELECT 3"), "!ERR DB index is out of range");
    assert_eq!(
        inside.ask("CONFIG GET maxclients"),
        "[\"maxclients\" \"10000\"]"
    );
    assert_eq!(inside.ask("CONFIG GET bind"), "[\"bind\" \"127.0.0.1\"]");
    assert!(
        inside
            .ask("CONFIG REWRITE")
            .starts_with("!ERR The server is running without a config")
    );
}

#[test]
fn a_space_may_be_a_cluster() {
    let server = process("");
    let mut test = Talker::at(server.addr());
    let url = test.ask("TD SPACE NEW NODES 3");
    let list = test.ask("TD SPACE LIST");
    assert_eq!(list.matches("redis://").count(), 4, "{list}");
    let mut inside = Talker::of(&url);
    let info = inside.ask("CLUSTER INFO");
    assert!(info.contains("cluster_size:3"), "{info}");
    assert_eq!(test.ask("TD SPACE FREE 1"), "OK");
    assert_eq!(inside.hear(), "(closed)");
}

/// Threads that make, use and free spaces at once, as the workers of a test runner do.
#[test]
fn many_spaces_at_once_know_nothing_of_each_other() {
    let server = process("");
    let addr = server.addr();
    let workers: Vec<_> = (0..8)
        .map(|worker| {
            thread::spawn(move || {
                let mut test = Talker::at(addr);
                for round in 0..20 {
                    let url = test.ask("TD SPACE NEW OWNED");
                    use_alone(&url, &format!("{worker}-{round}"), round);
                    let url = url.trim_matches('"');
                    assert_eq!(test.ask(&format!("TD SPACE FREE {url}")), "OK");
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(Talker::at(addr).ask("TD SPACE LIST"), "[]");
}

/// A life of a space that shows whether anybody else is in it.
fn use_alone(url: &str, name: &str, round: u64) {
    let (mut one, mut reader) = (Talker::of(url), Talker::of(url));
    reader.send("XREAD BLOCK 60000 STREAMS s $");
    assert_eq!(one.ask("TD WAIT BLOCKED 1 TIMEOUT 10000"), "OK");
    let by = 1_000 + round;
    assert_eq!(
        one.ask(&format!("TD CLOCK ADVANCE {by}")),
        (1_000_000 + by).to_string()
    );
    let id = format!("\"{}-0\"", 1_000_000 + by);
    assert_eq!(one.ask(&format!("XADD s * name {name}")), id);
    let heard = reader.hear();
    assert_eq!(heard, format!("[[\"s\" [[{id} [\"name\" \"{name}\"]]]]]"));
    assert_eq!(one.ask("TD CALLS COUNT"), "2");
    assert_eq!(one.ask("DBSIZE"), "1");
    assert_eq!(one.ask("TD ASSERT CLIENTS = 2"), "OK");
}

const PATIENCE: Duration = Duration::from_secs(20);
