//! A worker's life cycle with redis-rs, asynchronous.

use std::collections::BTreeMap;
use std::time::Duration;

use redis::AsyncConnectionConfig;
use redis::AsyncTypedCommands;
use redis::Client;
use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClient;
use redis::streams::StreamAutoClaimOptions;
use redis::streams::StreamClaimOptions;
use redis::streams::StreamId;
use redis::streams::StreamInfoConsumer;
use redis::streams::StreamMaxlen;
use redis::streams::StreamPendingReply;
use redis::streams::StreamReadOptions;

use client_runs::GROUP;
use client_runs::LOOKS_MAX;
use client_runs::Options;
use client_runs::Outcome;
use client_runs::blocked_clients;
use client_runs::tallied;
use client_runs::unused_key;

#[tokio::main]
async fn main() -> Outcome {
    let options = Options::from_args();
    let mut other = connect(&options).await?;
    let info: String = redis::cmd("CLIENT")
        .arg("INFO")
        .query_async(&mut other)
        .await?;
    assert!(info.contains(&options.protocol_in_client_info()), "{info}");
    if options.is_cluster {
        let builder = ClusterClient::builder([format!("redis://{}/", options.address)]);
        let client = builder.response_timeout(RESPONSE_TIMEOUT).build()?;
        live(client.get_async_connection().await?, other).await
    } else {
        live(connect(&options).await?, other).await
    }
}

async fn live(db: impl AsyncTypedCommands + Sync, other: MultiplexedConnection) -> Outcome {
    let mut run = Run {
        db,
        key: unused_key("redis-rs"),
        ids: Vec::new(),
    };
    run.join_and_add().await?;
    run.read_and_acknowledge().await?;
    run.reread_and_claim().await?;
    run.look_around().await?;

    assert_eq!(run.db.xtrim(&run.key, StreamMaxlen::Equals(10)).await?, 90);
    assert_eq!(run.db.xlen(&run.key).await?, 10);

    run.wait_in_vain_and_be_woken(other).await?;

    assert!(run.db.xgroup_destroy(&run.key, GROUP).await?);
    assert_eq!(run.db.del(&run.key).await?, 1);
    Ok(())
}

async fn connect(options: &Options) -> Outcome<MultiplexedConnection> {
    let protocol = if options.is_explicit {
        format!("?protocol=resp{}", options.protocol)
    } else {
        String::new()
    };
    let client = Client::open(format!("redis://{}/{protocol}", options.node))?;
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(RESPONSE_TIMEOUT));
    Ok(client
        .get_multiplexed_async_connection_with_config(&config)
        .await?)
}

/// By default the library gives up on a reply after half a second: too soon for a blocked read.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

struct Run<C> {
    db: C,
    key: String,
    ids: Vec<String>,
}

impl<C: AsyncTypedCommands + Sync> Run<C> {
    async fn join_and_add(&mut self) -> Outcome {
        self.db
            .xgroup_create_mkstream(&self.key, GROUP, "0")
            .await?;
        let again = self.db.xgroup_create_mkstream(&self.key, GROUP, "0").await;
        let error = again.expect_err("the group is there");
        assert_eq!(error.code(), Some("BUSYGROUP"));
        assert_eq!(error.detail(), Some("Consumer Group name already exists"));

        for n in 0..100 {
            let fields = [("n", n.to_string()), ("kind", "order".to_owned())];
            let id = self.db.xadd(&self.key, "*", &fields).await?;
            self.ids
                .push(id.expect("XADD without NOMKSTREAM gives an id"));
        }
        Ok(())
    }

    async fn read_and_acknowledge(&mut self) -> Outcome {
        let entries = self
            .read("alice", ">", StreamReadOptions::default().count(100))
            .await?;
        assert_eq!(ids_of(&entries), self.ids);
        for (n, entry) in entries.iter().enumerate() {
            assert_eq!(entry.get::<usize>("n"), Some(n));
            assert_eq!(entry.get::<String>("kind").as_deref(), Some("order"));
        }
        assert_eq!(self.deliveries(0, 99).await?, BTreeMap::from([(1, 100)]));
        assert_eq!(self.db.xack(&self.key, GROUP, &self.ids[..60]).await?, 60);
        Ok(())
    }

    async fn reread_and_claim(&mut self) -> Outcome {
        let history = self
            .read("alice", "0", StreamReadOptions::default())
            .await?;
        assert_eq!(ids_of(&history), self.ids[60..]);
        assert_eq!(self.deliveries(0, 99).await?, BTreeMap::from([(2, 40)]));

        let two = &self.ids[60..62];
        let claimed = self.db.xclaim(&self.key, GROUP, "bob", 0, two).await?;
        assert_eq!(ids_of(&claimed.ids), two);
        assert_eq!(self.deliveries(60, 61).await?, BTreeMap::from([(3, 2)]));
        let two = &self.ids[60..62];
        let just_id = StreamClaimOptions::default().with_justid();
        let claimed: Vec<String> = redis::AsyncCommands::xclaim_options(
            &mut self.db,
            &self.key,
            GROUP,
            "bob",
            0,
            two,
            just_id,
        )
        .await?;
        assert_eq!(claimed, two);
        assert_eq!(self.deliveries(60, 61).await?, BTreeMap::from([(3, 2)]));

        let options = StreamAutoClaimOptions::default().count(10);
        let reply = self
            .db
            .xautoclaim_options(&self.key, GROUP, "carol", 0, "0-0", options)
            .await?;
        assert_eq!(reply.next_stream_id, self.ids[70]);
        assert_eq!(ids_of(&reply.claimed), self.ids[60..70]);
        assert_eq!(
            self.deliveries(0, 99).await?,
            BTreeMap::from([(4, 2), (3, 8), (2, 30)])
        );
        Ok(())
    }

