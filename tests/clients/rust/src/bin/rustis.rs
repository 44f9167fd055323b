//! A worker's life cycle with rustis, which speaks RESP3 only.

use std::collections::BTreeMap;
use std::collections::HashMap;

use rustis::client::Client;
use rustis::commands::ConnectionCommands;
use rustis::commands::GenericCommands;
use rustis::commands::ServerCommands;
use rustis::commands::StreamCommands;
use rustis::commands::StreamEntry;
use rustis::commands::XAddOptions;
use rustis::commands::XAutoClaimOptions;
use rustis::commands::XAutoClaimResult;
use rustis::commands::XClaimOptions;
use rustis::commands::XGroupCreateOptions;
use rustis::commands::XInfoStreamOptions;
use rustis::commands::XPendingMessageResult;
use rustis::commands::XPendingOptions;
use rustis::commands::XReadGroupOptions;
use rustis::commands::XTrimOptions;

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
    let mut run = Run {
        db: connect(&options, options.is_cluster).await?,
        key: unused_key("rustis"),
        ids: Vec::new(),
    };
    let other = connect(&options, false).await?;
    let info = other.client_info().await?;
    assert_eq!(info.resp, i32::from(options.protocol));

    run.join_and_add().await?;
    run.read_and_acknowledge().await?;
    run.reread_and_claim().await?;
    run.look_around().await?;

    // With its `=` the library would write the word EQUAL.
    let ten = XTrimOptions::max_len(None, 10);
    assert_eq!(run.db.xtrim(&run.key, ten).await?, 90);
    assert_eq!(run.db.xlen(&run.key).await?, 10);

    run.wait_in_vain_and_be_woken(&other).await?;

    assert!(run.db.xgroup_destroy(&run.key, GROUP).await?);
    assert_eq!(run.db.del(&run.key).await?, 1);
    run.db.close().await?;
    other.close().await?;
    Ok(())
}

async fn connect(options: &Options, is_cluster: bool) -> Outcome<Client> {
    let url = if is_cluster {
        format!("redis+cluster://{}", options.address)
    } else {
        format!("redis://{}", options.node)
    };
    Ok(Client::connect(url).await?)
}

struct Run {
    db: Client,
    key: String,
    ids: Vec<String>,
}

impl Run {
    async fn join_and_add(&mut self) -> Outcome {
        let make = || XGroupCreateOptions::default().mk_stream();
        assert!(self.db.xgroup_create(&self.key, GROUP, "0", make()).await?);
        let again = self.db.xgroup_create(&self.key, GROUP, "0", make()).await;
        let error = again.expect_err("the group is there").to_string();
        let expected = "BUSYGROUP Consumer Group name already exists";
        assert!(error.contains(expected), "{error}");

        for n in 0..100 {
            let fields = [("n", n.to_string()), ("kind", "order".to_owned())];
            let options = XAddOptions::default();
            self.ids
                .push(self.db.xadd(&self.key, "*", fields, options).await?);
        }
        Ok(())
    }

    async fn read_and_acknowledge(&self) -> Outcome {
        let hundred = XReadGroupOptions::default().count(100);
        let entries = self.read(">", hundred).await?;
        assert_eq!(ids_of(&entries), self.ids);
        for (n, entry) in entries.iter().enumerate() {
            let expected = [
                ("n".to_owned(), n.to_string()),
                ("kind".to_owned(), "order".to_owned()),
            ];
            assert_eq!(entry.items, HashMap::from(expected));
        }
        assert_eq!(self.deliveries(0, 99).await?, BTreeMap::from([(1, 100)]));
        let acknowledged = self.db.xack(&self.key, GROUP, &self.ids[..60]).await?;
        assert_eq!(acknowledged, 60);
        Ok(())
    }

    async fn reread_and_claim(&self) -> Outcome {
        let history = self
            .read("0", XReadGroupOptions::default().count(100))
            .await?;
        assert_eq!(ids_of(&history), self.ids[60..]);
        assert_eq!(self.deliveries(0, 99).await?, BTreeMap::from([(2, 40)]));

        let two = &self.ids[60..62];
        let options = XClaimOptions::default();
        let claimed: Vec<StreamEntry<String>> = self
            .db
            .xclaim(&self.key, GROUP, "bob", 0, two, options)
            .await?;
        assert_eq!(ids_of(&claimed), two);
        assert_eq!(self.deliveries(60, 61).await?, BTreeMap::from([(3, 2)]));
        let options = XClaimOptions::default().just_id();
        let claimed: Vec<String> = self
            .db
            .xclaim(&self.key, GROUP, "bob", 0, two, options)
            .await?;
        assert_eq!(claimed, two);
        assert_eq!(self.deliveries(60, 61).await?, BTreeMap::from([(3, 2)]));

        let options = XAutoClaimOptions::default().count(10);
        let reply: XAutoClaimResult<String> = self
            .db
            .xautoclaim(&self.key, GROUP, "carol", 0, "0-0", options)
            .await?;
        assert_eq!(reply.start_stream_id, self.ids[70]);
        assert_eq!(ids_of(&reply.entries), self.ids[60..70]);
        assert_eq!(reply.deleted_ids, [""; 0]);
        assert_eq!(
            self.deliveries(0, 99).await?,
            BTreeMap::from([(4, 2), (3, 8), (2, 30)])
        );
        Ok(())
    }

