//! Where a caller sits in the cluster.

use std::ops::Deref;
use std::sync::Arc;

use crate::call::Call;
use crate::cluster::Endpoint;
use crate::cluster::NodeIndex;
use crate::cluster::View;
use crate::error::ClusterError;
use crate::error::CommandError;
use crate::error::ServerError;

/// The cluster as the caller's node sees it.
pub(super) struct Seat {
    view: Arc<View>,
    /// The caller's node.
    pub(super) face: NodeIndex,
}

impl Seat {
    /// That of a caller, if its server is part of a cluster.
    pub(super) fn of(call: &Call<'_>) -> Result<Self, CommandError> {
        let cluster = call.state.cluster.as_ref().ok_or(ServerError::NoCluster)?;
        let client = call.state.clients.get(call.id);
        let face = client.map_or_else(NodeIndex::default, |client| client.face);
        Ok(Self {
            view: Arc::clone(cluster.view_for(face)),
            face,
        })
    }

    /// Whether the caller's node is a replica.
    pub(super) fn is_replica(&self) -> bool {
        self.node(self.face).replica_of.is_some()
    }

    /// The node of an id that the caller's node knows.
    pub(super) fn look_up(&self, id: &[u8]) -> Result<NodeIndex, ClusterError> {
        let found = self.find(self.face, id);
        found.ok_or_else(|| ClusterError::UnknownNode(id.to_vec()))
    }

    /// Where the caller finds a node.
    pub(super) fn endpoint(&self, call: &Call<'_>, node: NodeIndex) -> Endpoint {
        let client = call
            .state
            .clients
            .get(call.id)
            .expect("a caller is in the table");
        Endpoint::of(self.node(node), client)
    }

    /// How many engines there are in this process.
    pub(super) fn engines(&self, call: &Call<'_>) -> usize {
        let cluster = call.state.cluster.as_ref();
        cluster.map_or(0, |cluster| cluster.topology().engines())
    }

    /// How much a node has replicated: nothing if it has no part in that.
    pub(super) fn offset(&self, node: NodeIndex) -> i64 {
        let has_replicas = self.replicas_of(self.primary_of(node)).next().is_some();
        // A replica has what its primary has, at once.
        i64::from(has_replicas)
    }
}

impl Deref for Seat {
    type Target = View;

    fn deref(&self) -> &View {
        &self.view
    }
}

/// Changes the cluster, for everybody in it.
pub(super) fn change<T>(call: &mut Call<'_>, change: impl FnOnce(&mut View) -> T) -> Option<T> {
    let cluster = call.state.cluster.as_mut()?;
    Some(cluster.change(change))
}
