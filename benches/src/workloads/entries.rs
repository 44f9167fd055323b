//! The entries that workloads add: two fields, 38 bytes of values in all.

use super::KEY;
use super::Site;
use crate::fault::Fault;
use crate::load::Repeat;
use crate::load::Talker;
use crate::resp::push_command;

/// Returns a pipeline of commands, each of which adds an entry to [`KEY`].
///
/// `series` makes the values of one client differ from those of another.
pub(super) fn adds(commands: u32, series: u16) -> Vec<u8> {
    let mut out = Vec::new();
    for number in 0..commands {
        let device = format!("device-{series:03}/sensor-x");
        let reading = format!("{number:010} kilowatt");
        let [device, reading] = [device.as_bytes(), reading.as_bytes()];
        push_command(
            &mut out,
            &[b"XADD", KEY, b"*", b"device", device, b"reading", reading],
        );
    }
    out
}

/// Adds at least `entries` entries.
pub(super) fn fill(site: &mut Site<'_>, entries: u64) -> Result<(), Fault> {
    let adds = Repeat {
        request: adds(FILL_PIPELINE, 0),
        replies: FILL_PIPELINE.into(),
        units: FILL_PIPELINE.into(),
        times: entries.div_ceil(FILL_PIPELINE.into()),
    };
    let talkers: Vec<Box<dyn Talker>> = vec![Box::new(adds)];
    let added = site.load(talkers, entries)?.units;
    if added < entries {
        return Err(Fault::Usage(format!(
            "only {added} of {entries} entries were laid out in time; raise --seconds-max"
        )));
    }
    Ok(())
}

/// Commands in a write that lays out entries: many, as this is not what is measured.
const FILL_PIPELINE: u32 = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::Reader;

    #[test]
    fn an_entry_has_two_fields_and_38_bytes_of_values() {
        let bytes = adds(3, 49);
        let mut reader = Reader::new(&bytes);

        for _ in 0..3 {
            assert_eq!(reader.array().unwrap(), Some(7));
            let args: Vec<_> = (0..7).map(|_| reader.bulk().unwrap().unwrap()).collect();
            assert_eq!(args[4].len() + args[6].len(), 38);
        }
        assert!(reader.array().is_err(), "nothing follows");
    }
}
