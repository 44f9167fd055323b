//! What the server acts on, in the types that it needs: read from the table after every change.

use tailrace_storage::Compat;
use tailrace_storage::Versions;

use super::events::EventClasses;
use super::limits::OutputLimit;
use super::limits::OutputLimits;
use super::reader::Reader;
use super::start_clock::StartClock;
use super::table::Table;
use super::value::Value;

/// The configuration as plain values. Paths may be relative; they start at `dir`.
#[derive(Clone)]
pub struct Settings {
    /// TCP port; zero means any free one.
    pub port: u16,
    /// Where to listen for TCP: addresses or names, `*` and `::*` for all, with a `-` in front if it
    /// does no harm that the machine does not have it. Nothing means nowhere.
    pub bind: Vec<String>,
    /// The backlog of listening sockets.
    pub tcp_backlog: i32,
    /// Where to listen for local connections.
    pub unixsocket: Option<String>,
    /// The mode of that socket, unless it is what the process gives it.
    pub unixsocketperm: Option<u32>,
    /// Seconds after which a connection is probed; zero means never.
    pub tcp_keepalive_s: u64,
    /// Seconds after which an idle client is closed; zero means never.
    pub timeout_s: u64,
    /// How many clients may be connected.
    pub maxclients: usize,
    /// Whether clients from elsewhere are turned away while there is no password.
    pub protected_mode: bool,
    /// The password of the default user.
    pub requirepass: Option<Box<[u8]>>,
    /// Who may use DEBUG.
    pub enable_debug_command: Trust,
    /// The longest argument of a command.
    pub proto_max_bulk_len: usize,
    /// Keys that are due stay, for a source of imported data to delete them.
    pub import_mode: bool,
    /// How many bytes of commands may wait for a client.
    pub client_query_buffer_limit: usize,
    /// How many bytes of replies may wait for a client.
    pub client_output_buffer_limits: OutputLimits,
    /// How many databases there are.
    pub databases: usize,
    /// How much memory data may take; zero means no limit.
    pub maxmemory_bytes: u64,
    /// The size at which a node of a stream is full; zero means no limit.
    pub stream_node_max_bytes: usize,
    /// The number of entries at which a node of a stream is full; zero means no limit.
    pub stream_node_max_entries: usize,
    /// Whether values of full nodes that are alike are packed.
    pub stream_packing: bool,
    /// Which keyspace events are published.
    pub notify_keyspace_events: EventClasses,
    /// How many keys are remembered for clients that track them; 0 is no limit.
    pub tracking_table_keys_max: usize,
    /// After so many milliseconds of a script others hear that the server is busy; 0 is never.
    pub busy_reply_threshold_ms: u64,
    /// Commands that take longer are logged, in microseconds; `None` logs none.
    pub slowlog_log_slower_than_us: Option<u64>,
    /// How many slow commands are kept.
    pub slowlog_max_len: usize,
    /// Requests of so many bytes are logged; `None` logs none.
    pub request_logged_from_bytes: Option<u64>,
    /// How many large requests are kept.
    pub large_requests_max: usize,
    /// Commands whose replies have so many bytes are logged; `None` logs none.
    pub reply_logged_from_bytes: Option<u64>,
    /// How many commands with large replies are kept.
    pub large_replies_max: usize,
    /// Events that take so many milliseconds are sampled; zero samples none.
    pub latency_monitor_threshold_ms: u64,
    /// Whether it is kept how long each command takes.
    pub latency_tracking: bool,
    /// Which percentiles of that are shown.
    pub latency_percentiles: Vec<f64>,
    /// What is logged.
    pub loglevel: LogLevel,
    /// Where it is logged; empty if not to a file.
    pub logfile: String,
    /// Whether the process goes into the background.
    pub daemonize: bool,
    /// Who is told how the process fares.
    pub supervised: Supervision,
    /// Where the id of the process is written; empty if nowhere.
    pub pidfile: String,
    /// Where relative paths start; absolute.
    pub dir: String,
    /// How many threads serve sockets.
    pub threads: usize,
    /// For how many microseconds it does not sleep yet when it has nothing to do.
    pub busy_poll_us: u64,
    /// Whether this is part of a cluster.
    pub cluster_enabled: bool,
    /// Being part of a cluster.
    pub cluster: ClusterSettings,
    /// Whether a test holds the server, by TESTDOUBLE.
    pub testdouble: bool,
    /// How the clock of a test double goes at first.
    pub clock: StartClock,
    /// The file with the faults that a test double has at first; empty if there is none.
    pub faults: String,
    /// Whether a process ends in failure if a command was asked for that there is not.
    pub strict: bool,
    /// How much the calls take that a test double remembers.
    pub calls_bytes_max: usize,
    /// The file with the commands that a test double starts with; empty if there is none.
    pub fixture: String,
    /// What chance starts from, if it is to be the same each time.
    pub seed: Option<u64>,
    /// What the parent of the process wants.
    pub parent: ParentSettings,
    /// Where the server says it stands.
    pub availability_zone: Option<Box<[u8]>>,
    /// Which of two servers to follow where they differ.
    pub compat: Compat,
    /// Which versions of the reference's format RESTORE reads.
    pub rdb_versions: Versions,
    /// Whether clients are told that this is Redis.
    pub extended_redis_compatibility: bool,
}

