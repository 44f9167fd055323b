//! Ends clients that are idle for too long, that do not read their replies, or that send too much
//! ahead.

use tailrace_storage::Instant;
use tailrace_storage::Millis;

use crate::client::Client;
use crate::client::ClientId;
use crate::config::Settings;
use crate::state::State;

impl State {
    /// Ends the clients whose time is up, if it is time to look, and says when to look again.
    ///
    /// Looking costs time proportional to the number of clients, but happens at most once per
    /// `timeout` or time of a soft limit.
    pub(crate) fn upkeep(&mut self, now: Instant) {
        if self.upkeep_at.is_none_or(|at| at > now) {
            return;
        }
        let settings = self.config.settings();
        let mut next = None;
        let mut idle = Vec::new();
        let mut unread = Vec::new();
        for client in self.clients.iter_mut() {
            let idle_until = idle_until(client, settings, now);
            let unread_until = unread_until(client, settings, now);
            if idle_until.is_some_and(|until| until <= now) {
                idle.push(client.id);
            } else if unread_until.is_some_and(|until| until <= now) {
                unread.push(client.id);
            } else {
                next = [next, idle_until, unread_until].into_iter().flatten().min();
            }
        }
        self.upkeep_at = next;
        for id in idle {
            tracing::debug!("closing {}, which is idle", self.clients.at(id));
            self.kill(id);
        }
        for id in unread {
            self.kill_for_output(id);
        }
    }

    /// Looks at the clients at `at` at the latest.
    pub(crate) fn schedule_upkeep(&mut self, at: Instant) {
        self.upkeep_at = Some(self.upkeep_at.map_or(at, |old| old.min(at)));
    }

    /// A client connected: it will have to be looked at if idle clients are ended.
    pub(crate) fn schedule_idle(&mut self, now: Instant) {
        let timeout_s = self.config.settings().timeout_s;
        if timeout_s > 0 {
            self.schedule_upkeep(after_seconds(now, timeout_s));
        }
    }

    /// Ends a client for which too many bytes wait.
    pub(crate) fn limit_output(&mut self, id: ClientId, waiting: usize, now: Instant) {
        let settings = self.config.settings();
        let client = self.clients.at(id);
        let counted = counted_output(waiting);
        if counted == 0 {
            client.soft_limit_since = None;
            return;
        }
        let limit = settings.output_limit(client.is_subscriber());
        let was_above = client.soft_limit_since.is_some();
        if limit.is_exceeded(counted, &mut client.soft_limit_since, now)
            || (!client.authenticated && counted > UNAUTHENTICATED_OUTPUT_BYTES_MAX)
        {
            self.kill_for_output(id);
        } else if client.soft_limit_since.is_some() && !was_above {
            self.schedule_upkeep(after_seconds(now, limit.soft_s));
        }
    }

    /// Ends a client that sends too much ahead. Whether it did.
    pub(crate) fn limit_input(&mut self, id: ClientId, bytes: usize) -> bool {
        if bytes <= FREE_INPUT_BYTES {
            return false;
        }
        let settings = self.config.settings();
        let client = self.clients.at(id);
        let total = bytes + client.queued_bytes();
        let exceeds = total > settings.client_query_buffer_limit
            || (total > UNAUTHENTICATED_INPUT_BYTES_MAX && !client.authenticated);
        if exceeds {
            tracing::warn!(
                "closing {client}, which sent more than client-query-buffer-limit ahead"
            );
            self.stats.query_limit_disconnections += 1;
            self.kill(id);
        }
        exceeds
    }

    /// Says in the log that a client speaks HTTP, but not for each of many: nobody is to fill the log.
    pub(crate) fn warn_of_http(&mut self, id: ClientId, now: Instant) {
        let is_due = |warned_at| now > warned_at + HTTP_WARNING_PAUSE;
        if self.warned_of_http_at.is_none_or(is_due) {
            self.warned_of_http_at = Some(now);
            let client = self.clients.at(id);
            tracing::warn!("closing {client}, which speaks HTTP: a web page may be behind it");
        }
    }

    fn kill_for_output(&mut self, id: ClientId) {
        let client = self.clients.at(id);
        tracing::warn!("closing {client}, for which more than client-output-buffer-limit waits");
        self.stats.output_limit_disconnections += 1;
        self.kill(id);
    }
}

/// The bytes that wait for a client and count: the reference keeps the first ones elsewhere.
pub(crate) fn counted_output(waiting: usize) -> usize {
    waiting.saturating_sub(FREE_OUTPUT_BYTES)
}

/// When a client will have been idle for too long, or is to be looked at again. Those that wait for
/// something are not idle.
fn idle_until(client: &Client, settings: &Settings, now: Instant) -> Option<Instant> {
    if settings.timeout_s == 0 {
        return None;
    }
    let is_exempt = client.is_blocked() || client.is_subscriber() || client.is_monitor;
    let since = if is_exempt { now } else { client.active_at };
    Some(after_seconds(since, settings.timeout_s))
}

/// When a client will have been above its soft limit for too long.
fn unread_until(client: &mut Client, settings: &Settings, now: Instant) -> Option<Instant> {
    client.soft_limit_since?;
    let limit = settings.output_limit(client.is_subscriber());
    let counted = counted_output(client.link.waiting());
    if limit.is_exceeded(counted, &mut client.soft_limit_since, now) {
        return Some(now);
    }
    let since = client.soft_limit_since?;
    Some(after_seconds(since, limit.soft_s))
}

/// The first instant at which more than `seconds` whole seconds have passed since `since`.
fn after_seconds(since: Instant, seconds: u64) -> Instant {
    since + Millis(seconds.saturating_add(1).saturating_mul(1_000))
}

/// Replies up to this never count against a limit: the reference has a fixed buffer for them.
pub(crate) const FREE_OUTPUT_BYTES: usize = 16 * 1_024;
/// How long nothing more is said of clients that speak HTTP; the reference's time.
const HTTP_WARNING_PAUSE: Millis = Millis(60_000);
/// How much more may wait for a client that has yet to authenticate.
const UNAUTHENTICATED_OUTPUT_BYTES_MAX: usize = 1_024;
/// What is not worth a look: no limit can be set below it.
const FREE_INPUT_BYTES: usize = 64 * 1_024;
/// How much a client that has yet to authenticate may send ahead.
const UNAUTHENTICATED_INPUT_BYTES_MAX: usize = 1_024 * 1_024;
