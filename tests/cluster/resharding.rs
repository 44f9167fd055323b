//! Slots move as redis-cli moves them, key by key, and replicas take over, often in between, while a producer and three
//! consumers of one group go on: is any entry lost, or any that was not acknowledged forgotten?
//!
//! A seed decides what happens when. The test keeps account of every entry: who produced it, who was given it, and who has
//! acknowledged it. In the end the streams hold what was produced and nothing else, in its order, and each consumer has
//! pending what it was given and did not acknowledge, and besides only what it was given when it had just left.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use tailrace_server::Cluster;
use tailrace_server::cluster::NodeIndex;
use tailrace_storage::Millis;
use tailrace_storage::key_slot;
use tailrace_tests::Caller;
use tailrace_tests::Value;
use tailrace_tests::settle;
use tailrace_tests::start_cluster;

use super::roaming::Chance;
use super::roaming::Roaming;
use super::roaming::SentOn;
use super::roaming::entries;
use super::roaming::patiently;

#[tokio::test]
async fn nothing_is_lost_through_fifty_moves_and_five_failovers() {
    let world = live(1, 50, 5).await;
    assert_eq!((world.moves, world.failovers), (50, 5));
    assert!(world.produced.len() > 100, "{world:?}");
    // They met all that a slot on its way answers with.
    let SentOn {
        moved,
        asked,
        stalled,
    } = world.sent_on;
    let least = moved.min(asked).min(stalled);
    assert!(least > 5, "{:?}", world.sent_on);
}

#[tokio::test]
async fn the_same_seed_moves_the_same() {
    assert_eq!(live(7, 10, 2).await, live(7, 10, 2).await);
}

/// The account of what happens.
#[derive(Debug, Default, PartialEq, Eq)]
struct World {
    /// Of each stream the entries in their order: id and number.
    produced: BTreeMap<(String, String), String>,
    delivered: BTreeSet<(String, String)>,
    /// By consumer, stream and id what was given out and not acknowledged.
    pending: BTreeSet<(usize, String, String)>,
    moves: usize,
    failovers: usize,
    sent_on: SentOn,
}

/// A slot on its way.
struct Move {
    slot: u16,
    from: usize,
    to: usize,
    /// The step that comes next.
    step: Step,
}

#[derive(Clone, Copy)]
enum Step {
    Import,
    Migrate,
    Key,
    Give,
}

async fn live(seed: u64, moves: usize, failovers: usize) -> World {
    let cluster = start_cluster("nodes 3\nreplicas 1").await;
    let mut chance = Chance(seed);
    let mut world = World::default();
    let mut producer = Roaming::new(&cluster);
    let mut consumers: Vec<Roaming<'_>> = (0..CONSUMERS).map(|_| Roaming::new(&cluster)).collect();
    for stream in TAGS.iter().flat_map(|tag| streams(tag)) {
        let create = format!("XGROUP CREATE {stream} g 0 MKSTREAM");
        let made = producer.call(&stream, &create).await;
        assert_eq!(made.to_string(), "OK");
    }
    let mut moving = None;
    while world.moves < moves || moving.is_some() {
        cluster.advance(Millis(1));
        match chance.below(6) {
            0 => {
                let under_way = match moving.take() {
                    Some(under_way) => under_way,
                    None => begin(&cluster, &mut chance),
                };
                // The first failovers come before, between and behind the keys of a slot.
                let is_due = world.moves * failovers / moves >= world.failovers;
                if is_due && world.failovers < failovers && chance.below(3) == 0 {
                    let shard = [under_way.from, under_way.to][chance.below(2)];
                    fail_over(&cluster, shard).await;
                    world.failovers += 1;
                }
                moving = advance(&cluster, under_way).await;
                world.moves += usize::from(moving.is_none());
            }
            1 => produce(&mut producer, &mut chance, &mut world).await,
            _ => {
                let at = chance.below(CONSUMERS);
                consume(&mut consumers[at], at, &mut chance, &mut world).await;
            }
        }
    }
    finish(&mut producer, &mut consumers, &mut world).await;
    world
}

/// The two streams of a tag, which one request may read.
fn streams(tag: &str) -> [String; 2] {
    ["orders", "refunds"].map(|name| format!("{name}:{{{tag}}}"))
}

/// Chooses a slot and where it is to go.
fn begin(cluster: &Cluster, chance: &mut Chance) -> Move {
    let view = cluster.view().unwrap();
    let tag = TAGS[chance.below(TAGS.len())];
    let slot = key_slot(tag.as_bytes());
    let owner = &view.node(view.owner_of(slot).unwrap()).shard;
    let from = (0..SHARDS)
        .find(|shard| view.nodes[*shard].shard == *owner)
        .unwrap();
    Move {
        slot,
        from,
        to: (from + 1 + chance.below(SHARDS - 1)) % SHARDS,
        step: Step::Import,
    }
}

