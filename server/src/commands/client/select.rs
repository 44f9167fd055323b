//! Which clients `CLIENT LIST` shows and `CLIENT KILL` closes.

use tailrace_protocol::number::parse_i64;
use tailrace_storage::Compat;
use tailrace_storage::Now;

use crate::args::Args;
use crate::args::is_word;
use crate::args::text;
use crate::call::Call;
use crate::client::Client;
use crate::client::ClientId;
use crate::client::USER;
use crate::error::ClientError;
use crate::error::CommandError;
use crate::tracking::Mode;
use crate::tracking::Tracking;

/// What must fit for a client to be chosen: every filter that is given, and no `NOT-` filter.
#[derive(Default)]
pub(super) struct Selection<'a> {
    fits: Filters<'a>,
    not: Filters<'a>,
    age_s_min: u64,
    idle_s_min: u64,
    skips_caller: bool,
}

/// Whether the caller's own connection is left out unless `SKIPME` says otherwise.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum SkipMe {
    Yes,
    No,
}

/// Filters that exist both as they are and with `NOT-` in front.
#[derive(Default)]
struct Filters<'a> {
    ids: Option<Vec<u64>>,
    kind: Option<Kind>,
    /// There is one user, and every client is that.
    is_user: Option<()>,
    addr: Option<&'a [u8]>,
    laddr: Option<&'a [u8]>,
    ip: Option<&'a [u8]>,
    name: Option<&'a [u8]>,
    lib_name: Option<&'a [u8]>,
    lib_version: Option<&'a [u8]>,
    db: Option<usize>,
    flags: Option<&'a [u8]>,
    capa: Option<&'a [u8]>,
}

/// What a client is, as `TYPE` tells.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Normal,
    PubSub,
    Replica,
    Primary,
}

impl<'a> Selection<'a> {
    /// The clients of one address, the caller included.
    pub(super) fn of_address(addr: &'a [u8]) -> Self {
        let mut selection = Self::default();
        selection.fits.addr = Some(addr);
        selection
    }

    /// Reads filters until nothing is left. Of those that are wrong, the first is reported.
    pub(super) fn parse(
        call: &Call<'_>,
        mut args: Args<'a>,
        skip_me: SkipMe,
    ) -> Result<Self, CommandError> {
        let mut selection = Self {
            skips_caller: skip_me == SkipMe::Yes,
            ..Self::default()
        };
        while !args.is_empty() {
            if args.keyword_with("maxage", 1) {
                selection.age_s_min = seconds(&mut args, "maxage")?;
            } else if args.keyword_with("idle", 1) {
                selection.idle_s_min = seconds(&mut args, "idle")?;
            } else if args.keyword_with("skipme", 1) {
                selection.skips_caller = args.keyword("yes");
                if !selection.skips_caller && !args.keyword("no") {
                    return Err(CommandError::Syntax);
                }
            } else {
                let word = args.bytes()?;
                let not = word
                    .get(..4)
                    .filter(|start| start.eq_ignore_ascii_case(b"not-"));
                match not {
                    Some(_) => selection.not.add(call, &word[4..], Sense::Not, &mut args)?,
                    None => selection.fits.add(call, word, Sense::As, &mut args)?,
                }
            }
        }
        Ok(selection)
    }

    /// Whether a client is chosen.
    pub(super) fn fits(&self, client: &Client, caller: ClientId, now: Now) -> bool {
        self.fits.tests(client).all(|fits| fits)
            && !self.not.tests(client).any(|fits| fits)
            && now.seconds_begun_since(client.connected_at) >= self.age_s_min
            && now.seconds_begun_since(client.active_at) >= self.idle_s_min
            && !(self.skips_caller && client.id == caller)
    }
}

/// Whether a filter has `NOT-` in front, which its errors tell.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Sense {
    As,
    Not,
}

impl<'a> Filters<'a> {
    /// Reads the value of the filter `word`.
    fn add(
        &mut self,
        call: &Call<'_>,
        word: &[u8],
        sense: Sense,
        args: &mut Args<'a>,
    ) -> Result<(), CommandError> {
        let is = |name: &str| is_word(word, name);
        if is("id") {
            return self.add_ids(call, args);
        }
        let value = args.bytes()?;
        if is("type") {
            self.kind = Some(Kind::parse(value)?);
        } else if is("user") {
            if value != USER.as_bytes() {
                return Err(ClientError::NoSuchUser(text(value).to_vec()).into());
            }
            self.is_user = Some(());
        } else if is("db") {
            self.db = Some(database(call, value, sense)?);
        } else if is("flags") {
            self.flags = Some(known(text(value), FLAGS, sense, "flags")?);
        } else if is("capa") {
            self.capa = Some(known(text(value), CAPAS, sense, "capa")?);
        } else {
            let slot = match () {
                () if is("addr") => &mut self.addr,
                () if is("laddr") => &mut self.laddr,
                () if is("ip") => &mut self.ip,
                () if is("name") => &mut self.name,
                () if is("lib-name") => &mut self.lib_name,
                () if is("lib-ver") => &mut self.lib_version,
                () => return Err(CommandError::Syntax),
            };
            *slot = Some(value);
        }
        Ok(())
    }

    /// Reads numbers for as long as there are any.
    fn add_ids(&mut self, call: &Call<'_>, args: &mut Args<'a>) -> Result<(), CommandError> {
        let ids = self.ids.get_or_insert_default();
        let mut is_first = true;
        while let Some(word) = args.peek() {
            let id = match parse_i64(word) {
                Some(id) => u64::try_from(id).ok().filter(|&id| id > 0),
                None if is_first && call.state.store.settings().compat == Compat::Redis => None,
                None => break,
            };
            ids.push(id.ok_or(ClientError::NotAboveZero("client-id"))?);
            args.next();
            is_first = false;
        }
        Ok(())
    }

