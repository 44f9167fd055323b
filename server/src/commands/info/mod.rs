//! `INFO [section ...]`: what the server is and does, for people and for monitoring.
//!
//! Behaviour worth knowing:
//! - Without a section: the ones that are cheap and short. `all` and `everything` are all of them.
//! - A section that there is not is left out; if nothing is left, the reply is empty.
//!
//! Field names and their order are the reference's, since programs read them. A field whose value
//! would not be true here is left out.

mod clients;
mod memory;
mod persistence;
mod replication;
mod server;
mod stats;
mod text;

use std::collections::BTreeSet;

use tailrace_protocol::ReplyWriter;

use self::text::Text;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "info",
    syntax: "[section...]",
    flags: Flags::LOADING.and(Flags::STALE),
    acl: Acl::DANGEROUS,
    tips: &[
        "nondeterministic_output",
        "request_policy:all_shards",
        "response_policy:special",
    ],
    group: Group::Server,
    summary: "Tells what the server is and does.",
    since: "1.0.0",
    history: &[("7.0.0", "Takes several sections.")],
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let chosen = Chosen::parse(args);

    let mut text = Text::default();
    for section in SECTIONS.iter().filter(|section| chosen.has(section)) {
        text.section(section.title);
        (section.write)(call, &mut text);
    }
    reply.verbatim(text.as_bytes());
    Ok(Flow::Done)
}

/// A part of the reply.
#[derive(Clone, Copy)]
struct Section {
    name: &'static str,
    title: &'static str,
    is_default: bool,
    /// Whether it has to be asked for by its name.
    is_rare: bool,
    write: fn(&mut Call<'_>, &mut Text),
}

const fn section(
    name: &'static str,
    title: &'static str,
    write: fn(&mut Call<'_>, &mut Text),
) -> Section {
    Section {
        name,
        title,
        is_default: true,
        is_rare: false,
        write,
    }
}

const fn on_request(section: Section) -> Section {
    Section {
        is_default: false,
        ..section
    }
}

/// In the order in which they are shown.
const SECTIONS: &[Section] = &[
    section("server", "Server", server::write),
    on_request(section("tls", "TLS", server::write_tls)),
    section("clients", "Clients", clients::write),
    section("memory", "Memory", memory::write),
    section("persistence", "Persistence", persistence::write),
    section("stats", "Stats", stats::write),
    section("replication", "Replication", replication::write),
    section("cpu", "CPU", memory::write_cpu),
    section("modules", "Modules", server::write_modules),
    on_request(section(
        "commandstats",
        "Commandstats",
        stats::write_commands,
    )),
    section("errorstats", "Errorstats", stats::write_errors),
    on_request(section(
        "latencystats",
        "Latencystats",
        stats::write_latencies,
    )),
    section("cluster", "Cluster", |call, text| {
        text.field("cluster_enabled", u8::from(call.state.cluster.is_some()));
    }),
    on_request(section("cluster_info", "Cluster Info", |call, text| {
        if let Ok(lines) = super::cluster::info_text(call) {
            text.lines(&lines);
        }
    })),
    on_request(section(
        "scriptingengines",
        "Scripting Engines",
        server::write_engines,
    )),
    section("keyspace", "Keyspace", memory::write_keyspace),
    Section {
        is_rare: true,
        ..on_request(section("debug", "Debug", stats::write_debug))
    },
];

/// Which sections are asked for.
#[derive(Default)]
struct Chosen {
    all: bool,
    defaults: bool,
    names: BTreeSet<Vec<u8>>,
}

impl Chosen {
    fn parse(args: Args<'_>) -> Self {
        let mut chosen = Self {
            defaults: args.is_empty(),
            ..Self::default()
        };
        for arg in args {
            match arg.to_ascii_lowercase().as_slice() {
                b"all" | b"everything" => chosen.all = true,
                b"default" => chosen.defaults = true,
                b"module_list" => {
                    chosen.names.insert(b"modules".to_vec());
                }
                name => {
                    chosen.names.insert(name.to_vec());
                }
            }
        }
        chosen
    }

    fn has(&self, section: &Section) -> bool {
        (self.all && !section.is_rare)
            || (self.defaults && section.is_default)
            || self.names.contains(section.name.as_bytes())
    }
}
