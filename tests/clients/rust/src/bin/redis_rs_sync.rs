//! A worker's life cycle with redis-rs, synchronous, in its main steps. The other one has them all.

use std::collections::BTreeMap;
use std::thread;

use redis::Client;
use redis::Connection;
use redis::TypedCommands;
use redis::cluster::ClusterClient;
use redis::streams::StreamAutoClaimOptions;
use redis::streams::StreamId;
use redis::streams::StreamMaxlen;
use redis::streams::StreamReadOptions;

use client_runs::GROUP;
use client_runs::LOOKS_MAX;
use client_runs::Options;
use client_runs::Outcome;
use client_runs::blocked_clients;
use client_runs::tallied;
use client_runs::unused_key;

fn main() -> Outcome {
    let options = Options::from_args();
    let key = unused_key("redis-rs");
    let mut other = connect(&options.node, &options)?;
    let info: String = redis::cmd("CLIENT").arg("INFO").query(&mut other)?;
    assert!(info.contains(&options.protocol_in_client_info()), "{info}");
    if options.is_cluster {
        let client = ClusterClient::new([format!("redis://{}/", options.address)])?;
        live(&mut client.get_connection()?, other, &key)
    } else {
        live(&mut connect(&options.address, &options)?, other, &key)
    }
}

fn connect(address: &str, options: &Options) -> Outcome<Connection> {
    let protocol = if options.is_explicit {
        format!("?protocol=resp{}", options.protocol)
    } else {
        String::new()
    };
    let client = Client::open(format!("redis://{address}/{protocol}"))?;
    Ok(client.get_connection()?)
}

fn live(db: &mut impl TypedCommands, other: Connection, key: &str) -> Outcome {
    db.xgroup_create_mkstream(key, GROUP, "0")?;
    let again = db.xgroup_create_mkstream(key, GROUP, "0");
    let error = again.expect_err("the group is there");
    assert_eq!(error.code(), Some("BUSYGROUP"));
    let mut ids = Vec::new();
    for n in 0..100 {
        let id = db.xadd(key, "*", &[("n", n)])?;
        ids.push(id.expect("XADD without NOMKSTREAM gives an id"));
    }

    let hundred = || StreamReadOptions::default().count(100);
    assert_eq!(ids_of(&read(db, key, ">", hundred())?), ids);
    assert_eq!(db.xack(key, GROUP, &ids[..60])?, 60);
    assert_eq!(ids_of(&read(db, key, "0", hundred())?), ids[60..]);
    let two = &ids[60..62];
    assert_eq!(ids_of(&db.xclaim(key, GROUP, "bob", 0, two)?.ids), two);
    let options = StreamAutoClaimOptions::default().count(10);
    let reply = db.xautoclaim_options(key, GROUP, "carol", 0, "0-0", options)?;
    assert_eq!(reply.next_stream_id, ids[70]);
    assert_eq!(ids_of(&reply.claimed), ids[60..70]);
    let rows = db.xpending_count(key, GROUP, "-", "+", 100)?.ids;
    let deliveries = tallied(rows.into_iter().map(|row| row.times_delivered));
    assert_eq!(deliveries, BTreeMap::from([(2, 30), (3, 8), (4, 2)]));
    let groups = db.xinfo_groups(key)?.groups;
    let facts: Vec<_> = groups
        .iter()
        .map(|group| (group.consumers, group.pending))
        .collect();
    assert_eq!(facts, [(3, 40)]);
    assert_eq!(db.xtrim(key, StreamMaxlen::Equals(10))?, 90);

    wait_in_vain_and_be_woken(db, other, key)?;
    assert!(db.xgroup_destroy(key, GROUP)?);
    assert_eq!(db.del(key)?, 1);
    Ok(())
}

fn wait_in_vain_and_be_woken(
    db: &mut impl TypedCommands,
    mut other: Connection,
    key: &str,
) -> Outcome {
    let options = StreamReadOptions::default().block(10);
    assert_eq!(ids_of(&read(db, key, ">", options)?), [""; 0]);

    let before = blocked(&mut other)?;
    let name = key.to_owned();
    let wake = thread::spawn(move || {
        let mut looks = 0;
        while blocked(&mut other)? == before {
            looks += 1;
            assert!(looks < LOOKS_MAX, "the read never waited");
        }
        Outcome::Ok(other.xadd(name, "*", &[("n", "woken")])?)
    });
    let options = StreamReadOptions::default().count(1).block(5000);
    let entries = read(db, key, ">", options)?;
    let woken = wake.join().expect("it does not panic")?;
    assert_eq!(Some(ids_of(&entries).remove(0)), woken);
    Ok(())
}

/// Reads as alice.
fn read(
    db: &mut impl TypedCommands,
    key: &str,
    after: &str,
    options: StreamReadOptions,
) -> Outcome<Vec<StreamId>> {
    let reply = db.xread_options(&[key], &[after], &options.group(GROUP, "alice"))?;
    let keys = reply.into_iter().flat_map(|reply| reply.keys);
    Ok(keys.flat_map(|key| key.ids).collect())
}

fn blocked(db: &mut Connection) -> Outcome<u64> {
    let info: String = redis::cmd("INFO").arg("clients").query(db)?;
    Ok(blocked_clients(&info))
}

fn ids_of(entries: &[StreamId]) -> Vec<String> {
    entries.iter().map(|entry| entry.id.clone()).collect()
}
