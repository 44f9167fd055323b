//! `MEMORY DOCTOR`
//!
//! Replies with what is wrong with the use of memory, for people.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::process;
use crate::spec::Group;
use crate::spec::Spec;
use crate::state::Memory;

pub(super) const SPEC: Spec = Spec {
    name: "memory|doctor",
    arity: 2,
    tips: &[
        "nondeterministic_output",
        "request_policy:all_shards",
        "response_policy:special",
    ],
    group: Group::Server,
    summary: "Says what is wrong with the use of memory.",
    since: "4.0.0",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    _: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let memory = call.state.memory();
    let maxmemory = call.state.config.settings().maxmemory_bytes;
    let clients = call.state.clients.len() as u64;
    let findings = findings(memory, maxmemory, clients);

    let Memory { data, clients, .. } = memory;
    let mut report = format!("Keys and values take {data} bytes, and clients {clients}.");
    if findings.is_empty() {
        report.push_str(" Nothing is wrong with that.");
    }
    for finding in findings {
        report.push_str("\n\n- ");
        report.push_str(&finding);
    }
    report.push('\n');
    reply.verbatim(report.as_bytes());
    Ok(Flow::Done)
}

/// What is worth a thought, each with what to do.
fn findings(memory: Memory, maxmemory: u64, client_count: u64) -> Vec<String> {
    let Memory {
        own,
        data,
        clients,
        peak,
    } = memory;
    let (used, limited) = (memory.used(), own + data);
    let mut findings = Vec::new();
    if maxmemory > 0 && limited > maxmemory {
        findings.push(format!(
            "Keys and values take more than the {maxmemory} bytes of maxmemory: commands that need memory \
             are refused. Delete or trim something, or raise maxmemory."
        ));
    } else if maxmemory > 0 && limited > maxmemory / 10 * 9 {
        findings.push(format!(
            "Keys and values take nearly all of the {maxmemory} bytes of maxmemory. Soon commands that need \
             memory will be refused."
        ));
    }
    if peak > WORTH_A_THOUGHT_BYTES && peak / 3 * 2 > used {
        findings.push(format!(
            "At its peak it was {peak} bytes. If that was no accident, the machine needs room for it again."
        ));
    }
    if clients / client_count.max(1) > CLIENT_BYTES_USUAL {
        findings.push(
            "Clients take a lot. Some may not read their replies, or send very large commands: CLIENT LIST \
             shows who. client-output-buffer-limit and client-query-buffer-limit end those."
                .to_owned(),
        );
    }
    let resident = process::resident_bytes().unwrap_or(0);
    if used > WORTH_A_THOUGHT_BYTES && resident / 3 > used {
        findings.push(format!(
            "The process takes {resident} bytes, several times as much. It may have needed them before, or \
             for other things; what is free is used again first."
        ));
    }
    findings
}

/// Less than this is a problem to nobody.
const WORTH_A_THOUGHT_BYTES: u64 = 5 * 1_024 * 1_024;
/// What a client may take without a question, as in the reference.
const CLIENT_BYTES_USUAL: u64 = 200 * 1_024;

#[cfg(test)]
mod tests {
    use super::findings;
    use crate::state::Memory;

    fn count(data: u64, clients: u64, peak: u64, maxmemory: u64) -> usize {
        let memory = Memory {
            own: 0,
            data,
            clients,
            peak,
        };
        findings(memory, maxmemory, 2).len()
    }

    #[test]
    fn what_is_worth_a_thought_is_named() {
        assert_eq!(count(1_000, 1_000, 2_000, 0), 0);
        assert_eq!(count(1_000, 1_000, 2_000, 500), 1);
        assert_eq!(count(950, 1_000, 2_000, 1_000), 1);
        assert_eq!(count(1_000, 1_000, 10_000_000, 0), 1);
        assert_eq!(count(1_000, 1_000_000, 1_001_000, 0), 1);
    }
}
