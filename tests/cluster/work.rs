//! A producer and three consumers go on while slots move and replicas take over: is anything lost?
//!
//! A seed decides what happens when. Consumers now and then forget to acknowledge what they were given, as those do that
//! end in between; others take it over. In the end every entry has been delivered at least once and acknowledged.

use std::collections::BTreeSet;

use tailrace_server::Cluster;
use tailrace_server::cluster::NodeIndex;
use tailrace_storage::Millis;
use tailrace_storage::key_slot;
use tailrace_tests::Value;
use tailrace_tests::settle;
use tailrace_tests::start_cluster;

use super::roaming::Chance;
use super::roaming::Roaming;
use super::roaming::entries;

/// What a seed's world came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    produced: BTreeSet<String>,
    delivered: BTreeSet<String>,
    redirections: usize,
    moves: usize,
    failovers: usize,
}

async fn live(seed: u64) -> Outcome {
    let cluster = start_cluster("nodes 3\nreplicas 1").await;
    let mut chance = Chance(seed);
    let mut outcome = Outcome::default();
    let mut producer = Roaming::new(&cluster);
    let mut consumers: Vec<Roaming<'_>> = (0..CONSUMERS).map(|_| Roaming::new(&cluster)).collect();
    for stream in STREAMS {
        let made = producer
            .call(stream, &format!("XGROUP CREATE {stream} g 0 MKSTREAM"))
            .await;
        assert_eq!(made.to_string(), "OK");
    }
    for step in 0..STEPS {
        match chance.below(10) {
            0 => {
                let slot = key_slot(STREAMS[chance.below(STREAMS.len())].as_bytes());
                cluster.move_slot(slot, primary(&cluster, &mut chance));
                outcome.moves += 1;
            }
            1 => {
                let primary = primary(&cluster, &mut chance);
                let replica = cluster.view().unwrap().replicas_of(primary).next();
                cluster.fail_over(replica.unwrap());
                outcome.failovers += 1;
            }
            2..5 => {
                let (stream, number) = (STREAMS[chance.below(STREAMS.len())], step.to_string());
                let added = producer
                    .call(stream, &format!("XADD {stream} * number {number}"))
                    .await;
                assert!(matches!(added, Value::Bulk(_)), "{added}");
                outcome.produced.insert(number);
            }
            _ => {
                let at = chance.below(CONSUMERS);
                consume(&mut consumers[at], at, &mut chance, &mut outcome).await;
            }
        }
    }
    finish(&cluster, &mut producer, &mut consumers, &mut outcome).await;
    let clients = consumers.iter().chain([&producer]);
    outcome.redirections = clients.map(|client| client.sent_on.moved).sum();
    outcome
}

/// A primary by chance.
fn primary(cluster: &Cluster, chance: &mut Chance) -> NodeIndex {
    let view = cluster.view().unwrap();
    let nodes = (0..view.nodes.len()).map(NodeIndex::new);
    let primaries: Vec<NodeIndex> = nodes
        .filter(|node| view.node(*node).replica_of.is_none())
        .collect();
    primaries[chance.below(primaries.len())]
}

/// Lets a consumer take what it waited for, or begin to wait.
async fn consume(client: &mut Roaming<'_>, at: usize, chance: &mut Chance, outcome: &mut Outcome) {
    let Some(words) = client.waits_for().map(<[String]>::to_vec) else {
        let stream = STREAMS[chance.below(STREAMS.len())].to_owned();
        let read = format!("XREADGROUP GROUP g {at} COUNT 3 BLOCK 0 STREAMS {stream} >");
        client.begin(&stream, &read);
        return settle().await;
    };
    settle().await;
    let Some(reply) = client.poll() else {
        return;
    };
    let stream = &words[9];
    for (id, number) in entries(&reply) {
        outcome.delivered.insert(number);
        // One in four ends before it acknowledges.
        if chance.below(4) > 0 {
            let settled = client.call(stream, &format!("XACK {stream} g {id}")).await;
            assert_eq!(settled.to_string(), "1");
        }
    }
}

/// Takes what consumers were given without hearing of it, what they have not acknowledged, and what is left.
async fn finish(
    cluster: &Cluster,
    producer: &mut Roaming<'_>,
    consumers: &mut [Roaming<'_>],
    outcome: &mut Outcome,
) {
    settle().await;
    for client in consumers.iter_mut() {
        // Who still waits leaves; who was answered is not heard of any more.
        client.leave();
    }
    settle().await;
    cluster.advance(Millis(1_000));
    for stream in STREAMS {
        let read = format!("XREADGROUP GROUP g last COUNT 100000 STREAMS {stream} >");
        let mut left = entries(&producer.call(stream, &read).await);
        let claim = format!("XAUTOCLAIM {stream} g last 0 0 COUNT 100000");
        left.append(&mut entries(&producer.call(stream, &claim).await));
        for (id, number) in left {
            outcome.delivered.insert(number);
            producer
                .call(stream, &format!("XACK {stream} g {id}"))
                .await;
        }
        let pending = producer.call(stream, &format!("XPENDING {stream} g")).await;
        assert_eq!(pending.to_string(), "[0 nil nil nil-array]");
    }
}

#[tokio::test]
async fn work_goes_on_while_slots_and_roles_move() {
    for seed in 1..=4 {
        let outcome = live(seed).await;
        assert_eq!(outcome.produced, outcome.delivered, "seed {seed}");
        assert!(
            outcome.produced.len() > STEPS / 10,
            "seed {seed}: {outcome:?}"
        );
        assert!(
            outcome.moves > 10 && outcome.failovers > 10,
            "seed {seed}: {outcome:?}"
        );
        assert!(outcome.redirections > 20, "seed {seed}: {outcome:?}");
    }
}

#[tokio::test]
async fn the_same_seed_gives_the_same_work() {
    assert_eq!(live(42).await, live(42).await);
    assert_ne!(live(42).await, live(43).await);
}

const CONSUMERS: usize = 3;
const STREAMS: [&str; 3] = ["orders:{a}", "orders:{u}", "orders:{x}"];
const STEPS: usize = 600;
