//! The rows of `--nodes`: what is done to one stream elsewhere is done here to one on each node of a cluster, at once.
//!
//! Clients are to the load what connections are to a library's client for clusters: each is at one node, and asks for a key
//! that this node has, so that nobody is sent on.

use super::CONNECTIONS;
use super::Facts;
use super::Sample;
use super::Site;
use super::Workload;
use super::add;
use super::entries::create_group_of;
use super::entries::fill_stream;
use super::entries::push_add;
use super::group;
use super::group::Consumer;
use crate::cluster::Cluster;
use crate::fault::Fault;
use crate::load::Repeat;
use crate::load::Talker;

/// Work that is spread over the nodes of a cluster.
pub(crate) enum Spread {
    /// Each client adds to the stream of its node.
    Add(&'static add::Add),
    /// Each client is a consumer of the group of its node.
    Group(&'static group::Group),
}

/// All of them, in the order of the report.
pub(crate) const ALL: &[Spread] = &[
    Spread::Add(&add::P1),
    Spread::Add(&add::P16),
    Spread::Add(&add::P64),
    Spread::Group(&group::BY_10),
    Spread::Group(&group::BY_100),
];

impl Spread {
    /// What it is on one node, and what is hoped for.
    pub(crate) fn facts(&self) -> Facts {
        match self {
            Self::Add(like) => like.facts(),
            Self::Group(like) => like.facts(),
        }
    }

    /// Lays out what a run needs; not measured. The site is at any node.
    ///
    /// # Errors
    ///
    /// Whatever a node or the connection to it does wrong.
    pub(crate) fn prepare(&self, cluster: &Cluster, site: &mut Site<'_>) -> Result<(), Fault> {
        let Self::Group(like) = self else {
            return Ok(());
        };
        let entries = site.amount(like.entries);
        let each = entries.div_ceil(cluster.nodes().len() as u64);
        for node in cluster.nodes() {
            let mut site = site.at(&node.server);
            fill_stream(&mut site, &node.key, each)?;
            create_group_of(&site, &node.key)?;
        }
        Ok(())
    }

    /// Does the work. The site is at any node.
    ///
    /// # Errors
    ///
    /// Whatever a node or the connection to it does wrong.
    pub(crate) fn measure(&self, cluster: &Cluster, site: &mut Site<'_>) -> Result<Sample, Fault> {
        let nodes = u16::try_from(cluster.nodes().len()).unwrap_or(u16::MAX);
        // Equally many for each node.
        let clients = CONNECTIONS.next_multiple_of(nodes);
        let units = match self {
            Self::Add(_) => site.amount(add::ENTRIES),
            Self::Group(like) => site.amount(like.entries),
        };
        let client = |number: u16| -> Box<dyn Talker> {
            let node = &cluster.nodes()[usize::from(number % nodes)];
            match self {
                Self::Add(like) => Box::new(adds(&node.key, number, like.adds, units, clients)),
                Self::Group(like) => Box::new(Consumer::new(&node.key, number.into(), like.count)),
            }
        };
        let talkers = (0..clients).map(client).collect();
        let outcome = site.load_over(&cluster.addresses(), talkers, units)?;
        Ok(outcome.into())
    }
}

/// A client that does its part of so many adds.
fn adds(key: &[u8], client: u16, in_a_write: u32, units: u64, clients: u16) -> Repeat {
    let each = u64::from(in_a_write);
    let mut request = Vec::new();
    (0..each).for_each(|number| push_add(&mut request, key, &[b"*"], client, number));
    Repeat {
        request,
        replies: each,
        units: each,
        times: units.div_ceil(each * u64::from(clients)),
    }
}

/// Removes what a run lays out.
///
/// # Errors
///
/// Whatever a node or the connection to it does wrong.
pub(crate) fn clear(cluster: &Cluster) -> Result<(), Fault> {
    for node in cluster.nodes() {
        node.server.control()?.call(&[b"DEL", &node.key])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::entries::tests::words;
    use super::*;
    use crate::resp::Reader;

    #[test]
    fn a_client_adds_to_the_stream_of_its_node() {
        let repeat = adds(b"tailrace-bench:{7}", 3, 16, 1_000, 4);
        let mut reader = Reader::new(&repeat.request);

        assert_eq!((repeat.replies, repeat.units, repeat.times), (16, 16, 16));
        for _ in 0..16 {
            assert_eq!(words(&mut reader)[1], "tailrace-bench:{7}");
        }
    }
}
