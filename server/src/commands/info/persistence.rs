//! The section about what is kept on disk: nothing.

use super::text::Text;
use crate::call::Call;
use crate::double::outage::Phase;

pub(super) fn write(call: &mut Call<'_>, text: &mut Text) {
    let fork = [
        "current_cow_peak",
        "current_cow_size",
        "current_cow_size_age",
    ];
    let outage = call.state.outage(call.now.mono);
    text.field("loading", u8::from(outage == Some(Phase::Loading)));
    text.field("async_loading", 0);
    text.fields(&fork, 0);
    text.field("current_fork_perc", "0.00");
    text.fields(
        &["current_save_keys_processed", "current_save_keys_total"],
        0,
    );
    let changes = call.state.store.change_count();
    text.field("rdb_changes_since_last_save", changes);
    text.field("rdb_bgsave_in_progress", 0);
    let started_at = call.state.info.started_at.to_seconds();
    text.field("rdb_last_save_time", started_at);
    text.field("rdb_last_bgsave_status", "ok");
    text.fields(
        &["rdb_last_bgsave_time_sec", "rdb_current_bgsave_time_sec"],
        -1,
    );
    text.fields(
        &[
            "rdb_saves",
            "rdb_last_cow_size",
            "rdb_last_load_keys_expired",
            "rdb_last_load_keys_loaded",
            "aof_enabled",
            "aof_rewrite_in_progress",
            "aof_rewrite_scheduled",
        ],
        0,
    );
    text.fields(
        &["aof_last_rewrite_time_sec", "aof_current_rewrite_time_sec"],
        -1,
    );
    text.field("aof_last_bgrewrite_status", "ok");
    text.fields(&["aof_rewrites", "aof_rewrites_consecutive_failures"], 0);
    text.field("aof_last_write_status", "ok");
    text.fields(
        &[
            "aof_last_cow_size",
            "module_fork_in_progress",
            "module_fork_last_cow_size",
            "slot_migration_fork_in_progress",
        ],
        0,
    );
}
