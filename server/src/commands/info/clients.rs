//! The section about the clients.

use super::text::Text;
use crate::call::Call;
use crate::gate::Hold;

pub(super) fn write(call: &mut Call<'_>, text: &mut Text) {
    let now = call.now.mono;
    let state = &*call.state;
    let (blocking_keys, group_keys) = state.waits.key_counts();
    let subscribers = state
        .clients_beside(call.id)
        .filter(|client| client.is_subscriber());
    let watching = state.clients_beside(call.id);
    let watching = watching.filter(|client| !client.watches.keys.is_empty());
    text.field("connected_clients", state.clients_beside(call.id).count());
    text.field("cluster_connections", 0);
    text.field("maxclients", state.config.settings().maxclients);
    let input = state
        .clients_beside(call.id)
        .map(|client| client.input_bytes);
    let output = state
        .clients_beside(call.id)
        .map(|client| client.link.waiting());
    let (input, output) = (input.max().unwrap_or(0), output.max().unwrap_or(0));
    text.field("client_recent_max_input_buffer", input);
    text.field("client_recent_max_output_buffer", output);
    text.field(
        "blocked_clients",
        state.waits.len() + state.gate.held_count(),
    );
    text.field("tracking_clients", state.caches.clients());
    text.field("pubsub_clients", subscribers.count());
    text.field("watching_clients", watching.count());
    text.field("clients_in_timeout_table", state.waits.deadline_count());
    text.field("total_watched_keys", state.watch_list.len());
    text.field("total_blocking_keys", blocking_keys);
    text.field("total_blocking_keys_on_nokey", group_keys);
    let (reason, actions) = match state.gate.holds() {
        None => ("none", "none"),
        Some(Hold::All) => ("client_pause", "all"),
        Some(Hold::Writes) => ("client_pause", "write"),
    };
    text.field("paused_reason", reason);
    text.field("paused_actions", actions);
    let until = state.gate.deadline().unwrap_or(now);
    let paused_millis = until.0.saturating_sub(now.0).div_ceil(1_000);
    text.field("paused_timeout_milliseconds", paused_millis);
}
