//! A worker's life cycle with fred.

use std::collections::BTreeMap;
use std::collections::HashMap;

use fred::prelude::*;
use fred::types::InfoKind;
use fred::types::RespVersion;
use fred::types::streams::XReadResponse;

use client_runs::GROUP;
use client_runs::LOOKS_MAX;
use client_runs::Options;
use client_runs::Outcome;
use client_runs::blocked_clients;
use client_runs::tallied;
use client_runs::unused_key;

/// An entry's id and its fields.
type Entry = (String, HashMap<String, String>);

/// The rows of XPENDING in its longer form: id, consumer, idle, deliveries.
type PendingRows = Vec<(String, String, u64, usize)>;

#[tokio::main]
async fn main() -> Outcome {
    let options = Options::from_args();
    let mut run = Run {
        db: connect(&options, options.is_cluster).await?,
        key: unused_key("fred"),
        ids: Vec::new(),
    };
    let other = connect(&options, false).await?;
    let info: String = other.client_info().await?;
    assert!(info.contains(&options.protocol_in_client_info()), "{info}");

    run.join_and_add().await?;
    run.read_and_acknowledge().await?;
    run.reread_and_claim().await?;
    run.look_around().await?;

    let trimmed: u64 = run.db.xtrim(&run.key, ("MAXLEN", "=", 10)).await?;
    assert_eq!(trimmed, 90);
    assert_eq!(run.db.xlen::<u64, _>(&run.key).await?, 10);

    run.wait_in_vain_and_be_woken(&other).await?;

    assert_eq!(
        run.db.xgroup_destroy::<u64, _, _>(&run.key, GROUP).await?,
        1
    );
    assert_eq!(run.db.del::<u64, _>(&run.key).await?, 1);
    run.db.quit().await?;
    other.quit().await?;
    Ok(())
}

async fn connect(options: &Options, is_cluster: bool) -> Outcome<Client> {
    let url = if is_cluster {
        format!("redis-cluster://{}", options.address)
    } else {
        format!("redis://{}", options.node)
    };
    let mut config = Config::from_url(&url)?;
    if options.is_explicit {
        config.version = if options.protocol == 3 {
            RespVersion::RESP3
        } else {
            RespVersion::RESP2
        };
    }
    let client = Builder::from_config(config).build()?;
    client.init().await?;
    Ok(client)
}

struct Run {
    db: Client,
    key: String,
    ids: Vec<String>,
}

impl Run {
    async fn join_and_add(&mut self) -> Outcome {
        let made: String = self.db.xgroup_create(&self.key, GROUP, "0", true).await?;
        assert_eq!(made, "OK");
        let again: FredResult<String> = self.db.xgroup_create(&self.key, GROUP, "0", true).await;
        let error = again.expect_err("the group is there");
        assert_eq!(
            error.details(),
            "BUSYGROUP Consumer Group name already exists"
        );

        for n in 0..100 {
            let fields = vec![("n", n.to_string()), ("kind", "order".to_owned())];
            self.ids
                .push(self.db.xadd(&self.key, false, None, "*", fields).await?);
        }
        Ok(())
    }

    async fn read_and_acknowledge(&self) -> Outcome {
        let entries = self.read(">", Some(100), None).await?;
        assert_eq!(ids_of(&entries), self.ids);
        for (n, (_id, fields)) in entries.iter().enumerate() {
            let expected = [
                ("n".to_owned(), n.to_string()),
                ("kind".to_owned(), "order".to_owned()),
            ];
            assert_eq!(*fields, HashMap::from(expected));
        }
        assert_eq!(self.deliveries(0, 99).await?, BTreeMap::from([(1, 100)]));
        let acknowledged: u64 = self
            .db
            .xack(&self.key, GROUP, self.ids[..60].to_vec())
            .await?;
        assert_eq!(acknowledged, 60);
        Ok(())
    }

    async fn reread_and_claim(&self) -> Outcome {
        let history = self.read("0", Some(100), None).await?;
        assert_eq!(ids_of(&history), self.ids[60..]);
        assert_eq!(self.deliveries(0, 99).await?, BTreeMap::from([(2, 40)]));

        let two = self.ids[60..62].to_vec();
        let claimed: Vec<Entry> = self
            .db
            .xclaim_values(
                &self.key,
                GROUP,
                "bob",
                0,
                two.clone(),
                None,
                None,
                None,
                false,
                false,
            )
            .await?;
        assert_eq!(ids_of(&claimed), two);
        assert_eq!(self.deliveries(60, 61).await?, BTreeMap::from([(3, 2)]));
        let claimed: Vec<String> = self
            .db
            .xclaim(
                &self.key,
                GROUP,
                "bob",
                0,
                two.clone(),
                None,
                None,
                None,
                false,
                true,
            )
            .await?;
        assert_eq!(claimed, two);
        assert_eq!(self.deliveries(60, 61).await?, BTreeMap::from([(3, 2)]));

        let (cursor, claimed): (String, Vec<Entry>) = self
            .db
            .xautoclaim_values(&self.key, GROUP, "carol", 0, "0-0", Some(10), false)
            .await?;
        assert_eq!(cursor, self.ids[70]);
        assert_eq!(ids_of(&claimed), self.ids[60..70]);
        assert_eq!(
            self.deliveries(0, 99).await?,
            BTreeMap::from([(4, 2), (3, 8), (2, 30)])
        );
        Ok(())
    }

