//! `DEBUG POPULATE count [prefix] [size]`
//!
//! Creates strings: `key:0` holds `value:0` and so on. Keys that are there already stay.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;

pub(super) fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let count = natural(&mut args)?;
    let prefix = args.next().unwrap_or(b"key");
    let size = match args.is_empty() {
        true => 0,
        false => natural(&mut args)?,
    };
    let size = usize::try_from(size).map_err(|_| CommandError::NotAnInteger)?;
    if size > call.state.config.settings().proto_max_bulk_len {
        return Err(CommandError::OutOfRange);
    }

    let db = call.db;
    for number in 0..count {
        let key = [prefix, b":", number.to_string().as_bytes()].concat();
        let mut value = format!("value:{number}").into_bytes();
        if size > 0 {
            value.resize(size, 0);
        }
        call.store().populate(db, &key, &value);
    }
    reply.ok();
    Ok(Flow::Done)
}

fn natural(args: &mut Args<'_>) -> Result<u64, CommandError> {
    let number = args.integer_or(CommandError::NotPositive)?;
    u64::try_from(number).map_err(|_| CommandError::NotPositive)
}
