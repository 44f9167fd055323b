//! Commands of all kinds at random, from clients that hold each other back, end each other and break
//! off: is every command answered once, and in order?

use std::rc::Rc;

use tailrace_tests::Value;
use tailrace_tests::encode;

use super::line::Broken;
use super::line::Line;
use super::outcome::drive;
use super::reply::items;
use super::reply::text;
use super::world::Actor;
use super::world::World;
use super::world::turn;

/// The clients of a run.
pub(super) fn clients(world: &Rc<World>) -> Vec<Actor> {
    (0..CLIENTS)
        .map(|name| -> Actor { Box::pin(live(Rc::clone(world), name)) })
        .collect()
}

/// Those who only listen, until the run is over.
pub(super) fn listeners(world: &Rc<World>) -> Vec<Actor> {
    let commands = ["MONITOR", "PSUBSCRIBE *", "SUBSCRIBE a __keyevent@0__:xadd"];
    commands
        .into_iter()
        .map(|command| -> Actor { Box::pin(listen(Rc::clone(world), command)) })
        .collect()
}

/// Listens again whenever somebody ended it.
async fn listen(world: Rc<World>, command: &str) {
    loop {
        let mut line = Line::mortal(&world);
        let mut heard = line.call(&words(command)).await;
        while let Ok(message) = heard {
            world.note(&format!("{command} hears {message}"));
            heard = line.reply().await;
        }
    }
}

/// Lives until it has sent its share.
async fn live(world: Rc<World>, name: usize) {
    let mut left = COMMANDS;
    while left > 0 {
        let mut line = Line::mortal(&world);
        let client = Client {
            world: &world,
            name,
        };
        if let Err(Broken) = client.talk(&mut line, &mut left).await {
            client.note("its connection is gone");
        }
    }
}

struct Client<'a> {
    world: &'a Rc<World>,
    name: usize,
}

