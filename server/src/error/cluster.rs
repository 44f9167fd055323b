//! Errors of nodes of a cluster, and of the commands on it.

use crate::args::text;

/// Why a node of a cluster does not do something.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ClusterError {
    /// Keys lie in several slots.
    CrossSlot,
    /// Some of the keys are here and some are not, while their slot moves.
    TryAgain,
    /// Some slot is served by nobody.
    Down,
    /// As `Down`, and only reads are served then.
    DownForWrites,
    /// The slot is served by nobody.
    Unserved,
    /// The slot is served by another node: its number, and where that is.
    Moved(u16, String),
    /// The slot moves to another node, and the key is there or nowhere: its number, and where that is.
    Ask(u16, String),
    /// A replica does not write.
    ReadOnly,
    /// Databases cannot be swapped.
    SwapDb,
    /// Not a slot.
    Slot,
    /// Not a slot, where the text is another.
    CountedSlot,
    /// Not a slot, or not a number of keys.
    SlotOrCount,
    /// A slot that is to be taken away is served by nobody.
    Unassigned(u16),
    /// A slot that is to be given to this node is served by one.
    Busy(u16),
    /// A slot was named twice.
    Twice(u16),
    /// The end of a range lies before its beginning.
    Range(u16, u16),
    /// As `Range`, of `SLOT-STATS`.
    StatsRange(u16, u16),
    /// There is no node of this id.
    UnknownNode(Vec<u8>),
    /// As `UnknownNode`, in other words.
    UnknownPeer(Vec<u8>),
    /// The node is a replica.
    NotAPrimary,
    /// The node of a slot's move is a replica.
    TargetNotAPrimary,
    /// The node of a slot's move is the caller's.
    TargetIsMyself,
    /// The slot is served by another node.
    NotTheOwner(u16),
    /// The slot is served by this node already.
    AlreadyTheOwner(u16),
    /// The slot still has keys here.
    HoldsKeys(u16),
    /// `SETSLOT` on a replica.
    SetSlotOnReplica,
    /// `SETSLOT` with something else.
    SetSlotAction,
    /// `TIMEOUT` without a number.
    MissingTimeout,
    /// `FLUSHSLOTS` while there are keys.
    NotEmpty,
    /// `RESET` of a primary while there are keys.
    ResetWithKeys,
    /// `FAILOVER` of a primary.
    FailoverOfPrimary,
    /// `FAILOVER` of a replica whose primary is down.
    PrimaryDown,
    /// `FORGET` of oneself.
    ForgetMyself,
    /// `FORGET` of one's primary.
    ForgetPrimary,
    /// `REPLICATE` of oneself.
    ReplicateMyself,
    /// `REPLICATE` of a replica.
    ReplicateReplica,
    /// `REPLICATE` on a node that has something.
    ReplicateNotEmpty,
    /// `REPLICATE` of a node whose data is elsewhere.
    ReplicateElsewhere,
    /// A replica that is to have data of its own, for which there is no place.
    NoEngine,
    /// A negative epoch.
    Epoch(i64),
    /// An epoch can only be set while a node is alone.
    EpochNotAlone,
    /// The epoch was set already.
    EpochSet,
    /// `MEET` with a port that is none.
    BasePort(Vec<u8>),
    /// `MEET` with a port of the bus that is none.
    BusPort(Vec<u8>),
    /// A port out of range.
    PortRange,
    /// A port of the bus out of range.
    BusPortRange,
    /// `MEET` at an address that is none.
    Address(Vec<u8>, Vec<u8>),
    /// `MEET` of somebody who is no node of this process.
    Stranger,
    /// `SLOT-STATS` ordered by something else.
    Metric,
    /// `SLOT-STATS` of too few or too many.
    StatsLimit,
    /// `SLOT-STATS` with an option twice.
    StatsTwice,
    /// `SYNCSLOTS`, which nodes of the reference tell each other.
    SyncSlots,
    /// `MIGRATESLOTS` to a node of another process.
    MigrationElsewhere,
    /// `MIGRATESLOTS` on a replica.
    MigrationOnReplica,
    /// `MIGRATESLOTS` while `SETSLOT` has slots on their way here.
    MigrationWhileImporting,
    /// `MIGRATESLOTS` while `SETSLOT` has slots on their way from here.
    MigrationWhileMigrating,
    /// `MIGRATESLOTS` without slots.
    NoRanges,
    /// `MIGRATESLOTS` with a range that has no end.
    RangeWithoutEnd,
    /// As `Range`, of `MIGRATESLOTS`.
    MigrationRange(u16, u16),
    /// Nobody serves a slot that is to move.
    NobodyServes(u16),
    /// Slots that are to move together are served by several nodes.
    SeveralShards,
    /// Slots that are to move are served by another node.
    ServedElsewhere,
    /// A range of slots that are to move has some in common with one before it.
    RangesOverlap((u16, u16), (u16, u16)),
    /// Two migrations have slots in common.
    MigrationsOverlap,
    /// A slot is on its way already.
    MigratesAlready(u16),
    /// `MIGRATESLOTS` to an id that is none.
    NodeName(Vec<u8>),
    /// `MIGRATESLOTS` to a node that is not known.
    UnknownNodeName(Vec<u8>),
    /// `MIGRATESLOTS` to oneself.
    MigrationToMyself,
    /// `CANCELSLOTMIGRATIONS`, of which there are none.
    NoMigrations,
    /// `CLUSTERSCAN` with a cursor that is none.
    Cursor,
    /// `CLUSTERSCAN` with two slots.
    SlotTwice,
    /// `CLUSTERSCAN` with a cursor of another slot.
    CursorSlot,
    /// A script called for a key of another node.
    ScriptElsewhere,
    /// A script called a command while some slot is served by nobody.
    ScriptDown(&'static str),
    /// As `ScriptDown`, where only reads are served then.
    ScriptDownForWrites(&'static str),
    /// A script that said that it would not, called for keys of several slots.
    ScriptCrossSlot,
    /// A script does not run in a cluster, as it says itself.
    ScriptNoCluster,
}

impl ClusterError {
    /// The wire text without the leading `-`.
    pub(super) fn wire(&self) -> Vec<u8> {
        let named = |before: &str, name: &[u8]| [before.as_bytes(), text(name)].concat();
        match self {
            Self::UnknownNode(id) => named("ERR Unknown node ", id),
            Self::UnknownPeer(id) => named("ERR I don't know about node ", id),
            Self::NodeName(name) => named("ERR Invalid node name: ", name),
            Self::UnknownNodeName(name) => named("ERR Unknown node name: ", name),
            Self::BasePort(port) => named("ERR Invalid base port specified: ", port),
            Self::BusPort(port) => named("ERR Invalid bus port specified: ", port),
            Self::Address(host, port) => {
                let address = [text(host), b":", text(port)].concat();
                named("ERR Invalid node address specified: ", &address)
            }
            Self::ScriptDown(name) => {
                format!("ERR Can not execute a command '{name}' while the cluster is down").into()
            }
            Self::ScriptDownForWrites(name) => format!(
                "ERR Can not execute a write command '{name}' while the cluster is down and readonly"
            )
            .into(),
            other => other.of_slot().map_or_else(
                || other.fixed_text().into(),
                String::into_bytes,
            ),
        }
    }

    /// The texts that name a slot or another number.
    fn of_slot(&self) -> Option<String> {
        Some(match self {
            Self::Moved(slot, node) => format!("MOVED {slot} {node}"),
            Self::Ask(slot, node) => format!("ASK {slot} {node}"),
            Self::Unassigned(slot) => format!("ERR Slot {slot} is already unassigned"),
            Self::Busy(slot) => format!("ERR Slot {slot} is already busy"),
            Self::Twice(slot) => format!("ERR Slot {slot} specified multiple times"),
            Self::Range(first, last) => {
                format!("ERR start slot number {first} is greater than end slot number {last}")
            }
            Self::StatsRange(first, last) => {
                format!("ERR Start slot number {first} is greater than end slot number {last}")
            }
            Self::NotTheOwner(slot) => format!("ERR I'm not the owner of hash slot {slot}"),
            Self::AlreadyTheOwner(slot) => {
                format!("ERR I'm already the owner of hash slot {slot}")
            }
            Self::HoldsKeys(slot) => format!(
                "ERR Can't assign hashslot {slot} to a different node while I still hold keys for \
                 this hash slot."
            ),
            Self::MigrationRange(first, last) => {
                format!("ERR Start slot number {first} is greater than end slot number {last}.")
            }
            Self::NobodyServes(slot) => format!("ERR Slot {slot} has no node served."),
            Self::MigratesAlready(slot) => format!("ERR I am already migrating slot {slot}."),
            Self::RangesOverlap((first, last), (other_first, other_last)) => format!(
                "ERR Slot range {first}-{last} overlaps with previous range {other_first}-{other_last}."
            ),
            Self::Epoch(epoch) => format!("ERR Invalid config epoch specified: {epoch}"),
            _ => return None,
        })
    }

    /// The texts that name nothing.
    fn fixed_text(&self) -> &'static str {
        match self {
            Self::CrossSlot => "CROSSSLOT Keys in request don't hash to the same slot",
            Self::TryAgain => "TRYAGAIN Multiple keys request during rehashing of slot",
            Self::Down => "CLUSTERDOWN The cluster is down",
            Self::DownForWrites => "CLUSTERDOWN The cluster is down and only accepts read commands",
            Self::Unserved => "CLUSTERDOWN Hash slot not served",
            Self::ReadOnly => "READONLY You can't write against a read only replica.",
            Self::SwapDb => "ERR SWAPDB is not allowed in cluster mode",
            Self::Slot => "ERR Invalid or out of range slot",
            Self::CountedSlot => "ERR Invalid slot",
            Self::SlotOrCount => "ERR Invalid slot or number of keys",
            Self::NotAPrimary => "ERR The specified node is not a master",
            Self::TargetNotAPrimary => "ERR Target node is not a master",
            Self::TargetIsMyself => "ERR Target node is myself",
            Self::SetSlotOnReplica => "ERR Please use SETSLOT only with masters.",
            Self::SetSlotAction => {
                "ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP"
            }
            Self::MissingTimeout => "ERR Missing timeout value",
            Self::NotEmpty => "ERR DB must be empty to perform CLUSTER FLUSHSLOTS.",
            Self::ResetWithKeys => {
                "ERR CLUSTER RESET can't be called with master nodes containing keys"
            }
            _ => self.text_on_nodes(),
        }
    }

    /// The texts about nodes, numbers of them, cursors and scripts.
    fn text_on_nodes(&self) -> &'static str {
        match self {
            Self::FailoverOfPrimary => "ERR You should send CLUSTER FAILOVER to a replica",
            Self::PrimaryDown => "ERR Master is down or failed, please use CLUSTER FAILOVER FORCE",
            Self::ForgetMyself => "ERR I tried hard but I can't forget myself...",
            Self::ForgetPrimary => "ERR Can't forget my master!",
            Self::ReplicateMyself => "ERR Can't replicate myself",
            Self::ReplicateReplica => "ERR I can only replicate a master, not a replica.",
            Self::ReplicateNotEmpty => {
                "ERR To set a master the node must be empty and without assigned slots."
            }
            Self::ReplicateElsewhere => {
                "ERR A node can only replicate one of its own process; see --nodes and --replicas"
            }
            Self::NoEngine => "ERR A test double has no room for another primary",
            Self::EpochNotAlone => {
                "ERR The user can assign a config epoch only when the node does not know any other \
                 node."
            }
            Self::EpochSet => "ERR Node config epoch is already non-zero",
            Self::PortRange => "ERR Port number is out of range",
            Self::BusPortRange => "ERR Cluster bus port number is out of range",
            Self::Stranger => {
                "ERR Only nodes of this process can meet; see --nodes and --cluster-topology"
            }
            Self::Metric => "ERR Unrecognized sort metric for ORDERBY.",
            Self::StatsLimit => {
                "ERR Limit has to lie in between 1 and 16384 (maximum number of slots)."
            }
            Self::StatsTwice => "ERR Multiple filters of the same type are disallowed.",
            Self::SyncSlots
            | Self::MigrationElsewhere
            | Self::MigrationOnReplica
            | Self::MigrationWhileImporting
            | Self::MigrationWhileMigrating
            | Self::NoRanges
            | Self::RangeWithoutEnd
            | Self::SeveralShards
            | Self::ServedElsewhere
            | Self::MigrationsOverlap
            | Self::MigrationToMyself
            | Self::NoMigrations => self.text_on_migrations(),
            Self::Cursor => "ERR Invalid cursor",
            Self::SlotTwice => "ERR SLOT option can only be specified once",
            Self::CursorSlot => "ERR Cursor slot mismatch with SLOT argument",
            Self::ScriptElsewhere => "ERR Attempted to access a non local key in a cluster node",
            Self::ScriptCrossSlot => {
                "ERR Script attempted to access keys that do not hash to the same slot"
            }
            Self::ScriptNoCluster => "ERR Can not run script on cluster, 'no-cluster' flag is set.",
            _ => unreachable!("these name something"),
        }
    }

    /// The texts about slots that move in the background.
    fn text_on_migrations(&self) -> &'static str {
        match self {
            Self::SyncSlots => {
                "ERR Nodes of one process have nothing to tell each other by CLUSTER SYNCSLOTS"
            }
            Self::MigrationElsewhere => {
                "ERR Slots move to another process with CLUSTER SETSLOT and MIGRATE only"
            }
            Self::MigrationOnReplica => "ERR Slot migration can only be used on primary nodes.",
            Self::MigrationWhileImporting => "ERR Slots are being manually imported",
            Self::MigrationWhileMigrating => "ERR Slots are being manually migrated",
            Self::NoRanges => "ERR No slot ranges specified",
            Self::RangeWithoutEnd => "ERR No end slot for final slot range",
            Self::SeveralShards => "ERR Requested slots span multiple shards",
            Self::ServedElsewhere => "ERR Slots are not served by this node.",
            Self::MigrationsOverlap => "ERR Slot ranges in migrations overlap",
            Self::MigrationToMyself => "ERR Target node can not be this node.",
            Self::NoMigrations => "ERR No migrations ongoing",
            _ => unreachable!("these are not about migrations"),
        }
    }
}
