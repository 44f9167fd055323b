//! `AUTH [username] password`
//!
//! Lets the client in, if the password is right. Replies `OK`.
//!
//! Behaviour worth knowing:
//! - There is one user, `default`. While it has no password, any password is right for it, but the
//!   form without a name is an error.
//! - A wrong password leaves a client that is in, in.

use tailrace_protocol::ReplyWriter;

use crate::args::Args;
use crate::call::Call;
use crate::call::Flow;
use crate::client::USER;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::spec::Acl;
use crate::spec::Flags;
use crate::spec::Group;
use crate::spec::Spec;

pub(super) const SPEC: Spec = Spec {
    name: "auth",
    arity: -2,
    syntax: "[username@6.0.0] password",
    flags: Flags::NOSCRIPT
        .and(Flags::LOADING)
        .and(Flags::STALE)
        .and(Flags::FAST)
        .and(Flags::NO_AUTH)
        .and(Flags::ALLOW_BUSY),
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Lets the client in by its password.",
    since: "1.0.0",
    history: &[("6.0.0", "Takes the name of a user.")],
    complexity: "O(N), N being the number of passwords of the user.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    if args.len() > 2 {
        return Err(CommandError::Syntax);
    }
    let first = args.bytes()?;
    let (user, password) = match args.next() {
        Some(password) => (first, password),
        None if call.state.config.settings().requirepass.is_none() => {
            return Err(ClientError::NoPasswordSet.into());
        }
        None => (USER.as_bytes(), first),
    };

    authenticate(call, user, password)?;

    reply.ok();
    Ok(Flow::Done)
}

/// Lets the caller in if `password` is the one of `user`.
pub(super) fn authenticate(
    call: &mut Call<'_>,
    user: &[u8],
    password: &[u8],
) -> Result<(), CommandError> {
    let is_right = match &call.state.config.settings().requirepass {
        None => true,
        Some(right) => is_same(right, password),
    };
    if user != USER.as_bytes() || !is_right {
        return Err(ClientError::WrongPassword.into());
    }
    call.client().authenticated = true;
    Ok(())
}

/// Compares without telling by the time it takes where the difference is.
fn is_same(right: &[u8], given: &[u8]) -> bool {
    let mut difference = right.len() ^ given.len();
    for (at, byte) in given.iter().enumerate() {
        // An empty password is none, so there always is a byte to compare with.
        difference |= usize::from(right[at % right.len()] ^ byte);
    }
    difference == 0
}
