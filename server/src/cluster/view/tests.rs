//! What becomes of slots and nodes.

use super::Node;
use super::NodeIndex;
use super::View;

fn node(number: usize, replica_of: Option<usize>) -> Node {
    Node {
        id: format!("{number:040}"),
        shard: String::new(),
        address: Default::default(),
        replica_of: replica_of.map(NodeIndex::new),
        epoch: number as u64 + 1,
        migrating: Default::default(),
        importing: Default::default(),
        engine: None,
        circle: 0,
    }
}

fn three_and_a_replica() -> View {
    let mut view = View::new(vec![
        node(0, None),
        node(1, None),
        node(2, None),
        node(3, Some(0)),
    ]);
    view.spread(&[0, 1, 2].map(NodeIndex::new));
    view
}

#[test]
fn slots_are_spread_evenly_and_all_of_them() {
    let view = three_and_a_replica();
    let sizes = [0, 1, 2, 3].map(|place| view.slots_of(NodeIndex::new(place)));
    assert_eq!(sizes, [5461, 5462, 5461, 0]);
    assert!(view.is_whole(NodeIndex::new(0), true));
    assert_eq!(view.ranges().len(), 3);
}

#[test]
fn a_promoted_replica_has_all_that_its_primary_had() {
    let mut view = three_and_a_replica();
    let (old, new, other) = (NodeIndex::new(0), NodeIndex::new(3), NodeIndex::new(1));
    view.node_mut(old).migrating.insert(7, other);
    view.node_mut(other).importing.insert(7, old);
    view.promote(new);
    assert_eq!(view.ranges_of(new), [(0, 5460)]);
    assert_eq!(view.node(old).replica_of, Some(new));
    assert_eq!(view.node(new).migrating.get(&7), Some(&other));
    assert_eq!(view.node(other).importing.get(&7), Some(&new));
    assert!(view.node(old).migrating.is_empty());
    assert_eq!(view.node(new).epoch, 5);
}

#[test]
fn who_is_in_another_circle_is_not_known() {
    let mut view = three_and_a_replica();
    let (one, other) = (NodeIndex::new(0), NodeIndex::new(2));
    view.node_mut(other).circle = 1;
    assert_eq!(view.owner(one, 16_383), None);
    assert!(!view.is_whole(one, true));
    assert!(view.is_whole(one, false));
    assert_eq!(view.known_to(one).count(), 3);
}