    /// For each filter that is given, whether the client fits it.
    fn tests(&self, client: &Client) -> impl Iterator<Item = bool> {
        let addr = client.addr.as_bytes();
        let is_named = |name: &[u8]| !client.name.is_empty() && text(&client.name) == text(name);
        [
            self.ids.as_ref().map(|ids| ids.contains(&client.id.number)),
            self.kind.map(|kind| kind == Kind::of(client)),
            self.is_user.map(|()| true),
            self.addr.map(|asked| addr == text(asked)),
            self.laddr
                .map(|asked| client.laddr.as_bytes() == text(asked)),
            self.ip.map(|ip| is_from(addr, ip)),
            self.name.map(is_named),
            self.lib_name.map(|name| is_set_to(&client.lib_name, name)),
            self.lib_version
                .map(|version| is_set_to(&client.lib_version, version)),
            self.db.map(|db| client.db == db),
            self.flags.map(|flags| has_flags(client, flags)),
            self.capa
                .map(|capa| capa.is_empty() || client.capa_redirect),
        ]
        .into_iter()
        .flatten()
    }
}

impl Kind {
    fn parse(name: &[u8]) -> Result<Self, CommandError> {
        match text(name).to_ascii_lowercase().as_slice() {
            b"normal" => Ok(Self::Normal),
            b"pubsub" => Ok(Self::PubSub),
            b"replica" | b"slave" => Ok(Self::Replica),
            b"primary" | b"master" => Ok(Self::Primary),
            _ => Err(ClientError::UnknownType(text(name).to_vec()).into()),
        }
    }

    fn of(client: &Client) -> Self {
        if client.is_subscriber() {
            Self::PubSub
        } else {
            Self::Normal
        }
    }
}

/// The letters that tell of a client's state.
pub(super) fn flags(client: &Client) -> String {
    let is_tracking = |is: fn(&Tracking) -> bool| client.tracking.as_deref().is_some_and(is);
    let letters = [
        (client.is_monitor, 'O'),
        (client.is_subscriber(), 'P'),
        (
            client.transaction.is_some() || client.executing.is_some(),
            'x',
        ),
        (client.is_seen_blocked(), 'b'),
        (is_tracking(|own| own.is_on), 't'),
        (is_tracking(|own| own.is_redirect_broken), 'R'),
        (is_tracking(|own| own.mode == Mode::Broadcast), 'B'),
        (client.watches.broken, 'd'),
        (client.closing, 'c'),
        (client.unix, 'U'),
        (client.readonly, 'r'),
        (client.no_evict, 'e'),
        (client.no_touch, 'T'),
        (client.import_source, 'I'),
    ];
    let set: String = letters
        .iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, letter)| *letter)
        .collect();
    if set.is_empty() { "N".to_owned() } else { set }
}

fn has_flags(client: &Client, asked: &[u8]) -> bool {
    let set = flags(client);
    // A monitor is a kind of replica to the reference, which does not show it here.
    let is_set = |flag: &u8| set.as_bytes().contains(flag) || (*flag == b'S' && client.is_monitor);
    asked.iter().all(is_set)
}

/// Whether an address is a port of `ip`. Brackets around an IPv6 address do not count.
fn is_from(addr: &[u8], ip: &[u8]) -> bool {
    let addr = addr.strip_prefix(b"[").unwrap_or(addr);
    let Some(rest) = addr.strip_prefix(ip) else {
        return false;
    };
    let rest = rest.strip_prefix(b"]").unwrap_or(rest);
    matches!(rest, [b':', first, ..] if *first != b'0')
}

fn is_set_to(value: &[u8], asked: &[u8]) -> bool {
    !value.is_empty() && value == asked
}

fn seconds(args: &mut Args<'_>, filter: &'static str) -> Result<u64, CommandError> {
    let seconds = args.integer_or(ClientError::NotANumber(filter).into())?;
    match u64::try_from(seconds) {
        Ok(seconds) if seconds > 0 => Ok(seconds),
        _ => Err(ClientError::NotAboveZero(filter).into()),
    }
}

fn database(call: &Call<'_>, value: &[u8], sense: Sense) -> Result<usize, CommandError> {
    let filter = match sense {
        Sense::As => "DB",
        Sense::Not => "NOT-DB",
    };
    let db = parse_i64(value).and_then(|db| i32::try_from(db).ok());
    let db = db.ok_or(ClientError::NotANumber(filter))?;
    let databases = call.state.store.databases();
    match usize::try_from(db) {
        Ok(db) if db < databases => Ok(db),
        _ => Err(ClientError::DbOutside {
            filter,
            db_max: databases - 1,
        }
        .into()),
    }
}

/// Insists that `value` consists of `letters`.
fn known<'a>(
    value: &'a [u8],
    letters: &[u8],
    sense: Sense,
    what: &'static str,
) -> Result<&'a [u8], CommandError> {
    if value.iter().all(|letter| letters.contains(letter)) {
        return Ok(value);
    }
    Err(ClientError::UnknownLetters {
        what,
        is_negated: sense == Sense::Not,
        asked: text(value).to_vec(),
    }
    .into())
}

/// The letters of all flags that the reference knows.
const FLAGS: &[u8] = b"OSMPxbtRBdcuAUreTIiEN";
/// The letters of all capabilities.
const CAPAS: &[u8] = b"r";
