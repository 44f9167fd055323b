//! The sections about memory, processor time and keys.
//!
//! `used_memory` is what this server with its data and its clients takes, not what the
//! process does: a process may hold many servers.

use super::text::Text;
use crate::call::Call;
use crate::process;
use crate::state::Memory;

pub(super) fn write(call: &mut Call<'_>, text: &mut Text) {
    let memory = call.state.memory();
    let Memory {
        own,
        data,
        clients,
        peak,
    } = memory;
    let (used, rss) = (memory.used(), process::resident_bytes());
    text.memory("used_memory", used);
    if let Some(rss) = rss {
        text.memory("used_memory_rss", rss);
    }
    text.memory("used_memory_peak", peak);
    let percent = 100.0 * ratio(used, peak);
    text.field("used_memory_peak_perc", format_args!("{percent:.2}%"));
    text.field("used_memory_overhead", own + clients);
    text.field("used_memory_startup", own);
    text.field("used_memory_dataset", data);
    let percent = 100.0 * ratio(data, data + clients);
    text.field("used_memory_dataset_perc", format_args!("{percent:.2}%"));
    let resident = rss.unwrap_or(used).max(used);
    text.field("allocator_allocated", used);
    text.field("allocator_active", used);
    text.field("allocator_resident", resident);
    text.field("allocator_muzzy", 0);
    if let Some(total) = process::system_memory_bytes() {
        text.memory("total_system_memory", total);
    }
    write_scripts(call, text);
    let settings = call.state.config.settings();
    text.memory("maxmemory", settings.maxmemory_bytes);
    text.field("maxmemory_policy", "noeviction");
    write_ratios(used, rss, text);
    // The limit is compared with the rest.
    text.field("mem_not_counted_for_evict", clients);
    text.fields(
        &[
            "mem_replication_backlog",
            "mem_total_replication_buffers",
            "mem_replicas_repl_buffer",
            "mem_clients_slaves",
        ],
        0,
    );
    text.field("mem_clients_normal", clients);
    text.fields(
        &[
            "mem_cluster_links",
            "mem_cluster_slot_import",
            "mem_cluster_slot_export",
            "mem_aof_buffer",
        ],
        0,
    );
    text.field("mem_allocator", "mimalloc");
    text.fields(
        &[
            "mem_overhead_db_hashtable_rehashing",
            "active_defrag_running",
            "lazyfree_pending_objects",
            "lazyfreed_objects",
        ],
        0,
    );
}

/// How much more the process takes. What the allocator does with it is not known.
fn write_ratios(used: u64, rss: Option<u64>, text: &mut Text) {
    let resident = rss.unwrap_or(used).max(used);
    text.field("allocator_frag_ratio", "1.00");
    text.field("allocator_frag_bytes", 0);
    let times = ratio(resident, used);
    text.field("allocator_rss_ratio", format_args!("{times:.2}"));
    text.field("allocator_rss_bytes", resident - used);
    text.field("rss_overhead_ratio", "1.00");
    text.field("rss_overhead_bytes", 0);
    if let Some(rss) = rss {
        let fragmentation = ratio(rss, used);
        text.field(
            "mem_fragmentation_ratio",
            format_args!("{fragmentation:.2}"),
        );
        text.field("mem_fragmentation_bytes", rss.saturating_sub(used));
    }
}

/// What scripts take, which is not part of the above.
fn write_scripts(call: &mut Call<'_>, text: &mut Text) {
    let scripts = call.state.scripts.memory();
    text.field("used_memory_lua", scripts.interpreter);
    text.field("used_memory_vm_eval", scripts.interpreter);
    text.memory_human("used_memory_lua", scripts.interpreter);
    text.field("used_memory_scripts_eval", scripts.cache);
    text.field("number_of_cached_scripts", scripts.count);
    text.fields(
        &[
            "number_of_functions",
            "number_of_libraries",
            "used_memory_vm_functions",
        ],
        0,
    );
    text.memory("used_memory_vm_total", scripts.interpreter);
    text.field("used_memory_functions", 0);
    text.memory("used_memory_scripts", scripts.cache);
}

/// Processor time of the whole process, as far as the system tells.
pub(super) fn write_cpu(call: &mut Call<'_>, text: &mut Text) {
    let Some(used) = process::processor_time() else {
        return;
    };
    text.field("used_cpu_sys", format_args!("{:.6}", used.system_s));
    text.field("used_cpu_user", format_args!("{:.6}", used.user_s));
    text.fields(
        &["used_cpu_sys_children", "used_cpu_user_children"],
        "0.000000",
    );
    if let Some(used) = process::thread_time() {
        let (system, user) = (used.system_s, used.user_s);
        text.field("used_cpu_sys_main_thread", format_args!("{system:.6}"));
        text.field("used_cpu_user_main_thread", format_args!("{user:.6}"));
    }
    // Only commands are known to be the work of this server and not of another in the process.
    call.state.settle_times();
    let micros = call.state.stats.by_command.nanos() / 1_000;
    text.field(
        "used_active_time_main_thread",
        format_args!("{}.{:06}", micros / 1_000_000, micros % 1_000_000),
    );
}

pub(super) fn write_keyspace(call: &mut Call<'_>, text: &mut Text) {
    let store = &call.state.store;
    for db in 0..store.databases() {
        let (keys, expires) = (store.db_len(db), store.deadline_count(db));
        if keys > 0 {
            let avg_ttl = store.lifetime_average(db).0;
            text.field(
                &format!("db{db}"),
                format_args!(
                    "keys={keys},expires={expires},avg_ttl={avg_ttl},keys_with_volatile_items=0"
                ),
            );
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "two digits after the point are shown"
)]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}
