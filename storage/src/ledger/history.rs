//! What happened to one entry in one group.

use std::collections::BTreeSet;

use crate::time::UnixMillis;

/// When something happened, and on whose command.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Mark {
    /// The wall time.
    pub at: UnixMillis,
    /// The number of the client; 0 is nobody, or before the ledger began.
    pub client: u64,
}

/// Names a consumer within the ledger of its group.
pub(super) type ConsumerNumber = usize;

/// One thing that happened to an entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Event {
    /// When, and by whom.
    pub mark: Mark,
    /// What.
    pub deed: Deed,
    /// The consumer that it is about, if one can be told.
    pub(super) consumer: Option<ConsumerNumber>,
}

/// What can happen to an entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Deed {
    /// It was read as a new one.
    Delivered,
    /// It was read as a new one that needs no acknowledgement.
    DeliveredNoAck,
    /// The consumer that has it read it again.
    Reread,
    /// It was claimed and shown.
    Claimed,
    /// It was claimed for its ID alone.
    Moved,
    /// It was acknowledged by somebody it was delivered to.
    Acknowledged,
    /// It was acknowledged by somebody who reads as others only.
    AcknowledgedByStranger,
    /// The work that it asks for was done.
    Worked,
    /// It left the pending list with its consumer.
    DroppedWithConsumer,
    /// It left the pending list with its group.
    DroppedWithGroup,
    /// It was found to have left the stream, and left the pending list.
    DroppedAsDeleted,
}

/// What happened to one entry in one group, from its first delivery on.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// How often its content went to a consumer.
    pub deliveries: u64,
    /// Whether somebody acknowledged it to whom it was delivered, since its last delivery.
    pub is_acknowledged: bool,
    /// Whether it left the stream before it was delivered.
    pub is_lost: bool,
    /// Whether its work was done before it was acknowledged, or is done and it is not acknowledged yet.
    pub is_worked: bool,
    /// Whether any consumer ever had it, be it for its ID alone.
    pub(super) was_handed: bool,
    /// Who has it pending.
    pub(super) owner: Option<ConsumerNumber>,
    events: Vec<Event>,
    /// How many events are not kept: those behind the first and before the last.
    left_out: u64,
}

impl History {
    /// What happened, the oldest first.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// How many events between the first and the last ones are not kept.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether a consumer has it, and it was not acknowledged.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        self.owner.is_some()
    }

    /// Whether a consumer had it, and nobody acknowledged it who may.
    #[must_use]
    pub const fn is_unacknowledged(&self) -> bool {
        self.was_handed && !self.is_acknowledged
    }

    /// It goes to a consumer, or becomes its own.
    pub(super) fn on_handed(&mut self, deed: Deed, consumer: ConsumerNumber, mark: Mark) {
        self.was_handed = true;
        self.deliveries += u64::from(deed != Deed::Moved);
        if deed == Deed::DeliveredNoAck {
            // What is pending already stays so.
            self.is_acknowledged = self.owner.is_none();
        } else {
            self.is_acknowledged = false;
            self.owner = Some(consumer);
        }
        self.note(deed, Some(consumer), mark);
    }

    /// It is acknowledged, by a client that reads as these consumers, if it reads. Gives whom that counts for.
    pub(super) fn on_acknowledged(
        &mut self,
        mark: Mark,
        reads_as: Option<&BTreeSet<ConsumerNumber>>,
    ) -> Option<ConsumerNumber> {
        let owner = self.owner.take();
        if self.is_acknowledged {
            return None;
        }
        if self.is_recipient(mark.client, reads_as) {
            self.is_acknowledged = true;
            let own = |event: &&Event| reads_as.is_none_or(|own| event.is_handed_to(own));
            let last = self.events.iter().rev().find(own);
            let consumer = owner
                .filter(|owner| reads_as.is_none_or(|own| own.contains(owner)))
                .or_else(|| last.and_then(|event| event.consumer));
            self.note(Deed::Acknowledged, consumer, mark);
            return consumer;
        }
        let stranger = reads_as.and_then(|own| own.first().copied());
        self.note(Deed::AcknowledgedByStranger, stranger, mark);
        None
    }

    /// Its work was done.
    pub(super) fn on_worked(&mut self, mark: Mark) {
        self.is_worked |= !self.is_acknowledged;
        self.note(Deed::Worked, self.owner, mark);
    }

    /// It left the pending list without an acknowledgement.
    pub(super) fn on_dropped(&mut self, deed: Deed, mark: Mark) {
        if let Some(owner) = self.owner.take() {
            self.note(deed, Some(owner), mark);
        }
    }

    /// It left the stream.
    pub(super) const fn on_removed(&mut self) {
        self.is_lost |= self.deliveries == 0;
    }

    /// How many consumers' events are kept.
    pub(super) const fn event_count(&self) -> usize {
        self.events.len()
    }

    /// Calls the consumers by other numbers.
    pub(super) fn renumber(&mut self, numbers: &[ConsumerNumber]) {
        let renumber = |number: &mut ConsumerNumber| *number = numbers[*number];
        self.owner.as_mut().map(renumber);
        for event in &mut self.events {
            event.consumer.as_mut().map(renumber);
        }
    }

    /// Whether it was delivered to a client, or to a consumer as which it reads. Of one that does not read
    /// nothing can be told, so it may: many programs acknowledge on a connection of its own.
    fn is_recipient(&self, client: u64, reads_as: Option<&BTreeSet<ConsumerNumber>>) -> bool {
        let Some(own) = reads_as else {
            return true;
        };
        let is_to_it = |event: &Event| {
            event.is_handed_to(own) || (event.deed.hands() && event.mark.client == client)
        };
        self.left_out > 0 || self.events.iter().any(is_to_it)
    }

    fn note(&mut self, deed: Deed, consumer: Option<ConsumerNumber>, mark: Mark) {
        if self.events.len() == EVENTS_MAX {
            self.events.remove(EVENTS_MAX / 2);
            self.left_out += 1;
        }
        self.events.push(Event {
            mark,
            deed,
            consumer,
        });
    }
}

impl Event {
    fn is_handed_to(&self, consumers: &BTreeSet<ConsumerNumber>) -> bool {
        self.deed.hands() && self.consumer.is_some_and(|one| consumers.contains(&one))
    }
}

impl Deed {
    /// Whether this gives the entry to a consumer.
    const fn hands(self) -> bool {
        matches!(
            self,
            Self::Delivered | Self::DeliveredNoAck | Self::Reread | Self::Claimed | Self::Moved
        )
    }
}

/// How many events of an entry are kept: the first half as they came, and the last ones.
const EVENTS_MAX: usize = 16;
