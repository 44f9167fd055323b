//! Clients that ask for much and read nothing.

use std::io::Write;

use tailrace_tests::encode;

use super::host::Host;
use super::neighbour::Neighbour;

/// Adds a thousand entries of a kilobyte each.
fn add_a_megabyte(neighbour: &mut Neighbour) {
    let value = "x".repeat(1_000);
    for n in 0..1_000 {
        let id = format!("{n}-1");
        assert_eq!(
            neighbour.asks(&["XADD", "large", &id, "f", &value]),
            format!("\"{id}\"")
        );
    }
}

/// A client asks for 400 MiB and reads none of it. It is ended at its limit, and nobody else notices.
#[test]
fn who_does_not_read_is_ended_at_the_limit() {
    let host = Host::start("client-output-buffer-limit normal 16mb 0 0");
    let mut neighbour = Neighbour::of(&host);
    add_a_megabyte(&mut neighbour);
    let mut deaf = host.connect();
    let range = encode(&["XRANGE", "large", "-", "+"]);
    // Some may find it closed already.
    let _ = deaf.write_all(&range.repeat(400));
    neighbour.works(50);
    neighbour.sees_in_info("client_output_buffer_limit_disconnections", 1);
    neighbour.works(20);
    // The limit, what is on its way to the socket, and the data itself.
    host.assert_grown_at_most(64 * MIB);
}

/// The same without a limit, as it is by default: what is asked for is kept, once.
#[test]
fn who_does_not_read_holds_up_nobody() {
    let host = Host::start("");
    let mut neighbour = Neighbour::of(&host);
    add_a_megabyte(&mut neighbour);
    let mut deaf: Vec<_> = (0..4).map(|_| host.connect()).collect();
    let range = encode(&["XRANGE", "large", "-", "+"]);
    for stream in &mut deaf {
        stream.write_all(&range.repeat(20)).unwrap();
        neighbour.works(10);
    }
    neighbour.works(50);
    // Four times twenty replies of a megabyte.
    host.assert_grown_at_most(80 * 2 * MIB);
}

/// A subscriber that does not read is ended at its limit, and the others hear everything.
#[test]
fn a_subscriber_that_does_not_read_is_ended_at_the_limit() {
    let host = Host::start("");
    let mut neighbour = Neighbour::of(&host);
    let mut subscriber = Neighbour::of_nothing(&host);
    subscriber.hears("SUBSCRIBE news", r#"["subscribe" "news" 1]"#);
    let mut deaf = host.connect();
    deaf.write_all(&encode(&["SUBSCRIBE", "news"])).unwrap();
    neighbour.sees_in_info("pubsub_clients", 2);
    let rest = "x".repeat(100_000);
    let mut heard_by = Vec::new();
    for n in 0..600 {
        let message = format!("{n} {rest}");
        heard_by.push(neighbour.asks(&["PUBLISH", "news", &message]));
        let heard = subscriber.hears_message();
        assert!(heard == message, "message {n} is another");
        if n % 50 == 0 {
            neighbour.works(1);
        }
    }
    assert_eq!((&*heard_by[0], &*heard_by[599]), ("2", "1"));
    assert_eq!(
        neighbour.reads_info("client_output_buffer_limit_disconnections"),
        1
    );
    // Its limit is 32 MiB.
    host.assert_grown_at_most(64 * MIB);
}

const MIB: u64 = 1_024 * 1_024;
