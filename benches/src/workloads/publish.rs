//! `publish/N`: clients that publish messages to N subscribers.

use super::CONNECTIONS;
use super::Facts;
use super::Sample;
use super::Site;
use super::Target;
use super::Unit;
use super::Workload;
use super::wait::poll_until;
use crate::fault::Fault;
use crate::load::Cast;
use crate::load::Hearing;
use crate::load::Repeat;
use crate::load::Talker;
use crate::resp::Reader;
use crate::resp::push_command;

/// Publishes messages.
pub(super) struct Publish {
    facts: Facts,
    subscribers: usize,
}

pub(super) const TO_1: Publish = Publish::new("publish/1", "PUBLISH to 1 subscriber", 1, 1.5);
pub(super) const TO_100: Publish =
    Publish::new("publish/100", "PUBLISH to 100 subscribers", 100, 2.5);
pub(super) const TO_1000: Publish =
    Publish::new("publish/1000", "PUBLISH to 1000 subscribers", 1_000, 2.5);

impl Publish {
    const fn new(name: &'static str, brief: &'static str, subscribers: usize, target: f64) -> Self {
        Self {
            facts: Facts {
                name,
                brief,
                question: "How many messages arrive when 50 clients publish to one channel?",
                unit: Unit::rate("deliveries/s"),
                target: Target::Times(target),
            },
            subscribers,
        }
    }
}

impl Workload for Publish {
    fn facts(&self) -> Facts {
        self.facts
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let publisher = |_| -> Box<dyn Talker> {
            let mut request = Vec::new();
            push_command(&mut request, &[b"PUBLISH", CHANNEL, MESSAGE]);
            Box::new(Repeat {
                request,
                replies: 1,
                // The messages are counted where they arrive.
                units: 0,
                times: u64::MAX,
            })
        };
        let cast = Cast {
            leads: (0..CONNECTIONS).map(publisher).collect(),
            others: (0..self.subscribers)
                .map(|_| -> Box<dyn Talker> { Box::new(Subscriber::new()) })
                .collect(),
        };
        let mut control = site.control()?;
        let subscribers = i64::try_from(self.subscribers).unwrap_or(i64::MAX);
        let mut all_listen = || {
            poll_until("subscribe", || {
                let reply = control.call(&[b"PUBSUB", b"NUMSUB", CHANNEL])?;
                let mut reader = Reader::new(&reply);
                reader.array()?;
                reader.bulk()?;
                Ok(reader.integer()? >= subscribers)
            })
        };
        site.play_for_a_while(cast, &mut all_listen)
            .map(Sample::from)
    }
}

/// Subscribes and listens.
struct Subscriber {
    request: Vec<u8>,
    message: Vec<u8>,
    /// Replies to come that are no messages.
    confirmations: u64,
}

impl Subscriber {
    fn new() -> Self {
        let mut request = Vec::new();
        push_command(&mut request, &[b"SUBSCRIBE", CHANNEL]);
        let mut message = Vec::new();
        // In RESP2 a message has the form of a command.
        push_command(&mut message, &[b"message", CHANNEL, MESSAGE]);
        Self {
            request,
            message,
            confirmations: 1,
        }
    }
}

impl Talker for Subscriber {
    fn prepare(&mut self) -> u64 {
        1
    }

    fn request(&self) -> &[u8] {
        &self.request
    }

    fn hearing(&self) -> Hearing {
        Hearing::Listen
    }

    fn on_replies(&mut self, _replies: &[u8]) -> Result<u64, Fault> {
        Ok(0)
    }

    fn message(&self) -> &[u8] {
        &self.message
    }

    fn on_messages(&mut self, count: u64) -> u64 {
        let confirmations = self.confirmations.min(count);
        self.confirmations -= confirmations;
        count - confirmations
    }

    fn timed_from(&self, _asked_at: std::time::Instant) -> Option<std::time::Instant> {
        None
    }
}

const CHANNEL: &[u8] = b"tailrace-bench";

/// As long as the values of an entry.
const MESSAGE: &[u8] = b"device-000/sensor-x=0000000000 kilowatt";
