//! The section about replicas: there are none but in a cluster, where they share the data of their primary.

use super::text::Text;
use crate::call::Call;
use crate::cluster::Endpoint;

pub(super) fn write(call: &mut Call<'_>, text: &mut Text) {
    match call.state.primary_endpoint(call.id) {
        Some(primary) => write_primary(&primary, call.state.is_primary_down(call.id), text),
        None => text.field("role", "master"),
    }
    let replicas = call.state.replica_endpoints(call.id);
    text.field("connected_slaves", replicas.len());
    for (number, replica) in replicas.iter().enumerate() {
        let (ip, port) = (&replica.ip, replica.port);
        text.field(
            &format!("slave{number}"),
            format_args!("ip={ip},port={port},state=online,offset=1,lag=0,type=replica"),
        );
    }
    text.field("replicas_waiting_psync", 0);
    text.field("master_failover_state", "no-failover");
    text.field("master_replid", &call.state.info.replication_id);
    text.field("master_replid2", "0".repeat(40));
    text.field("master_repl_offset", 0);
    text.field("second_repl_offset", -1);
    text.field("repl_backlog_active", 0);
    let size = call.state.config.shown("repl-backlog-size");
    text.field("repl_backlog_size", size);
    text.fields(
        &["repl_backlog_first_byte_offset", "repl_backlog_histlen"],
        0,
    );
}

/// What a replica says of its primary.
fn write_primary(primary: &Endpoint, is_down: bool, text: &mut Text) {
    text.field("role", "slave");
    text.field("master_host", &primary.ip);
    text.field("master_port", primary.port);
    text.field("master_link_status", if is_down { "down" } else { "up" });
    text.fields(
        &["master_last_io_seconds_ago", "master_sync_in_progress"],
        0,
    );
    text.fields(&["slave_read_repl_offset", "slave_repl_offset"], 1);
    text.field("slave_priority", 100);
    text.field("slave_read_only", 1);
    text.field("replica_announced", 1);
}
