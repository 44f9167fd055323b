//! Subscribers that do not read what they asked to hear. What they are sent is small, and there is much of it.

use tailrace_server::Server;
use tailrace_storage::Millis;
use tailrace_tests::Caller;
use tailrace_tests::settle;
use tailrace_tests::start;

/// What does not count against a limit: the reference has a fixed buffer for the first replies.
const FREE_BYTES: usize = 16 * 1_024;
/// What a message of one byte takes on the channel `news`.
const MESSAGE_BYTES: usize = b"*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$1\r\nx\r\n".len();

/// A client that listens to `news` and will not read what it is sent.
async fn deaf_subscriber(server: &Server) -> Caller {
    let mut client = Caller::connect(server);
    client.call(&["SUBSCRIBE", "news"]).await;
    client.far().open_window(0);
    client
}

/// Publishes so many messages and gives the number of those who heard the last one.
async fn publish(publisher: &mut Caller, times: usize) -> String {
    for _ in 0..times {
        publisher.send(&["PUBLISH", "news", "x"]);
    }
    let mut heard_by = String::new();
    for _ in 0..times {
        heard_by = publisher.reply().await.to_string();
    }
    heard_by
}

#[tokio::test]
async fn small_messages_add_up_to_the_hard_limit() {
    let limit = 100_000;
    let server = start(&format!("client-output-buffer-limit pubsub {limit} 0 0")).await;
    let mut quick = Caller::connect(&server);
    quick.call(&["SUBSCRIBE", "news"]).await;
    let deaf = deaf_subscriber(&server).await;
    let mut publisher = Caller::connect(&server);

    let below = (FREE_BYTES + limit - 1) / MESSAGE_BYTES;
    assert_eq!(publish(&mut publisher, below).await, "2");
    settle().await;
    assert!(!deaf.far().is_closed());
    assert_eq!(publish(&mut publisher, 1).await, "2");
    settle().await;
    assert!(deaf.far().is_closed());
    assert_eq!(publish(&mut publisher, 1_000).await, "1");
    for _ in 0..below + 1 + 1_000 {
        assert_eq!(quick.reply().await.to_string(), r#"["message" "news" "x"]"#);
    }
}

/// However few messages come, who leaves more than the soft limit unread for long is ended, even when nothing
/// more is published. Who reads in time may be late again.
#[tokio::test]
async fn small_messages_add_up_to_the_soft_limit() {
    let server = start("client-output-buffer-limit pubsub 0 10000 2").await;
    let deaf = deaf_subscriber(&server).await;
    let late = deaf_subscriber(&server).await;
    let mut publisher = Caller::connect(&server);

    let above = (FREE_BYTES + 10_000) / MESSAGE_BYTES + 1;
    assert_eq!(publish(&mut publisher, above).await, "2");
    server.advance(Millis(1_500));
    late.far().open_window(usize::MAX);
    settle().await;
    assert_eq!(late.far().take().len(), above * MESSAGE_BYTES);
    late.far().open_window(0);
    assert_eq!(publish(&mut publisher, above).await, "2");

    server.advance(Millis(1_501));
    settle().await;
    assert!(deaf.far().is_closed());
    assert!(!late.far().is_closed());
    server.advance(Millis(1_500));
    settle().await;
    assert!(late.far().is_closed());
    assert_eq!(publish(&mut publisher, 1).await, "0");
}

/// A pipeline of messages goes through at once, whoever does not read them.
#[tokio::test]
async fn those_who_do_not_read_hold_up_nobody() {
    let server = start("").await;
    let mut deaf = Vec::new();
    for _ in 0..10 {
        deaf.push(deaf_subscriber(&server).await);
    }
    let mut quick = Caller::connect(&server);
    quick.call(&["SUBSCRIBE", "news"]).await;
    let mut publisher = Caller::connect(&server);
    assert_eq!(publish(&mut publisher, 10_000).await, "11");
    for _ in 0..10_000 {
        quick.reply().await;
    }
    for client in &deaf {
        assert!(!client.far().is_closed());
        client.far().open_window(usize::MAX);
    }
    settle().await;
    for client in &deaf {
        assert_eq!(client.far().take().len(), 10_000 * MESSAGE_BYTES);
    }
}

/// Keyspace events and what others are to drop from their caches are messages too.
#[tokio::test]
async fn who_does_not_read_for_another_is_ended_and_that_one_told() {
    let server =
        start("client-output-buffer-limit pubsub 100000 0 0\nnotify-keyspace-events KEA").await;
    let mut deaf = Caller::connect(&server);
    let number = deaf.call(&["CLIENT", "ID"]).await.to_string();
    deaf.call(&["SUBSCRIBE", "__redis__:invalidate"]).await;
    deaf.far().open_window(0);
    let mut reader = Caller::connect(&server);
    reader.call(&["HELLO", "3"]).await;
    let tracking = ["CLIENT", "TRACKING", "ON", "BCAST", "REDIRECT", &number];
    reader.call(&tracking).await;
    let mut watcher = Caller::connect(&server);
    watcher.call(&["PSUBSCRIBE", "__key*"]).await;
    watcher.far().open_window(0);

    let mut writer = Caller::connect(&server);
    let mut sets = 0;
    while !deaf.far().is_closed() {
        writer.call(&["SET", "k", "v"]).await;
        settle().await;
        sets += 1;
        assert!(sets < 10_000, "nobody was ended");
    }
    assert!(watcher.far().is_closed(), "it was sent more");
    writer.call(&["SET", "k", "v"]).await;
    let told = format!(r#"push >["tracking-redir-broken" {number}]"#);
    assert_eq!(reader.reply().await.to_string(), told);
    assert_eq!(reader.call(&["GET", "k"]).await.to_string(), r#""v""#);
}
