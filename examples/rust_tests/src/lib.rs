//! A worker of a few lines, whose tests hold the server: see `tests/`.

use redis::AsyncCommands;
use redis::RedisResult;
use redis::streams::StreamAutoClaimOptions;
use redis::streams::StreamAutoClaimReply;
use redis::streams::StreamId;
use redis::streams::StreamReadOptions;
use redis::streams::StreamReadReply;

const STREAM: &str = "jobs";
const GROUP: &str = "workers";
const WAIT_MS: usize = 3_600_000;
/// A worker that had an entry for so long is taken for dead.
const IDLE_MS: usize = 60_000;

/// Creates what workers read.
pub async fn set_up(connection: &mut impl AsyncCommands) -> RedisResult<()> {
    connection.xgroup_create_mkstream(STREAM, GROUP, "0").await
}

/// Waits an hour for a job, and does it. How many there were.
pub async fn work_once(connection: &mut impl AsyncCommands, name: &str) -> RedisResult<usize> {
    let options = StreamReadOptions::default()
        .group(GROUP, name)
        .block(WAIT_MS);
    let read: Option<StreamReadReply> = connection
        .xread_options(&[STREAM], &[">"], &options)
        .await?;
    let streams = read.map_or_else(Vec::new, |read| read.keys);
    let jobs: Vec<StreamId> = streams.into_iter().flat_map(|stream| stream.ids).collect();
    finish(connection, &jobs).await
}

/// Does what others have left undone for a minute. How much that was.
pub async fn take_over(connection: &mut impl AsyncCommands, name: &str) -> RedisResult<usize> {
    let options = StreamAutoClaimOptions::default();
    let claimed: StreamAutoClaimReply = connection
        .xautoclaim_options(STREAM, GROUP, name, IDLE_MS, "0-0", options)
        .await?;
    finish(connection, &claimed.claimed).await
}

async fn finish(connection: &mut impl AsyncCommands, jobs: &[StreamId]) -> RedisResult<usize> {
    for job in jobs {
        let _: usize = connection.xack(STREAM, GROUP, &[&job.id]).await?;
    }
    Ok(jobs.len())
}
