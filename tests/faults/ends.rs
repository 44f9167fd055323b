//! Servers and connections that are ended on purpose.

use std::task::Context;
use std::task::Waker;

use tailrace_server::Millis;
use tailrace_server::Server;
use tailrace_tests::Caller;
use tailrace_tests::pipe;
use tailrace_tests::settle;
use tailrace_tests::start;

/// A waiting reader, a client with half a command, one that does not read, an idle one.
async fn crowd(server: &Server) -> Vec<Caller> {
    let clients: Vec<Caller> = (0..4).map(|_| Caller::connect(server)).collect();
    clients[0].send(&["XREAD", "BLOCK", "0", "STREAMS", "s", "$"]);
    clients[1].far().send(b"*2\r\n$4\r\nEC");
    clients[2].far().open_window(0);
    clients[2].send(&["PING"]);
    settle().await;
    clients
}

/// What was read is executed and answered before a stop closes the connection.
#[tokio::test]
async fn a_stop_answers_what_was_read() {
    let server = start("").await;
    let client = Caller::connect(&server);
    for n in 0..1_000 {
        client.send(&["ECHO", &n.to_string()]);
    }
    // Not one turn yet: the first reading and the stop come together.
    tokio::task::yield_now().await;
    assert_eq!(server.stop().await, None);
    let replies = String::from_utf8(client.rest().await).unwrap();
    assert!(replies.ends_with("$3\r\n999\r\n"), "{replies}");
}

#[tokio::test]
async fn a_stop_ends_those_who_wait() {
    let server = start("").await;
    let mut clients = crowd(&server).await;
    clients.remove(2);
    assert_eq!(server.stop().await, None);
    for client in clients {
        assert_eq!(client.rest().await, b"");
    }
}

#[tokio::test]
async fn dropping_a_server_ends_every_connection() {
    let server = start("").await;
    let clients = crowd(&server).await;
    let addr = server.addr();
    drop(server);
    for client in clients {
        assert_eq!(client.rest().await, b"");
    }
    // The port is free again.
    settle().await;
    std::net::TcpListener::bind(addr).unwrap();
}

/// A command that panics may have left its work half done. The program that holds the server goes on,
/// but the server answers nothing any more, and says why.
#[tokio::test]
async fn a_fault_in_a_command_ends_all_answers() {
    let server = start("enable-debug-command yes").await;
    let mut clients = crowd(&server).await;
    clients.remove(2);
    let faulty = Caller::connect(&server);
    faulty.far().send(b"PING\r\nDEBUG PANIC\r\nPING\r\n");
    let said = String::from_utf8(faulty.rest().await).unwrap();
    let fault = "a fault in the command 'debug' stopped this server";
    assert_eq!(said, format!("+PONG\r\n-ERR {fault}\r\n"));
    let late = Caller::connect(&server);
    late.send(&["PING"]);
    assert_eq!(late.rest().await, format!("-ERR {fault}\r\n").as_bytes());
    assert_eq!(server.stop().await.as_deref(), Some(fault));
    for client in clients {
        client.rest().await;
    }
}

/// Everything that a client sent before `QUIT` is answered, and nothing after it.
#[tokio::test]
async fn nothing_behind_quit_is_executed() {
    let server = start("").await;
    let client = Caller::connect(&server);
    client.far().send(b"PING\r\nQUIT\r\nXADD s * f v\r\n");
    assert_eq!(client.rest().await, b"+PONG\r\n+OK\r\n");
    let mut other = Caller::connect(&server);
    assert_eq!(other.call(&["XLEN", "s"]).await.to_string(), "0");
}

#[tokio::test]
async fn a_client_may_kill_another_and_itself() {
    let server = start("").await;
    let mut victim = Caller::connect(&server);
    let id = victim.call(&["CLIENT", "ID"]).await.to_string();
    victim.send(&["XREAD", "BLOCK", "0", "STREAMS", "s", "$"]);
    settle().await;
    let mut killer = Caller::connect(&server);
    let killed = killer.call(&["CLIENT", "KILL", "ID", &id]).await;
    assert_eq!(killed.to_string(), "1");
    assert_eq!(victim.rest().await, b"");

    let id = killer.call(&["CLIENT", "ID"]).await.to_string();
    killer
        .far()
        .send(format!("PING\r\nCLIENT KILL ID {id} SKIPME no\r\nPING\r\n").as_bytes());
    assert_eq!(killer.rest().await, b"+PONG\r\n:1\r\n");
}

/// A `SHUTDOWN` has no reply, nor has what was sent in one piece with it: the connection ends.
#[tokio::test]
async fn shutdown_ends_the_server() {
    let server = start("").await;
    let client = Caller::connect(&server);
    client.far().send(b"PING\r\nSHUTDOWN\r\n");
    let other = Caller::connect(&server);
    tokio::time::timeout(std::time::Duration::from_secs(10), server.ended())
        .await
        .unwrap();
    assert_eq!(server.stop().await, None);
    assert_eq!(client.rest().await, b"");
    assert_eq!(other.rest().await, b"");
}

/// One client too many is told so, wherever it comes from.
#[tokio::test]
async fn one_client_too_many_is_told_so() {
    let server = start("maxclients 2").await;
    let first = Caller::connect(&server);
    let mut second = Caller::connect(&server);
    let third = Caller::connect(&server);
    let refusal = b"-ERR max number of clients reached\r\n";
    assert_eq!(third.rest().await, refusal);
    assert_eq!(second.call(&["PING"]).await.to_string(), "PONG");

    let fourth = tokio::net::TcpStream::connect(server.addr()).await.unwrap();
    let mut said = Vec::new();
    let (mut reader, _writer) = fourth.into_split();
    tokio::io::AsyncReadExt::read_to_end(&mut reader, &mut said)
        .await
        .unwrap();
    assert_eq!(said, refusal);

    // One that does not take the refusal is let go with the server.
    let (near, stubborn) = pipe();
    stubborn.open_window(0);
    server.serve(near);

    first.far().hang_up();
    settle().await;
    let mut fifth = Caller::connect(&server);
    assert_eq!(fifth.call(&["PING"]).await.to_string(), "PONG");
    drop(server);
    settle().await;
    assert!(stubborn.is_closed());
}

/// A gate that opens by itself runs what it held without a batch of anybody's, and the end was looked for
/// after batches only: the server went on until somebody said something else.
#[tokio::test]
async fn a_shutdown_that_was_held_ends_the_server_when_the_gate_opens() {
    let server = start("").await;
    let mut pausing = Caller::connect(&server);
    pausing.call(&["CLIENT", "PAUSE", "50", "ALL"]).await;
    let client = Caller::connect(&server);
    client.send(&["SHUTDOWN", "NOSAVE"]);
    settle().await;

    server.advance(Millis(50));

    let mut ended = std::pin::pin!(server.ended());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(ended.as_mut().poll(&mut cx).is_ready());
    assert_eq!(client.rest().await, b"");
}
