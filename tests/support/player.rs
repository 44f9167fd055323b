//! Plays a transcript to a server and writes down what was really said.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use crate::client::Arrival;
use crate::client::Client;
use crate::client::encode;
use crate::control;
use crate::control::Control;
use crate::control::LOOK;
use crate::control::LOOKS_SILENT;
use crate::lex;
use crate::lex::Symbols;
use crate::pattern::Moment;
use crate::pattern::Pattern;
use crate::record;
use crate::script;
use crate::script::Part;
use crate::script::Step;
use crate::target::Target;
use crate::value::Value;

/// How a transcript went.
#[derive(Debug)]
pub struct Played {
    /// The transcript as it should read: what was expected where that is what came, and what came elsewhere.
    pub text: String,
    /// Where something else came.
    pub differences: Vec<Difference>,
}

/// A place where the server said something else.
#[derive(Debug)]
pub struct Difference {
    /// The line of the command, from 1.
    pub line: usize,
    /// The command.
    pub input: String,
    /// What the transcript says; empty if nothing.
    pub want: String,
    /// What the server said; empty if nothing.
    pub got: String,
}

/// Plays `script` to `target`.
///
/// # Errors
///
/// What is wrong with the transcript itself, in words.
pub fn play(script: &str, target: &mut dyn Target) -> Result<Played, String> {
    let parts = script::parse(script)?;
    let control = Control::connect(target.address()).map_err(|error| error.to_string())?;
    let mut player = Player {
        target,
        control,
        clients: BTreeMap::new(),
        symbols: Symbols::default(),
        is_skipping: false,
        looks_patient: LOOKS_PATIENT,
    };
    let mut played = Played {
        text: String::new(),
        differences: Vec::new(),
    };
    for part in &parts {
        match part {
            Part::Aside(line) => push_line(&mut played.text, line),
            Part::Step(step) => player
                .step(step, &mut played)
                .map_err(|reason| format!("line {}: {}: {reason}", step.line, step.input))?,
        }
    }
    Ok(played)
}

struct Player<'t> {
    target: &'t mut dyn Target,
    control: Control,
    clients: BTreeMap<String, Client>,
    symbols: Symbols,
    /// Since a `@tailrace-only`.
    is_skipping: bool,
    /// Looks at a socket before something that the transcript expects counts as lost.
    looks_patient: usize,
}

/// What came in reply.
pub(crate) enum Said {
    Value(Value),
    /// Something that is not a value: `(waiting)` and the like.
    Mark(String),
}

impl Said {
    fn from_arrival(arrival: Arrival) -> Self {
        match arrival {
            Arrival::Reply(value) => Self::Value(value),
            Arrival::Closed => Self::Mark("(closed)".to_owned()),
        }
    }
}

