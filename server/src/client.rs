//! What the server remembers about each connection, and the table of all of them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use tailrace_protocol::Version;
use tailrace_storage::Instant;
use tailrace_storage::WaiterId;

use crate::cluster::NodeIndex;
use crate::link::Link;
use crate::outbox::Due;
use crate::pubsub::Subscriptions;
use crate::spec::Spec;
use crate::tracking::Tracking;
use crate::transaction::Transaction;
use crate::transaction::Watches;

/// Names one client: its slot in the table, and the number that no other client ever has.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ClientId {
    /// What `CLIENT ID` says; starts at 1.
    pub number: u64,
    slot: u32,
}

impl ClientId {
    /// Names no client.
    pub(crate) const NOBODY: Self = Self { number: 0, slot: 0 };
}

#[cfg(test)]
impl ClientId {
    /// A name for tests of what does not look into the table.
    pub(crate) fn of_test(number: u64) -> Self {
        Self { number, slot: 0 }
    }
}

/// Whether a client hears replies.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReplyMode {
    /// As usual.
    #[default]
    On,
    /// Not until told otherwise.
    Off,
    /// Not of the next command.
    SkipNext,
    /// Not of this command.
    Skip,
}

/// One connected client.
pub struct Client {
    /// Its name in the table.
    pub id: ClientId,
    /// Its remote address, as `CLIENT LIST` shows it.
    pub addr: String,
    /// Its local address.
    pub laddr: String,
    /// Whether it came through the Unix socket.
    pub unix: bool,
    /// Whether it comes from this host.
    pub local: bool,
    /// The descriptor of its socket; -1 if it has none.
    pub fd: i32,
    /// When it connected.
    pub connected_at: Instant,
    /// When it last sent something or was sent something.
    pub active_at: Instant,
    /// The dialect of its replies.
    pub version: Version,
    /// Its database.
    pub db: usize,
    /// Whether it may do anything besides authenticating.
    pub authenticated: bool,
    /// `CLIENT SETNAME`; empty if it has none.
    pub name: Vec<u8>,
    /// `CLIENT SETINFO LIB-NAME`.
    pub lib_name: Vec<u8>,
    /// `CLIENT SETINFO LIB-VER`.
    pub lib_version: Vec<u8>,
    /// `CLIENT REPLY`.
    pub reply_mode: ReplyMode,
    /// `CLIENT NO-EVICT`.
    pub no_evict: bool,
    /// `CLIENT NO-TOUCH`.
    pub no_touch: bool,
    /// `CLIENT IMPORT-SOURCE`.
    pub import_source: bool,
    /// `CLIENT CAPA redirect`.
    pub capa_redirect: bool,
    /// `READONLY`.
    pub readonly: bool,
    /// `ASKING`: what it says next may go to a slot that is on its way to its node.
    pub asking: bool,
    /// The node of a cluster that it is connected to.
    pub face: NodeIndex,
    /// That node is a face of another engine now, which its connection is to take it to.
    pub is_sent_away: bool,
    /// Whether it sees the commands of all clients.
    pub is_monitor: bool,
    /// Commands queued since `MULTI`.
    pub transaction: Option<Box<Transaction>>,
    /// How many commands its `EXEC` executes, while it does.
    pub executing: Option<usize>,
    /// It queued or watched something at some time, which `CLIENT LIST` shows.
    pub has_transacted: bool,
    /// Keys it watches.
    pub watches: Watches,
    /// Channels and patterns it listens to.
    pub subscriptions: Subscriptions,
    /// What it asked for with `CLIENT TRACKING`, if it ever did.
    pub tracking: Option<Box<Tracking>>,
    /// The command that waits, if one does.
    pub waiter: Option<WaiterId>,
    /// The gate holds its command.
    pub gated: bool,
    /// The gate was opened for that command, whose turn comes soon.
    pub is_let_go: bool,
    /// What it sent behind the command that waits, until its connection takes it back.
    pub(crate) backlog: Vec<u8>,
    /// The last command, if there is such a command.
    pub last_command: Option<&'static Spec>,
    /// To be closed once its replies are out.
    pub closing: bool,
    /// Closing, but it wanted no replies, and as in the reference nothing closes a connection on which
    /// nothing is written: it stays until it leaves or is ended, and is not heard meanwhile.
    pub is_unheard: bool,
    /// Since when its output has been above the soft limit.
    pub soft_limit_since: Option<Instant>,
    /// Bytes that were sent and not executed.
    pub input_bytes: usize,
    /// Whether more commands were read at once with those that ran, and run next.
    pub is_amid_input: bool,
    /// Bytes of the arguments of the command that waits.
    pub argument_bytes: usize,
    /// Bytes received.
    pub bytes_in: u64,
    /// Bytes of replies produced.
    pub bytes_out: u64,
    /// Bytes that others sent it since its last command was over: messages, and what it may not cache any more.
    pub pushed_bytes: usize,
    /// Commands executed.
    pub commands: u64,
    /// Replies that have not been handed to the link yet. Only the engine's lock guards it.
    pub(crate) out: Vec<u8>,
    /// When `out` is to be handed to the link.
    pub(crate) due: Due,
    /// Where replies go, and how to wake the connection's task.
    pub(crate) link: Arc<Link>,
}