/// What only matters in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterSettings {
    /// How many primaries this process has.
    pub nodes: usize,
    /// How many replicas each of them has.
    pub replicas: usize,
    /// The file that describes a cluster of several processes; empty if there is none.
    pub topology: String,
    /// How many databases each node has.
    pub databases: usize,
    /// The port of the bus that is shown; 0 if it follows from the other one.
    pub bus_port: u16,
    /// The host that clients are sent to; empty if it is the one that they reached.
    pub announced_host: String,
    /// The port that clients are sent to; 0 if it is the one that is listened on. The next nodes have the next ones.
    pub announced_port: u16,
    /// The port of the bus that is shown; 0 if it follows from the other one.
    pub announced_bus_port: u16,
    /// The name of the host that clients are told.
    pub announced_host_name: String,
    /// The host that clients of IPv4 are sent to, if it is another.
    pub announced_ipv4: String,
    /// The host that clients of IPv6 are sent to, if it is another.
    pub announced_ipv6: String,
    /// The port that clients are sent to, if it is another.
    pub announced_client_port: u16,
    /// By what clients are told to find a node.
    pub endpoint: EndpointKind,
    /// Whether all is refused while a slot is served by nobody.
    pub must_be_covered: bool,
    /// How many migrations of slots are remembered that are over.
    pub slot_migrations_kept_max: u64,
    /// Whether a primary that lost its last slot becomes a replica of who has it now.
    pub follows_last_slot: bool,
    /// Whether the cost of each slot is counted.
    pub counts_slots: bool,
    /// Whether reads are served all the same.
    pub allows_reads_when_down: bool,
    /// Whether messages of shards are served all the same.
    pub allows_shard_messages_when_down: bool,
}

/// By what clients are told to find a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointKind {
    /// Its address.
    Ip,
    /// The name of its host.
    HostName,
    /// What they know already.
    Unknown,
}

impl ClusterSettings {
    fn read(read: &Reader<'_>) -> Self {
        Self {
            nodes: read.number("nodes"),
            replicas: read.number("replicas"),
            topology: read.path("cluster-topology"),
            databases: read.number("cluster-databases"),
            bus_port: read.number("cluster-port"),
            announced_host: read.path("cluster-announce-ip"),
            announced_port: read.number("cluster-announce-port"),
            announced_bus_port: read.number("cluster-announce-bus-port"),
            announced_host_name: read.path("cluster-announce-hostname"),
            announced_ipv4: read.path("cluster-announce-client-ipv4"),
            announced_ipv6: read.path("cluster-announce-client-ipv6"),
            announced_client_port: read.number("cluster-announce-client-port"),
            endpoint: match read.word("cluster-preferred-endpoint-type") {
                "ip" => EndpointKind::Ip,
                "hostname" => EndpointKind::HostName,
                _ => EndpointKind::Unknown,
            },
            must_be_covered: read.flag("cluster-require-full-coverage"),
            slot_migrations_kept_max: read.number("cluster-slot-migration-log-max-len"),
            follows_last_slot: read.flag("cluster-allow-replica-migration"),
            counts_slots: read.flag("cluster-slot-stats-enabled"),
            allows_reads_when_down: read.flag("cluster-allow-reads-when-down"),
            allows_shard_messages_when_down: read.flag("cluster-allow-pubsubshard-when-down"),
        }
    }
}

/// What the parent of the process wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParentSettings {
    /// The file that says where the server listens, once it does.
    pub ready_file: Option<String>,
    /// The descriptor to which the same is written.
    pub ready_fd: Option<u64>,
    /// The descriptor of a socket that the parent bound.
    pub listen_fd: Option<u64>,
    /// Whether the process ends when its parent does.
    pub exits_with_parent: bool,
    /// Seconds without a client after which the process ends; 0 is never.
    pub idle_exit_s: u64,
}

/// Whom something is allowed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Nobody.
    No,
    /// Everybody.
    Yes,
    /// Clients on this machine.
    Local,
}

