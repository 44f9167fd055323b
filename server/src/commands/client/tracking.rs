//! `CLIENT TRACKING ON | OFF [REDIRECT client-id] [PREFIX prefix ...] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]`
//!
//! Lets the client hear when keys change that it may have cached, so that it drops them.
//!
//! Behaviour worth knowing:
//! - A RESP2 client hears nothing itself: with `REDIRECT` another one does, in RESP3, or in RESP2 while it
//!   listens to channels.
//! - `OFF` takes all options, and does nothing with them.
//! - Prefixes add to those that the client has; none stands for all keys.

use tailrace_protocol::ReplyWriter;

use super::FLAGS;
use crate::args::Args;
use crate::args::is_word;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::error::TrackingError;
use crate::spec::Acl;
use crate::spec::Group;
use crate::spec::Spec;
use crate::tracking::Mode;
use crate::tracking::Tracking;
use crate::tracking::Wish;

pub(super) const SPEC: Spec = Spec {
    name: "client|tracking",
    arity: -3,
    syntax: "status(ON|OFF) [REDIRECT client-id:integer] [PREFIX... prefix] [BCAST] \
             [OPTIN] [OPTOUT] [NOLOOP]",
    flags: FLAGS,
    acl: Acl::CONNECTION,
    group: Group::Connection,
    summary: "Lets the client hear when keys change that it may have cached.",
    since: "6.0.0",
    complexity: "O(1). With PREFIX, O(N), N being the number of prefixes.",
    ..Spec::of(run)
};

fn run(
    call: &mut Call<'_>,
    mut args: Args<'_>,
    reply: &mut ReplyWriter<'_>,
) -> Result<Flow, CommandError> {
    let status = args.bytes()?;
    let options = Options::parse(call, args)?;
    if is_word(status, "on") {
        let none = Tracking::default();
        let current = call.client().tracking.as_deref().unwrap_or(&none);
        let wish = options.check(current)?;

        call.state.start_tracking(call.id, &wish);
    } else if is_word(status, "off") {
        call.state.stop_tracking(call.id);
    } else {
        return Err(CommandError::Syntax);
    }

    reply.ok();
    Ok(Flow::Done)
}

/// What was written, which may not go together.
#[derive(Default)]
struct Options<'a> {
    is_broadcast: bool,
    is_opt_in: bool,
    is_opt_out: bool,
    no_loop: bool,
    redirect: Option<u64>,
    prefixes: Vec<&'a [u8]>,
}

impl<'a> Options<'a> {
    fn parse(call: &Call<'_>, mut args: Args<'a>) -> Result<Self, CommandError> {
        let mut options = Self::default();
        while !args.is_empty() {
            if args.keyword_with("redirect", 1) {
                if options.redirect.is_some() {
                    return Err(TrackingError::RedirectTwice.into());
                }
                let number = u64::try_from(args.integer()?).ok();
                let is_there = |number: &u64| call.state.client_beside(call.id, *number).is_some();
                let number = number.filter(is_there).ok_or(TrackingError::NoSuchClient)?;
                options.redirect = Some(number);
            } else if args.keyword("bcast") {
                options.is_broadcast = true;
            } else if args.keyword("optin") {
                options.is_opt_in = true;
            } else if args.keyword("optout") {
                options.is_opt_out = true;
            } else if args.keyword("noloop") {
                options.no_loop = true;
            } else if args.keyword_with("prefix", 1) {
                options.prefixes.push(args.bytes()?);
            } else {
                return Err(CommandError::Syntax);
            }
        }
        Ok(options)
    }

    /// Checks that the options go together, and with what holds.
    fn check(self, current: &Tracking) -> Result<Wish<'a>, TrackingError> {
        if !self.is_broadcast && !self.prefixes.is_empty() {
            return Err(TrackingError::PrefixOfRead);
        }
        if current.is_on && (current.mode == Mode::Broadcast) != self.is_broadcast {
            return Err(TrackingError::ModeSwitch);
        }
        let mode = match (self.is_broadcast, self.is_opt_in, self.is_opt_out) {
            (true, false, false) => Mode::Broadcast,
            (true, _, _) => return Err(TrackingError::ChoiceOfBroadcast),
            (false, true, true) => return Err(TrackingError::BothChoices),
            (false, true, false) => Mode::OptIn,
            (false, false, true) => Mode::OptOut,
            (false, false, false) => Mode::Read,
        };
        match (mode, current.mode) {
            (Mode::OptIn, Mode::OptOut) | (Mode::OptOut, Mode::OptIn) => {
                return Err(TrackingError::ChoiceSwitch);
            }
            _ => {}
        }
        check_overlaps(&self.prefixes, current)?;
        Ok(Wish {
            mode,
            no_loop: self.no_loop,
            redirect: self.redirect,
            prefixes: self.prefixes,
        })
    }
}

/// Insists that no key begins with two prefixes of one client.
fn check_overlaps(prefixes: &[&[u8]], current: &Tracking) -> Result<(), TrackingError> {
    for (at, prefix) in prefixes.iter().enumerate() {
        let mut existing = current.prefixes.iter();
        if let Some(existing) = existing.find(|existing| overlap(existing, prefix)) {
            return Err(TrackingError::OverlapsExisting {
                prefix: prefix.to_vec(),
                existing: existing.to_vec(),
            });
        }
        let mut others = prefixes[at + 1..].iter();
        if let Some(other) = others.find(|other| overlap(prefix, other)) {
            return Err(TrackingError::OverlapsProvided {
                prefix: prefix.to_vec(),
                other: other.to_vec(),
            });
        }
    }
    Ok(())
}

/// Whether some key begins with both.
fn overlap(one: &[u8], other: &[u8]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}