impl Client {
    /// The memory that it takes, with what it listens to, with commands that are not whole, run, wait or
    /// are queued, with replies that have not left, and with room for the next ones.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.input_bytes
            + self.argument_bytes
            + self.subscriptions.bytes
            + self.queued_bytes()
            + self.unsent_bytes()
            + self.out.capacity()
    }

    /// Keeps what it sent behind the command that waits.
    pub(crate) fn set_backlog(&mut self, bytes: &[u8]) {
        self.backlog = bytes.to_vec();
        self.input_bytes = bytes.len();
    }

    /// Bytes of the commands that `MULTI` queued.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.transaction.as_ref().map_or(0, |queued| queued.bytes)
    }

    /// Bytes of replies that have not left.
    pub(crate) fn unsent_bytes(&self) -> usize {
        self.link.waiting() + self.out.len()
    }

    /// Whether it listens to anything, which restricts it in RESP2.
    pub fn is_subscriber(&self) -> bool {
        !self.subscriptions.is_empty()
    }

    /// Whether others see it waiting: no more once the gate was opened for its command.
    pub fn is_seen_blocked(&self) -> bool {
        self.waiter.is_some() || (self.gated && !self.is_let_go)
    }

    /// Whether a command of its waits, for a key, a time or the gate.
    pub fn is_blocked(&self) -> bool {
        self.waiter.is_some() || self.gated
    }
}

/// As log lines name it.
impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {} ({})", self.id.number, self.addr)
    }
}

/// All clients, by slot and in order of their numbers.
#[derive(Default)]
pub struct Clients {
    slots: Vec<Option<Box<Client>>>,
    free: Vec<u32>,
    by_number: BTreeMap<u64, u32>,
    last_number: Arc<AtomicU64>,
}

impl Clients {
    /// Adds a client that `make` builds from its new name.
    pub fn insert(&mut self, make: impl FnOnce(ClientId) -> Client) -> ClientId {
        let number = 1 + self.last_number.fetch_add(1, Ordering::Relaxed);
        let id = self.reserve(number);
        self.slots[id.slot as usize] = Some(Box::new(make(id)));
        id
    }

    /// Adds a client that another table gave away, which keeps its number.
    pub(crate) fn adopt(&mut self, mut client: Box<Client>) -> ClientId {
        client.id = self.reserve(client.id.number);
        let id = client.id;
        self.slots[id.slot as usize] = Some(client);
        id
    }

    /// Takes the numbers of clients from where another table takes them, so that none is given twice.
    pub(crate) fn share_numbers(&mut self, last_number: Arc<AtomicU64>) {
        self.last_number = last_number;
    }

    fn reserve(&mut self, number: u64) -> ClientId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).expect("fewer clients than file descriptors")
        });
        self.by_number.insert(number, slot);
        ClientId { number, slot }
    }

    /// Takes a client out.
    pub fn remove(&mut self, id: ClientId) -> Option<Box<Client>> {
        let client = self.slots[id.slot as usize].take_if(|client| client.id == id)?;
        self.free.push(id.slot);
        self.by_number.remove(&id.number);
        Some(client)
    }

    /// A client that is known to be connected.
    ///
    /// # Panics
    ///
    /// If it is not; its guard removes it last of all.
    pub fn at(&mut self, id: ClientId) -> &mut Client {
        self.get_mut(id).expect("a caller is in the table")
    }

    /// A client, if it is still connected.
    pub fn get(&self, id: ClientId) -> Option<&Client> {
        let client = self.slots.get(id.slot as usize)?.as_deref()?;
        (client.id == id).then_some(client)
    }

    /// A client, if it is still connected.
    pub fn get_mut(&mut self, id: ClientId) -> Option<&mut Client> {
        let client = self.slots.get_mut(id.slot as usize)?.as_deref_mut()?;
        (client.id == id).then_some(client)
    }

    /// The client of this number, if it is connected.
    pub fn by_number(&self, number: u64) -> Option<&Client> {
        let &slot = self.by_number.get(&number)?;
        self.slots[slot as usize].as_deref()
    }

    /// All clients in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &Client> {
        self.by_number
            .values()
            .filter_map(|&slot| self.slots[slot as usize].as_deref())
    }

    /// All clients, in no particular order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Client> {
        self.slots.iter_mut().filter_map(|slot| slot.as_deref_mut())
    }

    /// There is no password any more.
    pub(crate) fn authenticate_all(&mut self) {
        for client in self.slots.iter_mut().flatten() {
            client.authenticated = true;
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_number.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }
}

/// The only user there is.
pub(crate) const USER: &str = "default";
