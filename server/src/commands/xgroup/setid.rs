//! `XGROUP SETID key group id|$ [ENTRIESREAD count]`
//!
//! Lets a group go on after another ID. What is pending stays so.
//!
//! Behaviour worth knowing:
//! - `-` and `+` are taken too. Without `ENTRIESREAD` the number of entries read is unknown then.
//! - Nobody who waits for the group is served by it; the next entry brings the others along.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::GroupStart;
use tailrace_storage::StreamId;

use super::Mkstream;
use super::Options;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "xgroup|setid",
    arity: -5,
    syntax: "key group id-selector(id|new-id:'$') [ENTRIESREAD entriesread:integer<entries-read>]",
    flags: Flags::WRITE,
    acl: Acl::STREAM,
    keys: &[KeySpec::at(2, &["RW", "update"])],
    group: Group::Stream,
    summary: "Lets a group go on after another ID.",
    since: "5.0.0",
    history: &[("7.0.0", "Takes `ENTRIESREAD`.")],
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, group, id) = (args.bytes()?, args.bytes()?, args.bytes()?);
    let options = Options::parse(args, call, Mkstream::Unknown)?;
    let db = call.db;
    if super::require(call.store(), db, key)?
        .group(group)
        .is_none()
    {
        return Err(super::no_such_group(group, key));
    }
    super::check_len(call, args.request(), 7)?;
    let start = match id {
        b"$" => GroupStart::AfterLast,
        id => {
            let after = StreamId::parse_bound(id, 0).map_err(|_| CommandError::InvalidId)?;
            GroupStart::After(after)
        }
    };

    call.store()
        .set_group_id(db, key, group, start, options.entries_read)
        .map_err(|error| super::refused(error, key, group))?;

    reply.ok();
    Ok(Flow::Done)
}
