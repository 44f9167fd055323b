//! Results for a terminal.

use super::format::mebibytes;
use super::format::micros;
use super::format::percent;
use super::format::short;
use super::format::target;
use super::format::times;
use crate::results::Results;
use crate::results::Row;
use crate::results::Series;
use crate::workloads::Workload;

/// Tells which workloads there are.
pub(crate) fn list(workloads: &[&dyn Workload]) -> String {
    let rows = workloads
        .iter()
        .map(|workload| {
            let facts = workload.facts();
            let target = target(facts.target);
            cells([facts.name, facts.brief, facts.unit.name, &target])
        })
        .collect();
    aligned(rows, 3)
}

/// Tells in one line what came of a workload.
pub(crate) fn line(row: &Row) -> String {
    format!(
        "{}  {} against {} {}: {}",
        row.name(),
        short(row.subject.value().median),
        short(row.against.value().median),
        row.facts.unit.name,
        times(row.ratio().median)
    )
}

/// Tells everything: what each server did, then at what cost.
pub(crate) fn table(results: &Results) -> String {
    format!(
        "\n{} against {}\n{}, {}\n\n{}{SPREAD}{}\n{}{LOAD}",
        results.subject,
        results.against,
        results.date,
        results.machine,
        figures(results),
        if has_floor(results) { FLOOR } else { "" },
        costs(results)
    )
}

/// What a column means that is not plain.
const SPREAD: &str = "\
spread: from the least to the greatest of the runs, as a part of the median
target: how many times better Tailrace is to be, or the figure that it is to reach
";

/// What the columns mean that are there with a floor only.
const FLOOR: &str = "\
floor: a server that only parses commands and answers constants; of it: how close Tailrace comes to that
";

/// When a figure says less about the server than about the load.
const LOAD: &str = "\
load cores: kept busy by the clients; where they are not below the server's cores, clients were the slower side
";

fn has_floor(results: &Results) -> bool {
    results.rows.iter().any(|row| row.floor.is_some())
}

fn figures(results: &Results) -> String {
    let mut head = cells([
        "median of the runs",
        "unit",
        &results.subject,
        "spread",
        &results.against,
        "spread",
        "times better",
        "least",
        "most",
        "target",
        "met",
    ]);
    if has_floor(results) {
        head.extend(cells(["floor", "of it"]));
    }
    let mut rows = vec![head];
    for row in &results.rows {
        let (subject, against) = (row.subject.value(), row.against.value());
        let ratio = row.ratio();
        let mut line = cells([
            &row.name(),
            row.facts.unit.name,
            &short(subject.median),
            &percent(subject.spread()),
            &short(against.median),
            &percent(against.spread()),
            &times(ratio.median),
            &times(ratio.min),
            &times(ratio.max),
            &target(row.facts.target),
            if row.is_met() { "yes" } else { "no" },
        ]);
        if has_floor(results) {
            let floor = row.floor.as_ref().map(|floor| short(floor.value().median));
            line.push(floor.unwrap_or_else(unknown));
            line.push(row.part_of_floor().map_or_else(unknown, percent));
        }
        rows.push(line);
    }
    aligned(rows, 2)
}

fn costs(results: &Results) -> String {
    let mut rows = vec![cells([
        "latency, µs",
        "server",
        "p50",
        "p99",
        "p99.9",
        "max",
        "CPU s/run",
        "cores busy",
        "load cores",
        "resident MiB",
    ])];
    let has_requests = |row: &&Row| !row.subject.latency().is_empty();
    for row in results.rows.iter().filter(has_requests) {
        rows.push(cost(&row.name(), &results.subject, &row.subject));
        rows.push(cost("", &results.against, &row.against));
        if let Some(floor) = &row.floor {
            rows.push(cost("", "floor", floor));
        }
    }
    aligned(rows, 2)
}

fn cost(name: &str, server: &str, series: &Series) -> Vec<String> {
    let latency = series.latency();
    let at = |quantile| {
        if latency.is_empty() {
            return unknown();
        }
        micros(latency.value_at_quantile(quantile))
    };
    cells([
        name,
        server,
        &at(0.5),
        &at(0.99),
        &at(0.999),
        &at(1.0),
        &series.cpu_seconds().map_or_else(unknown, short),
        &series.cores().map_or_else(unknown, short),
        &series.load_cores().map_or_else(unknown, short),
        &series.memory_bytes().map_or_else(unknown, mebibytes),
    ])
}

fn unknown() -> String {
    "-".to_owned()
}

fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).into()
}

/// Sets rows of equally many cells in columns: the first `left` to the left, numbers to the right.
fn aligned(rows: Vec<Vec<String>>, left: usize) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..columns).filter_map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if column < left {
                line += &format!("{cell:<width$}  ");
            } else {
                line += &format!("{cell:>width$}  ");
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::results;
    use crate::results::tests::row;
    use crate::results::tests::series;
    use crate::workloads::Unit;

    #[test]
    fn a_table_tells_who_did_what() {
        let rows = vec![row(
            Unit::rate("entries/s"),
            &[3e6, 2e6, 4e6],
            &[1e6, 1e6, 1e6],
        )];

        let expected = "
Tailrace 0.1.0 against Valkey 9
2026-11-29, a machine

median of the runs  unit       Tailrace 0.1.0  spread  Valkey 9  spread  times better  least   most  target  met
add/p16             entries/s          3.00 M    67 %    1.00 M     0 %         3.00×  2.00×  4.00×   2.50×  yes
spread: from the least to the greatest of the runs, as a part of the median
target: how many times better Tailrace is to be, or the figure that it is to reach

latency, µs  server           p50   p99  p99.9   max  CPU s/run  cores busy  load cores  resident MiB
add/p16      Tailrace 0.1.0  1.50  1.50   1.50  1.50       1.00        0.50        0.25             -
             Valkey 9        1.50  1.50   1.50  1.50       1.00        0.50        0.25             -
load cores: kept busy by the clients; where they are not below the server's cores, clients were the slower side
";
        assert_eq!(table(&results(rows)), expected);
    }

    #[test]
    fn a_floor_is_two_columns_and_a_line() {
        let rate = Unit::rate("entries/s");
        let mut with = row(rate, &[3e6], &[1e6]);
        with.floor = Some(series(&[4e6]));
        let mut without = row(rate, &[3e6], &[1e6]);
        without.facts.name = "start";

        let table = table(&results(vec![with, without]));

        let line = |name| table.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(
            line("median of the runs").ends_with("met   floor  of it"),
            "{table}"
        );
        assert!(line("add/p16").ends_with("yes  4.00 M   75 %"), "{table}");
        assert!(line("start").ends_with("yes       -      -"), "{table}");
        assert_eq!(table.matches("             floor  ").count(), 1, "{table}");
    }
}