/// Takes the next step, as redis-cli would. Gives the rest of the move, if there is any.
async fn advance(cluster: &Cluster, mut moving: Move) -> Option<Move> {
    let Move { slot, from, to, .. } = moving;
    let (source, target) = (Node::primary(cluster, from), Node::primary(cluster, to));
    let (mut at_source, mut at_target) = (source.caller(cluster), target.caller(cluster));
    let set = |what: &str, id: &str| format!("CLUSTER SETSLOT {slot} {what} {id}");
    moving.step = match moving.step {
        Step::Import => {
            confirm(&mut at_target, &set("IMPORTING", &source.id)).await;
            Step::Migrate
        }
        Step::Migrate => {
            confirm(&mut at_source, &set("MIGRATING", &target.id)).await;
            Step::Key
        }
        Step::Key => {
            let list = format!("CLUSTER GETKEYSINSLOT {slot} 1");
            let Value::Array(keys) = patiently(&mut at_source, &list).await else {
                panic!("keys are an array");
            };
            match keys.first() {
                Some(key) => {
                    let key = String::from_utf8_lossy(key.text()).into_owned();
                    let port = target.port;
                    let migrate = format!("MIGRATE 127.0.0.1 {port} {key} 0 20000");
                    confirm(&mut at_source, &migrate).await;
                    Step::Key
                }
                None => Step::Give,
            }
        }
        Step::Give => {
            confirm(&mut at_target, &set("NODE", &target.id)).await;
            confirm(&mut at_source, &set("NODE", &target.id)).await;
            let other = Node::primary(cluster, SHARDS - from - to);
            confirm(&mut other.caller(cluster), &set("NODE", &target.id)).await;
            return None;
        }
    };
    Some(moving)
}

/// Says something that has to be answered with `OK`.
async fn confirm(caller: &mut Caller, line: &str) {
    let reply = patiently(caller, line).await;
    assert_eq!(reply.to_string(), "OK", "{line}");
}

/// Lets the replica of a shard ask to be its primary.
async fn fail_over(cluster: &Cluster, shard: usize) {
    let primary = Node::primary(cluster, shard).index;
    let replica = cluster.view().unwrap().replicas_of(primary).next();
    let mut caller = Caller::connect_to(cluster, replica.unwrap());
    confirm(&mut caller, "CLUSTER FAILOVER").await;
    assert_eq!(Node::primary(cluster, shard).index, replica.unwrap());
}

/// A node, and how it is reached.
struct Node {
    index: NodeIndex,
    id: String,
    port: u16,
}

impl Node {
    /// The primary of the shard that a node belongs to which was a primary at the start.
    fn primary(cluster: &Cluster, shard: usize) -> Self {
        let view = cluster.view().unwrap();
        let index = view.primary_of(NodeIndex::new(shard));
        let node = view.node(index);
        Self {
            index,
            id: node.id.clone(),
            port: node.address.port,
        }
    }

    fn caller(&self, cluster: &Cluster) -> Caller {
        Caller::connect_to(cluster, self.index)
    }
}

async fn produce(producer: &mut Roaming<'_>, chance: &mut Chance, world: &mut World) {
    let tag = TAGS[chance.below(TAGS.len())];
    let stream = streams(tag)[chance.below(2)].clone();
    let number = world.produced.len().to_string();
    let add = format!("XADD {stream} * number {number}");
    let added = producer.call(&stream, &add).await;
    assert!(matches!(added, Value::Bulk(_)), "{added}");
    let id = String::from_utf8_lossy(added.text()).into_owned();
    let before = world.produced.insert((stream, id), number);
    assert_eq!(before, None, "an ID is given once");
}

/// Lets a consumer take what it waited for, or begin to wait.
async fn consume(client: &mut Roaming<'_>, at: usize, chance: &mut Chance, world: &mut World) {
    if client.waits_for().is_none() {
        let [one, two] = streams(TAGS[chance.below(TAGS.len())]);
        let read = format!("XREADGROUP GROUP g {at} COUNT 3 BLOCK 0 STREAMS {one} {two} > >");
        client.begin(&one, &read);
        return settle().await;
    }
    for (stream, id) in take(client, at, world).await {
        // One in four ends before it acknowledges.
        if chance.below(4) > 0 {
            let settled = client.call(&stream, &format!("XACK {stream} g {id}")).await;
            assert_eq!(settled.to_string(), "1");
            assert!(world.pending.remove(&(at, stream, id)));
        }
    }
    if chance.below(10) == 0 {
        // Who waits in vain gives up now and then; what it is given in that moment it does not hear of.
        client.leave();
        settle().await;
    }
}

