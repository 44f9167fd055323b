//! The sections about what was counted.

use tailrace_storage::Compat;

use super::text::Text;
use crate::call::Call;
use crate::config::show_percentile;
use crate::rates::PerSecond;
use crate::stats::Stats;

pub(super) fn write(call: &mut Call<'_>, text: &mut Text) {
    call.state.settle_times();
    let state = &*call.state;
    let (stats, lookups) = (&state.stats, state.store.stats());
    let rate = stats.rates.per_second(stats.totals(call.now.mono));
    text.field("total_connections_received", stats.connections);
    text.field("total_commands_processed", stats.commands);
    text.field("instantaneous_ops_per_sec", rate.commands);
    text.field("total_net_input_bytes", stats.bytes_in);
    text.field("total_net_output_bytes", stats.bytes_out);
    text.fields(
        &[
            "total_net_repl_input_bytes",
            "total_net_repl_output_bytes",
            "total_net_cluster_slot_import_bytes",
            "total_net_cluster_slot_export_bytes",
        ],
        0,
    );
    let (input, output) = (rate.bytes_in / 1_024.0, rate.bytes_out / 1_024.0);
    text.field("instantaneous_input_kbps", format_args!("{input:.2}"));
    text.field("instantaneous_output_kbps", format_args!("{output:.2}"));
    let replication = [
        "instantaneous_input_repl_kbps",
        "instantaneous_output_repl_kbps",
    ];
    text.fields(&replication, "0.00");
    text.field("rejected_connections", stats.rejected_connections);
    text.fields(&["sync_full", "sync_partial_ok", "sync_partial_err"], 0);
    text.field("expired_keys", lookups.expired);
    text.field("expired_fields", 0);
    text.fields(
        &[
            "expired_stale_perc",
            "expired_keys_with_volatile_items_stale_perc",
        ],
        "0.00",
    );
    text.field("expired_time_cap_reached_count", stats.full_expire_slices);
    let expire_millis = stats.expire_micros / 1_000;
    text.field("expire_cycle_cpu_milliseconds", expire_millis);
    if state.config.settings().compat == Compat::Redis {
        text.field("expired_keys_active", lookups.expired_unasked);
    }
    text.fields(&["evicted_keys", "evicted_clients"], 0);
    text.field("evicted_scripts", state.scripts.evicted());
    let eviction = [
        "total_eviction_exceeded_time",
        "current_eviction_exceeded_time",
    ];
    text.fields(&eviction, 0);
    text.field("keyspace_hits", lookups.hits);
    text.field("keyspace_misses", lookups.misses);
    let (id, pubsub) = (call.id, &state.pubsub);
    text.field("pubsub_channels", state.heard_at(id, &pubsub.channels));
    text.field("pubsub_patterns", state.heard_at(id, &pubsub.patterns));
    text.field("pubsubshard_channels", state.heard_at(id, &pubsub.shards));
    text.fields(ABSENT, 0);
    text.field("tracking_total_keys", state.caches.keys().len());
    text.field("tracking_total_items", state.caches.keys().items());
    text.field("tracking_total_prefixes", state.caches.prefix_count());
    text.field("unexpected_error_replies", 0);
    write_traffic(stats, lookups.payload_nodes, text);
    write_cycles(stats, &rate, text);
    write_refused(stats, text);
}

/// What was refused, and how often sockets were read and written.
fn write_traffic(stats: &Stats, payload_nodes: u64, text: &mut Text) {
    text.field("total_error_replies", stats.errors);
    text.field("dump_payload_sanitizations", payload_nodes);
    text.field("total_reads_processed", stats.reads);
    text.field("total_writes_processed", stats.writes);
    text.fields(IO_THREADS, 0);
    text.field(
        "client_query_buffer_limit_disconnections",
        stats.query_limit_disconnections,
    );
    text.field(
        "client_output_buffer_limit_disconnections",
        stats.output_limit_disconnections,
    );
    text.fields(&["reply_buffer_shrinks", "reply_buffer_expands"], 0);
}

