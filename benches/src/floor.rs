//! The floor of a comparison: a server that parses commands, with Tailrace's decoder, and answers constants.
//!
//! Nothing that a server does for its clients beyond that is done here, so it tells how much of a figure is sockets,
//! parsing and the load itself. One thread polls all clients. `answers.rs` has the constants.

mod answers;

use std::io::ErrorKind;
use std::io::Read;
use std::io::Write;
use std::net::Ipv4Addr;

use mio::Events;
use mio::Interest;
use mio::Poll;
use mio::Token;
use mio::net::TcpListener;
use mio::net::TcpStream;
use tailrace_protocol::Batch;
use tailrace_protocol::BatchBounds;
use tailrace_protocol::Decoder;
use tailrace_protocol::Limits;

use self::answers::Answers;
use self::answers::Session;
use crate::fault::Fault;

/// Serves at a port of this host until the process is killed; says on `out` when it is ready.
///
/// # Errors
///
/// [`Fault::Io`] if the port cannot be had.
pub(crate) fn serve(port: u16, out: &mut impl Write) -> Result<(), Fault> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port).into())
        .map_err(Fault::io(format!("cannot listen at port {port}")))?;
    let mut floor = Floor::new(listener).map_err(Fault::io("cannot poll"))?;
    writeln!(out, "Ready to accept connections on port {port}")
        .and_then(|()| out.flush())
        .map_err(Fault::io("cannot say that it is ready"))?;
    loop {
        floor.turn().map_err(Fault::io("cannot poll"))?;
    }
}

struct Floor {
    poll: Poll,
    listener: TcpListener,
    events: Events,
    /// By number; a client that left leaves its place to a later one.
    clients: Vec<Option<Client>>,
    answers: Answers,
    batch: Batch,
}

impl Floor {
    fn new(mut listener: TcpListener) -> std::io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            listener,
            events: Events::with_capacity(EVENTS_MAX),
            clients: Vec::new(),
            answers: Answers::default(),
            batch: Batch::new(),
        })
    }

    /// Waits for events and does what they ask for.
    fn turn(&mut self) -> std::io::Result<()> {
        match self.poll.poll(&mut self.events, None) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        let mut is_called = false;
        for event in &self.events {
            let Token(number) = event.token();
            let Some(place) = self.clients.get_mut(number) else {
                is_called = true;
                continue;
            };
            let stays = place
                .as_mut()
                .is_some_and(|client| client.serve(&mut self.batch, &mut self.answers).is_ok());
            if !stays {
                *place = None;
            }
        }
        if is_called {
            self.accept()?;
        }
        Ok(())
    }

    fn accept(&mut self) -> std::io::Result<()> {
        // Whatever else goes wrong with one who calls is that one's affair.
        while let Ok((mut stream, _)) = self.listener.accept() {
            stream.set_nodelay(true)?;
            let free = self.clients.iter().position(Option::is_none);
            let number = free.unwrap_or(self.clients.len());
            let interest = Interest::READABLE | Interest::WRITABLE;
            self.poll
                .registry()
                .register(&mut stream, Token(number), interest)?;
            let client = Some(Client::new(stream));
            match free {
                Some(number) => self.clients[number] = client,
                None => self.clients.push(client),
            }
        }
        Ok(())
    }
}

struct Client {
    stream: TcpStream,
    decoder: Decoder,
    session: Session,
    /// Bytes that were read; those up to `len` are no whole command yet.
    input: Vec<u8>,
    len: usize,
    /// Replies that the socket has not taken.
    output: Vec<u8>,
}

impl Client {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            decoder: Decoder::new(Limits::default()),
            session: Session::default(),
            input: vec![0; INPUT_BYTES],
            len: 0,
            output: Vec::new(),
        }
    }

    /// Answers everything that there is to read; an error ends the client.
    fn serve(&mut self, batch: &mut Batch, answers: &mut Answers) -> std::io::Result<()> {
        self.flush()?;
        loop {
            if self.len == self.input.len() {
                self.input.resize(self.len * 2, 0);
            }
            let room = self.input.len() - self.len;
            let read = match self.stream.read(&mut self.input[self.len..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.len += read;
            self.answer(batch, answers)?;
            self.flush()?;
            // A read that left room has taken all there was; what comes later is another event.
            if read < room {
                return Ok(());
            }
        }
    }

    fn answer(&mut self, batch: &mut Batch, answers: &mut Answers) -> std::io::Result<()> {
        let input = &self.input[..self.len];
        let used = self
            .decoder
            .decode(input, batch, BatchBounds::NONE)
            .map_err(|_| ErrorKind::InvalidData)?;
        for number in 0..batch.len() {
            let request = batch.request(input, number);
            answers.answer(request, &mut self.session, &mut self.output);
        }
        self.input.copy_within(used..self.len, 0);
        self.len -= used;
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let mut sent = 0;
        while sent < self.output.len() {
            match self.stream.write(&self.output[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.output.drain(..sent);
        Ok(())
    }
}

/// No client has this number.
const LISTENER: Token = Token(usize::MAX);

/// Events that are taken at once: those of a load's clients.
const EVENTS_MAX: usize = 1_024;

/// As much as Tailrace reads at once.
const INPUT_BYTES: usize = 64 * 1_024;
