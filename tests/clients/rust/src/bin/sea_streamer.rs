//! Streams with SeaStreamer: HOST:PORT [worker STREAM].
//!
//! What is sent goes to the consumers of a group. One is killed with messages in hand, and another
//! claims them, after which nothing is pending. A reader without a group goes back in time.

use std::env;
use std::future;
use std::io;
use std::io::BufRead;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::slice;
use std::time::Duration;

use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use redis::streams::StreamInfoGroupsReply;
use redis::streams::StreamPendingReply;
use sea_streamer_redis::AutoCommit;
use sea_streamer_redis::AutoStreamReset;
use sea_streamer_redis::RedisConsumer;
use sea_streamer_redis::RedisConsumerOptions;
use sea_streamer_redis::RedisStreamer;
use sea_streamer_types::Buffer;
use sea_streamer_types::Consumer;
use sea_streamer_types::ConsumerGroup;
use sea_streamer_types::ConsumerId;
use sea_streamer_types::ConsumerMode;
use sea_streamer_types::ConsumerOptions;
use sea_streamer_types::Message;
use sea_streamer_types::Producer;
use sea_streamer_types::SeqPos;
use sea_streamer_types::StreamKey;
use sea_streamer_types::Streamer;

use client_runs::GROUP;
use client_runs::LOOKS_MAX;
use client_runs::Outcome;
use client_runs::unused_key;

const MESSAGES: usize = 20;
const IN_HAND: usize = 5;

/// What is pending for longer than this, another consumer may take.
const CLAIM_AFTER: Duration = Duration::from_millis(100);

#[tokio::main]
async fn main() -> Outcome {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.as_slice() {
        [address] => story(address).await,
        [address, _worker, stream] => take_in_hand(address, stream).await,
        _ => panic!("usage: HOST:PORT [worker STREAM]"),
    }
}

async fn story(address: &str) -> Outcome {
    // Its names of streams have no colons.
    let stream = unused_key("sea-streamer").replace(':', ".");
    let client = redis::Client::open(format!("redis://{address}"))?;
    let mut db = client.get_multiplexed_async_connection().await?;
    let streamer = connect(address).await?;
    let key = StreamKey::new(&stream)?;

    let producer = streamer
        .create_producer(key.clone(), Default::default())
        .await?;
    for n in 0..MESSAGES {
        producer.send(format!("order {n}"))?.await?;
    }
    let alice = worker(address, &stream)?;
    kill(alice)?;
    wait_until_idle(&mut db, &stream).await?;

    let mut bob = streamer
        .create_consumer(slice::from_ref(&key), group_options("bob")?)
        .await?;
    let mut texts = Vec::new();
    for _ in 0..MESSAGES {
        let message = bob.next().await?;
        texts.push(message.message().as_str()?.to_owned());
        bob.ack(&message)?;
    }
    bob.commit()?.await?;
    let mut expected: Vec<String> = (0..MESSAGES).map(|n| format!("order {n}")).collect();
    texts.sort();
    expected.sort();
    assert_eq!(texts, expected);
    let groups: StreamInfoGroupsReply = db.xinfo_groups(&stream).await?;
    let [group] = groups.groups.as_slice() else {
        panic!("one group: {groups:?}")
    };
    assert_eq!(
        (group.name.as_str(), group.consumers, group.pending),
        (GROUP, 2, 0)
    );

    go_back(&streamer, &key).await?;
    assert_eq!(db.del::<_, usize>(&stream).await?, 1);
    Ok(())
}

/// Reads without a group, and again from the beginning and from behind a message on.
///
/// Never to the end, where the library would not hear of going back until a wait of ten seconds is over.
async fn go_back(streamer: &RedisStreamer, key: &StreamKey) -> Outcome {
    let mut options = RedisConsumerOptions::new(ConsumerMode::RealTime);
    options.set_auto_stream_reset(AutoStreamReset::Earliest);
    let mut reader = streamer
        .create_consumer(slice::from_ref(key), options)
        .await?;
    let numbers = read_some(&reader, 0).await?;
    reader.rewind(SeqPos::Beginning).await?;
    assert_eq!(read_some(&reader, 0).await?, numbers);
    reader.rewind(SeqPos::At(numbers[3])).await?;
    read_some(&reader, 4).await?;
    Ok(())
}

/// Reads half of what there is, which has to begin with that message, and returns the sequence numbers.
async fn read_some(reader: &RedisConsumer, first: usize) -> Outcome<Vec<u64>> {
    let mut numbers = Vec::new();
    for n in first..first + MESSAGES / 2 {
        let message = reader.next().await?;
        assert_eq!(message.message().as_str()?, format!("order {n}"));
        numbers.push(*message.header().sequence());
    }
    Ok(numbers)
}

/// Starts a consumer in a process of its own, which has messages in hand when this returns.
fn worker(address: &str, stream: &str) -> Outcome<Child> {
    let mut child = Command::new(env::current_exe()?)
        .args([address, "worker", stream])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let output = child.stdout.as_mut().expect("it is a pipe");
    io::BufReader::new(output).read_line(&mut line)?;
    assert_eq!(line, "begun\n");
    Ok(child)
}

/// Gives the process no chance to say goodbye.
fn kill(mut child: Child) -> Outcome {
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// What a worker does: it takes messages in hand and never lets go of them.
async fn take_in_hand(address: &str, stream: &str) -> Outcome {
    let key = StreamKey::new(stream)?;
    let alice = connect(address)
        .await?
        .create_consumer(&[key], group_options("alice")?)
        .await?;
    for n in 0..IN_HAND {
        assert_eq!(
            alice.next().await?.message().as_str()?,
            format!("order {n}")
        );
    }
    println!("begun");
    future::pending().await
}

async fn connect(address: &str) -> Outcome<RedisStreamer> {
    let uri = format!("redis://{address}").parse()?;
    Ok(RedisStreamer::connect(uri, Default::default()).await?)
}

fn group_options(consumer: &str) -> Outcome<RedisConsumerOptions> {
    let mut options = RedisConsumerOptions::new(ConsumerMode::LoadBalanced);
    options.set_consumer_group(ConsumerGroup::new(GROUP))?;
    options
        .set_consumer_id(ConsumerId::new(consumer))
        .set_auto_stream_reset(AutoStreamReset::Earliest)
        .set_auto_commit(AutoCommit::Disabled)
        .set_auto_claim_idle(CLAIM_AFTER)
        .set_auto_claim_interval(Some(Duration::ZERO))
        .set_batch_size(IN_HAND);
    Ok(options)
}

/// Returns when all that alice has in hand may be claimed.
async fn wait_until_idle(db: &mut MultiplexedConnection, stream: &str) -> Outcome {
    let idle = CLAIM_AFTER.as_millis() as u64 + 1;
    for _ in 0..LOOKS_MAX {
        let reply = redis::cmd("XPENDING")
            .arg(&[
                stream,
                GROUP,
                "IDLE",
                &idle.to_string(),
                "-",
                "+",
                "100",
                "alice",
            ])
            .query_async::<Vec<redis::Value>>(db)
            .await?;
        if reply.len() == IN_HAND {
            return Ok(());
        }
    }
    let reply: StreamPendingReply = db.xpending(stream, GROUP).await?;
    panic!("nothing to claim: {reply:?}");
}
