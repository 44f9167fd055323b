//! Very many connections.

use std::net::Shutdown;
use std::net::TcpStream;

use tailrace_server::open_files;

use super::host::Host;
use super::neighbour::Neighbour;

#[test]
fn ten_thousand_idle_clients_are_no_burden() {
    let wanted = 10_000;
    let count = match open_files::allow(wanted + OTHERS) {
        Ok(()) => wanted,
        Err(allowed) => allowed.saturating_sub(OTHERS),
    };
    assert!(count >= 500, "the system allows {count} clients only");
    let host = Host::start("maxclients 10100");
    let mut neighbour = Neighbour::of(&host);
    let mut idle: Vec<TcpStream> = Vec::new();
    for n in 0..count {
        idle.push(host.connect());
        if n % 500 == 0 {
            neighbour.works(1);
        }
    }
    neighbour.sees_in_info("connected_clients", count as u64 + 1);
    neighbour.works(50);
    host.assert_grown_at_most(16 * MIB + count as u64 * CLIENT_BYTES_MAX);

    drop(idle);
    neighbour.works(50);
    println!("{count} clients");
}

/// Clients that come and go at once, some in order and some not.
#[test]
fn clients_that_come_and_go_leave_nothing_behind() {
    let host = Host::start("");
    let mut neighbour = Neighbour::of(&host);
    for n in 0..COMING_AND_GOING {
        let stream = host.connect();
        if n % 3 == 0 {
            stream.shutdown(Shutdown::Both).unwrap();
        }
        drop(stream);
        if n % 100 == 0 {
            neighbour.works(1);
        }
    }
    neighbour.sees_in_info("total_connections_received", COMING_AND_GOING + 1);
    neighbour.sees_in_info_at_most("connected_clients", 1);
    neighbour.works(20);
    host.assert_grown_at_most(16 * MIB);
}

const MIB: u64 = 1_024 * 1_024;
const COMING_AND_GOING: u64 = 3_000;
/// What an idle client may cost the server.
const CLIENT_BYTES_MAX: u64 = 4 * 1_024;
/// Descriptors that other tests of this process use meanwhile.
const OTHERS: usize = 1_000;
