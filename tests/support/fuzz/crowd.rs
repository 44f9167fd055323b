//! The clients of one server, and what is known of each: what it sent, and how many replies it is owed.

use std::env;
use std::sync::LazyLock;

use tailrace_protocol::Batch;
use tailrace_protocol::BatchBounds;
use tailrace_protocol::Decoder;
use tailrace_protocol::Limits;
use tailrace_protocol::Request;
use tailrace_server::Server;

use crate::client::encode;
use crate::pipe::Far;
use crate::pipe::pipe;
use crate::value::Value;

/// One client.
pub(super) struct Fuzzed {
    /// To be told apart by people.
    name: char,
    far: Far,
    /// Finds the requests in what was sent, as the server should.
    decoder: Decoder,
    batch: Batch,
    unread: Vec<u8>,
    output: Vec<u8>,
    /// How much of the output was looked at.
    parsed: usize,
    replies: usize,
    /// How many replies were asked for.
    asked: usize,
    /// Every request has one reply, and what comes besides is a push.
    is_counted: bool,
    /// It sent all it will, or what is no request.
    is_over: bool,
}

impl Fuzzed {
    pub(super) fn connect(server: &Server, name: char) -> Self {
        let (near, far) = pipe();
        server.serve(near);
        Self {
            name,
            far,
            decoder: Decoder::new(Limits::authenticated(BULK_BYTES_MAX)),
            batch: Batch::new(),
            unread: Vec::new(),
            output: Vec::new(),
            parsed: 0,
            replies: 0,
            asked: 0,
            is_counted: true,
            is_over: false,
        }
    }

    pub(super) fn far(&self) -> &Far {
        &self.far
    }

    /// Sends a command.
    pub(super) fn say<W: AsRef<[u8]>>(&mut self, words: &[W]) {
        self.send(&encode(words));
    }

    /// Sends bytes, unless they ask for what no server is to be asked for here.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        if self.is_over {
            return;
        }
        self.unread.extend_from_slice(bytes);
        let decoded = self
            .decoder
            .decode(&self.unread, &mut self.batch, BatchBounds::NONE);
        for index in 0..self.batch.len() {
            let request = self.batch.request(&self.unread, index);
            if request.is_empty() {
                continue;
            }
            if is_harmful(request) {
                return self.leave();
            }
            if *IS_SHOWN {
                println!("{}> {request:?}", self.name);
            }
            self.is_counted &= has_one_reply(request);
            self.asked += 1;
        }
        match decoded {
            Ok(used) => drop(self.unread.drain(..used)),
            Err(_) => {
                self.asked += 1;
                self.is_over = true;
            }
        }
        self.far.send(bytes);
    }

    /// Hangs up.
    pub(super) fn leave(&mut self) {
        // What it sent is not left to trickle in.
        self.far.deliver_in_pieces_of(usize::MAX);
        self.far.hang_up();
        self.end();
    }

    /// Nothing is sent or owed any more.
    pub(super) fn end(&mut self) {
        self.is_over = true;
        self.is_counted = false;
    }

    /// Whether it sends nothing more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Looks at what came so far: replies, and no more than were asked for.
    ///
    /// # Panics
    ///
    /// If it is not so.
    pub(super) fn check(&mut self) -> &[u8] {
        self.output.append(&mut self.far.take());
        while let Some((value, len)) = Value::parse(&self.output[self.parsed..]) {
            self.replies += usize::from(!matches!(value, Value::Push(_)));
            self.parsed += len;
        }
        // One may be an error for what is no request.
        let owed = self.asked + usize::from(self.far.is_closed());
        assert!(
            !self.is_counted || self.replies <= owed,
            "{} replies to {} requests",
            self.replies,
            self.asked
        );
        &self.output[self.parsed..]
    }

    /// The same when nothing more will come: whole replies, and as many as were asked for.
    ///
    /// # Panics
    ///
    /// If it is not so.
    pub(super) fn check_all(&mut self) {
        let rest = self.check().len();
        // What had not left when it was closed is lost.
        if !self.far.is_closed() && self.is_counted {
            assert_eq!(rest, 0, "half a reply");
            assert_eq!(self.replies, self.asked, "replies to requests");
        }
    }
}

/// Whether to show what is sent, to understand an input.
static IS_SHOWN: LazyLock<bool> = LazyLock::new(|| env::var_os("TAILRACE_FUZZ_SHOW").is_some());

/// What it sent is not left to trickle in.
impl Drop for Fuzzed {
    fn drop(&mut self) {
        self.far.deliver_in_pieces_of(usize::MAX);
    }
}

/// As the server is configured.
const BULK_BYTES_MAX: usize = 1_024 * 1_024;

/// What would end the process or keep it busy for seconds, by intent.
fn is_harmful(request: Request<'_>) -> bool {
    let word = |index: usize| request.get(index).unwrap_or_default().to_ascii_lowercase();
    let is_long = |word: &[u8], len: usize| word.len() > len || word.contains(&b'e');
    match word(0).as_slice() {
        b"debug" => match word(1).as_slice() {
            b"panic" | b"stringmatch-test" => true,
            b"populate" => request.skip(2).iter().any(|word| is_long(word, 3)),
            b"sleep" => is_long(&word(2), 4),
            _ => false,
        },
        // All that is known of all commands is a hundred kilobytes.
        b"command" => request.len() < 3 && matches!(word(1).as_slice(), b"" | b"docs" | b"info"),
        b"client" => word(1) == b"pause" && is_long(&word(2), 6),
        // Strings could be half a gigabyte then.
        b"config" => request
            .skip(2)
            .iter()
            .any(|word| word.to_ascii_lowercase().ends_with(b"-bulk-len")),
        _ => false,
    }
}

/// Whether a request has exactly one reply, whatever else its client hears.
fn has_one_reply(request: Request<'_>) -> bool {
    let name = request.get(0).unwrap_or_default().to_ascii_lowercase();
    let is_reply_mode = name == b"client"
        && request
            .get(1)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"reply"));
    !is_reply_mode && !name.ends_with(b"subscribe") && name != b"monitor"
}