/// What there was to do. A cycle is one taking of the lock, and lasts as long as its commands do.
fn write_cycles(stats: &Stats, rate: &PerSecond, text: &mut Text) {
    let commands_micros = stats.by_command.nanos() / 1_000;
    text.field("eventloop_cycles", stats.cycles);
    text.field("eventloop_duration_sum", stats.busy_micros());
    text.field("eventloop_duration_cmd_sum", commands_micros);
    text.field("instantaneous_eventloop_cycles_per_sec", rate.cycles);
    text.field("instantaneous_eventloop_duration_usec", rate.cycle_micros);
}

/// More of what there was to do.
pub(super) fn write_debug(call: &mut Call<'_>, text: &mut Text) {
    let stats = &call.state.stats;
    text.field("eventloop_duration_aof_sum", 0);
    text.field("eventloop_duration_cron_sum", stats.expire_micros);
    text.field("eventloop_duration_max", stats.cycle_micros_max);
    text.field("eventloop_cmd_per_cycle_max", stats.cycle_commands_max);
    let threads = ["io_threaded_reads_pending", "io_threaded_writes_pending"];
    text.fields(&threads, 0);
}

fn write_refused(stats: &Stats, text: &mut Text) {
    text.field("acl_access_denied_auth", stats.refused_passwords);
    text.fields(ACCESS_LISTS, 0);
}

/// Forks, replicas, defragmentation.
const ABSENT: &[&str] = &[
    "latest_fork_usec",
    "total_forks",
    "migrate_cached_sockets",
    "slave_expires_tracked_keys",
    "active_defrag_hits",
    "active_defrag_misses",
    "active_defrag_key_hits",
    "active_defrag_key_misses",
    "total_active_defrag_time",
    "current_active_defrag_time",
];
const IO_THREADS: &[&str] = &[
    "io_threaded_reads_processed",
    "io_threaded_writes_processed",
    "io_threaded_freed_objects",
    "io_threaded_accept_processed",
    "io_threaded_poll_processed",
    "io_threaded_total_prefetch_batches",
    "io_threaded_total_prefetch_entries",
];
const ACCESS_LISTS: &[&str] = &[
    "acl_access_denied_cmd",
    "acl_access_denied_key",
    "acl_access_denied_channel",
    "acl_access_denied_tls_cert",
    "acl_access_denied_db",
];

pub(super) fn write_commands(call: &mut Call<'_>, text: &mut Text) {
    call.state.settle_times();
    for (name, stats, _) in call.state.stats.by_command.iter() {
        let micros = stats.nanos / 1_000;
        let per_call = per_call_micros(stats.nanos, stats.calls);
        text.field(
            &format!("cmdstat_{name}"),
            format_args!(
                "calls={},usec={micros},usec_per_call={per_call:.2},rejected_calls={},failed_calls={}",
                stats.calls, stats.rejected, stats.failed
            ),
        );
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "two digits after the point are shown"
)]
fn per_call_micros(nanos: u64, calls: u64) -> f64 {
    if calls == 0 {
        return 0.0;
    }
    nanos as f64 / 1_000.0 / calls as f64
}

pub(super) fn write_errors(call: &mut Call<'_>, text: &mut Text) {
    for (code, count) in &call.state.stats.by_error {
        text.field(&format!("errorstat_{code}"), format_args!("count={count}"));
    }
}

pub(super) fn write_latencies(call: &mut Call<'_>, text: &mut Text) {
    call.state.settle_times();
    let settings = call.state.config.settings();
    if !settings.latency_tracking {
        return;
    }
    for (name, _, durations) in call.state.stats.by_command.iter() {
        let Some(durations) = durations else {
            continue;
        };
        let shown = settings.latency_percentiles.iter().map(|percent| {
            let (name, nanos) = (show_percentile(*percent), durations.percentile(*percent));
            format!("p{name}={}.{:03}", nanos / 1_000, nanos % 1_000)
        });
        let shown: Vec<String> = shown.collect();
        text.field(&format!("latency_percentiles_usec_{name}"), shown.join(","));
    }
}
