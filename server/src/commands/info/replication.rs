//! The section about replicas: there are none.

use super::text::Text;
use crate::call::Call;

pub(super) fn write(call: &mut Call<'_>, text: &mut Text) {
    text.field("role", "master");
    text.field("connected_slaves", 0);
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
