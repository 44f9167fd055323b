//! Everything behind the engine's lock.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;

use tailrace_protocol::Batch;
use tailrace_protocol::IdPairs;
use tailrace_protocol::Mark;
use tailrace_protocol::OwnedRequest;
use tailrace_protocol::ReplyWriter;
use tailrace_storage::Change;
use tailrace_storage::Instant;
use tailrace_storage::NodeLimits;
use tailrace_storage::Now;
use tailrace_storage::Store;
use tailrace_storage::WaitList;
use tailrace_storage::WaiterId;

use crate::call::Waiting;
use crate::client::Client;
use crate::client::ClientId;
use crate::client::Clients;
use crate::clock::Clock;
use crate::cluster::Membership;
use crate::cluster::SlotStats;
use crate::command_log::CommandLogs;
use crate::command_table::CommandTable;
use crate::config::Config;
use crate::deadlines::Deadlines;
use crate::deadlines::sooner;
use crate::double::Double;
use crate::gate::Gate;
use crate::latency::LatencyEvents;
use crate::listening::Listening;
use crate::migration::Launch;
use crate::migration::Migration;
use crate::outbox::Outbox;
use crate::pubsub::PubSub;
use crate::resume::Resumed;
use crate::script::Scripts;
use crate::serve;
use crate::server::SetLogLevel;
use crate::server_info::ServerInfo;
use crate::spec::Spec;
use crate::stats::Stats;
use crate::timing::Timing;
use crate::tracking::Caches;
use crate::transaction::Transaction;
use crate::transaction::WatchList;

/// Everything behind the engine's lock: the data, the clients, and what they wait for.
///
/// What is large is boxed, since all of it moves when a script begins and ends (`script/loan.rs`).
pub struct State {
    /// The data.
    pub store: Store,
    /// The connected clients.
    pub clients: Clients,
    /// The configuration in force.
    pub config: Box<Config>,
    /// What this server is.
    pub info: Box<ServerInfo>,
    /// The commands by the names that the configuration gives them.
    pub commands: CommandTable,
    /// What was counted since the start or the last reset.
    pub stats: Box<Stats>,
    /// The commands that stood out.
    pub logs: Box<CommandLogs>,
    /// The scripts.
    pub(crate) scripts: Scripts,
    /// What took long.
    pub latency: LatencyEvents,
    /// Who listens to which channel.
    pub pubsub: PubSub,
    /// Who sees the commands of all clients, in the order in which they asked to.
    pub monitors: Vec<ClientId>,
    /// Who may have cached which key.
    pub caches: Box<Caches>,
    /// The memory of a transaction that is over.
    pub(crate) spare_transaction: Option<Box<Transaction>>,
    /// Who watches which key.
    pub watch_list: WatchList,
    /// Who waits for which key.
    pub waits: WaitList,
    /// The commands that wait.
    pub(crate) parked: HashMap<WaiterId, Parked>,
    /// Clients whose waits are over, in the order of their turns.
    pub(crate) resumed: VecDeque<Resumed>,
    /// Room for the requests of a turn, used again and again.
    pub(crate) resumed_batch: Batch,
    /// What holds commands back.
    pub gate: Gate,
    /// Whether a command of `EXEC` runs.
    pub in_exec: bool,
    /// Somebody asked the server to end.
    pub is_ending: bool,
    /// What went wrong for good, if a command panicked.
    pub fault: Option<String>,
    /// Keys that are due stay until somebody asks for them, for tests.
    pub(crate) is_active_expiry_off: bool,
    /// The most memory that data and clients were seen to take.
    pub(crate) peak_bytes: u64,
    /// The client whose command runs.
    pub(crate) caller: Option<ClientId>,
    /// Pushes for the caller, to follow the reply of its command.
    pub(crate) deferred: Vec<u8>,
    /// What the caller sees of its own command as a monitor, to stand where the command is in its replies.
    pub(crate) shown: Vec<u8>,
    /// Whose `out` is to be handed to their links, and when.
    pub(crate) outbox: Outbox,
    /// What the timer knows to be due next, or is about to be told.
    pub(crate) told_deadlines: Deadlines,
    /// When idle clients, and those that do not read, are to be looked at.
    pub(crate) upkeep_at: Option<Instant>,
    /// Room for the changes of a command, used again and again.
    pub(crate) changes: Vec<Change>,
    /// How many of the changes that the store holds were looked at for what is to be published.
    pub(crate) published: usize,
    /// What is known of how long the commands of a batch take.
    pub(crate) timing: Timing,
    /// For how long the commands of `EXEC` take; what they see is the instant of `EXEC`.
    pub(crate) clock: Arc<dyn Clock>,
    /// How many bytes the request that runs was sent in.
    pub(crate) request_bytes: usize,
    /// The text of the ID that was given out last: the next one is much the same.
    pub(crate) added_ids: IdPairs,
    /// Where the reply begins of the request that runs.
    pub(crate) reply_start: Mark,
    /// How many bytes the command that ran last was sent and answered in, and changed.
    pub(crate) touched_bytes: usize,
    /// The cluster that this is part of, if it is.
    pub(crate) cluster: Option<Box<Membership>>,
    /// What each slot costs.
    pub(crate) slot_stats: SlotStats,
    /// Where clients come from.
    pub(crate) listening: Option<Listening>,
    /// The keys that are on their way to another server.
    pub(crate) migration: Option<Migration>,
    /// What carries them.
    pub(crate) launch_migration: Option<Launch>,
    /// What to tell of a new `loglevel`.
    pub(crate) set_log_level: Option<SetLogLevel>,
    /// What a test holds, if this is a test double.
    pub(crate) double: Option<Box<Double>>,
    /// When the log last said that a client speaks HTTP.
    pub(crate) warned_of_http_at: Option<Instant>,
}

