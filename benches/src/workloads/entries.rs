//! The entries that workloads add: two fields, 38 bytes of values in all.

use super::KEY;
use super::Site;
use crate::fault::Fault;
use crate::load::Talker;
use crate::resp::push_command;

/// Returns a pipeline of commands, each of which adds an entry to [`KEY`] under an ID that the server
/// chooses.
///
/// `series` makes the values of one client differ from those of another.
pub(super) fn adds(commands: u32, series: u16) -> Vec<u8> {
    let mut out = Vec::new();
    for number in 0..commands {
        push_add(&mut out, b"*", series, number.into());
    }
    out
}

/// Lays out entries whose IDs are [`id`] of 0 and on.
///
/// # Errors
///
/// Besides what goes wrong on the connection, [`Fault::Usage`] if the time of a run does not suffice.
pub(super) fn fill(site: &mut Site<'_>, entries: u64) -> Result<(), Fault> {
    let filler = Filler {
        next: 0,
        end: entries,
        in_request: 0,
        request: Vec::new(),
    };
    let added = site.load(vec![Box::new(filler)], entries)?.units;
    if added < entries {
        return Err(Fault::Usage(format!(
            "only {added} of {entries} entries were laid out in time; raise --seconds-max"
        )));
    }
    Ok(())
}

/// Returns the ID of an entry that was laid out: some to a millisecond, as a busy server gives them.
pub(super) fn id(number: u64) -> String {
    let (ms, seq) = (number / IDS_PER_MS, number % IDS_PER_MS);
    format!("{}-{seq}", START_MS + ms)
}

/// Adds entries under given IDs.
struct Filler {
    next: u64,
    end: u64,
    in_request: u64,
    request: Vec<u8>,
}

impl Talker for Filler {
    fn prepare(&mut self) -> u64 {
        self.request.clear();
        let end = self.end.min(self.next + FILL_PIPELINE);
        for number in self.next..end {
            push_add(&mut self.request, id(number).as_bytes(), 0, number);
        }
        self.in_request = end - self.next;
        self.next = end;
        self.in_request
    }

    fn request(&self) -> &[u8] {
        &self.request
    }

    fn on_replies(&mut self, _replies: &[u8]) -> Result<u64, Fault> {
        Ok(self.in_request)
    }
}

fn push_add(out: &mut Vec<u8>, id: &[u8], series: u16, number: u64) {
    let device = format!("device-{series:03}/sensor-x");
    let reading = format!("{number:010} kilowatt");
    let [device, reading] = [device.as_bytes(), reading.as_bytes()];
    push_command(
        out,
        &[b"XADD", KEY, id, b"device", device, b"reading", reading],
    );
}

/// Commands in a write that lays out entries: many, as this is not what is measured.
const FILL_PIPELINE: u64 = 200;

const START_MS: u64 = 1_700_000_000_000;

const IDS_PER_MS: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::Reader;

    fn words(reader: &mut Reader<'_>) -> Vec<String> {
        let count = reader.array().unwrap().unwrap();
        let mut word = || String::from_utf8(reader.bulk().unwrap().unwrap().to_vec()).unwrap();
        (0..count).map(|_| word()).collect()
    }

    #[test]
    fn an_entry_has_two_fields_and_38_bytes_of_values() {
        let bytes = adds(3, 49);
        let mut reader = Reader::new(&bytes);

        for _ in 0..3 {
            let words = words(&mut reader);
            assert_eq!(words[..4], ["XADD", "tailrace-bench", "*", "device"]);
            assert_eq!(words[4].len() + words[6].len(), 38);
        }
        assert!(reader.array().is_err(), "nothing follows");
    }

    #[test]
    fn as_many_entries_are_laid_out_as_were_asked_for() {
        let mut filler = Filler {
            next: 0,
            end: FILL_PIPELINE + 1,
            in_request: 0,
            request: Vec::new(),
        };

        assert_eq!(filler.prepare(), FILL_PIPELINE);
        assert_eq!(filler.prepare(), 1);
        let words = words(&mut Reader::new(filler.request()));
        assert_eq!(words[2], "1700000000025-0");
        assert_eq!(words[4].len() + words[6].len(), 38);
        assert_eq!(filler.prepare(), 0);
    }
}
