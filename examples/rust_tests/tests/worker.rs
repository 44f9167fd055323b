//! A worker's tests: the server is in this process, and its time is what the test says.

use std::error::Error;
use std::time::Duration;

use redis::AsyncCommands;
use redis::AsyncConnectionConfig;
use redis::RedisConnectionInfo;
use redis::aio::MultiplexedConnection;
use tailrace_server::testing::Happens;
use tailrace_server::testing::TestServer;

type Outcome = Result<(), Box<dyn Error>>;

const MINUTE: Duration = Duration::from_secs(60);

/// Over a port, as in production; the server has a thread of its own.
#[tokio::test]
async fn a_job_of_a_dead_worker_is_taken_over_after_a_minute() -> Outcome {
    let server = TestServer::builder().frozen_at(1_764_374_400_000).start()?;
    server.ledger().on();
    let client = redis::Client::open(server.url())?;
    let mut connection = client.get_multiplexed_async_connection().await?;
    tested_worker::set_up(&mut connection).await?;

    let patient = AsyncConnectionConfig::new().set_response_timeout(None);
    let mut alice = client
        .get_multiplexed_async_connection_with_config(&patient)
        .await?;
    let alice = tokio::spawn(async move { tested_worker::work_once(&mut alice, "alice").await });
    server.wait().blocked_in("workers", 1).await?;
    // She reads the job and is gone before the server hears that it is done.
    let lost = server
        .fault("lost")
        .command("XACK")
        .before(Happens::Reset)?;
    let id: String = connection.xadd("jobs", "*", &[("task", "resize")]).await?;
    assert_eq!(id, "1764374400000-0");
    assert!(alice.await?.is_err());
    assert_eq!(lost.hits(), 1);

    server
        .clock()
        .advance(MINUTE - Duration::from_millis(1))
        .await?;
    assert_eq!(tested_worker::take_over(&mut connection, "bob").await?, 0);
    server.clock().advance(Duration::from_millis(1)).await?;
    assert_eq!(tested_worker::take_over(&mut connection, "bob").await?, 1);
    server.wait().at_least_once("jobs", "workers").await?;
    Ok(())
}

/// In memory, and by tokio's clock: an hour of waiting takes no time, and the client's own timeouts see it pass.
#[tokio::test(start_paused = true)]
async fn a_worker_waits_for_an_hour() -> Outcome {
    let server = TestServer::start_here()?;
    let mut connection = connect(&server).await?;
    tested_worker::set_up(&mut connection).await?;
    let mut worker = connect(&server).await?;
    let began = tokio::time::Instant::now();
    assert_eq!(tested_worker::work_once(&mut worker, "alice").await?, 0);
    assert_eq!(began.elapsed().as_secs(), 3_600);
    Ok(())
}

async fn connect(server: &TestServer) -> redis::RedisResult<MultiplexedConnection> {
    let info = RedisConnectionInfo::default();
    // As long as the worker waits for jobs, and longer.
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(120 * MINUTE));
    let stream = server.connect();
    let (connection, driver) =
        MultiplexedConnection::new_with_config(&info, stream, config).await?;
    tokio::spawn(driver);
    Ok(connection)
}
