//! The task that wakes the engine when a deadline comes.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::Engine;

/// Runs for as long as the engine does.
pub(crate) async fn run(engine: Arc<Engine>) {
    loop {
        let next = engine.on_time();
        let earlier = engine.earlier_deadline.notified();
        let Some(next) = next else {
            match engine.clock().moved() {
                Some(moved) => tokio::select! {
                    () = earlier => {}
                    () = moved.notified() => {}
                },
                None => earlier.await,
            }
            continue;
        };
        match engine.clock().moved() {
            Some(moved) => tokio::select! {
                () = earlier => {}
                () = moved.notified() => {}
            },
            None => {
                let micros = next.0.saturating_sub(engine.clock().now().mono.0);
                tokio::select! {
                    () = earlier => {}
                    () = tokio::time::sleep(Duration::from_micros(micros)) => {}
                }
            }
        }
    }
}
