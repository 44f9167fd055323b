//! Plays a sequence to one server and writes down what it replies.

use std::mem;
use std::time::Duration;

use tailrace_tests::Arrival;
use tailrace_tests::Value;

use super::clock;
use super::cluster;
use super::grammar::Words;
use super::hunt;
use super::sequence::CLIENTS;
use super::sequence::Step;
use super::sequence::batches;
use super::sequence::may_wait;
use super::side::Ending;
use super::side::Side;
use super::state;
use super::symbols::MADE_BY_CLOCK;
use super::texts;

/// A command and what came of it.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) client: usize,
    pub(super) words: Words,
    /// The reply came after others had said something.
    pub(super) is_late: bool,
    /// Its reply last; messages before that.
    pub(super) replies: Vec<Value>,
    pub(super) ending: Option<&'static str>,
}

/// Plays `steps` to an empty server, and then asks it for all that can be seen.
pub(super) fn play(side: &mut Side, version: &'static str, steps: &[Step]) -> Vec<Exchange> {
    side.reset();
    let mut talk = Talk {
        side,
        version,
        is_queueing: [false; CLIENTS],
        passes_later: [false; CLIENTS],
        kills_later: [false; CLIENTS],
        made_by_clock: Vec::new(),
        exchanges: Vec::new(),
    };
    for batch in batches(steps) {
        talk.batch(&batch);
    }
    talk.hear_the_last();
    let Talk { mut exchanges, .. } = talk;
    exchanges.append(&mut state::seen(side));
    exchanges
}

struct Talk<'a> {
    side: &'a mut Side,
    version: &'static str,
    /// Which clients are between MULTI and EXEC.
    is_queueing: [bool; CLIENTS],
    /// Which of them have queued something after which time is to pass.
    passes_later: [bool; CLIENTS],
    /// Which of them have queued something that ends clients.
    kills_later: [bool; CLIENTS],
    made_by_clock: Vec<Vec<u8>>,
    exchanges: Vec<Exchange>,
}

impl Talk<'_> {
    fn batch(&mut self, batch: &Step) {
        let client = batch.client;
        let mut commands: Vec<Words> = batch
            .commands
            .iter()
            .map(|command| self.resolved(client, command))
            .collect();
        if commands[0][0] == b"@pass" {
            return self.pass(client);
        }
        if self.is_queueing[client] {
            // It would silence its own EXEC in the middle of the reply.
            commands.retain(|command| !(is(command, 0, "CLIENT") && is(command, 1, "REPLY")));
        }
        if commands.is_empty() {
            return;
        }
        self.side.clients[client].say_all(&commands);
        if commands.iter().any(may_wait) {
            self.unblock(client);
        }
        let is_counted = self.is_counted(client, &commands);
        let ending = if is_counted {
            self.side.clients[client].counted(commands.len())
        } else {
            self.side.clients[client].mark();
            self.side.clients[client].until_mark()
        };
        let turn = commands.last().map(is_turn).unwrap_or_default();
        let kills = commands.iter().any(|command| is(command, 1, "KILL"));
        self.write_down(client, commands, ending);
        if self.is_queueing[client] {
            self.kills_later[client] |= kills;
        } else if kills {
            self.bury();
        }
        match turn {
            Turn::Begin if self.last_reply_is_ok() => self.is_queueing[client] = true,
            Turn::End => {
                self.is_queueing[client] = false;
                if mem::take(&mut self.passes_later[client]) {
                    self.side.pass(PASS_MS);
                }
                if mem::take(&mut self.kills_later[client]) {
                    self.bury();
                }
            }
            _ => {}
        }
    }

    /// Writes down which clients are not there any more, and lets others come for them.
    fn bury(&mut self) {
        for client in self.side.killed() {
            let (values, ending) = match self.side.clients[client].until_closed() {
                Ending::Marked(values) | Ending::Silent(values) => (values, None),
                Ending::Closed(values) => (values, Some("the server closes the connection")),
            };
            self.note(client, "# (is killed)", values, ending);
            self.side.clients[client].reconnect(self.version);
            self.is_queueing[client] = false;
        }
    }

    /// What has come for clients that said nothing since.
    fn hear_the_last(&mut self) {
        for client in 0..CLIENTS {
            if self.is_queueing[client] {
                continue;
            }
            self.side.clients[client].mark();
            let (values, ending) = match self.side.clients[client].until_mark() {
                Ending::Marked(values) => (values, None),
                Ending::Closed(values) => (values, Some("the server closes the connection")),
                Ending::Silent(values) => (values, Some("no reply")),
            };
            self.note(client, "# (in the end)", values, ending);
        }
    }

    fn note(
        &mut self,
        client: usize,
        what: &str,
        values: Vec<Value>,
        ending: Option<&'static str>,
    ) {
        let readable = |value| self.side.readable(value);
        self.exchanges.push(Exchange {
            client,
            words: vec![what.as_bytes().to_vec()],
            is_late: false,
            replies: values.into_iter().map(readable).collect(),
            ending,
        });
    }

    /// What was queued has not begun yet, so that time has to pass after EXEC.
    fn pass(&mut self, client: usize) {
        if self.is_queueing[client] {
            self.passes_later[client] = true;
        } else {
            self.side.pass(PASS_MS);
        }
    }

    /// Between MULTI and EXEC a mark would be queued, but each command has one reply there.
    fn is_counted(&self, client: usize, commands: &[Words]) -> bool {
        let turn = commands.last().map(is_turn).unwrap_or_default();
        match turn {
            Turn::Begin => true,
            Turn::None => self.is_queueing[client],
            Turn::End => false,
        }
    }

    /// Gives replies to commands, each its own.
    fn write_down(&mut self, client: usize, commands: Vec<Words>, ending: Ending) {
        let (values, ending) = match ending {
            Ending::Marked(values) => (values, None),
            Ending::Closed(values) => (values, Some("the server closes the connection")),
            Ending::Silent(values) => (values, Some("no reply")),
        };
        let mut values = values.into_iter();
        let count = commands.len();
        let is_reply_of = |how: &str| is(&commands[0], 1, "REPLY") && is(&commands[0], 2, how);
        // Nobody can tell what is whose while replies are off.
        let silent = match () {
            () if is_reply_of("OFF") => count - 1,
            () if is_reply_of("SKIP") => 2.min(count - 1),
            () => 0,
        };
        for (at, words) in commands.into_iter().enumerate() {
            let is_last = at + 1 == count;
            let mut replies = Vec::new();
            let has_own = at >= silent;
            while let Some(value) = has_own.then(|| values.next()).flatten() {
                let is_reply = !is_message(&value);
                replies.push(self.side.readable(value));
                if is_reply && !is_last {
                    break;
                }
            }
            if is(&words, 0, "XADD") || is(&words, 0, "EXEC") {
                for reply in &replies {
                    clock::find_made(reply, &mut self.made_by_clock);
                }
            }
            self.exchanges.push(Exchange {
                client,
                words,
                is_late: false,
                replies,
                ending: ending.filter(|_| is_last),
            });
        }
        if ending.is_some() {
            self.side.clients[client].reconnect(self.version);
            self.is_queueing[client] = false;
        }
    }

    fn last_reply_is_ok(&self) -> bool {
        let replies = self.exchanges.last().map(|exchange| &exchange.replies);
        replies.is_some_and(|replies| replies.last() == Some(&Value::Simple(b"OK".to_vec())))
    }

    /// Ends the wait of a client that waits.
    fn unblock(&mut self, client: usize) {
        for _ in 0..LOOKS {
            if self.side.clients[client].has_arrived(LOOK) {
                return;
            }
            self.side.unblock(client);
        }
    }

    fn resolved(&self, client: usize, command: &Words) -> Words {
        let resolve = |word: &Vec<u8>| match word.strip_prefix(MADE_BY_CLOCK.as_bytes()) {
            Some(number) => {
                let number = usize::from(number.first().map_or(0, |digit| digit - b'0'));
                let made = self.made_by_clock.get(number);
                made.cloned().unwrap_or_else(|| b"1-1".to_vec())
            }
            None if word.starts_with(b"$") => {
                self.side.resolved(word).unwrap_or_else(|| word.clone())
            }
            None => word.clone(),
        };
        if hunt::in_cluster() && cluster::is_left_out(command, self.is_queueing[client]) {
            return vec![b"PING".to_vec()];
        }
        command.iter().map(resolve).collect()
    }
}

