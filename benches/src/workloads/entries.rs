//! The entries that workloads add and read, and who has them pending.

use super::KEY;
use super::Site;
use crate::fault::Fault;
use crate::load::Talker;
use crate::resp::push_command;

/// Appends a command that adds an entry to a stream; `options` end with its ID.
///
/// `series` and `number` make its values differ from those of others.
pub(crate) fn push_add(out: &mut Vec<u8>, key: &[u8], options: &[&[u8]], series: u16, number: u64) {
    let device = format!("device-{series:03}/sensor-x");
    let reading = format!("{number:010} kilowatt");
    let fields: [&[u8]; 4] = [b"device", device.as_bytes(), b"reading", reading.as_bytes()];
    push_xadd(out, key, options, &fields);
}

/// Appends a command that adds an entry of any fields: names and values in turn.
pub(super) fn push_xadd(out: &mut Vec<u8>, key: &[u8], options: &[&[u8]], fields: &[&[u8]]) {
    let words = [&[b"XADD", key], options, fields].concat();
    push_command(out, &words);
}

/// Lays out entries of two small fields whose IDs are [`id`] of 0 and on.
///
/// # Errors
///
/// Besides what goes wrong on the connection, [`Fault::Usage`] if the time of a run does not suffice.
pub(super) fn fill(site: &mut Site<'_>, entries: u64) -> Result<(), Fault> {
    fill_stream(site, KEY, entries)
}

/// Lays out entries as [`fill`] does, in a stream of another name.
///
/// # Errors
///
/// As [`fill`].
pub(super) fn fill_stream(site: &mut Site<'_>, key: &[u8], entries: u64) -> Result<(), Fault> {
    let key = key.to_vec();
    fill_with(site, entries, move |out, id, number| {
        push_add(out, &key, &[id], 0, number);
    })
}

/// Lays out entries as [`fill`] does; `push` appends the command that adds the one with an ID.
///
/// # Errors
///
/// As [`fill`].
pub(super) fn fill_with(
    site: &mut Site<'_>,
    entries: u64,
    push: impl FnMut(&mut Vec<u8>, &[u8], u64) + Send + 'static,
) -> Result<(), Fault> {
    let mut push = push;
    lay_out(site, entries, FILL_PIPELINE, move |out, number| {
        push(out, id(number).as_bytes(), number);
    })
}

/// Sends commands from one client: `push` appends the one with a number.
///
/// # Errors
///
/// As [`fill`].
pub(super) fn lay_out(
    site: &mut Site<'_>,
    commands: u64,
    pipeline: u64,
    push: impl FnMut(&mut Vec<u8>, u64) + Send + 'static,
) -> Result<(), Fault> {
    let filler = Filler {
        next: 0,
        end: commands,
        pipeline,
        in_request: 0,
        request: Vec::new(),
        push,
    };
    let done = site.load(vec![Box::new(filler)], commands)?.units;
    if done < commands {
        return Err(Fault::Usage(format!(
            "only {done} of {commands} commands that lay out entries were done in time; raise --seconds-max"
        )));
    }
    Ok(())
}

/// Returns the ID of an entry that was laid out: some to a millisecond, as a busy server gives them.
pub(super) fn id(number: u64) -> String {
    let (ms, seq) = (number / IDS_PER_MS, number % IDS_PER_MS);
    format!("{}-{seq}", START_MS + ms)
}

/// Lets consumers of a new group have entries that were laid out, a hundred at a time in turn.
///
/// # Errors
///
/// As [`fill`].
pub(super) fn deliver(site: &mut Site<'_>, entries: u64) -> Result<(), Fault> {
    create_group(site)?;
    let reads = entries.div_ceil(DELIVERED_AT_ONCE);
    lay_out(site, reads, 1, |out, number| {
        let consumer = consumer(number % CONSUMERS);
        let count = DELIVERED_AT_ONCE.to_string();
        push_command(
            out,
            &[
                b"XREADGROUP",
                b"GROUP",
                GROUP,
                consumer.as_bytes(),
                b"COUNT",
                count.as_bytes(),
                b"STREAMS",
                KEY,
                b">",
            ],
        );
    })
}

/// Makes the group that all consumers are in; it has read nothing.
///
/// # Errors
///
/// What goes wrong on the connection.
pub(super) fn create_group(site: &Site<'_>) -> Result<(), Fault> {
    create_group_of(site, KEY)
}

/// Makes the group of a stream of another name.
///
/// # Errors
///
/// What goes wrong on the connection.
pub(super) fn create_group_of(site: &Site<'_>, key: &[u8]) -> Result<(), Fault> {
    let create: &[&[u8]] = &[b"XGROUP", b"CREATE", key, GROUP, b"0", b"MKSTREAM"];
    site.control()?.call(create).map(drop)
}

/// Returns the name of a consumer of [`GROUP`].
pub(super) fn consumer(number: u64) -> String {
    format!("consumer-{number:02}")
}

/// The group that all consumers are in.
pub(crate) const GROUP: &[u8] = b"workers";

/// How many consumers have what [`deliver`] lets them have.
pub(super) const CONSUMERS: u64 = 10;

/// How many entries [`deliver`] gives one of them before it is the next one's turn.
pub(super) const DELIVERED_AT_ONCE: u64 = 100;

/// Sends many commands.
struct Filler<F> {
    next: u64,
    end: u64,
    pipeline: u64,
    in_request: u64,
    request: Vec<u8>,
    push: F,
}

impl<F: FnMut(&mut Vec<u8>, u64) + Send> Talker for Filler<F> {
    fn prepare(&mut self) -> u64 {
        self.request.clear();
        let end = self.end.min(self.next + self.pipeline);
        for number in self.next..end {
            (self.push)(&mut self.request, number);
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

/// Commands in a write that lays out entries: many, as this is not what is measured.
const FILL_PIPELINE: u64 = 200;

const START_MS: u64 = 1_700_000_000_000;

const IDS_PER_MS: u64 = 8;

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::resp::Reader;

    /// Takes one command apart.
    pub(crate) fn words(reader: &mut Reader<'_>) -> Vec<String> {
        let count = reader.array().unwrap().unwrap();
        let mut word = || String::from_utf8(reader.bulk().unwrap().unwrap().to_vec()).unwrap();
        (0..count).map(|_| word()).collect()
    }

    #[test]
    fn as_many_entries_are_laid_out_as_were_asked_for() {
        let mut filler = Filler {
            next: 0,
            end: FILL_PIPELINE + 1,
            pipeline: FILL_PIPELINE,
            in_request: 0,
            request: Vec::new(),
            push: |out: &mut Vec<u8>, number| {
                push_add(out, KEY, &[id(number).as_bytes()], 0, number);
            },
        };

        assert_eq!(filler.prepare(), FILL_PIPELINE);
        assert_eq!(filler.prepare(), 1);
        let words = words(&mut Reader::new(filler.request()));
        assert_eq!(words[2], "1700000000025-0");
        assert_eq!(words[4].len() + words[6].len(), 38);
        assert_eq!(filler.prepare(), 0);
    }
}
