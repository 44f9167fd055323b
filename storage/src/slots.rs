//! The pending entries of a run, in half the space wherever they are like most.
//!
//! Neighbours have much in common: IDs and times that are near each other, small counts, few consumers. As long as that
//! is so, a slot takes 16 bytes, counted from where the run began. Once one does not fit, all of the run take 32.

use std::iter::Peekable;

use crate::id::StreamId;
use crate::time::UnixMillis;

/// One pending entry in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) id: StreamId,
    pub(crate) delivered_at: UnixMillis,
    /// The index of the consumer, or [`Slot::DEAD`].
    pub(crate) consumer: u32,
    /// How often it was delivered, or [`Slot::MANY`].
    pub(crate) deliveries: u32,
}

impl Slot {
    /// Marks a slot whose entry has left. It keeps its ID, so that the run stays searchable.
    pub(crate) const DEAD: u32 = u32::MAX;
    /// The count does not fit and is kept beside the runs.
    pub(crate) const MANY: u32 = u32::MAX;

    pub(crate) fn is_live(&self) -> bool {
        self.consumer != Self::DEAD
    }
}

/// The slots of a run.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    base: Base,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Narrow(Vec<Narrow>),
    Wide(Vec<Slot>),
}

/// What narrow slots are counted from.
#[derive(Clone, Copy, Debug)]
struct Base {
    ms: u64,
    delivered_at: u64,
}

#[derive(Clone, Copy, Debug)]
struct Narrow {
    ms: u32,
    seq: u32,
    delivered_at: u32,
    consumer: u16,
    deliveries: u16,
}

const _: () = assert!(size_of::<Narrow>() * 2 == size_of::<Slot>());