    async fn look_around(&self) -> Outcome {
        let summary = self.db.xpending(&self.key, GROUP).await?;
        assert_eq!(summary.num_pending_messages, 40);
        assert_eq!(summary.smallest_id.as_ref(), Some(&self.ids[60]));
        assert_eq!(summary.greatest_id.as_ref(), Some(&self.ids[99]));
        let consumers: Vec<_> = summary
            .consumers
            .iter()
            .map(|row| (row.consumer.as_str(), row.num_messages))
            .collect();
        assert_eq!(consumers, [("alice", 30), ("carol", 10)]);
        let rows = self
            .pending_rows(
                XPendingOptions::default()
                    .start("-")
                    .end("+")
                    .count(100)
                    .consumer("carol"),
            )
            .await?;
        let ids: Vec<String> = rows.into_iter().map(|row| row.message_id).collect();
        assert_eq!(ids, self.ids[60..70]);

        let stream = self
            .db
            .xinfo_stream(&self.key, XInfoStreamOptions::default())
            .await?;
        let facts = (stream.length, stream.groups, stream.entries_added);
        assert_eq!(facts, (100, 1, 100));
        assert_eq!(stream.last_generated_id, self.ids[99]);
        assert_eq!(stream.first_entry.stream_id, self.ids[0]);

        let groups = self.db.xinfo_groups(&self.key).await?;
        let [group] = groups.as_slice() else {
            panic!("one group and no other")
        };
        let facts = (group.name.as_str(), group.consumers, group.pending);
        assert_eq!(facts, (GROUP, 3, 40));
        assert_eq!(group.last_delivered_id, self.ids[99]);
        assert_eq!((group.entries_read, group.lag), (Some(100), Some(0)));
        let rows = self.db.xinfo_consumers(&self.key, GROUP).await?;
        let consumers: Vec<_> = rows
            .iter()
            .map(|row| (row.name.as_str(), row.pending))
            .collect();
        assert_eq!(consumers, [("alice", 30), ("bob", 0), ("carol", 10)]);
        Ok(())
    }

    async fn wait_in_vain_and_be_woken(&self, other: &Client) -> Outcome {
        let nothing = self
            .read(">", XReadGroupOptions::default().block(10))
            .await?;
        assert_eq!(ids_of(&nothing), [""; 0]);

        let before = blocked(other).await?;
        let wake = async {
            let mut looks = 0;
            while blocked(other).await? == before {
                looks += 1;
                assert!(looks < LOOKS_MAX, "the read never waited");
            }
            let options = XAddOptions::default();
            let woken: String = other
                .xadd(&self.key, "*", [("n", "woken")], options)
                .await?;
            Outcome::Ok(woken)
        };
        let options = XReadGroupOptions::default().count(1).block(5000);
        let (entries, woken) = tokio::join!(self.read(">", options), wake);
        assert_eq!(ids_of(&entries?), [woken?]);
        Ok(())
    }

    /// Reads as alice.
    async fn read(
        &self,
        after: &str,
        options: XReadGroupOptions,
    ) -> Outcome<Vec<StreamEntry<String>>> {
        let reply: Option<HashMap<String, Vec<StreamEntry<String>>>> = self
            .db
            .xreadgroup(GROUP, "alice", options, &self.key, after)
            .await?;
        Ok(reply
            .unwrap_or_default()
            .remove(&self.key)
            .unwrap_or_default())
    }

    async fn deliveries(&self, first: usize, last: usize) -> Outcome<BTreeMap<usize, usize>> {
        let (first, last) = (self.ids[first].as_str(), self.ids[last].as_str());
        let rows = self
            .pending_rows(XPendingOptions::default().start(first).end(last).count(100))
            .await?;
        Ok(tallied(rows.into_iter().map(|row| row.times_delivered)))
    }

    async fn pending_rows(
        &self,
        options: XPendingOptions<'_>,
    ) -> Outcome<Vec<XPendingMessageResult>> {
        let rows = self.db.xpending_with_options(&self.key, GROUP, options);
        Ok(rows.await?)
    }
}

async fn blocked(db: &Client) -> Outcome<u64> {
    let info: String = db.info("clients").await?;
    Ok(blocked_clients(&info))
}

fn ids_of(entries: &[StreamEntry<String>]) -> Vec<String> {
    entries
        .iter()
        .map(|entry| entry.stream_id.clone())
        .collect()
}