/// What a command does to a transaction.
#[derive(Clone, Copy, Default, PartialEq)]
enum Turn {
    Begin,
    End,
    #[default]
    None,
}

fn is_turn(command: &Words) -> Turn {
    let is_one_of = |names: &[&str]| names.iter().any(|name| is(command, 0, name));
    if is(command, 0, "MULTI") && command.len() == 1 {
        Turn::Begin
    } else if is(command, 0, "EXEC") {
        // One with too many words ends a transaction too.
        Turn::End
    } else if is_one_of(&["DISCARD", "RESET", "QUIT"]) && command.len() == 1 {
        Turn::End
    } else {
        Turn::None
    }
}

/// Whether the word of that number is this one.
pub(super) fn is(command: &Words, at: usize, word: &str) -> bool {
    command
        .get(at)
        .is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether a value came because somebody published, or because of a subscription.
pub(super) fn is_message(value: &Value) -> bool {
    match value {
        Value::Push(_) => true,
        Value::Simple(_) => texts::monitored(value).is_some(),
        Value::Array(parts) => {
            let kind = parts.first().map_or(&b""[..], Value::text);
            parts.len() >= 3 && (kind.ends_with(b"subscribe") || kind.ends_with(b"message"))
        }
        _ => false,
    }
}

impl super::side::Line {
    /// So many replies, and the messages before them.
    fn counted(&mut self, count: usize) -> Ending {
        let mut arrived = Vec::new();
        let mut replies = 0;
        while replies < count {
            match self.next(Duration::from_secs(5)) {
                Some(Arrival::Reply(value)) => {
                    replies += usize::from(!is_message(&value));
                    arrived.push(value);
                }
                Some(Arrival::Closed) => return Ending::Closed(arrived),
                None => return Ending::Silent(arrived),
            }
        }
        Ending::Marked(arrived)
    }
}

/// The number of the client that looks at everything in the end.
pub(super) const OBSERVER: usize = usize::MAX;
/// Longer than the shortest deadlines that are set.
pub(super) const PASS_MS: u64 = 5;
const LOOK: Duration = Duration::from_millis(1);
const LOOKS: usize = 1_000;