/// A command that waits, and for whom.
pub(crate) struct Parked {
    pub(crate) client: ClientId,
    pub(crate) spec: &'static Spec,
    pub(crate) db: usize,
    pub(crate) command: Box<dyn Waiting>,
    /// What was sent, for the logs.
    pub(crate) request: OwnedRequest,
    pub(crate) request_bytes: usize,
}

/// Memory in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// What the server takes before it holds anything.
    pub(crate) own: u64,
    /// What keys and values take.
    pub(crate) data: u64,
    /// What the clients take, and what is remembered of what they cached.
    pub(crate) clients: u64,
    /// The most that all of it took so far.
    pub(crate) peak: u64,
}

impl Memory {
    /// All of it.
    pub(crate) fn used(&self) -> u64 {
        self.own + self.data + self.clients
    }
}

/// What a server takes that holds nothing. As in the reference, it is never 0, and so no limit of memory but
/// 0 is too small to be one.
const OWN_BYTES: u64 = size_of::<State>() as u64;

impl State {
    /// An empty state.
    pub fn new(config: Config, info: ServerInfo, store: Store, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clients: Clients::default(),
            commands: CommandTable::new(config.renames(), config.settings().testdouble),
            config: Box::new(config),
            info: Box::new(info),
            stats: Box::default(),
            logs: Box::default(),
            scripts: Scripts::default(),
            latency: LatencyEvents::default(),
            pubsub: PubSub::default(),
            monitors: Vec::new(),
            caches: Box::default(),
            spare_transaction: None,
            watch_list: WatchList::default(),
            waits: WaitList::default(),
            parked: HashMap::new(),
            resumed: VecDeque::new(),
            resumed_batch: Batch::new(),
            gate: Gate::default(),
            in_exec: false,
            is_ending: false,
            fault: None,
            is_active_expiry_off: false,
            peak_bytes: 0,
            caller: None,
            deferred: Vec::new(),
            shown: Vec::new(),
            outbox: Outbox::default(),
            told_deadlines: Deadlines::default(),
            upkeep_at: None,
            changes: Vec::new(),
            published: 0,
            timing: Timing::default(),
            clock,
            request_bytes: 0,
            added_ids: IdPairs::new(),
            reply_start: Mark::default(),
            touched_bytes: 0,
            cluster: None,
            slot_stats: SlotStats::default(),
            listening: None,
            migration: None,
            launch_migration: None,
            set_log_level: None,
            double: None,
            warned_of_http_at: None,
        }
    }

    /// Acts on the configuration, at the start and after every change of it.
    pub(crate) fn apply_settings(&mut self) {
        let settings = self.config.settings();
        let store = self.store.settings_mut();
        store.node_limits = NodeLimits {
            bytes_max: settings.stream_node_max_bytes,
            entries_max: settings.stream_node_max_entries,
            packs: settings.stream_packing,
        };
        store.string_bytes_max = settings.proto_max_bulk_len;
        store.is_importing = settings.import_mode;
        store.compat = settings.compat;
        // What is due by the new settings is found out at once.
        self.upkeep_at = Some(Instant(0));
        if settings.requirepass.is_none() {
            self.clients.authenticate_all();
        }
        self.latency
            .set_threshold(settings.latency_monitor_threshold_ms);
        let slow_above = settings.slowlog_log_slower_than_us;
        let counts_slots = settings.cluster.counts_slots && self.cluster.is_some();
        self.slot_stats.set_on(counts_slots);
        let times_each = self.latency.is_on() || counts_slots;
        self.timing.set_thresholds(slow_above, times_each);
        // What was called before is of the time before.
        let keeps_durations = settings.latency_tracking;
        self.settle_times();
        self.stats.by_command.set_keeps_durations(keeps_durations);
        let settings = self.config.settings();
        if let Some(cluster) = &mut self.cluster {
            cluster.configure(&settings.cluster, settings.availability_zone.as_deref());
        }
        if let Some(set) = &self.set_log_level {
            set(settings.loglevel);
        }
        self.record_changes();
    }

    /// Lets storage write down the changes of all keys if anybody may have to hear of them.
    pub(crate) fn record_changes(&mut self) {
        let settings = self.config.settings();
        let is_notifying = settings.notify_keyspace_events.is_active();
        self.store
            .set_record_all(is_notifying || self.caches.observes());
    }

    /// Acts on the gate having been closed or opened, or on its time having come.
    pub(crate) fn on_gate(&mut self, now: Instant) {
        self.gate.on_time(now);
        self.store.set_expiry_paused(self.gate.holds().is_some());
    }

    /// Sends something to a client outside of its replies: a message, an invalidation.
    ///
    /// What goes to the caller itself follows the reply of its command. Who is about to leave hears
    /// nothing more.
    pub fn push(&mut self, to: ClientId, write: impl FnOnce(&mut ReplyWriter<'_>)) {
        let Some(client) = self.clients.get_mut(to) else {
            return;
        };
        if client.closing {
            return;
        }
        let version = client.version;
        if self.caller == Some(to) {
            write(&mut ReplyWriter::new(&mut self.deferred, version));
            return;
        }
        let before = client.out.len();
        write(&mut ReplyWriter::new(&mut client.out, version));
        client.pushed_bytes += client.out.len() - before;
        self.outbox.add_message(client);
    }

    /// Ends a client's connection at once: what it waits for and replies that have not left are lost.
    pub fn kill(&mut self, id: ClientId) {
        if let Some(client) = self.remove_client(id) {
            client.link.kill();
        }
    }

    /// Forgets a client, whatever it was doing.
    pub(crate) fn remove_client(&mut self, id: ClientId) -> Option<Box<Client>> {
        let client = self.clients.get(id)?;
        if let Some(waiter) = client.waiter {
            serve::abandon(self, waiter);
        } else if client.gated {
            self.gate.forget(id);
        }
        if let Some(double) = &mut self.double {
            double.forget(id);
            self.end_lonely_outage();
        }
        self.discard(id);
        self.unsubscribe_all(id);
        self.stop_tracking(id);
        self.stop_monitoring(id);
        let client = self.clients.remove(id)?;
        tracing::debug!("{client} left");
        Some(client)
    }

    /// What is compared with `maxmemory`.
    pub(crate) fn limited_bytes(&self) -> u64 {
        OWN_BYTES + self.store.bytes() as u64
    }

    /// The memory that this server takes now, which may be the most so far.
    pub(crate) fn memory(&mut self) -> Memory {
        let own: usize = self.clients.iter().map(Client::memory_bytes).sum();
        let clients = own + self.caches.keys().bytes();
        let (data, clients) = (self.store.bytes() as u64, clients as u64);
        self.peak_bytes = self.peak_bytes.max(OWN_BYTES + data + clients);
        Memory {
            own: OWN_BYTES,
            data,
            clients,
            peak: self.peak_bytes,
        }
    }

    /// The earliest instant at which something is due.
    pub(crate) fn next_deadline(&self, now: Now) -> Option<Instant> {
        self.deadlines().earliest(now)
    }

    /// What is due next by each clock.
    pub(crate) fn deadlines(&self) -> Deadlines {
        if self.is_paused() {
            return Deadlines::default();
        }
        let next_expiry = match self.is_active_expiry_off {
            true => None,
            false => self.store.next_expiry(),
        };
        let monos = [
            self.caches.deadline(),
            self.waits.next_deadline(),
            self.gate.deadline(),
            self.next_release(),
            self.upkeep_at,
        ];
        Deadlines {
            wall: sooner(next_expiry, self.store.next_packing()),
            mono: monos.into_iter().fold(None, sooner),
        }
    }
}
