//! Results for programs: every run, and what was made of it.

use serde_json::Value;
use serde_json::json;

use crate::results::Figure;
use crate::results::Results;
use crate::results::Row;
use crate::results::Series;

/// Renders all results as JSON, with a line for each value.
pub(super) fn render(results: &Results) -> String {
    let rows: Vec<Value> = results.rows.iter().map(row).collect();
    let whole = json!({
        "subject": results.subject,
        "against": results.against,
        "machine": results.machine,
        "scale": results.scale,
        "workloads": rows,
    });
    format!("{whole:#}\n")
}

fn row(row: &Row) -> Value {
    json!({
        "name": row.name,
        "brief": row.brief,
        "question": row.question,
        "unit": row.unit.name,
        "more_is_better": row.unit.more_is_better,
        "times_better": figure(row.ratio()),
        "subject": series(&row.subject),
        "against": series(&row.against),
    })
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
                "memory_bytes": run.memory_bytes,
            })
        })
        .collect();
    json!({
        "value": figure(series.value()),
        "cores": series.cores(),
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
