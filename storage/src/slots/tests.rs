//! What fits into half the space, and what becomes of the rest.

use super::*;

const FIRST: Slot = Slot {
    id: StreamId { ms: 1_000, seq: 7 },
    delivered_at: UnixMillis(1_700_000_000_000),
    consumer: 3,
    deliveries: 1,
};

/// Each of these is the first beyond what a narrow slot holds.
#[test]
fn what_does_not_fit_makes_all_wide_and_its_end_makes_them_narrow() {
    let too_much = [
        Slot {
            id: StreamId::new(999, 0),
            ..FIRST
        },
        Slot {
            id: StreamId::new(1_001 + u64::from(u32::MAX), 0),
            ..FIRST
        },
        Slot {
            id: StreamId::new(1_000, 1 << 32),
            ..FIRST
        },
        Slot {
            delivered_at: UnixMillis(FIRST.delivered_at.0 - (1 << 31)),
            ..FIRST
        },
        Slot {
            delivered_at: UnixMillis(FIRST.delivered_at.0 + (1 << 31) + 1),
            ..FIRST
        },
        Slot {
            consumer: u16::MAX.into(),
            ..FIRST
        },
        Slot {
            deliveries: 1 << 16,
            ..FIRST
        },
        Slot {
            deliveries: Slot::MANY,
            ..FIRST
        },
    ];
    for slot in too_much {
        let mut slots = Slots::new(FIRST, 4);
        assert_eq!(slots.bytes(), 4 * 16);
        slots.push(slot);
        assert_eq!(slots.bytes(), 4 * 32, "{slot:?}");
        assert_eq!((slots.get(0), slots.get(1)), (FIRST, slot));
        slots.kill(1);
        slots.retain_live();
        assert_eq!((slots.bytes(), slots.get(0)), (4 * 16, FIRST));
    }
}

#[test]
fn what_just_fits_comes_back() {
    let most = [
        Slot {
            id: StreamId::new(1_000 + u64::from(u32::MAX), u32::MAX.into()),
            ..FIRST
        },
        Slot {
            delivered_at: UnixMillis(FIRST.delivered_at.0 - (1 << 31) + 1),
            ..FIRST
        },
        Slot {
            delivered_at: UnixMillis(FIRST.delivered_at.0 + (1 << 31)),
            ..FIRST
        },
        Slot {
            consumer: u32::from(u16::MAX) - 1,
            deliveries: u16::MAX.into(),
            ..FIRST
        },
    ];
    for slot in most {
        let mut slots = Slots::new(FIRST, 2);
        slots.push(slot);
        assert_eq!((slots.bytes(), slots.get(1)), (2 * 16, slot));
    }
}

#[test]
fn the_dead_stay_dead_when_all_become_wide() {
    let mut slots = Slots::new(FIRST, 2);
    slots.kill(0);
    slots.push(Slot {
        deliveries: Slot::MANY,
        ..FIRST
    });
    assert_eq!(slots.live_from(0), 1);
    assert!(!slots.get(0).is_live());
}
