//! What is not said where both servers are clusters of one node.

use super::grammar::Words;
use super::talk::is;

/// Whether a command would change the cluster, or tell what is different each time: ids, hosts, and the order in which
/// keys are gone through. Some are not said by who is in a transaction.
pub(super) fn is_left_out(command: &Words, is_queued: bool) -> bool {
    // In EXEC the reference looks for all watched keys in the slot of the transaction, and misses others that go.
    let flushes = is(command, 0, "FLUSHDB") || is(command, 0, "FLUSHALL");
    if is_queued && flushes {
        return true;
    }
    // The reference does not look at the keys of MSETEX, and takes them on any node.
    if is(command, 0, "CLUSTERSCAN") || is(command, 0, "MSETEX") {
        return true;
    }
    // In EXEC the reference puts these keys into the slot of the commands before.
    if is(command, 0, "DEBUG") && is(command, 1, "POPULATE") {
        return true;
    }
    is(command, 0, "CLUSTER") && !SAID.iter().any(|name| is(command, 1, name))
}

/// The subcommands of CLUSTER that are said.
const SAID: &[&str] = &[
    "COUNT-FAILURE-REPORTS",
    "COUNTKEYSINSLOT",
    "CANCELSLOTMIGRATIONS",
    "GETSLOTMIGRATIONS",
    "KEYSLOT",
    "LINKS",
    "MIGRATESLOTS",
    "NOTHING",
    "REPLICAS",
    "SLAVES",
    "SLOT-STATS",
];
