//! The task that wakes the engine when a deadline comes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::engine::Engine;

/// Runs for as long as the engine does.
pub(crate) async fn run(engine: Arc<Engine>) {
    let moves = engine.clock().moved();
    loop {
        // Listened for before the look at what is due, so that a move during the look counts.
        let moved = moves.as_deref().map(Notify::notified);
        let next = engine.on_time();
        let due = async {
            match (moved, next) {
                (Some(moved), _) => moved.await,
                (None, Some(next)) => {
                    let micros = next.0.saturating_sub(engine.clock().now().mono.0);
                    tokio::time::sleep(Duration::from_micros(micros)).await;
                }
                (None, None) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = engine.earlier_deadline.notified() => {}
            () = due => {}
        }
    }
}
