//! Requests that are half sent, promise what never comes, ask for more than there is, or are none.

use std::io::Read;
use std::io::Write;
use std::net::Shutdown;
use std::net::TcpStream;

use tailrace_tests::encode;

use super::host::Host;
use super::neighbour::Neighbour;

#[test]
fn half_requests_hold_up_nobody_and_can_be_finished() {
    let host = Host::start("");
    let mut neighbour = Neighbour::of(&host);
    let request = encode(&["XADD", "others", "*", "field", "some value"]);
    let mut halves = Vec::new();
    for n in 0..HALVES {
        let mut stream = host.connect();
        let cut = 1 + n % (request.len() - 1);
        stream.write_all(&request[..cut]).unwrap();
        halves.push((stream, cut));
        if n % 20 == 0 {
            neighbour.works(2);
        }
    }
    neighbour.works(20);
    for (stream, cut) in &mut halves {
        stream.write_all(&request[*cut..]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with('$') && reply.ends_with("\r\n"), "{reply}");
    }
    neighbour.hears("XLEN others", &HALVES.to_string());
    host.assert_grown_at_most(32 * MIB);
}

/// Bytes that drip in, one of each client at a time.
#[test]
fn slow_writers_hold_up_nobody() {
    let host = Host::start("");
    let mut neighbour = Neighbour::of(&host);
    let request = encode(&["XADD", "others", "*", "field", "some value"]);
    let mut writers: Vec<TcpStream> = (0..DRIPS).map(|_| host.connect()).collect();
    for writer in &writers {
        writer.set_nodelay(true).unwrap();
    }
    for byte in &request {
        for writer in &mut writers {
            writer.write_all(&[*byte]).unwrap();
        }
        neighbour.works(1);
    }
    for writer in &mut writers {
        writer.shutdown(Shutdown::Write).unwrap();
        let mut reply = String::new();
        writer.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with('$'), "{reply}");
    }
    neighbour.hears("XLEN others", &DRIPS.to_string());
    host.assert_grown_at_most(32 * MIB);
}

/// The headers promise 200 GiB here, and 200,000,000,000 arguments.
#[test]
fn promises_take_no_memory() {
    let host = Host::start("");
    let mut neighbour = Neighbour::of(&host);
    let argument = b"*2\r\n$4\r\nECHO\r\n$536870912\r\nand a little of it".to_vec();
    let count = b"*1000000000\r\n$3\r\nDEL\r\n$1\r\nk\r\n".to_vec();
    let mut promising = Vec::new();
    for n in 0..PROMISES {
        let mut stream = host.connect();
        stream
            .write_all(if n % 2 == 0 { &argument } else { &count })
            .unwrap();
        promising.push(stream);
    }
    neighbour.sees_in_info("connected_clients", PROMISES as u64 + 1);
    neighbour.works(50);
    host.assert_grown_at_most(32 * MIB);
}

/// Numbers as large as there are, wherever a command takes one.
#[test]
fn counts_beyond_all_there_is_are_answered_by_what_there_is() {
    let host = Host::start("");
    let mut neighbour = Neighbour::of(&host);
    let mut asking = Neighbour::of_nothing(&host);
    asking.hears("XADD s 1-1 f v", "\"1-1\"");
    asking.hears("XGROUP CREATE s g 0", "OK");
    let all = r#"[["1-1" ["f" "v"]]]"#;
    for (command, reply) in [
        ("XRANGE s - + COUNT 9223372036854775807", all.to_owned()),
        ("XREVRANGE s + - COUNT 9223372036854775807", all.to_owned()),
        (
            "XREAD COUNT 9223372036854775807 STREAMS s 0",
            format!(r#"[["s" {all}]]"#),
        ),
        (
            "XREADGROUP GROUP g c COUNT 9223372036854775807 STREAMS s >",
            format!(r#"[["s" {all}]]"#),
        ),
        (
            "XAUTOCLAIM s g c 0 0 COUNT 9223372036854775807 JUSTID",
            "!ERR COUNT must be > 0".to_owned(),
        ),
        ("XPENDING s g (1-1 + 9223372036854775807", "[]".to_owned()),
        (
            "SCAN 0 MATCH nothing COUNT 9223372036854775807",
            r#"["0" []]"#.to_owned(),
        ),
        ("MSETEX 2147483647 k v", "!ERR syntax error".to_owned()),
        ("XTRIM s MAXLEN 9223372036854775807", "0".to_owned()),
        (
            "SETRANGE k 536870912 x",
            "!ERR string exceeds maximum allowed size (proto-max-bulk-len)".to_owned(),
        ),
        (
            "SETRANGE k 9223372036854775807 x",
            "!ERR string exceeds maximum allowed size (proto-max-bulk-len)".to_owned(),
        ),
    ] {
        asking.hears(command, &reply);
        neighbour.works(1);
    }
    host.assert_grown_at_most(32 * MIB);
}

/// A pattern can be one that a simple matcher needs centuries for.
#[test]
fn patterns_take_no_time() {
    let host = Host::start("");
    let mut neighbour = Neighbour::of(&host);
    let mut asking = Neighbour::of_nothing(&host);
    let key = "a".repeat(10_000);
    asking.hears(&format!("SET {key} v"), "OK");
    let pattern = format!("{}b", "a*".repeat(5_000));
    asking.hears(&format!("KEYS {pattern}"), "[]");
    asking.hears(&format!("SCAN 0 COUNT 1000 MATCH {pattern}"), r#"["0" []]"#);
    asking.hears(
        &format!("PSUBSCRIBE {pattern}"),
        &format!("[\n  \"psubscribe\"\n  \"{pattern}\"\n  1\n]"),
    );
    neighbour.hears(&format!("PUBLISH {key} v"), "0");
    neighbour.works(20);
    host.assert_grown_at_most(32 * MIB);
}

/// What speaks another protocol, or none, is answered with an error or not at all, and leaves nothing behind.
#[test]
fn what_is_no_request_does_no_harm() {
    let host = Host::start("");
    let mut neighbour = Neighbour::of(&host);
    let nested = b"*1\r\n".repeat(100_000);
    let mut random = 1_u64;
    let noise = (0..100_000).map(|_| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        random.to_le_bytes()[7]
    });
    let kinds: [Vec<u8>; 6] = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(50),
        nested,
        noise.collect(),
        vec![0; 200_000],
        b"'".repeat(200_000),
    ];
    for n in 0..600 {
        let mut stream = host.connect();
        // The server may close it before it has taken all of this.
        let _ = stream.write_all(&kinds[n % kinds.len()]);
        let _ = stream.shutdown(Shutdown::Write);
        if n % 2 == 0 {
            let _ = stream.read_to_end(&mut Vec::new());
        }
        if n % 20 == 0 {
            neighbour.works(1);
        }
    }
    neighbour.works(20);
    host.assert_grown_at_most(64 * MIB);
}

const MIB: u64 = 1_024 * 1_024;
const HALVES: usize = 500;
const DRIPS: usize = 300;
const PROMISES: usize = 400;