/// What a consumer was given since it was asked last, of which account is kept.
async fn take(client: &mut Roaming<'_>, at: usize, world: &mut World) -> Vec<(String, String)> {
    settle().await;
    let Some(reply) = client.poll() else {
        return Vec::new();
    };
    let Value::Array(read) = &reply else {
        panic!("a read is answered with entries, and not with {reply}");
    };
    let mut given = Vec::new();
    for part in read {
        let Value::Array(part) = part else {
            panic!("a stream and its entries: {part}");
        };
        let stream = String::from_utf8_lossy(part[0].text()).into_owned();
        for (id, number) in entries(&part[1]) {
            let entry = (stream.clone(), id);
            assert_eq!(world.produced.get(&entry), Some(&number));
            let is_new = world.delivered.insert(entry.clone());
            assert!(is_new, "{entry:?} is new to the group");
            world.pending.insert((at, entry.0.clone(), entry.1.clone()));
            given.push(entry);
        }
    }
    given
}

/// Looks whether everything is there, and who has what pending; then takes what is left.
async fn finish(producer: &mut Roaming<'_>, consumers: &mut [Roaming<'_>], world: &mut World) {
    for (at, client) in consumers.iter_mut().enumerate() {
        for _ in 0..10 {
            take(client, at, world).await;
        }
        client.leave();
    }
    settle().await;
    for client in consumers.iter().chain([&*producer]) {
        world.sent_on.moved += client.sent_on.moved;
        world.sent_on.asked += client.sent_on.asked;
        world.sent_on.stalled += client.sent_on.stalled;
    }
    let (mut there, mut pending) = (BTreeMap::new(), BTreeSet::new());
    for stream in TAGS.iter().flat_map(|tag| streams(tag)) {
        let range = producer
            .call(&stream, &format!("XRANGE {stream} - +"))
            .await;
        for (id, number) in entries(&range) {
            there.insert((stream.clone(), id), number);
        }
        let list = format!("XPENDING {stream} g - + 100000");
        let Value::Array(list) = producer.call(&stream, &list).await else {
            panic!("what is pending is an array");
        };
        for line in list {
            let Value::Array(line) = line else {
                panic!("what is pending has a line each: {line}");
            };
            let word = |at: usize| String::from_utf8_lossy(line[at].text()).into_owned();
            assert_eq!(line[3], Value::Integer(1), "each was delivered once");
            pending.insert((word(1).parse().unwrap(), stream.clone(), word(0)));
        }
    }
    assert_eq!(there, world.produced);
    assert!(pending.is_superset(&world.pending), "{:?}", world.pending);
    for (_, stream, id) in pending.difference(&world.pending) {
        // It was given to a consumer that had left before it heard of it.
        let is_heard_of = world.delivered.contains(&(stream.clone(), id.clone()));
        assert!(!is_heard_of, "{stream} {id} is settled");
    }
    take_the_rest(producer, &pending, world).await;
    let produced: BTreeSet<_> = world.produced.keys().cloned().collect();
    assert_eq!(world.delivered, produced);
}

/// Takes what nobody was given yet, and what nobody has acknowledged.
async fn take_the_rest(
    client: &mut Roaming<'_>,
    pending: &BTreeSet<(usize, String, String)>,
    world: &mut World,
) {
    for stream in TAGS.iter().flat_map(|tag| streams(tag)) {
        let claim = format!("XAUTOCLAIM {stream} g last 0 0 COUNT 100000");
        let claimed = entries(&client.call(&stream, &claim).await);
        let was_pending = pending.iter().filter(|(_, of, _)| *of == stream);
        assert_eq!(claimed.len(), was_pending.count());
        let read = format!("XREADGROUP GROUP g last COUNT 100000 STREAMS {stream} >");
        let rest = entries(&client.call(&stream, &read).await);
        for (id, _) in rest.iter().chain(&claimed) {
            world.delivered.insert((stream.clone(), id.clone()));
            let settled = client.call(&stream, &format!("XACK {stream} g {id}")).await;
            assert_eq!(settled.to_string(), "1");
        }
        let pending = client.call(&stream, &format!("XPENDING {stream} g")).await;
        assert_eq!(pending.to_string(), "[0 nil nil nil-array]");
    }
}

const SHARDS: usize = 3;
const CONSUMERS: usize = 3;
const TAGS: [&str; 8] = ["a", "b", "c", "u", "v", "w", "x", "y"];
