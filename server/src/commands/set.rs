//! `SET key value [NX|XX|IFEQ comparison-value] [GET] [EX s|PX ms|EXAT s|PXAT ms|KEEPTTL]`
//!
//! Sets a string over whatever is there. Replies with `OK`, or with null if the condition does not hold;
//! with `GET`, with the old value in either case.
//!
//! Behaviour worth knowing:
//! - The deadline that a key had goes, unless `KEEPTTL` is given.
//! - A deadline in the past removes the key.
//! - Only `GET` and `IFEQ` insist that what is there is a string.
//! - Readers blocked on a stream that is set over get an error if they read for a group.

use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Request;
use tailrace_storage::SetCondition;
use tailrace_storage::SetExpiry;
use tailrace_storage::SetOptions;
use tailrace_storage::SetOutcome;

use super::encode;
use super::expiry_args::ExpiryArg;
use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::KeySpec;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "set",
    history: &[
        ("2.6.12", "Takes `EX`, `PX`, `NX` and `XX`."),
        ("6.0.0", "Takes `KEEPTTL`."),
        ("6.2.0", "Takes `GET`, `EXAT` and `PXAT`."),
        ("7.0.0", "`NX` and `GET` may stand together."),
        ("8.1.0", "Takes `IFEQ`."),
    ],
    arity: -3,
    syntax: "key value [condition(NX@2.6.12 | XX@2.6.12 | \
             IFEQ comparison-value@8.1.0{Only while this is the value.})] [GET@6.2.0] \
             [expiration(EX seconds:integer@2.6.12 | PX milliseconds:integer@2.6.12 | \
             EXAT unix-time-seconds:unix-time@6.2.0 | \
             PXAT unix-time-milliseconds:unix-time@6.2.0 | KEEPTTL@6.0.0)]",
    flags: Flags::WRITE.and(Flags::DENYOOM).and(Flags::BY_SIZE),
    acl: Acl::STRING,
    keys: &[
        KeySpec::first(&["RW", "access", "update", "variable_flags"])
            .noted("RW and ACCESS due to the optional `GET` argument"),
    ],
    group: Group::String,
    key_flags: Some(key_flags),
    summary: "Sets a string, whatever the key holds.",
    ..Spec::of(run)
};

/// With `GET` the old value is read, too.
fn key_flags(request: Request<'_>) -> &'static [&'static str] {
    let is_get = |arg: &[u8]| is_word(arg, "get");
    if request.iter().skip(3).any(is_get) {
        &["RW", "access", "update"]
    } else {
        &["OW", "update"]
    }
}

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let (key, value) = (args.bytes()?, args.bytes()?);
    let request = SetArgs::parse(args)?;
    let options = SetOptions {
        condition: request.condition,
        expiry: match request.expiry {
            None | Some(ExpiryArg::Persist) => SetExpiry::Clear,
            Some(ExpiryArg::Keep) => SetExpiry::Keep,
            Some(ExpiryArg::Set(deadline, text)) => SetExpiry::At(deadline.parse(text, call)?),
        },
    };

    let db = call.db;
    if request.get {
        encode::string_or_null(reply, call.store().string(db, key)?);
    }
    let outcome = call.store().set(db, key, value, options)?;

    match outcome {
        _ if request.get => {}
        SetOutcome::Done => reply.ok(),
        SetOutcome::Refused => reply.null(),
    }
    Ok(Flow::Done)
}

#[derive(Default)]
struct SetArgs<'a> {
    condition: SetCondition<'a>,
    get: bool,
    expiry: Option<ExpiryArg<'a>>,
}

impl<'a> SetArgs<'a> {
    fn parse(mut args: Args<'a>) -> Result<Self, CommandError> {
        let mut parsed = Self::default();
        while !args.is_empty() {
            if args.keyword("get") {
                parsed.get = true;
            } else if args.keyword("nx") {
                parsed.require(SetCondition::Missing)?;
            } else if args.keyword("xx") {
                parsed.require(SetCondition::Exists)?;
            } else if args.keyword_with("ifeq", 1) {
                if parsed.condition != SetCondition::Always {
                    return Err(CommandError::Syntax);
                }
                parsed.condition = SetCondition::Equals(args.bytes()?);
            } else if !ExpiryArg::take(&mut parsed.expiry, &mut args)?
                && !ExpiryArg::take_keep(&mut parsed.expiry, &mut args)?
            {
                return Err(CommandError::Syntax);
            }
        }
        Ok(parsed)
    }

    /// Adds a condition. `NX` and `XX` may repeat, but not come together.
    fn require(&mut self, condition: SetCondition<'a>) -> Result<(), CommandError> {
        if self.condition != SetCondition::Always && self.condition != condition {
            return Err(CommandError::Syntax);
        }
        self.condition = condition;
        Ok(())
    }
}
