//! The task that wakes the engine when a deadline comes.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::engine::Engine;

/// Runs for as long as the engine does.
pub(crate) async fn run(engine: Arc<Engine>) {
    let moves = engine.clock().moved();
    loop {
        // Listened for before the look at what is due, so that a move during the look counts.
        let moved = moves.as_deref().map(Notify::notified);
        let next = engine.on_time();
        let sleep = next.and_then(|next| engine.clock().real_time_until(next));
        tokio::select! {
            () = engine.earlier_deadline.notified() => {}
            () = wait_for(moved) => {}
            () = wait_for(sleep.map(tokio::time::sleep)) => {}
        }
    }
}

/// Waits for what may come, for ever if there is no such thing.
async fn wait_for(event: Option<impl Future<Output = ()>>) {
    match event {
        Some(event) => event.await,
        None => std::future::pending().await,
    }
}
