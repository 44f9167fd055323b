//! `DEBUG OBJECT key [FAST]`
//!
//! Replies with a line about the value of a key, in the form that scripts take apart. There is no
//! address that would tell anybody anything, so it is zero.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Millis;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;

pub(super) fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let is_fast = args.keyword("fast");

    let db = call.db;
    // A key that is due is there as long as it is not removed.
    let stored = call.store().stored_at(db, key);
    let bytes = stored.map(|stored| stored.value.bytes());
    let bytes = bytes.ok_or(CommandError::NoSuchKey)?;
    let facts = call
        .store()
        .peek_facts(db, key)
        .ok_or(CommandError::NoSuchKey)?;

    let idle_s = facts.idle.to_seconds();
    let used_at = call.now.unix().0.saturating_sub(facts.idle.0);
    let lru = Millis(used_at).to_seconds() & LRU_CLOCK_MASK;
    let length = match is_fast {
        true => String::new(),
        false => format!(" serializedlength:{bytes}"),
    };
    reply.simple(&format!(
        "Value at:0x0 refcount:1 encoding:{}{length} lru:{lru} lru_seconds_idle:{idle_s}",
        facts.encoding.name()
    ));
    Ok(Flow::Done)
}

/// The reference keeps 24 bits of the time in seconds.
const LRU_CLOCK_MASK: u64 = 0xFF_FFFF;