impl Client<'_> {
    async fn talk(&self, line: &mut Line, left: &mut usize) -> Result<(), Broken> {
        self.ask(line, &words("HELLO 3")).await?;
        while *left > 0 {
            *left -= 1;
            if self.world.one_in(8) {
                self.transact(line).await?;
                continue;
            }
            let command = self.command();
            self.ask(line, &command).await?;
            if command[0] == "RESET" {
                self.ask(line, &words("HELLO 3")).await?;
            }
            if self.world.one_in(10) {
                turn().await;
            }
        }
        Ok(())
    }

    /// Sends a command and a mark behind it: before the mark there is one reply.
    async fn ask(&self, line: &mut Line, command: &[String]) -> Result<Value, Broken> {
        let mark = format!("mark{}", self.world.below(1_000_000));
        let is_confirmed_by_push = command[0].contains("SUBSCRIBE");
        let mut bytes = encode(command);
        bytes.extend(encode(&["ECHO", &mark]));
        self.note(&command.join(" "));
        line.send(&bytes).await?;
        let mut reply = Value::Null;
        if !is_confirmed_by_push {
            reply = self.next(line).await?;
            self.note(&format!("hears {reply}"));
        }
        let echo = self.next(line).await?;
        assert_eq!(text(&echo), mark, "behind {}", command.join(" "));
        Ok(reply)
    }

    /// Sends a transaction as a whole: one reply to each part, and as many results as were queued.
    async fn transact(&self, line: &mut Line) -> Result<(), Broken> {
        let mut bytes = Vec::new();
        if self.world.one_in(2) {
            bytes.extend(encode(&["WATCH", self.key()]));
            bytes.extend(encode(&["GET", self.key()]));
        }
        let asked = usize::from(!bytes.is_empty()) * 2;
        bytes.extend(encode(&["MULTI"]));
        let count = self.world.below(5);
        for _ in 0..count {
            bytes.extend(encode(&self.data_command()));
        }
        bytes.extend(encode(&["EXEC"]));
        self.note(&format!("a transaction of {count}"));
        line.send(&bytes).await?;
        for _ in 0..asked {
            self.next(line).await?;
        }
        assert_eq!(self.next(line).await?.to_string(), "OK");
        for _ in 0..count {
            assert_eq!(self.next(line).await?.to_string(), "QUEUED");
        }
        match self.next(line).await? {
            Value::Null => self.note("its transaction was off"),
            results => assert_eq!(items(&results).len(), count),
        }
        Ok(())
    }

    /// The next reply; pushes may come in between.
    async fn next(&self, line: &mut Line) -> Result<Value, Broken> {
        loop {
            let value = line.reply().await?;
            if !matches!(value, Value::Push(_)) {
                return Ok(value);
            }
            self.note(&format!("is told {value}"));
        }
    }

    fn command(&self) -> Vec<String> {
        match self.world.below(12) {
            0 => words("CLIENT PAUSE 10 WRITE"),
            1 => words(self.world.pick(&["CLIENT PAUSE 5", "CLIENT UNPAUSE"])),
            2 => {
                // Of two hundred, some are there.
                let id = 1 + self.world.below(200);
                let what = self.world.pick(&["KILL ID", "UNBLOCK"]);
                let how = match what {
                    "KILL ID" => "SKIPME no",
                    _ => self.world.pick(&["ERROR", "TIMEOUT"]),
                };
                words(&format!("CLIENT {what} {id} {how}"))
            }
            3 => words(self.world.pick(&["QUIT", "RESET", "UNWATCH"])),
            4 => words(self.world.pick(&[
                "SUBSCRIBE a b",
                "PSUBSCRIBE *",
                "PUNSUBSCRIBE",
                "UNSUBSCRIBE",
            ])),
            5 => words(
                self.world
                    .pick(&["PUBLISH a x", "PUBLISH b y", "CLIENT LIST"]),
            ),
            6..=8 => self.waiting_command(),
            _ => self.data_command(),
        }
    }

    /// Waits for some milliseconds at most, if nothing comes.
    fn waiting_command(&self) -> Vec<String> {
        let (key, ms) = (self.key(), 1 + self.world.below(60));
        words(&match self.world.below(3) {
            0 => format!("XREAD BLOCK {ms} STREAMS a b $ 0-1"),
            1 => format!(
                "XREADGROUP GROUP g c{} BLOCK {ms} STREAMS {key} >",
                self.name
            ),
            _ => format!(
                "XREADGROUP GROUP g c{} BLOCK {ms} STREAMS a b > >",
                self.name
            ),
        })
    }

    fn data_command(&self) -> Vec<String> {
        let (key, other) = (self.key(), self.key());
        let name = self.name;
        words(&match self.world.below(30) {
            0..=8 => format!("XADD {key} * f v"),
            9..=13 => format!("XGROUP CREATE {key} g $ MKSTREAM"),
            14 => format!("XGROUP DESTROY {key} g"),
            15 => format!("XGROUP DELCONSUMER {key} g c{}", self.world.below(CLIENTS)),
            16..=18 => format!("XAUTOCLAIM {key} g c{name} 5 0"),
            19..=21 => format!("XREADGROUP GROUP g c{name} STREAMS {key} 0"),
            22 => format!("XTRIM {key} MAXLEN 3"),
            23 => format!("DEL {key}"),
            24 => format!("SET {key} v PX 20"),
            25 => format!("RENAME {key} {other}"),
            26 => format!("COPY {key} {other} REPLACE"),
            27 => format!("PEXPIRE {key} {}", self.world.below(30)),
            28 => "SWAPDB 0 1".to_owned(),
            _ => format!("XINFO STREAM {key} FULL"),
        })
    }

    fn key(&self) -> &'static str {
        self.world.pick(&["a", "b", "c"])
    }

    fn note(&self, event: &str) {
        self.world.note(&format!("client {}: {event}", self.name));
    }
}

/// When all of them have left, nothing of theirs is left either.
pub(super) async fn check(world: &Rc<World>) {
    drive(world, async |line| {
        let info = line.call(&["INFO", "clients"]).await.unwrap();
        let info = text(&info);
        for line in [
            "connected_clients:1",
            "blocked_clients:0",
            "watching_clients:0",
        ] {
            assert!(info.contains(line), "{line} is not in {info}");
        }
        let channels = line.call(&["PUBSUB", "CHANNELS"]).await.unwrap();
        assert_eq!(channels.to_string(), "[]");
    })
    .await;
}

fn words(command: &str) -> Vec<String> {
    command.split(' ').map(str::to_owned).collect()
}

const CLIENTS: usize = 10;
/// What one client sends.
const COMMANDS: usize = 300;
