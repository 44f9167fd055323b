//! `evalsha/add`: clients that add entries with a script.

use super::CONNECTIONS;
use super::Facts;
use super::KEY;
use super::Sample;
use super::Site;
use super::Target;
use super::Unit;
use super::Workload;
use crate::fault::Fault;
use crate::load::Repeat;
use crate::load::Talker;
use crate::resp::Reader;
use crate::resp::push_command;

/// Adds entries with a script.
pub(super) struct Script;

pub(super) const EVALSHA: Script = Script;

impl Workload for Script {
    fn facts(&self) -> Facts {
        Facts {
            name: "evalsha/add",
            brief: "EVALSHA of one XADD, 16 in each write",
            question: "How many entries can 50 clients add with a script?",
            unit: Unit::rate("entries/s"),
            target: Target::Times(1.0),
        }
    }

    fn has_floor(&self) -> bool {
        true
    }

    fn measure(&self, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let reply = match site.control()?.call(&[b"SCRIPT", b"LOAD", SCRIPT]) {
            Err(Fault::ErrorReply(text)) if text.contains("unknown command") => {
                return Err(Fault::Unsupported("SCRIPT LOAD".to_owned()));
            }
            reply => reply?,
        };
        let digest = Reader::new(&reply).bulk()?.unwrap_or_default();

        let pipeline = u64::from(PIPELINE);
        let times = site
            .amount(ENTRIES)
            .div_ceil(pipeline * u64::from(CONNECTIONS));
        let client = |number: u16| -> Box<dyn Talker> {
            let device = format!("device-{number:03}/sensor-x");
            let mut request = Vec::new();
            for number in 0..pipeline {
                let reading = format!("{number:010} kilowatt");
                let [device, reading] = [device.as_bytes(), reading.as_bytes()];
                push_command(
                    &mut request,
                    &[b"EVALSHA", digest, b"1", KEY, device, reading],
                );
            }
            Box::new(Repeat {
                request,
                replies: pipeline,
                units: pipeline,
                times,
            })
        };
        let clients = (0..CONNECTIONS).map(client).collect();
        let entries = times * pipeline * u64::from(CONNECTIONS);
        site.load(clients, entries).map(Sample::from)
    }
}

/// What is run for each entry.
const SCRIPT: &[u8] =
    b"return redis.call('XADD', KEYS[1], '*', 'device', ARGV[1], 'reading', ARGV[2])";

/// Commands in a write: it is scripts that are measured, not sockets.
const PIPELINE: u32 = 16;

/// Entries that a full run adds.
const ENTRIES: u32 = 1_000_000;
