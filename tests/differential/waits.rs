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
use super::talk::is_message;

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
        is_paused: false,
        exchanges: Vec::new(),
    };
    let is_late = script.iter().any(|act| {
        stage.act(act);
        stage.is_late()
    });
    let is_released_late = stage.release_all();
    if is_late || is_released_late {
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
    /// Whether writes are held back.
    is_paused: bool,
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
            Act::Pause => self.pause(),
            Act::Unpause => self.unpause(),
            Act::Hush(said) => self.hush(said),
            Act::Fade(keys) => self.fade(keys),
        }
        // Nobody can see which of several connections was written to first.
        self.exchanges[begin..].sort_by_key(|exchange| exchange.is_late.then_some(exchange.client));
    }

    fn say(&mut self, client: usize, commands: &[Words]) {
        let is_short = commands.iter().flatten().any(|word| word == SHORT);
        if is_short && (self.is_paused || !self.owed[client].is_empty()) {
            // Nobody could tell when its time begins.
            return;
        }
        let is_held = self.is_paused || !self.owed[client].is_empty();
        if is_held && commands.iter().any(|command| command[0] == b"@pass") {
            // Time would pass before, and not between them.
            return;
        }
        for part in commands.split(|command| command[0] == b"@pass") {
            if !self.exchanges.is_empty() && part.as_ptr() != commands.as_ptr() {
                self.side.pass(PASS_MS);
            }
            let part: Vec<Words> = part.iter().map(|words| self.resolved(words)).collect();
            self.side.clients[client].say_all(&part);
            let said_at = self.exchanges.len();
            for words in &part {
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

    fn resolved(&self, words: &Words) -> Words {
        let resolve = |word: &Vec<u8>| self.side.resolved(word).unwrap_or_else(|| word.clone());
        words.iter().map(resolve).collect()
    }

    fn pause(&mut self) {
        let reply = self
            .side
            .control
            .ask(&["CLIENT", "PAUSE", "100000", "WRITE"]);
        self.is_paused = true;
        self.note_of_control("# CLIENT PAUSE 100000 WRITE", reply);
    }

    fn unpause(&mut self) {
        let reply = self.side.control.ask(&["CLIENT", "UNPAUSE"]);
        self.is_paused = false;
        self.note_of_control("# CLIENT UNPAUSE", reply);
        self.settle(None);
    }

    /// The connection that looks at everything is held back too, so that its next answer is the end of it.
    fn hush(&mut self, said: &[(usize, Words)]) {
        let is_free = self.owed.iter().all(VecDeque::is_empty);
        if self.is_paused || self.short_since.is_some() && !is_free {
            return;
        }
        let reply = self.side.control.ask(&["CLIENT", "PAUSE", HUSH_MS, "ALL"]);
        self.note_of_control("# CLIENT PAUSE (some time) ALL", reply);
        for (client, words) in said {
            self.side.clients[*client].say_all(std::slice::from_ref(words));
            self.owed[*client].push_back(words.clone());
            self.note(*client, words.clone(), false, None);
            // Each is read before the next one is said.
            self.side.pass(1);
        }
        self.settle(None);
    }

    fn fade(&mut self, keys: &[Vec<u8>]) {
        let is_held = self.is_paused || !self.owed[CLIENTS - 1].is_empty();
        if is_held || self.short_since.is_some() {
            return;
        }
        // All of them at the same instant.
        let mut said: Vec<Words> = vec![vec![b"MULTI".to_vec()]];
        for key in keys {
            let command = [b"PEXPIRE", &key[..], b"1"];
            said.push(command.iter().map(|word| word.to_vec()).collect());
        }
        said.push(vec![b"EXEC".to_vec()]);
        self.say(CLIENTS - 1, &said);
        self.side.fade();
        self.settle(None);
    }

    fn note_of_control(&mut self, what: &str, reply: Option<Value>) {
        self.note(CLIENTS - 1, vec![what.as_bytes().to_vec()], false, reply);
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

    /// Ends all waits, and says whether one may have ended by itself meanwhile. Behind one that waits there may be
    /// another that does.
    fn release_all(&mut self) -> bool {
        if self.short_since.is_some() {
            self.act(&Act::Deadlines);
        }
        if self.is_paused {
            self.act(&Act::Unpause);
        }
        let mut is_late = false;
        for client in 0..CLIENTS {
            for _ in 0..self.owed[client].len() {
                let was_short = self.owed.iter().any(is_short);
                self.act(&Act::Unblock(client, false));
                is_late |= was_short && self.is_late();
            }
        }
        is_late
    }

    /// Waits until nobody waits for a short time any more.
    fn pass_deadlines(&mut self) {
        if self.is_paused {
            self.unpause();
        }
        self.short_since = None;
        self.note(
            CLIENTS - 1,
            vec![b"# (deadlines pass)".to_vec()],
            false,
            None,
        );
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
            let gone: Vec<usize> = (0..CLIENTS)
                .filter(|client| listed[*client].is_none())
                .collect();
            let mut has_received = false;
            for client in gone {
                self.side.clients[client].has_ended();
                has_received |= self.receive(client, &mut speaker);
            }
            // What was sent to others in the same turn of the server may come after the list, but not after this.
            self.side.control.ask(&["PING"]);
            for client in 0..CLIENTS {
                has_received |= self.receive(client, &mut speaker);
            }
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
            let value = match arrival {
                Arrival::Reply(value) => self.side.readable(value),
                Arrival::Closed => {
                    self.note(client, vec![b"# (closed)".to_vec()], true, None);
                    self.owed[client].clear();
                    self.side.clients[client].reconnect(self.version);
                    continue;
                }
            };
            let owed = self.owed[client].front();
            if is_message(&value) && !owed.is_some_and(|owed| confirms(owed, &value)) {
                self.hear(client, value);
                continue;
            }
            let words = self.owed[client].pop_front().unwrap_or_default();
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

    /// Notes what a client was told by others.
    fn hear(&mut self, client: usize, message: Value) {
        let heard = vec![b"# (hears)".to_vec()];
        match self.exchanges.last_mut() {
            Some(last) if last.client == client && last.words == heard => {
                last.replies.push(message);
            }
            _ => self.note(client, heard, true, Some(message)),
        }
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

/// Whether a client waits for a short time.
fn is_short(owed: &VecDeque<Words>) -> bool {
    owed.front()
        .is_some_and(|words| words.iter().any(|word| word == SHORT))
}

/// Whether a value confirms what somebody subscribes to or leaves.
fn confirms(words: &Words, value: &Value) -> bool {
    let (Value::Array(parts) | Value::Push(parts)) = value else {
        return false;
    };
    let kind = parts.first().map_or(&b""[..], Value::text);
    words[0].eq_ignore_ascii_case(kind)
}

/// How long everything is held back: longer than a few clients take to say something.
const HUSH_MS: &str = "40";
/// Looks after which a reply is missing.
const LOOKS: usize = 3_000;
const SHORT_MS: u64 = 30;
/// What may lie between the beginning of a wait and the look at the clock.
const MARGIN_MS: u64 = 6;
