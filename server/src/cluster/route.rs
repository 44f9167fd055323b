//! May a command run on the caller's node? If not, where else, or why not at all?

use tailrace_protocol::Request;
use tailrace_storage::key_slot;

use super::Endpoint;
use super::Membership;
use super::NodeIndex;
use crate::args::is_word;
use crate::client::Client;
use crate::client::ClientId;
use crate::error::ClusterError;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::State;

/// The slots of what a request names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Slots {
    /// It names nothing that lies in one.
    None,
    /// All lies in this one.
    One(u16),
    /// There are several.
    Many,
}

impl Slots {
    /// The slots of the keys of a request, and of channels of shards.
    pub(super) fn of(spec: &Spec, request: Request<'_>) -> Self {
        let mut slots = Self::None;
        spec.for_each_routed(request, |key| slots = slots.and(Self::One(key_slot(key))));
        slots
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (one, Self::None) => one,
            (Self::None, other) => other,
            (one, other) if one == other => one,
            _ => Self::Many,
        }
    }
}

/// A request that is to run, or several that `EXEC` is to run.
struct Asked<'a> {
    spec: &'static Spec,
    request: Request<'a>,
    /// What it does itself, and what the commands do that it runs.
    flags: Flags,
}

/// Which keys are there while their slot moves.
#[derive(Default)]
struct Found {
    present: usize,
    missing: usize,
    are_different: bool,
}

impl State {
    /// Checks whether the caller's node may run a command. `flags` also say what the commands do that it runs.
    ///
    /// # Errors
    ///
    /// Where the client is to go, or why nobody can run it.
    pub(crate) fn route(
        &self,
        id: ClientId,
        spec: &'static Spec,
        flags: Flags,
        request: Request<'_>,
    ) -> Result<(), ClusterError> {
        let (Some(cluster), Some(client)) = (&self.cluster, self.clients.get(id)) else {
            return Ok(());
        };
        let asked = Asked {
            spec,
            request,
            flags,
        };
        let slot = match slots_of(client, &asked) {
            Slots::None => return Ok(()),
            Slots::Many => return Err(ClusterError::CrossSlot),
            Slots::One(slot) => slot,
        };
        self.route_slot(cluster, client, &asked, slot)
    }

    /// The slot of a request, if all that it names lies in one.
    pub(super) fn only_slot_of(
        &self,
        id: ClientId,
        spec: &'static Spec,
        request: Request<'_>,
    ) -> Option<u16> {
        let client = self.clients.get(id)?;
        let flags = spec.flags;
        let asked = Asked {
            spec,
            request,
            flags,
        };
        match slots_of(client, &asked) {
            Slots::One(slot) => Some(slot),
            Slots::None | Slots::Many => None,
        }
    }

    /// As [`Self::route`], for a command that a script calls.
    pub(crate) fn route_in_script(
        &self,
        id: ClientId,
        spec: &'static Spec,
        request: Request<'_>,
    ) -> Result<(), ClusterError> {
        let routed = self.route(id, spec, spec.flags, request);
        routed.map_err(|error| match error {
            ClusterError::Down => ClusterError::ScriptDown(spec.name),
            ClusterError::DownForWrites => ClusterError::ScriptDownForWrites(spec.name),
            _ => ClusterError::ScriptElsewhere,
        })?;
        if spec.flags.has(Flags::WRITE) && self.is_on_replica(id) {
            return Err(ClusterError::ReadOnly);
        }
        match (&self.cluster, Slots::of(spec, request)) {
            (Some(cluster), Slots::One(slot)) => cluster.admit_to_script(slot),
            _ => Ok(()),
        }
    }

    fn route_slot(
        &self,
        cluster: &Membership,
        client: &Client,
        asked: &Asked<'_>,
        slot: u16,
    ) -> Result<(), ClusterError> {
        let (face, flags) = (client.face, asked.flags);
        let view = cluster.view_for(face);
        let owner = view.owner(face, slot).ok_or(ClusterError::Unserved)?;
        let primary = view.primary_of(face);
        let is_primary = primary == face;
        let open = view.node(primary);
        let is_serving = is_primary || client.readonly;
        let target = open.migrating.get(&slot);
        let target = target.filter(|_| is_serving && owner == primary);
        let is_importing = is_serving && target.is_none() && open.importing.contains_key(&slot);
        let mut found = Found::default();
        if target.is_some() || is_importing {
            found = self.find(client, asked)?;
        }
        if !cluster.is_whole(face) {
            self.check_when_down(flags)?;
        }
        let is_open = target.is_some() || is_importing;
        if is_open && is_primary && asked.spec.name == "migrate" {
            return Ok(());
        }
        if let Some(target) = target
            && found.missing > 0
        {
            return Err(match found.present {
                0 => ClusterError::Ask(slot, self.place_of(client, *target)),
                _ => ClusterError::TryAgain,
            });
        }
        if is_importing && (client.asking || flags.has(Flags::ASKING)) {
            return match found.are_different && found.missing > 0 {
                true => Err(ClusterError::TryAgain),
                false => Ok(()),
            };
        }
        let reads_only = !flags.has(Flags::WRITE) && (client.readonly || flags.has(Flags::PUBSUB));
        if owner == face || (reads_only && owner == primary) {
            return Ok(());
        }
        Err(ClusterError::Moved(slot, self.place_of(client, owner)))
    }

