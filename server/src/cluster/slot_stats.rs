//! What each slot costs: the time that its commands take, and the bytes that they are sent and answered in. Counted while
//! `cluster-slot-stats-enabled` says so.
//!
//! What counts is the reference's, to the byte:
//! - A command counts for the slot of its keys or of its shard's channel, `EXEC` for that of what it runs, and then with the
//!   bytes of its `MULTI`. What is refused or queued counts with what was sent.
//! - Each command of `EXEC` counts with all that `EXEC` has replied so far.
//! - A script counts for the slot of what it called last, and for none if it says that it uses several, or says nothing and has
//!   called something. What it calls counts with its replies.
//! - A wait counts once it is over; in vain, with its time alone.

use tailrace_protocol::Request;

use crate::client::ClientId;
use crate::client::ReplyMode;
use crate::spec::Flags;
use crate::spec::Spec;
use crate::state::Parked;
use crate::state::State;

/// The counters of all slots.
#[derive(Default)]
pub(crate) struct SlotStats {
    is_on: bool,
    /// One for each slot; none as long as nothing was counted.
    slots: Vec<SlotCost>,
    /// What runs now.
    pub(crate) current: Counted,
}

/// What a command counts for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Its slot.
    slot: Option<u16>,
    /// It waited in vain: its bytes do not count.
    is_in_vain: bool,
}

/// What a slot cost since the counters began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SlotCost {
    pub(crate) micros: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
}

impl Counted {
    fn of(slot: Option<u16>) -> Self {
        Self {
            slot,
            is_in_vain: false,
        }
    }
}

impl SlotStats {
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    pub(crate) fn set_on(&mut self, is_on: bool) {
        self.is_on = is_on;
    }

    /// What a slot cost.
    pub(crate) fn of(&self, slot: u16) -> SlotCost {
        let cost = self.slots.get(usize::from(slot));
        cost.copied().unwrap_or_default()
    }

    /// Begins anew.
    pub(crate) fn reset(&mut self) {
        self.slots = Vec::new();
    }

    /// Begins anew with a slot.
    pub(crate) fn reset_slot(&mut self, slot: u16) {
        if let Some(cost) = self.slots.get_mut(usize::from(slot)) {
            *cost = SlotCost::default();
        }
    }

    /// What the command that runs took.
    #[inline]
    pub(crate) fn on_time(&mut self, micros: u64) {
        if self.is_on {
            self.add(self.current.slot, |cost| cost.micros += micros);
        }
    }

    /// The wait of the command that runs was in vain.
    pub(crate) fn on_wait_in_vain(&mut self) {
        self.current.is_in_vain = true;
    }

    fn add(&mut self, slot: Option<u16>, add: impl FnOnce(&mut SlotCost)) {
        let Some(slot) = slot else {
            return;
        };
        if self.slots.is_empty() {
            let count = usize::from(tailrace_storage::SLOT_COUNT);
            self.slots.resize(count, SlotCost::default());
        }
        add(&mut self.slots[usize::from(slot)]);
    }
}

impl State {
    /// A command of a client is about to be admitted or refused.
    pub(crate) fn begin_slot_cost(&mut self, id: ClientId, request: Request<'_>) {
        if !self.slot_stats.is_on {
            return;
        }
        let spec = self.clients.at(id).last_command;
        let spec = spec.filter(|spec| spec.fits(request.len()));
        let slot = spec.and_then(|spec| self.only_slot_of(id, spec, request));
        self.slot_stats.current = Counted::of(slot);
    }

    /// A command that waited is attempted, perhaps while another one runs. Gives what is to count again after it.
    pub(crate) fn begin_late_slot_cost(&mut self, parked: &Parked) -> Counted {
        let outer = self.slot_stats.current;
        if self.slot_stats.is_on {
            let request = parked.request.as_request();
            let slot = self.only_slot_of(parked.client, parked.spec, request);
            self.slot_stats.current = Counted::of(slot);
        }
        outer
    }

    /// A client's command was executed, queued or refused, which it had sent in so many bytes.
    pub(crate) fn count_slot_input(&mut self, spec: Option<&'static Spec>, bytes: usize) {
        let stats = &mut self.slot_stats;
        if !stats.is_on || stats.current.is_in_vain {
            return;
        }
        let begins_with_multi = spec.is_some_and(|spec| spec.flags.has(Flags::RUNS_QUEUE));
        let bytes = bytes + if begins_with_multi { MULTI_BYTES } else { 0 };
        stats.add(stats.current.slot, |cost| cost.bytes_in += bytes as u64);
    }

    /// A command was executed, and replied so many bytes, if its client hears them.
    pub(crate) fn count_slot_output(&mut self, id: ClientId, bytes: usize) {
        let stats = &mut self.slot_stats;
        if stats.is_on
            && !stats.current.is_in_vain
            && self.clients.at(id).reply_mode == ReplyMode::On
        {
            stats.add(stats.current.slot, |cost| cost.bytes_out += bytes as u64);
        }
    }

    /// Messages of so many bytes go to those who listen to a channel of a shard.
    pub(crate) fn count_slot_messages(&mut self, channel: &[u8], bytes: usize) {
        if self.slot_stats.is_on && self.cluster.is_some() {
            let slot = tailrace_storage::key_slot(channel);
            let add = |cost: &mut SlotCost| cost.bytes_out += bytes as u64;
            self.slot_stats.add(Some(slot), add);
        }
    }

    /// A script is about to call something. If it may use keys of several slots, it counts for none from now on.
    pub(crate) fn begin_slot_call(&mut self) {
        if self.is_script_free() {
            self.slot_stats.current = Counted::default();
        }
    }

    /// A script called a command that was executed and replied so many bytes.
    pub(crate) fn count_slot_call(
        &mut self,
        id: ClientId,
        spec: &'static Spec,
        request: Request<'_>,
        reply_bytes: usize,
    ) {
        if !self.slot_stats.is_on {
            return;
        }
        let slot = self.only_slot_of(id, spec, request);
        self.slot_stats.current = Counted::of(slot.filter(|_| !self.is_script_free()));
        let add = |cost: &mut SlotCost| cost.bytes_out += reply_bytes as u64;
        self.slot_stats.add(slot, add);
    }

    fn is_script_free(&self) -> bool {
        let cluster = self.cluster.as_ref();
        cluster.is_some_and(|cluster| cluster.is_script_free())
    }
}

/// How many bytes clients send MULTI in.
const MULTI_BYTES: usize = 15;
