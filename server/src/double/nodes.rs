//! What a test asks of all nodes of a cluster.
//!
//! No engine waits for another while it holds its lock, so this is done from outside, one node after the other, while
//! the command that asked for it waits like any other.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tailrace_protocol::ReplyWriter;
use tailrace_storage::Millis;
use tailrace_storage::Now;
use tailrace_storage::key_slot;
use tokio::sync::oneshot;

use super::condition::Condition;
use super::condition::describe_waiting;
use super::jobs::Awaited;
use super::jobs::Outcome;
use super::stage::Stage;
use crate::call::Call;
use crate::call::Flow;
use crate::error::CommandError;
use crate::state::State;

/// Lets a call wait until `condition` holds on the nodes of its cluster, as long as it has `patience`; without any,
/// it insists on it.
pub(crate) fn wait(call: &mut Call<'_>, condition: Condition, patience: Option<Millis>) -> Flow {
    let db = call.db;
    beside(call, async move |stage: Arc<Stage>| {
        waited(&stage, &condition, db, patience).await
    })
}

/// What comes of a wait.
async fn waited(
    stage: &Stage,
    condition: &Condition,
    db: usize,
    patience: Option<Millis>,
) -> Outcome {
    let outcome = match patience {
        None => check(stage, condition, db),
        Some(patience) => {
            let wait = hold(stage, condition, db);
            match tokio::time::timeout(Duration::from_millis(patience.0), wait).await {
                Ok(()) => Ok(()),
                Err(_) => check(stage, condition, db)
                    .map_err(|reason| format!("after {} ms {reason}", patience.0)),
            }
        }
    };
    match outcome {
        Ok(()) => Outcome::Ok,
        Err(reason) => Outcome::Failed(reason),
    }
}

/// Lets the program wait in which this runs, as long as it has `patience`.
pub(crate) fn wait_from_outside(
    stage: &Arc<Stage>,
    condition: Condition,
    db: usize,
    patience: Millis,
    answer: oneshot::Sender<Outcome>,
) {
    let stage = Arc::clone(stage);
    Arc::clone(&stage).spawn(async move {
        // Whoever dropped the answer wants none.
        let _ = answer.send(waited(&stage, &condition, db, Some(patience)).await);
    });
}

/// Acts on every node, and replies with the sum of what it gives.
pub(crate) fn on_each(
    call: &mut Call<'_>,
    act: impl Fn(&mut State, Now) -> usize + Send + 'static,
    outcome: impl FnOnce(u64) -> Outcome + Send + 'static,
) -> Flow {
    beside(call, async move |stage: Arc<Stage>| {
        let engines = stage.engines();
        let sums = engines
            .iter()
            .map(|engine| engine.with(|state, now| act(state, now)));
        outcome(sums.sum::<usize>() as u64)
    })
}

/// Acts on every node, at once if there is one only, and replies that it is done.
pub(crate) fn everywhere(
    call: &mut Call<'_>,
    reply: &mut ReplyWriter<'_>,
    act: impl Fn(&mut State) + Send + 'static,
) -> Flow {
    if !is_alone(call) {
        let act = move |state: &mut State, _| {
            act(state);
            1
        };
        return on_each(call, act, |_| Outcome::Ok);
    }
    act(call.state);
    reply.ok();
    Flow::Done
}

/// Looks at every node, and replies with what `tell` makes of what it saw; at once if there is one node only.
pub(crate) fn tell_of_all<T: Send + 'static>(
    call: &mut Call<'_>,
    reply: &mut ReplyWriter<'_>,
    look: impl Fn(&State) -> T + Send + 'static,
    tell: impl FnOnce(Vec<T>, &mut ReplyWriter<'_>) -> Result<(), String> + Send + 'static,
) -> Result<Flow, CommandError> {
    if is_alone(call) {
        tell(vec![look(call.state)], reply).map_err(CommandError::Double)?;
        return Ok(Flow::Done);
    }
    let version = reply.version();
    Ok(beside(call, async move |stage: Arc<Stage>| {
        let seen = stage.look_at_all(look);
        Outcome::written(version, |reply| tell(seen, reply))
    }))
}

/// Acts on the node that has a key, which replies; at once if that is the one that is asked.
pub(crate) fn on_owner(
    call: &mut Call<'_>,
    reply: &mut ReplyWriter<'_>,
    key: &[u8],
    act: impl FnOnce(&mut State, &mut ReplyWriter<'_>) -> Result<(), String> + Send + 'static,
) -> Result<Flow, CommandError> {
    let own = call.state.double.as_ref().map(|double| double.engine);
    match owner_of(call.state, key).filter(|owner| own != Some(*owner)) {
        None => {
            act(call.state, reply).map_err(CommandError::Double)?;
            Ok(Flow::Done)
        }
        Some(owner) => {
            let version = reply.version();
            Ok(beside(call, async move |stage: Arc<Stage>| {
                let Some(engine) = stage.engine(owner) else {
                    return Outcome::Failed("the node that has it has ended".to_owned());
                };
                engine.with(|state, _| Outcome::written(version, |reply| act(state, reply)))
            }))
        }
    }
}

/// The engine that has a key by what the cluster has agreed on; none if there is no cluster, or nobody has it.
pub(crate) fn owner_of(state: &State, key: &[u8]) -> Option<usize> {
    let view = state.cluster.as_ref()?.topology().view();
    view.node(view.owner_of(key_slot(key))?).engine
}

/// Whether there is no other node.
fn is_alone(call: &Call<'_>) -> bool {
    let double = call.state.double.as_ref();
    double.is_none_or(|double| double.stage.is_alone())
}

/// Lets a call wait for what is done beside the commands.
pub(crate) fn beside<W, F>(call: &mut Call<'_>, work: W) -> Flow
where
    W: FnOnce(Arc<Stage>) -> F + Send + 'static,
    F: Future<Output = Outcome> + Send + 'static,
{
    let (awaited, flow) = Awaited::by(call.id);
    if let Some(double) = &call.state.double {
        let (stage, engine) = (Arc::clone(&double.stage), double.engine);
        double.stage.spawn(async move {
            let outcome = work(Arc::clone(&stage)).await;
            if let Some(engine) = stage.engine(engine) {
                engine.with(|state, now| awaited.finish(state, now, outcome));
            }
        });
    }
    flow
}

/// Waits until it holds.
async fn hold(stage: &Stage, condition: &Condition, db: usize) {
    loop {
        let mut changed = pin!(stage.changed.notified());
        // What changes during the look counts.
        changed.as_mut().enable();
        if check(stage, condition, db).is_ok() {
            return;
        }
        changed.await;
    }
}

/// Whether it holds; if not, what is the case. Keys are looked for where their slot is, what is counted is added up,
/// and everything else has to hold everywhere.
fn check(stage: &Stage, condition: &Condition, db: usize) -> Result<(), String> {
    let engines = stage.engines();
    if condition.is_counted() {
        let counts = engines.iter();
        let counts = counts.map(|engine| engine.look(|state| condition.count(state)));
        return condition.check_count(counts.sum(), || {
            let waiting = engines.iter();
            let waiting = waiting.map(|engine| engine.look(describe_waiting));
            waiting.collect::<Vec<_>>().join("; ")
        });
    }
    let owner = condition.key().and_then(|key| {
        let first = engines.first()?;
        first.look(|state| owner_of(state, key))
    });
    match owner.and_then(|owner| engines.get(owner)) {
        Some(engine) => engine.look(|state| condition.check(state, db)),
        None => engines
            .iter()
            .try_for_each(|engine| engine.look(|state| condition.check(state, db))),
    }
}
