//! Plays a script to one server, step by step: before the next one, everybody has what is theirs.

use std::collections::VecDeque;

use tailrace_tests::Arrival;
use tailrace_tests::Value;

use super::grammar::Words;
use super::script::Act;
use super::script::CLIENTS;
use super::script::SHORT;
use super::side::ListedClient;
use super::side::Side;
use super::state;
use super::talk::Exchange;
use super::talk::PASS_MS;

/// Plays a script to an empty server, and then asks it for all that can be seen. `None` if the host was so slow that
/// deadlines passed too early.
pub(super) fn play(
    side: &mut Side,
    version: &'static str,
    script: &[Act],
) -> Option<Vec<Exchange>> {
    side.reset();
    let mut stage = Stage {
        side,
        version,
        owed: Default::default(),
        short_since: None,
        exchanges: Vec::new(),
    };
    let is_late = script.iter().any(|act| {
        stage.act(act);
        stage.is_late()
    });
    stage.release_all();
    if is_late {
        return None;
    }
    let Stage { mut exchanges, .. } = stage;
    exchanges.append(&mut state::seen(side));
    Some(exchanges)
}

struct Stage<'a> {
    side: &'a mut Side,
    version: &'static str,
    /// What each client said and has no reply to yet.
    owed: [VecDeque<Words>; CLIENTS],
    /// Since when somebody waits for a short time, by the server's clock in milliseconds.
    short_since: Option<u64>,
    exchanges: Vec<Exchange>,
}

impl Stage<'_> {
    fn act(&mut self, act: &Act) {
        let begin = self.exchanges.len();
        match act {
            Act::Say(client, commands) => self.say(*client, commands),
            Act::Leave(client) => self.leave(*client),
            Act::Unblock(client, is_error) => self.unblock(*client, *is_error),
            Act::Deadlines => self.pass_deadlines(),
        }
        // Nobody can see which of several connections was written to first.
        self.exchanges[begin..].sort_by_key(|exchange| exchange.is_late.then_some(exchange.client));
    }

    fn say(&mut self, client: usize, commands: &[Words]) {
        let is_short = commands.iter().flatten().any(|word| word == SHORT);
        if is_short && !self.owed[client].is_empty() {
            // Nobody could tell when its time begins.
            return;
        }
        for part in commands.split(|command| command[0] == b"@pass") {
            if !self.exchanges.is_empty() && part.as_ptr() != commands.as_ptr() {
                self.side.pass(PASS_MS);
            }
            self.side.clients[client].say_all(part);
            let said_at = self.exchanges.len();
            for words in part {
                self.owed[client].push_back(words.clone());
                self.note(client, words.clone(), false, None);
            }
            if is_short {
                let now = self.side.now_ms();
                self.short_since.get_or_insert(now);
            }
            self.settle(Some((client, said_at)));
        }
    }

    fn leave(&mut self, client: usize) {
        self.side.leave(client, self.version);
        self.owed[client].clear();
        self.note(client, vec![b"# (leaves)".to_vec()], false, None);
        self.settle(None);
    }

    fn unblock(&mut self, client: usize, is_error: bool) {
        let id = self.side.client_fields(client).map(|listed| listed.id);
        let how = if is_error { "ERROR" } else { "TIMEOUT" };
        let reply = self
            .side
            .control
            .ask(&["CLIENT", "UNBLOCK", &id.unwrap_or_default(), how]);
        let words = ["#", "CLIENT", "UNBLOCK", "(its id)", how];
        let words = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        self.note(client, words, false, reply);
        self.settle(None);
    }

    /// Ends all waits. Behind one that waits there may be another that does.
    fn release_all(&mut self) {
        for client in 0..CLIENTS {
            for _ in 0..self.owed[client].len() {
                self.unblock(client, false);
            }
        }
    }

    /// Waits until nobody waits for a short time any more.
    fn pass_deadlines(&mut self) {
        self.short_since = None;
        self.note(
            CLIENTS - 1,
            vec![b"# (deadlines pass)".to_vec()],
            false,
            None,
        );
        let is_short = |owed: &VecDeque<Words>| {
            owed.front()
                .is_some_and(|words| words.iter().any(|word| word == SHORT))
        };
        for _ in 0..LOOKS {
            self.settle(None);
            if !self.owed.iter().any(is_short) {
                return;
            }
            self.side.pass(1);
        }
    }

    /// Whether a short time may have passed although nobody said so.
    fn is_late(&mut self) -> bool {
        match self.short_since {
            Some(since) => self.side.now_ms() >= since + SHORT_MS - MARGIN_MS,
            None => false,
        }
    }

    /// Lets everybody receive what is theirs: until each client either has all replies or is known to wait.
    /// What the client that just spoke receives is written where it spoke.
    fn settle(&mut self, mut speaker: Option<(usize, usize)>) {
        for _ in 0..LOOKS {
            for client in 0..CLIENTS {
                self.receive(client, &mut speaker);
            }
            let owing: Vec<usize> = (0..CLIENTS)
                .filter(|client| !self.owed[*client].is_empty())
                .collect();
            let listed = self.side.all_fields();
            let waits = |client: &usize| {
                let listed: Option<&ListedClient> = listed[*client].as_ref();
                listed.is_some_and(|listed| listed.is_blocked)
            };
            let knows_all = owing.iter().all(waits);
            // What was sent to others in the same turn of the server may come after the list, but not after this.
            self.side.control.ask(&["PING"]);
            let has_received = (0..CLIENTS).any(|client| self.receive(client, &mut speaker));
            if knows_all && !has_received {
                return;
            }
        }
        self.note(
            CLIENTS,
            vec![b"# (a reply is missing)".to_vec()],
            false,
            None,
        );
    }

    /// Takes what has come for a client, and says whether something has.
    fn receive(&mut self, client: usize, speaker: &mut Option<(usize, usize)>) -> bool {
        let mut has_received = false;
        while let Some(arrival) = self.side.clients[client].arrived() {
            has_received = true;
            let words = self.owed[client].pop_front().unwrap_or_default();
            let value = match arrival {
                Arrival::Reply(value) => value,
                Arrival::Closed => {
                    self.note(client, vec![b"# (closed)".to_vec()], false, None);
                    self.side.clients[client].reconnect(self.version);
                    continue;
                }
            };
            match speaker {
                Some((who, at)) if *who == client && self.exchanges[*at].words == words => {
                    self.exchanges[*at].replies.push(value);
                    *at += 1;
                    if *at >= self.exchanges.len() || self.exchanges[*at].client != client {
                        *speaker = None;
                    }
                }
                _ => self.note(client, words, true, Some(value)),
            }
        }
        has_received
    }

    fn note(&mut self, client: usize, words: Words, is_late: bool, reply: Option<Value>) {
        self.exchanges.push(Exchange {
            client,
            words,
            is_late,
            replies: reply.into_iter().collect(),
            ending: None,
        });
    }
}

/// Looks after which a reply is missing.
const LOOKS: usize = 3_000;
const SHORT_MS: u64 = 30;
/// What may lie between the beginning of a wait and the look at the clock.
const MARGIN_MS: u64 = 6;