    /// Looks for the keys of a command whose slot moves. What `MULTI` queues is looked for by `EXEC`.
    fn find(&self, client: &Client, asked: &Asked<'_>) -> Result<Found, ClusterError> {
        let mut found = Found::default();
        let mut first: Option<Vec<u8>> = None;
        let runs_queue = asked.spec.flags.has(Flags::RUNS_QUEUE);
        let is_looked_for =
            !asked.flags.has(Flags::PUBSUB) && (client.transaction.is_none() || runs_queue);
        let mut look = |spec: &Spec, request: Request<'_>| {
            if is_never_while_open(spec, request, client.db) {
                return Err(ClusterError::TryAgain);
            }
            let mut keys = Vec::new();
            spec.for_each_routed(request, |key| keys.push(key.to_vec()));
            for key in keys {
                found.are_different |= first.get_or_insert_with(|| key.clone()) != &key;
                if is_looked_for {
                    match self.store.peek(client.db, &key) {
                        Some(_) => found.present += 1,
                        None => found.missing += 1,
                    }
                }
            }
            Ok(())
        };
        match &client.transaction {
            Some(transaction) if runs_queue => {
                for (spec, request) in transaction.iter() {
                    look(spec, request)?;
                }
            }
            _ => look(asked.spec, asked.request)?,
        }
        Ok(found)
    }

    /// Some slot is served by nobody. What is done all the same?
    fn check_when_down(&self, flags: Flags) -> Result<(), ClusterError> {
        let settings = &self.config.settings().cluster;
        if flags.has(Flags::PUBSUB) {
            return match settings.allows_shard_messages_when_down {
                true => Ok(()),
                false => Err(ClusterError::Down),
            };
        }
        match (settings.allows_reads_when_down, flags.has(Flags::WRITE)) {
            (false, _) => Err(ClusterError::Down),
            (true, true) => Err(ClusterError::DownForWrites),
            (true, false) => Ok(()),
        }
    }

    /// Why a client must not go on waiting for a key, if it must not.
    pub(super) fn route_waiting(
        &self,
        client: &Client,
        is_writing: bool,
        key: &[u8],
    ) -> Result<(), ClusterError> {
        let Some(cluster) = &self.cluster else {
            return Ok(());
        };
        let face = client.face;
        let view = cluster.view_for(face);
        if !cluster.is_whole(face) {
            return Err(ClusterError::Down);
        }
        let slot = key_slot(key);
        let owner = view.owner(face, slot).ok_or(ClusterError::Unserved)?;
        let primary = view.primary_of(face);
        let is_served = owner == face
            || (client.readonly && !is_writing && owner == primary)
            || view.node(primary).importing.contains_key(&slot);
        match is_served {
            true => Ok(()),
            false => Err(ClusterError::Moved(slot, self.place_of(client, owner))),
        }
    }

    /// Whether a client's node is a replica.
    #[inline]
    pub(crate) fn is_on_replica(&self, id: ClientId) -> bool {
        let face = |client: &Client| client.face;
        match (&self.cluster, self.clients.get(id).map(face)) {
            (Some(cluster), Some(face)) => cluster.view_for(face).node(face).replica_of.is_some(),
            _ => false,
        }
    }

    /// Host and port of a node, for an error that sends a client there.
    pub(crate) fn place_of(&self, client: &Client, node: NodeIndex) -> String {
        let Some(cluster) = &self.cluster else {
            return String::new();
        };
        let endpoint = Endpoint::of(cluster.view().node(node), client);
        let kind = self.config.settings().cluster.endpoint;
        format!("{}:{}", endpoint.preferred(kind), endpoint.port)
    }
}

fn slots_of(client: &Client, asked: &Asked<'_>) -> Slots {
    if !asked.spec.flags.has(Flags::RUNS_QUEUE) {
        return Slots::of(asked.spec, asked.request);
    }
    let queue = client.transaction.iter().flat_map(|queued| queued.iter());
    queue.fold(Slots::None, |slots, (spec, request)| {
        slots.and(Slots::of(spec, request))
    })
}

/// Whether a command could need a key of another database, where nobody knows whether it has moved.
fn is_never_while_open(spec: &Spec, request: Request<'_>, db: usize) -> bool {
    let is_elsewhere = |at: usize| {
        let number = request
            .get(at + 1)
            .and_then(tailrace_protocol::number::parse_i64);
        request.get(at).is_some_and(|word| is_word(word, "db"))
            && number.is_none_or(|number| usize::try_from(number) != Ok(db))
    };
    match spec.name {
        "move" => true,
        "copy" => (3..request.len().saturating_sub(1)).any(is_elsewhere),
        _ => false,
    }
}