    async fn look_around(&mut self) -> Outcome {
        let StreamPendingReply::Data(summary) = self.db.xpending(&self.key, GROUP).await? else {
            panic!("XPENDING says that nothing is pending");
        };
        assert_eq!(summary.count, 40);
        assert_eq!(
            [&summary.start_id, &summary.end_id],
            [&self.ids[60], &self.ids[99]]
        );
        let consumers = pending_by_consumer(&summary.consumers);
        assert_eq!(consumers, BTreeMap::from([("alice", 30), ("carol", 10)]));
        let rows = self
            .db
            .xpending_consumer_count(&self.key, GROUP, "-", "+", 100, "carol")
            .await?;
        let ids: Vec<String> = rows.ids.into_iter().map(|row| row.id).collect();
        assert_eq!(ids, self.ids[60..70]);

        let stream = self.db.xinfo_stream(&self.key).await?;
        assert_eq!((stream.length, stream.groups), (100, 1));
        assert_eq!(stream.last_generated_id, self.ids[99]);
        assert_eq!(stream.first_entry.id, self.ids[0]);

        let groups = self.db.xinfo_groups(&self.key).await?.groups;
        let [group] = groups.as_slice() else {
            panic!("one group: {groups:?}")
        };
        assert_eq!(
            (group.name.as_str(), group.consumers, group.pending),
            (GROUP, 3, 40)
        );
        assert_eq!(group.last_delivered_id, self.ids[99]);
        assert_eq!((group.entries_read, group.lag), (Some(100), Some(0)));

        let reply = self.db.xinfo_consumers(&self.key, GROUP).await?;
        let consumers = pending_by_consumer(&reply.consumers);
        assert_eq!(
            consumers,
            BTreeMap::from([("alice", 30), ("bob", 0), ("carol", 10)])
        );
        Ok(())
    }

    async fn wait_in_vain_and_be_woken(&mut self, mut other: MultiplexedConnection) -> Outcome {
        let options = StreamReadOptions::default().block(10);
        assert!(
            self.read("alice", ">", options).await?.is_empty(),
            "there was nothing to read"
        );

        let before = blocked(&mut other).await?;
        let options = StreamReadOptions::default().count(1).block(5000);
        let key = self.key.clone();
        let wake = tokio::spawn(async move {
            let mut looks = 0;
            while blocked(&mut other).await? == before {
                looks += 1;
                assert!(looks < LOOKS_MAX, "the read never waited");
            }
            Outcome::Ok(other.xadd(key, "*", &[("n", "woken")]).await?)
        });
        let entries = self.read("alice", ">", options).await?;
        let woken = wake.await??.expect("XADD without NOMKSTREAM gives an id");
        assert_eq!(ids_of(&entries), [woken]);
        assert_eq!(entries[0].get::<String>("n").as_deref(), Some("woken"));
        Ok(())
    }

    async fn read(
        &mut self,
        consumer: &str,
        after: &str,
        options: StreamReadOptions,
    ) -> Outcome<Vec<StreamId>> {
        let options = options.group(GROUP, consumer);
        let reply = self
            .db
            .xread_options(&[&self.key], &[after], &options)
            .await?;
        Ok(reply
            .into_iter()
            .flat_map(|reply| reply.keys)
            .flat_map(|key| key.ids)
            .collect())
    }

    async fn deliveries(&mut self, first: usize, last: usize) -> Outcome<BTreeMap<usize, usize>> {
        let (first, last) = (&self.ids[first], &self.ids[last]);
        let rows = self
            .db
            .xpending_count(&self.key, GROUP, first, last, 100)
            .await?;
        Ok(tallied(rows.ids.into_iter().map(|row| row.times_delivered)))
    }
}

async fn blocked(db: &mut MultiplexedConnection) -> Outcome<u64> {
    let info: String = redis::cmd("INFO").arg("clients").query_async(db).await?;
    Ok(blocked_clients(&info))
}

fn ids_of(entries: &[StreamId]) -> Vec<String> {
    entries.iter().map(|entry| entry.id.clone()).collect()
}

fn pending_by_consumer(rows: &[StreamInfoConsumer]) -> BTreeMap<&str, usize> {
    rows.iter()
        .map(|row| (row.name.as_str(), row.pending))
        .collect()
}
