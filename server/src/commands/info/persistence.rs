//! The section about what is kept on disk: nothing.

use super::text::Text;
use crate::call::Call;

pub(super) fn write(call: &mut Call<'_>, text: &mut Text) {
    text.fields(&["loading", "async_loading", "rdb_bgsave_in_progress"], 0);
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
    text.fields(
        &["aof_last_bgrewrite_status", "aof_last_write_status"],
        "ok",
    );
}
