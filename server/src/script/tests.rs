//! What scripts do at the limit of their memory, which is far lower here.

use std::sync::Arc;

use tailrace_storage::UnixMillis;
use tokio::io::AsyncBufReadExt;
use tokio::io::AsyncWriteExt;
use tokio::io::BufReader;
use tokio::io::DuplexStream;

use crate::Config;
use crate::ManualClock;
use crate::Server;

const LIMIT: usize = 8 * 1_024 * 1_024;
const OUT_OF_MEMORY: &str = "-ERR Error running script, not enough memory";

struct Host {
    server: Server,
    client: BufReader<DuplexStream>,
}

impl Host {
    async fn start() -> Self {
        let clock = Arc::new(ManualClock::starting_at(UnixMillis(1_000)));
        let builder = Server::builder().config(Config::embedded());
        let server = builder.manual_clock(clock).start().await.unwrap();
        let engine = &server.acceptor().engine;
        engine.with(|state, _| state.scripts.limit_memory(LIMIT));
        let (ours, theirs) = tokio::io::duplex(1_000);
        server.serve(theirs);
        let client = BufReader::new(ours);
        Self { server, client }
    }

    /// The first line of the reply to a command.
    async fn call(&mut self, command: &str) -> String {
        let line = format!("{command}\r\n");
        self.client.write_all(line.as_bytes()).await.unwrap();
        self.hear().await
    }

    async fn hear(&mut self) -> String {
        let mut line = String::new();
        self.client.read_line(&mut line).await.unwrap();
        line.trim_end().to_owned()
    }

    fn memory(&self) -> u64 {
        let engine = &self.server.acceptor().engine;
        engine.with(|state, _| state.scripts.memory().interpreter)
    }
}

#[tokio::test]
async fn a_script_that_takes_too_much_fails_and_gives_it_back() {
    let mut host = Host::start().await;
    assert_eq!(host.call("EVAL 'return 1' 0").await, ":1");
    let before = host.memory();
    for grows in [
        "local t = {} while true do t[#t + 1] = #t .. ('x'):rep(1000) end",
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "local s = 'x' while true do s = s .. s end",
        "return ('x'):rep(1e9)",
        "local t = {} while true do t = {t} end",
        "local f f = function() while true do f = coroutine.create(f) end end f()",
        "local t = {} for i = 1, 1e6 do t[i] = redis.call('ECHO', i .. ('x'):rep(1000)) end",
        "local t = {} while true do t[#t + 1] = cjson.decode('[' .. ('1,'):rep(1000) .. '1]') end",
        "local t = {} while true do t[#t + 1] = cmsgpack.pack(('x'):rep(1000)) .. #t end",
    ] {
        let reply = host.call(&format!("EVAL \"{grows}\" 0")).await;
        assert_eq!(reply, OUT_OF_MEMORY, "{grows}");
        let after = host.memory();
        assert!(after < before + 100_000, "{grows}: {before} to {after}");
        assert_eq!(host.call("EVAL 'return #KEYS' 1 k").await, ":1", "{grows}");
    }
    assert_eq!(host.call("PING").await, "+PONG");
}

#[tokio::test]
async fn a_script_may_go_on_if_it_catches_that_it_took_too_much() {
    let mut host = Host::start().await;
    let caught = "local f = function() return ('x'):rep(1e9) end return {pcall(f)}";
    assert_eq!(host.call(&format!("EVAL \"{caught}\" 0")).await, "*2");
    for line in ["$-1", "$17", "not enough memory"] {
        assert_eq!(host.hear().await, line);
    }
}