    async fn look_around(&self) -> Outcome {
        let (count, first, last, consumers): (u64, String, String, Vec<(String, u64)>) =
            self.db.xpending(&self.key, GROUP, ()).await?;
        assert_eq!((count, &first, &last), (40, &self.ids[60], &self.ids[99]));
        assert_eq!(
            consumers,
            [("alice".to_owned(), 30), ("carol".to_owned(), 10)]
        );
        let rows: PendingRows = self
            .db
            .xpending(&self.key, GROUP, ("-", "+", 100, "carol"))
            .await?;
        let ids: Vec<String> = rows.into_iter().map(|(id, ..)| id).collect();
        assert_eq!(ids, self.ids[60..70]);

        let stream: HashMap<String, Value> = self.db.xinfo_stream(&self.key, false, None).await?;
        assert_eq!(stream["length"].as_u64(), Some(100));
        assert_eq!(stream["groups"].as_u64(), Some(1));
        assert_eq!(stream["entries-added"].as_u64(), Some(100));
        assert_eq!(
            stream["last-generated-id"].as_string().as_ref(),
            Some(&self.ids[99])
        );

        let groups: Vec<HashMap<String, Value>> = self.db.xinfo_groups(&self.key).await?;
        let [group] = groups.as_slice() else {
            panic!("one group: {groups:?}")
        };
        assert_eq!(group["name"].as_str().as_deref(), Some(GROUP));
        for (name, value) in [
            ("consumers", 3),
            ("pending", 40),
            ("entries-read", 100),
            ("lag", 0),
        ] {
            assert_eq!(group[name].as_u64(), Some(value), "{name}");
        }
        assert_eq!(
            group["last-delivered-id"].as_string().as_ref(),
            Some(&self.ids[99])
        );

        let rows: Vec<HashMap<String, Value>> = self.db.xinfo_consumers(&self.key, GROUP).await?;
        let consumers: BTreeMap<_, _> = rows
            .iter()
            .map(|row| (row["name"].as_string(), row["pending"].as_u64()))
            .collect();
        let expected = [("alice", 30), ("bob", 0), ("carol", 10)];
        let expected = expected.map(|(name, pending)| (Some(name.to_owned()), Some(pending)));
        assert_eq!(consumers, BTreeMap::from(expected));
        Ok(())
    }

    async fn wait_in_vain_and_be_woken(&self, other: &Client) -> Outcome {
        let key = self.key.as_str();
        // Unparsed: the library does not take a null for an empty map.
        let nothing: Value = self
            .db
            .xreadgroup(GROUP, "alice", None, Some(10), false, key, ">")
            .await?;
        assert!(nothing.is_null(), "there was nothing to read: {nothing:?}");

        let before = blocked(other).await?;
        let wake = async {
            let mut looks = 0;
            while blocked(other).await? == before {
                looks += 1;
                assert!(looks < LOOKS_MAX, "the read never waited");
            }
            let woken: String = other
                .xadd(&self.key, false, None, "*", ("n", "woken"))
                .await?;
            Outcome::Ok(woken)
        };
        let (entries, woken) = tokio::join!(self.read(">", Some(1), Some(5000)), wake);
        let fields = HashMap::from([("n".to_owned(), "woken".to_owned())]);
        assert_eq!(entries?, [(woken?, fields)]);
        Ok(())
    }

    /// Reads as alice.
    async fn read(
        &self,
        after: &str,
        count: Option<u64>,
        block_ms: Option<u64>,
    ) -> Outcome<Vec<Entry>> {
        let key = self.key.as_str();
        let mut reply: XReadResponse<String, String, String, String> = self
            .db
            .xreadgroup_map(GROUP, "alice", count, block_ms, false, key, after)
            .await?;
        Ok(reply.remove(key).unwrap_or_default())
    }

    async fn deliveries(&self, first: usize, last: usize) -> Outcome<BTreeMap<usize, usize>> {
        let (first, last) = (self.ids[first].as_str(), self.ids[last].as_str());
        let rows: PendingRows = self
            .db
            .xpending(&self.key, GROUP, (first, last, 100))
            .await?;
        Ok(tallied(rows.into_iter().map(|(.., deliveries)| deliveries)))
    }
}

async fn blocked(db: &Client) -> Outcome<u64> {
    let info: String = db.info(Some(InfoKind::Clients)).await?;
    Ok(blocked_clients(&info))
}

fn ids_of(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|(id, _)| id.clone()).collect()
}