impl Slots {
    /// Makes room for some slots, the first of which comes with it.
    pub(crate) fn new(slot: Slot, room: usize) -> Self {
        let mut slots = Self {
            base: Base::of(&slot),
            form: Form::Narrow(Vec::with_capacity(room)),
        };
        slots.push(slot);
        slots
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.form {
            Form::Narrow(slots) => slots.len(),
            Form::Wide(slots) => slots.len(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Slot {
        match &self.form {
            Form::Narrow(slots) => self.base.widen(slots[at]),
            Form::Wide(slots) => slots[at],
        }
    }

    #[inline]
    pub(crate) fn id(&self, at: usize) -> StreamId {
        match &self.form {
            Form::Narrow(slots) => self.base.id(slots[at]),
            Form::Wide(slots) => slots[at].id,
        }
    }

    /// All slots from a place on.
    pub(crate) fn iter_from(&self, at: usize) -> impl DoubleEndedIterator<Item = Slot> + '_ {
        (at..self.len()).map(|at| self.get(at))
    }

    /// The first place whose ID is not below `id`.
    pub(crate) fn seek(&self, id: StreamId) -> usize {
        match &self.form {
            Form::Narrow(slots) => slots.partition_point(|slot| self.base.id(*slot) < id),
            Form::Wide(slots) => slots.partition_point(|slot| slot.id < id),
        }
    }

    /// Counts the living from a place on.
    pub(crate) fn live_from(&self, at: usize) -> usize {
        match &self.form {
            Form::Narrow(slots) => slots[at..].iter().filter(|slot| slot.is_live()).count(),
            Form::Wide(slots) => slots[at..].iter().filter(|slot| slot.is_live()).count(),
        }
    }

    pub(crate) fn push(&mut self, slot: Slot) {
        let narrow = self.fit(&slot);
        match (&mut self.form, narrow) {
            (Form::Narrow(slots), Some(narrow)) => slots.push(narrow),
            (Form::Wide(slots), _) => slots.push(slot),
            (Form::Narrow(_), None) => unreachable!("what does not fit makes all wide"),
        }
    }

    /// Adds as many slots as there are IDs. But for those they are like one that is here.
    pub(crate) fn extend(&mut self, like: Slot, ids: impl Iterator<Item = StreamId>) {
        let narrow_like = self.fit(&like);
        for id in ids {
            match (&mut self.form, narrow_like, self.base.narrow_id(id)) {
                (Form::Narrow(slots), Some(like), Some((ms, seq))) => {
                    slots.push(Narrow { ms, seq, ..like });
                }
                _ => self.push(Slot { id, ..like }),
            }
        }
    }

    pub(crate) fn insert(&mut self, at: usize, slot: Slot) {
        let narrow = self.fit(&slot);
        match (&mut self.form, narrow) {
            (Form::Narrow(slots), Some(narrow)) => slots.insert(at, narrow),
            (Form::Wide(slots), _) => slots.insert(at, slot),
            (Form::Narrow(_), None) => unreachable!("what does not fit makes all wide"),
        }
    }

    pub(crate) fn set(&mut self, at: usize, slot: Slot) {
        let narrow = self.fit(&slot);
        match (&mut self.form, narrow) {
            (Form::Narrow(slots), Some(narrow)) => slots[at] = narrow,
            (Form::Wide(slots), _) => slots[at] = slot,
            (Form::Narrow(_), None) => unreachable!("what does not fit makes all wide"),
        }
    }

    pub(crate) fn kill(&mut self, at: usize) {
        match &mut self.form {
            Form::Narrow(slots) => slots[at].consumer = Narrow::DEAD,
            Form::Wide(slots) => slots[at].consumer = Slot::DEAD,
        }
    }

    /// Marks slots from a place on as left, for as long as they are living and have the IDs that come next; tells what each
    /// was.
    #[inline]
    pub(crate) fn kill_next(
        &mut self,
        at: usize,
        ids: &mut Peekable<impl Iterator<Item = StreamId>>,
        mut killed: impl FnMut(&Slot),
    ) {
        let mut is_next = |slot: &Slot| slot.is_live() && ids.next_if_eq(&slot.id).is_some();
        match &mut self.form {
            Form::Narrow(slots) => {
                for slot in &mut slots[at..] {
                    let was = self.base.widen(*slot);
                    if !is_next(&was) {
                        break;
                    }
                    killed(&was);
                    slot.consumer = Narrow::DEAD;
                }
            }
            Form::Wide(slots) => {
                for slot in slots[at..].iter_mut().take_while(|slot| is_next(slot)) {
                    killed(slot);
                    slot.consumer = Slot::DEAD;
                }
            }
        }
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        match &mut self.form {
            Form::Narrow(slots) => slots.truncate(len),
            Form::Wide(slots) => slots.truncate(len),
        }
    }

    /// Drops the dead. What is left becomes narrow if it fits.
    pub(crate) fn retain_live(&mut self) {
        match &mut self.form {
            Form::Narrow(slots) => slots.retain(Narrow::is_live),
            Form::Wide(slots) => {
                slots.retain(Slot::is_live);
                self.make_narrow();
            }
        }
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        match &mut self.form {
            Form::Narrow(slots) => slots.shrink_to_fit(),
            Form::Wide(slots) => slots.shrink_to_fit(),
        }
    }

    /// Makes room for exactly so many more.
    pub(crate) fn reserve_exact(&mut self, more: usize) {
        match &mut self.form {
            Form::Narrow(slots) => slots.reserve_exact(more),
            Form::Wide(slots) => slots.reserve_exact(more),
        }
    }

    /// How many there is room for.
    pub(crate) fn capacity(&self) -> usize {
        match &self.form {
            Form::Narrow(slots) => slots.capacity(),
            Form::Wide(slots) => slots.capacity(),
        }
    }

    /// The bytes of memory held, beside the value itself.
    pub(crate) fn bytes(&self) -> usize {
        match &self.form {
            Form::Narrow(slots) => slots.capacity() * size_of::<Narrow>(),
            Form::Wide(slots) => slots.capacity() * size_of::<Slot>(),
        }
    }

    /// The narrow form of a slot that is to come, if all are narrow. Should it have none, all become wide.
    #[inline]
    fn fit(&mut self, slot: &Slot) -> Option<Narrow> {
        let Form::Narrow(slots) = &self.form else {
            return None;
        };
        let narrow = self.base.narrow(slot);
        if narrow.is_none() {
            let mut wide = Vec::with_capacity(slots.capacity());
            wide.extend(slots.iter().map(|&slot| self.base.widen(slot)));
            self.form = Form::Wide(wide);
        }
        narrow
    }

    fn make_narrow(&mut self) {
        let Form::Wide(slots) = &self.form else {
            return;
        };
        let Some(base) = slots.first().map(Base::of) else {
            return;
        };
        if slots.iter().all(|slot| base.narrow(slot).is_some()) {
            let mut narrow = Vec::with_capacity(slots.capacity());
            narrow.extend(slots.iter().filter_map(|slot| base.narrow(slot)));
            self.base = base;
            self.form = Form::Narrow(narrow);
        }
    }
}

impl Base {
    /// Counts times from far before the first, as some are delivered before it, or said to have been.
    fn of(slot: &Slot) -> Self {
        Self {
            ms: slot.id.ms,
            delivered_at: slot.delivered_at.0.saturating_sub(u64::from(u32::MAX / 2)),
        }
    }

    #[inline]
    fn narrow(self, slot: &Slot) -> Option<Narrow> {
        let (ms, seq) = self.narrow_id(slot.id)?;
        let narrow = Narrow {
            ms,
            seq,
            delivered_at: u32::try_from(slot.delivered_at.0.checked_sub(self.delivered_at)?)
                .ok()?,
            consumer: match slot.consumer {
                Slot::DEAD => Narrow::DEAD,
                consumer => u16::try_from(consumer).ok()?,
            },
            deliveries: u16::try_from(slot.deliveries).ok()?,
        };
        (narrow.is_live() == slot.is_live()).then_some(narrow)
    }

    #[inline]
    fn narrow_id(self, id: StreamId) -> Option<(u32, u32)> {
        let ms = u32::try_from(id.ms.checked_sub(self.ms)?).ok()?;
        Some((ms, u32::try_from(id.seq).ok()?))
    }

    #[inline]
    fn widen(self, slot: Narrow) -> Slot {
        Slot {
            id: self.id(slot),
            delivered_at: UnixMillis(self.delivered_at + u64::from(slot.delivered_at)),
            consumer: if slot.is_live() {
                slot.consumer.into()
            } else {
                Slot::DEAD
            },
            deliveries: slot.deliveries.into(),
        }
    }

    #[inline]
    fn id(self, slot: Narrow) -> StreamId {
        StreamId::new(self.ms + u64::from(slot.ms), slot.seq.into())
    }
}

impl Narrow {
    const DEAD: u16 = u16::MAX;

    fn is_live(&self) -> bool {
        self.consumer != Self::DEAD
    }
}

#[cfg(test)]
mod tests;
