//! A connection that may break: after so many bytes sent, or so many bytes received.

use std::rc::Rc;

use tailrace_tests::Far;
use tailrace_tests::Value;
use tailrace_tests::encode;
use tailrace_tests::pipe;

use super::world::World;
use super::world::turn;

/// The connection is gone; what became of the last command is not known.
#[derive(Debug)]
pub(super) struct Broken;

/// One connection.
pub(super) struct Line {
    world: Rc<World>,
    far: Far,
    input: Vec<u8>,
    is_reliable: bool,
    /// The server may close it, because somebody asked for that.
    is_mortal: bool,
    /// How many bytes can still be sent before it breaks.
    until_broken: usize,
    /// How many bytes can still be received before it breaks.
    until_silent: usize,
}

impl Line {
    /// A connection that holds.
    pub(super) fn reliable(world: &Rc<World>) -> Self {
        let (near, far) = pipe();
        world.serve(near);
        Self {
            world: Rc::clone(world),
            far,
            input: Vec::new(),
            is_reliable: true,
            is_mortal: false,
            until_broken: usize::MAX,
            until_silent: usize::MAX,
        }
    }

    /// A connection that breaks sooner or later, in one of several ways.
    pub(super) fn frail(world: &Rc<World>) -> Self {
        let mut line = Self::reliable(world);
        line.is_reliable = false;
        match world.below(4) {
            0 => line.until_broken = world.below(3_000),
            1 => {
                // The server's writing stops in the middle of a reply, and then the client is gone.
                line.until_silent = world.below(6_000);
                line.far.open_window(line.until_silent);
            }
            _ => {}
        }
        if world.one_in(2) {
            line.far.deliver_in_pieces_of(1 + world.below(40));
        }
        line
    }

    /// A connection that breaks, unless others end it before that.
    pub(super) fn mortal(world: &Rc<World>) -> Self {
        let mut line = Self::frail(world);
        line.is_mortal = true;
        line
    }

    /// Sends commands in seeded pieces.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let len = match self.world.one_in(3) {
                true => 1 + self.world.below(rest.len()),
                false => rest.len(),
            };
            if len > self.until_broken {
                self.far.send(&rest[..self.until_broken]);
                self.leave();
                return Err(Broken);
            }
            let (piece, after) = rest.split_at(len);
            self.far.send(piece);
            self.until_broken -= len;
            rest = after;
            if !rest.is_empty() {
                turn().await;
            }
        }
        Ok(())
    }

    /// Sends one command and waits for its reply.
    pub(super) async fn call<W: AsRef<[u8]>>(&mut self, words: &[W]) -> Result<Value, Broken> {
        self.send(&encode(words)).await?;
        self.reply().await
    }

    /// Waits for the next reply.
    pub(super) async fn reply(&mut self) -> Result<Value, Broken> {
        loop {
            turn().await;
            let taken = self.far.take();
            self.until_silent -= taken.len();
            self.input.extend_from_slice(&taken);
            if let Some((value, len)) = Value::parse(&self.input) {
                self.input.drain(..len);
                return Ok(value);
            }
            if self.is_mortal && self.far.is_closed() {
                return Err(Broken);
            }
            if self.until_silent == 0 {
                self.leave();
                return Err(Broken);
            }
            assert!(!self.far.is_closed(), "the server closed a connection");
        }
    }

    /// Breaks at once if the seed says so. A reliable one never does.
    pub(super) fn maybe_break(&self, one_in: usize) -> Result<(), Broken> {
        if !self.is_reliable && self.world.one_in(one_in) {
            self.leave();
            return Err(Broken);
        }
        Ok(())
    }

    fn leave(&self) {
        match self.world.below(3) {
            0 => self.far.cut(),
            1 => self.far.hang_up(),
            _ => self.far.half_close(),
        }
    }
}
