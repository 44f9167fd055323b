//! `XADD key [NOMKSTREAM] [MAXLEN|MINID [=|~] threshold [LIMIT count]] id field value [field value ...]`
//!
//! Appends an entry and replies with its ID.
//!
//! Behaviour worth knowing:
//! - `*` never goes backwards: a clock behind the last entry continues from that entry.
//! - An ID is compared with the last one that was given out, even if that entry was deleted.
//! - Trimming comes after the insertion, so `MAXLEN 0` removes the new entry too.
//! - After the ID everything is data, whatever it looks like.
//! - Readers blocked on the key are served before this command's reply leaves.

use tailrace_protocol::ReplyWriter;
use tailrace_storage::AddError;
use tailrace_storage::AppendError;
use tailrace_storage::IdRequest;
use tailrace_storage::MissingStream;
use tailrace_storage::Trim;

use super::trim_args::TrimArgs;
use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::StreamError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "xadd",
    arity: -5,
    syntax: "key [NOMKSTREAM@6.2.0] [trim(strategy(MAXLEN|MINID@6.2.0) \
             [operator(equal:'='|approximately:'~')] threshold [LIMIT count:integer@6.2.0])] \
             id-selector(auto-id:'*'|id) data(field value)...",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::FAST),
    acl: Acl::STREAM,
    keys: &[KeySpec::first(&["RW", "update"])
        .noted("UPDATE instead of INSERT because of the optional trimming feature")],
    tips: &["nondeterministic_output"],
    group: Group::Stream,
    summary: "Appends an entry to a stream, which is created if it does not exist.",
    since: "5.0.0",
    history: &[
        ("6.2.0", "Takes `NOMKSTREAM`, `MINID` and `LIMIT`."),
        ("7.0.0", "Takes IDs of the form `<ms>-*`."),
    ],
    complexity: "O(1) to append, O(N) to trim, N being the number of entries that go.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let key = args.bytes()?;
    let options = Options::parse(&mut args, call.store().settings().node_limits.entries_max)?;
    if args.is_empty() || !args.len().is_multiple_of(2) {
        return Err(CommandError::arity(call.spec));
    }

    let db = call.db;
    let fields = args.rest().iter();
    let Options { id, missing, trim } = options;
    let added = call.store().append(db, key, id, fields, missing, trim)?;

    match added {
        Some(id) => reply.id_like(&mut call.state.added_ids, id.ms, id.seq),
        None => reply.null(),
    }
    Ok(Flow::Done)
}

struct Options {
    id: IdRequest,
    missing: MissingStream,
    trim: Option<Trim>,
}

impl Options {
    /// Reads everything up to the fields.
    fn parse(args: &mut Args<'_>, node_entries_max: usize) -> Result<Self, CommandError> {
        let mut missing = MissingStream::Create;
        let mut trim = TrimArgs::default();
        // Without an ID there are no fields either, which is found right after.
        let mut id = IdRequest::Auto;
        while let Some(next) = args.peek() {
            if next == b"*" {
                args.bytes()?;
                break;
            }
            if trim.take(args)? {
                continue;
            }
            if args.keyword("nomkstream") {
                missing = MissingStream::Leave;
                continue;
            }
            id = IdRequest::parse(args.bytes()?).map_err(|_| CommandError::InvalidId)?;
            break;
        }
        Ok(Self {
            id,
            missing,
            trim: trim.finish(node_entries_max)?,
        })
    }
}

impl From<AddError> for CommandError {
    fn from(error: AddError) -> Self {
        match error {
            AddError::WrongType => Self::WrongType,
            AddError::Append(AppendError::Zero) => StreamError::IdZero.into(),
            AddError::Append(AppendError::NotGreater) => StreamError::IdNotGreater.into(),
            AddError::Append(AppendError::TooLarge) => StreamError::TooLarge.into(),
            AddError::Append(AppendError::Exhausted) => StreamError::IdsExhausted.into(),
        }
    }
}
