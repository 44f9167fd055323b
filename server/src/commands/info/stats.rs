//! The sections about what was counted.

use super::text::Text;
use crate::call::Call;
use crate::config::show_percentile;

pub(super) fn write(call: &mut Call<'_>, text: &mut Text) {
    let state = &*call.state;
    let (stats, lookups) = (&state.stats, state.store.stats());
    let rate = stats.rates.per_second(stats.totals(call.now.mono));
    text.field("total_connections_received", stats.connections);
    text.field("total_commands_processed", stats.commands);
    text.field("instantaneous_ops_per_sec", rate.commands);
    text.field("total_net_input_bytes", stats.bytes_in);
    text.field("total_net_output_bytes", stats.bytes_out);
    let (input, output) = (rate.bytes_in / 1_024.0, rate.bytes_out / 1_024.0);
    text.field("instantaneous_input_kbps", format_args!("{input:.2}"));
    text.field("instantaneous_output_kbps", format_args!("{output:.2}"));
    text.field("rejected_connections", stats.rejected_connections);
    text.fields(&["sync_full", "sync_partial_ok", "sync_partial_err"], 0);
    text.field("expired_keys", lookups.expired);
    text.fields(&["evicted_keys", "evicted_clients"], 0);
    text.field("evicted_scripts", state.scripts.evicted());
    text.field("keyspace_hits", lookups.hits);
    text.field("keyspace_misses", lookups.misses);
    text.field("pubsub_channels", state.pubsub.channels.len());
    text.field("pubsub_patterns", state.pubsub.patterns.len());
    text.field("pubsubshard_channels", state.pubsub.shards.len());
    text.fields(
        &["latest_fork_usec", "total_forks", "migrate_cached_sockets"],
        0,
    );
    text.field("tracking_total_keys", state.caches.keys().len());
    text.field("tracking_total_items", state.caches.keys().items());
    text.field("tracking_total_prefixes", state.caches.prefix_count());
    text.field("unexpected_error_replies", 0);
    text.field("total_error_replies", stats.errors);
    text.field(
        "client_query_buffer_limit_disconnections",
        stats.query_limit_disconnections,
    );
    text.field(
        "client_output_buffer_limit_disconnections",
        stats.output_limit_disconnections,
    );
}

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