impl Player<'_> {
    fn step(&mut self, step: &Step, played: &mut Played) -> Result<(), String> {
        push_line(&mut played.text, &step.input);
        if self.is_skipping {
            keep(step, &mut played.text);
            return Ok(());
        }
        let mut got = String::new();
        if let Some(said) = self.act(step)? {
            push_line(&mut got, &self.judge(step.reply.as_deref(), said)?);
        }
        if self.is_skipping {
            keep(step, &mut played.text);
            return Ok(());
        }
        let mut late = self.late(step);
        for (name, said, expected) in late.drain(..) {
            let text = self.judge(expected.as_deref(), said)?;
            push_line(&mut got, &format!("{name}< {text}"));
        }
        let mut want = String::new();
        keep(step, &mut want);
        if got != want {
            // A story that has gone another way is not worth much waiting.
            self.looks_patient = LOOKS_SILENT;
            played.differences.push(Difference {
                line: step.line,
                input: step.input.clone(),
                want,
                got: got.clone(),
            });
        }
        played.text.push_str(&got);
        Ok(())
    }

    /// Does what the line says, and returns what came in reply if the line is one that is replied to.
    fn act(&mut self, step: &Step) -> Result<Option<Said>, String> {
        if let Some(directive) = step.input.strip_prefix('@') {
            let (word, rest) = directive.split_once(' ').unwrap_or((directive, ""));
            return self.direct(word, rest, step);
        }
        let (name, command) = script::split_name(&step.input, "> ").ok_or("no client says this")?;
        let words = lex::words(command, &self.symbols)?;
        self.client(name)?.say(&words);
        Ok(Some(self.await_reply(name, step.reply.as_deref())))
    }

    fn direct(&mut self, word: &str, rest: &str, step: &Step) -> Result<Option<Said>, String> {
        let number = || rest.parse::<u64>().map_err(|error| error.to_string());
        match word {
            "advance" => self.target.advance(number()?),
            "clock" => self.target.set_clock(number()?)?,
            "resp3" => {
                self.client(rest)?.say(&["HELLO", "3"]);
                self.await_reply(rest, Some("..."));
            }
            "close" => self.close(rest)?,
            "half-close" => self.client(rest)?.half_close(),
            "raw" => {
                let (name, bytes) = rest.split_once(' ').ok_or("who sends what?")?;
                let words = lex::words(bytes, &self.symbols)?;
                self.client(name)?.send(&words.concat());
            }
            "pipeline" => {
                let (name, commands) = rest.split_once(' ').ok_or("who sends what?")?;
                let commands: Result<Vec<_>, _> = commands
                    .split(" | ")
                    .map(|command| lex::words(command, &self.symbols))
                    .collect();
                self.client(name)?.say_all(&commands?);
            }
            "config" => {
                let words = lex::words(rest, &self.symbols)?;
                self.configure(&words)?;
            }
            // Whoever starts the server has looked for it.
            "cluster" | "testdouble" => {}
            "repeat" => return self.repeat(rest).map(Some),
            "tailrace-only" => {
                self.is_skipping = self.target.is_reference() || !self.target.has_manual_clock();
            }
            other => return Err(format!("no directive @{other} ({})", step.line)),
        }
        Ok(None)
    }

    fn configure(&mut self, words: &[Vec<u8>]) -> Result<(), String> {
        let mut command = vec!["CONFIG", "SET"];
        for word in words {
            command.push(std::str::from_utf8(word).map_err(|error| error.to_string())?);
        }
        match self.control.ask(&command) {
            Some(Value::Simple(ok)) if ok == b"OK" => Ok(()),
            other => Err(format!("CONFIG SET answered {other:?}")),
        }
    }

    fn client(&mut self, name: &str) -> Result<&mut Client, String> {
        if !self.clients.contains_key(name) {
            let mut client = Client::connect(self.target.address()).map_err(|e| e.to_string())?;
            client.ignore(self.control.local());
            self.clients.insert(name.to_owned(), client);
        }
        self.clients.get_mut(name).ok_or_else(|| name.to_owned())
    }

    /// Closes a client's connection and waits until the server has noticed.
    fn close(&mut self, name: &str) -> Result<(), String> {
        let client = self.clients.remove(name).ok_or("nobody of that name")?;
        let address = client.local().to_string();
        drop(client);
        for _ in 0..LOOKS_SILENT {
            if !self.control.addresses().contains(&address) {
                return Ok(());
            }
            self.control.answer(Some(LOOK));
        }
        Err("the server does not notice".to_owned())
    }

    /// Waits for the first reply, or until it is clear that there is none for now.
    fn await_reply(&mut self, name: &str, expected: Option<&str>) -> Said {
        let Some(client) = self.clients.get_mut(name) else {
            return Said::Mark("(closed)".to_owned());
        };
        let looks_max = match expected {
            Some("(nothing)") => LOOKS_NOTHING,
            None | Some("(waiting)") => LOOKS_SILENT,
            Some(_) => self.looks_patient,
        };
        let question = ["CLIENT", "LIST"];
        let mut is_asked = false;
        for _ in 0..looks_max {
            if client.poll(Some(LOOK)) {
                break;
            }
            if !is_asked {
                self.control.begin(&question);
                is_asked = true;
            } else if let Some(list) = self.control.answer(None) {
                is_asked = false;
                let is_blocked = control::is_blocked(&list, client.local());
                if is_blocked && !client.poll(None) {
                    return Said::Mark("(waiting)".to_owned());
                }
            }
        }
        match client.take() {
            Some(arrival) => Said::from_arrival(arrival),
            // A server that does not answer anybody holds everybody back.
            None if is_asked
                && self
                    .control
                    .is_silent(LOOKS_SILENT.saturating_sub(looks_max)) =>
            {
                Said::Mark("(waiting)".to_owned())
            }
            None => Said::Mark("(nothing)".to_owned()),
        }
    }

    /// `name count words`: sends them all, then reads all replies.
    fn repeat(&mut self, rest: &str) -> Result<Said, String> {
        let mut parts = rest.splitn(3, ' ');
        let (Some(name), Some(count), Some(template)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err("who sends what how often?".to_owned());
        };
        let count: usize = count.parse().map_err(|_| "how often?")?;
        let words = lex::words(template, &self.symbols)?;
        let mut bytes = Vec::new();
        for n in 1..=count {
            let said: Vec<Vec<u8>> = words.iter().map(|word| numbered(word, n)).collect();
            bytes.extend_from_slice(&encode(&said));
        }
        let client = self.client(name)?;
        client.send(&bytes);
        drop(bytes);
        let mut summary = record::Summary::default();
        while summary.count() < count {
            let mut looks = 0;
            while !client.poll(Some(LOOK)) {
                looks += 1;
                if looks == LOOKS_PATIENT {
                    return Err(format!("{} replies came, then no more", summary.count()));
                }
            }
            while let Some(arrival) = client.take() {
                let Arrival::Reply(value) = arrival else {
                    return Err(format!("closed after {} replies", summary.count()));
                };
                summary.add(value);
            }
        }
        Ok(Said::Mark(summary.text()))
    }

    /// All that came to anybody beyond the first reply, in the order of the transcript if it has as many for each.
    fn late(&mut self, step: &Step) -> Vec<(String, Said, Option<String>)> {
        self.control.settle();
        let mut came: BTreeMap<String, VecDeque<Said>> = BTreeMap::new();
        let mut looks_left = if step.late.is_empty() {
            0
        } else {
            self.looks_patient
        };
        loop {
            let mut is_complete = true;
            for (name, client) in &mut self.clients {
                let expected = step.late.iter().filter(|(whose, _)| whose == name).count();
                let queue = came.entry(name.clone()).or_default();
                let is_short = queue.len() < expected;
                client.poll((is_short && looks_left > 0).then_some(LOOK));
                while let Some(arrival) = client.take() {
                    queue.push_back(Said::from_arrival(arrival));
                }
                is_complete &= queue.len() >= expected;
            }
            if is_complete || looks_left == 0 {
                break;
            }
            looks_left -= 1;
        }
        let sorted = in_order(&step.late, came);
        for (name, said, _) in &sorted {
            if matches!(said, Said::Mark(_)) {
                self.clients.remove(name);
            }
        }
        sorted
    }

    /// What the transcript should say: the expectation if it holds, what came otherwise.
    fn judge(&mut self, expected: Option<&str>, said: Said) -> Result<String, String> {
        let value = match said {
            Said::Mark(mark) => return Ok(mark),
            Said::Value(value) => value,
        };
        let Some(expected) = expected else {
            return Ok(record::recorded(
                &value,
                &mut self.symbols,
                &mut self.control,
            ));
        };
        let pattern = Pattern::parse(expected)?;
        let wall_micros = if pattern.asks_for_time() {
            self.control.wall_micros()
        } else {
            0
        };
        let moment = Moment {
            wall_micros,
            tolerance_ms: self.target.tolerance_ms(),
        };
        let before = self.symbols.clone();
        if pattern.matches(&value, &mut self.symbols, moment) {
            return Ok(expected.to_owned());
        }
        self.symbols = before;
        Ok(record::recorded(
            &value,
            &mut self.symbols,
            &mut self.control,
        ))
    }
}

/// Pairs what came with what was expected.
fn in_order(
    expected: &[(String, String)],
    mut came: BTreeMap<String, VecDeque<Said>>,
) -> Vec<(String, Said, Option<String>)> {
    let mut sorted = Vec::new();
    for (name, text) in expected {
        let Some(said) = came.get_mut(name).and_then(VecDeque::pop_front) else {
            continue;
        };
        sorted.push((name.clone(), said, Some(text.clone())));
    }
    for (name, rest) in came {
        sorted.extend(rest.into_iter().map(|said| (name.clone(), said, None)));
    }
    sorted
}

fn numbered(word: &[u8], n: usize) -> Vec<u8> {
    let text = String::from_utf8_lossy(word);
    text.replace("{n}", &n.to_string()).into_bytes()
}

fn keep(step: &Step, text: &mut String) {
    if let Some(reply) = &step.reply {
        push_line(text, reply);
    }
    for (name, reply) in &step.late {
        push_line(text, &format!("{name}< {reply}"));
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// Looks at a socket before it counts as given that a command is not replied to at all.
const LOOKS_NOTHING: usize = 5;

/// Looks at a socket before something that a transcript expects counts as lost, as long as all went well.
const LOOKS_PATIENT: usize = 1_000;
