//! Tailrace as a library: a stream server that speaks RESP, in this process.
//!
//! [`Server::builder`] starts one on a free port; [`blocking::Server`] does so for a program without
//! an async runtime. Every command is in [`COMMANDS`]. What the parts are and where they meet is in
//! the project's ARCHITECTURE.md.

pub mod admission;
mod args;
pub mod blocking;
pub mod call;
pub mod client;
pub mod clock;
pub mod cluster;
pub mod command_log;
mod command_table;
pub mod commands;
pub mod config;
mod connection;
mod deadlines;
mod dispatch;
mod double;
mod engine;
pub mod error;
pub mod gate;
mod histogram;
mod input;
pub mod keys;
pub mod latency;
mod link;
mod listener;
mod listening;
mod migration;
mod monitor;
mod notify;
pub mod open_files;
pub mod options;
mod outbox;
pub mod panic;
mod patience;
mod process;
pub mod pubsub;
mod rates;
mod resume;
mod script;
mod serve;
mod server;
pub mod server_info;
mod sha256;
mod sockets;
pub mod spec;
mod start_error;
pub mod state;
pub mod stats;
pub mod syntax;
pub mod testing;
mod timer;
mod timing;
mod tracking;
pub mod transaction;
mod upkeep;

pub use clock::Clock;
pub use clock::ManualClock;
pub use clock::SystemClock;
pub use cluster::Cluster;
pub use command_table::CommandTable;
pub use commands::COMMANDS;
pub use config::Config;
pub use double::strict::Unsupported;
pub use engine::Engine;
pub use server::Builder;
pub use server::Server;
pub use start_error::StartError;
pub use tailrace_storage::Millis;
pub use tailrace_storage::UnixMillis;
pub use testing::TestServer;

/// The Rust code of the documents is among the documentation's tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../TESTING.md")]
    struct Testing;
    #[doc = include_str!("../../CLUSTERS.md")]
    struct Clusters;
}
