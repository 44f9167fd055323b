//! The one view of the cluster that all nodes of a process share, and what they send each other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Weak;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;

use super::NodeIndex;
use super::View;
use super::slot_migrations::SlotMigrations;
use crate::engine::Engine;

/// What the nodes of one process share.
///
/// Its locks are the last to be taken and held for a moment only, so they may be taken under an engine's.
pub struct Topology {
    view: Mutex<Arc<View>>,
    /// The view as it was at the start.
    first: Arc<View>,
    /// Counts the changes of the view, so that an engine sees without a lock that there was one.
    version: AtomicU64,
    posts: Vec<Post>,
    /// The number of the client that came last.
    client_numbers: Arc<AtomicU64>,
    /// What moves in the background.
    pub(crate) slot_migrations: SlotMigrations,
}

/// Where an engine gets what others have for it.
#[derive(Default)]
struct Post {
    engine: Mutex<Weak<Engine>>,
    /// It has neither nodes nor clients, so nobody has anything for it.
    is_idle: AtomicBool,
    /// Whether there may be messages, so that an engine sees without a lock that there are none.
    has_messages: AtomicBool,
    /// In the order in which each sender sent them.
    messages: Mutex<VecDeque<Message>>,
}

/// A message for the subscribers of another engine.
pub(crate) struct Message {
    pub(crate) channel: Box<[u8]>,
    pub(crate) text: Box<[u8]>,
}

impl Topology {
    /// A topology of this view, for so many engines.
    pub fn new(view: View, engines: usize) -> Arc<Self> {
        let mut posts = Vec::new();
        posts.resize_with(engines, Post::default);
        let view = Arc::new(view);
        Arc::new(Self {
            first: Arc::clone(&view),
            view: Mutex::new(view),
            version: AtomicU64::new(1),
            posts,
            client_numbers: Arc::default(),
            slot_migrations: SlotMigrations::default(),
        })
    }

    /// The view as it is.
    pub fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.lock())
    }

    /// The view as it was at the start.
    pub(crate) fn first(&self) -> &Arc<View> {
        &self.first
    }

    /// Which change of the view was the last.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Changes the view, and gives what `change` gives.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut View) -> T) -> T {
        let mut view = self.view.lock();
        let result = change(Arc::make_mut(&mut view));
        self.version.fetch_add(1, Ordering::Release);
        result
    }

    /// Lets messages and changes reach an engine.
    pub(crate) fn connect(&self, number: usize, engine: &Arc<Engine>) {
        *self.posts[number].engine.lock() = Arc::downgrade(engine);
    }

    /// The engine of a number, as long as it is there.
    pub(super) fn engine(&self, number: usize) -> Option<Arc<Engine>> {
        self.posts[number].engine.lock().upgrade()
    }

    /// The engine that a node is a face of.
    pub(crate) fn engine_of(&self, node: NodeIndex) -> Option<Arc<Engine>> {
        let engine = self.view().node(node).engine?;
        self.engine(engine)
    }

    /// What the clients of all engines are numbered by.
    pub(crate) fn client_numbers(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.client_numbers)
    }

    /// Sends a message to the subscribers of all other engines. They have it once they are woken.
    pub(crate) fn send(&self, from: usize, channel: &[u8], text: &[u8]) {
        for (number, post) in self.posts.iter().enumerate() {
            if number != from && !post.is_idle.load(Ordering::Acquire) {
                let mut messages = post.messages.lock();
                messages.push_back(Message {
                    channel: channel.into(),
                    text: text.into(),
                });
                post.has_messages.store(true, Ordering::Release);
            }
        }
    }

    /// What was sent to an engine and not taken yet.
    pub(crate) fn take_messages(&self, number: usize) -> VecDeque<Message> {
        let post = &self.posts[number];
        let mut messages = post.messages.lock();
        post.has_messages.store(false, Ordering::Release);
        std::mem::take(&mut *messages)
    }

    /// Whether there are messages for an engine.
    #[inline]
    pub(crate) fn has_messages(&self, number: usize) -> bool {
        self.posts[number].has_messages.load(Ordering::Acquire)
    }

    /// Notes whether an engine has neither nodes nor clients.
    pub(super) fn set_idle(&self, number: usize, is_idle: bool) {
        self.posts[number].is_idle.store(is_idle, Ordering::Release);
    }

    /// The engines but for one that have something to do, to be woken when no lock is held.
    pub(crate) fn others(&self, than: usize) -> Vec<Arc<Engine>> {
        let others = self.posts.iter().enumerate();
        let others = others
            .filter(|(number, post)| *number != than && !post.is_idle.load(Ordering::Acquire));
        others
            .filter_map(|(_, post)| post.engine.lock().upgrade())
            .collect()
    }

    /// How many engines there are.
    pub(crate) fn engines(&self) -> usize {
        self.posts.len()
    }
}
