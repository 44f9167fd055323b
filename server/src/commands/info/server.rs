//! The section about the program and its host.

use tailrace_storage::Compat;

use super::text::Text;
use crate::call::Call;
use crate::process;
use crate::server_info;

pub(super) fn write(call: &mut Call<'_>, text: &mut Text) {
    let now = call.now.wall;
    let (info, settings) = (&call.state.info, call.state.config.settings());
    match settings.compat {
        Compat::Valkey => {
            text.field("redis_version", server_info::REDIS_VERSION_OF_VALKEY);
            text.field("server_name", "valkey");
            text.field("valkey_version", server_info::VALKEY_VERSION);
            text.field("valkey_release_stage", "ga");
        }
        Compat::Redis => text.field("redis_version", server_info::REDIS_VERSION),
    }
    // As in a model that was not built from its repository.
    text.field("redis_git_sha1", "00000000");
    text.field("redis_git_dirty", 0);
    text.field("redis_build_id", server_info::build_id());
    let is_valkey = settings.compat == Compat::Valkey;
    let mode = match is_valkey && !settings.extended_redis_compatibility {
        true => "server_mode",
        false => "redis_mode",
    };
    let is_cluster = call.state.cluster.is_some();
    text.field(mode, if is_cluster { "cluster" } else { "standalone" });
    text.field("tailrace_version", server_info::VERSION);
    text.field("os", process::system());
    text.field("arch_bits", usize::BITS);
    text.field("monotonic_clock", "POSIX clock_gettime");
    let multiplexing = if cfg!(target_os = "linux") {
        "epoll"
    } else {
        "kqueue"
    };
    text.field("multiplexing_api", multiplexing);
    // As in a model that another compiler built.
    text.field("gcc_version", "0.0.0");
    text.field("process_id", std::process::id());
    text.field("process_supervised", info.supervisor);
    text.field("run_id", &info.run_id);
    text.field("tcp_port", call.state.port_of(call.id));
    text.field("server_time_usec", now.0);
    let uptime = now.0.saturating_sub(info.started_at.0) / 1_000_000;
    text.field("uptime_in_seconds", uptime);
    text.field("uptime_in_days", uptime / (24 * 60 * 60));
    text.fields(&["hz", "configured_hz", "clients_hz"], 10);
    let lru_clock = now.to_seconds() & LRU_CLOCK_MASK;
    text.field("lru_clock", lru_clock);
    text.field("executable", &info.executable);
    text.field("config_file", &info.config_file);
    text.field("io_threads_active", 0);
    let zone = settings.availability_zone.as_deref().unwrap_or_default();
    text.field("availability_zone", String::from_utf8_lossy(zone));
    for (number, listener) in info.listeners.iter().enumerate() {
        text.field(&format!("listener{number}"), listener);
    }
}

/// There is no encryption, so there are no certificates.
pub(super) fn write_tls(_: &mut Call<'_>, text: &mut Text) {
    for certificate in ["tls_server_cert", "tls_client_cert", "tls_ca_cert"] {
        text.field(&format!("{certificate}_serial"), "none");
        text.field(&format!("{certificate}_expires_in_seconds"), 0);
    }
}

/// As `MODULE LIST`.
pub(super) fn write_modules(call: &mut Call<'_>, text: &mut Text) {
    if call.state.config.settings().compat == Compat::Valkey {
        let engine = "name=lua,ver=1,api=1,filters=0,usedby=[],using=[],options=[handle-repl-async-load|handle-atomic-slot-migration]";
        text.field("module", engine);
    }
}

/// What runs scripts.
pub(super) fn write_engines(call: &mut Call<'_>, text: &mut Text) {
    let used = call.state.scripts.memory().interpreter;
    text.field("engines_count", 1);
    text.field("engines_total_used_memory", used);
    text.field("engines_total_memory_overhead", 0);
    text.field(
        "engine_0",
        format_args!("name=LUA,module=lua,abi_version=4,used_memory={used},memory_overhead=0"),
    );
}

/// The reference keeps 24 bits of the time in seconds.
const LRU_CLOCK_MASK: u64 = 0xFF_FFFF;