/// Who is told how the process fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supervision {
    /// Nobody.
    No,
    /// Whoever is there.
    Auto,
    /// Upstart.
    Upstart,
    /// systemd.
    Systemd,
}

/// What is logged: each level and those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// Clients that come and go, for instance.
    Verbose,
    /// What an operator may want to know.
    Notice,
    /// What needs attention.
    Warning,
    /// Nothing at all.
    Nothing,
}

impl Settings {
    /// How much output may wait for a client, given whether it is subscribed to a channel.
    #[must_use]
    pub fn output_limit(&self, is_subscriber: bool) -> OutputLimit {
        if is_subscriber {
            self.client_output_buffer_limits.pubsub
        } else {
            self.client_output_buffer_limits.normal
        }
    }

    /// Reads the settings from the `values` of the table's rows.
    pub(super) fn read(table: &Table, values: &[Value]) -> Self {
        let read = Reader { table, values };
        Self {
            port: read.number("port"),
            bind: read.addresses("bind"),
            tcp_backlog: read.number("tcp-backlog"),
            unixsocket: Some(read.path("unixsocket")).filter(|path| !path.is_empty()),
            unixsocketperm: read.mode("unixsocketperm"),
            tcp_keepalive_s: read.number("tcp-keepalive"),
            timeout_s: read.number("timeout"),
            maxclients: read.number("maxclients"),
            protected_mode: read.flag("protected-mode"),
            requirepass: read.text("requirepass").map(Box::from),
            enable_debug_command: read.trust("enable-debug-command"),
            proto_max_bulk_len: read.number("proto-max-bulk-len"),
            import_mode: read.flag("import-mode"),
            client_query_buffer_limit: read.number("client-query-buffer-limit"),
            client_output_buffer_limits: read.output_limits("client-output-buffer-limit"),
            databases: read.number("databases"),
            maxmemory_bytes: read.number("maxmemory"),
            stream_node_max_bytes: read.number("stream-node-max-bytes"),
            stream_node_max_entries: read.number("stream-node-max-entries"),
            stream_packing: read.flag("stream-packing"),
            notify_keyspace_events: read.events("notify-keyspace-events"),
            tracking_table_keys_max: read.number("tracking-table-max-keys"),
            busy_reply_threshold_ms: read.number("busy-reply-threshold"),
            slowlog_log_slower_than_us: read.threshold("slowlog-log-slower-than"),
            slowlog_max_len: read.number("slowlog-max-len"),
            request_logged_from_bytes: read.threshold("commandlog-request-larger-than"),
            large_requests_max: read.number("commandlog-large-request-max-len"),
            reply_logged_from_bytes: read.threshold("commandlog-reply-larger-than"),
            large_replies_max: read.number("commandlog-large-reply-max-len"),
            latency_monitor_threshold_ms: read.number("latency-monitor-threshold"),
            latency_tracking: read.flag("latency-tracking"),
            latency_percentiles: read.percentiles("latency-tracking-info-percentiles"),
            loglevel: read.log_level("loglevel"),
            logfile: read.path("logfile"),
            daemonize: read.flag("daemonize"),
            supervised: read.supervision("supervised"),
            pidfile: read.path("pidfile"),
            dir: read.path("dir"),
            threads: read.number("threads"),
            busy_poll_us: read.number("busy-poll-us"),
            cluster_enabled: read.flag("cluster-enabled"),
            cluster: ClusterSettings::read(&read),
            testdouble: read.flag("testdouble"),
            clock: read.start_clock("clock"),
            faults: read.path("faults"),
            strict: read.flag("strict"),
            calls_bytes_max: read.number("calls-memory"),
            fixture: read.path("fixture"),
            seed: read.threshold("seed"),
            parent: ParentSettings {
                ready_file: Some(read.path("ready-file")).filter(|path| !path.is_empty()),
                ready_fd: read.threshold("ready-fd"),
                listen_fd: read.threshold("listen-fd"),
                exits_with_parent: read.flag("exit-with-parent"),
                idle_exit_s: read.number("idle-exit"),
            },
            availability_zone: read.text("availability-zone").map(Box::from),
            compat: read.compat("compat"),
            rdb_versions: read.versions("rdb-version-check"),
            extended_redis_compatibility: read.flag("extended-redis-compatibility"),
        }
    }
}

impl LogLevel {
    /// The word of `loglevel`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Verbose => "verbose",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Nothing => "nothing",
        }
    }
}

impl Trust {
    /// Whether a client may, given whether it is on this machine.
    #[must_use]
    pub fn allows(self, is_local: bool) -> bool {
        match self {
            Self::No => false,
            Self::Yes => true,
            Self::Local => is_local,
        }
    }
}
