//! The connections of one thread, and the turns that they take.

use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use mio::Events;
use mio::Interest;
use mio::Poll;
use mio::Token;

use super::Bounds;
use super::Cast;
use super::Outcome;
use super::Talker;
use super::connection::Connection;
use crate::clock;
use crate::fault::Fault;

/// A talker, and where it connects.
type Seat = (SocketAddr, Box<dyn Talker>);

/// The connections of one thread.
pub(super) struct Crew {
    poll: Poll,
    /// Those that lead come first.
    connections: Vec<Connection>,
    /// How many lead and have more to say.
    talking: usize,
    /// Those that lead and wait for others.
    held: Vec<usize>,
    /// When the first of those is due that have a time.
    next_due: Option<Instant>,
    bounds: Bounds,
}

impl Crew {
    /// Opens all connections. Those that lead share the threads, unless they depend on others.
    pub(super) fn connect_all(
        addresses: &[SocketAddr],
        cast: Cast,
        bounds: Bounds,
    ) -> Result<Vec<Self>, Fault> {
        let Cast { leads, others } = cast;
        let in_turn = addresses.iter().copied().cycle();
        let mut leads: Vec<Seat> = in_turn.zip(leads).collect();
        let mut others: Vec<Seat> = others
            .into_iter()
            .map(|talker| (addresses[0], talker))
            .collect();
        let threads = if others.is_empty() { bounds.threads } else { 1 };
        let crew_len = leads.len().div_ceil(threads.max(1)).max(1);
        let mut crews = Vec::new();
        while !leads.is_empty() {
            let later = leads.split_off(crew_len.min(leads.len()));
            let others = std::mem::take(&mut others);
            crews.push(Self::connect(leads, others, bounds)?);
            leads = later;
        }
        Ok(crews)
    }

    fn connect(leads: Vec<Seat>, others: Vec<Seat>, bounds: Bounds) -> Result<Self, Fault> {
        let poll = Poll::new().map_err(Fault::io("cannot poll"))?;
        let talking = leads.len();
        let mut connections = Vec::with_capacity(leads.len() + others.len());
        for (address, talker) in leads.into_iter().chain(others) {
            let mut connection = Connection::open(address, talker)?;
            let token = Token(connections.len());
            poll.registry()
                .register(
                    connection.source(),
                    token,
                    Interest::READABLE | Interest::WRITABLE,
                )
                .map_err(Fault::io("cannot poll a connection"))?;
            connections.push(connection);
        }
        for other in &mut connections[talking..] {
            other.say(clock::now())?;
        }
        Ok(Self {
            poll,
            connections,
            talking,
            held: Vec::new(),
            next_due: None,
            bounds,
        })
    }

    pub(super) fn run(mut self, start: Instant, done: &AtomicU64) -> Result<Outcome, Fault> {
        let mut outcome = Outcome::new();
        let mut buffer = vec![0; READ_BYTES_MAX];
        let mut events = Events::with_capacity(self.connections.len().max(1));
        let end = start + self.bounds.time_max;
        let leads = self.talking;
        let has_others = self.connections.len() > leads;

        for lead in 0..leads {
            self.say(lead, clock::now(), end)?;
        }
        while self.talking > 0 {
            self.wait(&mut events)?;
            for event in &events {
                let number = event.token().0;
                if event.is_writable() {
                    self.connections[number].flush()?;
                }
                while let Some(answer) = self.connections[number].hear(&mut buffer)? {
                    done.fetch_add(answer.units, Ordering::Relaxed);
                    outcome.on_answer(&answer, start);
                    if number < leads {
                        self.say(number, answer.at, end)?;
                    } else {
                        self.connections[number].say(answer.at)?;
                    }
                    if !answer.may_have_more {
                        break;
                    }
                }
            }
            self.next_due = None;
            for lead in std::mem::take(&mut self.held) {
                self.say(lead, clock::now(), end)?;
            }
        }
        if has_others {
            self.hear_out(&mut events, &mut buffer, start, &mut outcome)?;
        }
        Ok(outcome)
    }

    /// Lets one that leads go on, unless it has to wait, has said everything, or is out of time.
    fn say(&mut self, lead: usize, now: Instant, end: Instant) -> Result<(), Fault> {
        let connection = &mut self.connections[lead];
        if now < end && connection.is_held() {
            self.held.push(lead);
        } else if let Some(due) = connection.held_until(now).filter(|&due| due < end) {
            self.next_due = Some(self.next_due.map_or(due, |next| next.min(due)));
            self.held.push(lead);
        } else if now >= end || connection.held_until(now).is_some() || !connection.say(now)? {
            self.talking -= 1;
        }
        Ok(())
    }

    /// Takes what is still on its way to the others, who say nothing more.
    fn hear_out(
        &mut self,
        events: &mut Events,
        buffer: &mut [u8],
        start: Instant,
        outcome: &mut Outcome,
    ) -> Result<(), Fault> {
        loop {
            match self.poll.poll(events, Some(HEARD_OUT_AFTER)) {
                Ok(()) if events.is_empty() => return Ok(()),
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Fault::io("cannot poll")(error)),
            }
            for event in events.iter() {
                let connection = &mut self.connections[event.token().0];
                while let Some(answer) = connection.hear(buffer)? {
                    outcome.on_answer(&answer, start);
                    if !answer.may_have_more {
                        break;
                    }
                }
            }
        }
    }

    /// Waits until there is an event, or a request is due.
    fn wait(&mut self, events: &mut Events) -> Result<(), Fault> {
        // The system counts such times in milliseconds. What is due sooner is waited for awake.
        let until_due = self
            .next_due
            .map(|due| due.saturating_duration_since(clock::now()));
        let time_max = match until_due {
            Some(time) if time < AWAKE_TIME_MAX => Duration::ZERO,
            Some(time) => time.min(self.bounds.silence_max) - AWAKE_TIME_MAX,
            None => self.bounds.silence_max,
        };
        loop {
            match self.poll.poll(events, Some(time_max)) {
                Ok(()) if events.is_empty() && until_due.is_some() => return Ok(()),
                Ok(()) if events.is_empty() => return Err(Fault::Stalled(self.bounds.silence_max)),
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::io("cannot poll")(error)),
            }
        }
    }
}

/// How long before it is due a request is waited for without sleeping.
const AWAKE_TIME_MAX: Duration = Duration::from_millis(2);

/// Silence after which nothing more is expected to come.
const HEARD_OUT_AFTER: Duration = Duration::from_millis(50);

/// What one read takes at most; 50 connections with a pipeline of 64 have far less to say.
const READ_BYTES_MAX: usize = 256 * 1_024;
