//! Results for programs: every run, and what was made of it.

use serde_json::Value;
use serde_json::json;

use crate::results::Figure;
use crate::results::Results;
use crate::results::Row;
use crate::results::Series;
use crate::workloads::Target;

/// Renders all results as JSON, with a line for each value.
pub(super) fn render(results: &Results) -> String {
    let rows: Vec<Value> = results.rows.iter().map(row).collect();
    let whole = json!({
        "subject": results.subject,
        "against": results.against,
        "machine": results.machine,
        "date": results.date,
        "scale": results.scale,
        "workloads": rows,
    });
    format!("{whole:#}\n")
}

fn row(row: &Row) -> Value {
    json!({
        "name": row.facts.name,
        "nodes": row.nodes,
        "brief": row.facts.brief,
        "question": row.facts.question,
        "unit": row.facts.unit.name,
        "more_is_better": row.facts.unit.more_is_better,
        "times_better": figure(row.ratio()),
        "target": target(row.facts.target),
        "target_is_met": row.is_met(),
        "subject": series(&row.subject),
        "against": series(&row.against),
        "floor": row.floor.as_ref().map(series),
        "part_of_floor": row.part_of_floor(),
    })
}

fn target(target: Target) -> Value {
    match target {
        Target::Times(times) => json!({ "times_better": times }),
        Target::Figure(figure) => json!({ "value": figure }),
    }
}

fn series(series: &Series) -> Value {
    let latency = series.latency();
    let runs: Vec<Value> = series
        .runs()
        .iter()
        .map(|run| {
            json!({
                "value": run.value,
                "seconds": run.seconds,
                "cpu_seconds": run.cpu_seconds,
                "load_cpu_seconds": run.load_cpu_seconds,
                "memory_bytes": run.memory_bytes,
            })
        })
        .collect();
    json!({
        "value": figure(series.value()),
        "cores": series.cores(),
        "load_cores": series.load_cores(),
        "latency_ns": {
            "p50": latency.value_at_quantile(0.5),
            "p99": latency.value_at_quantile(0.99),
            "p999": latency.value_at_quantile(0.999),
            "max": latency.max(),
            "requests": latency.len(),
        },
        "runs": runs,
    })
}

fn figure(figure: Figure) -> Value {
    json!({ "median": figure.median, "min": figure.min, "max": figure.max })
}
