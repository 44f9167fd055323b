//! Directives of our own, about test doubles and whoever starts them.

use super::super::checks;
use super::super::directive::Change::Fixed;
use super::super::directive::Directive;
use super::super::directive::Effect::Used;
use super::super::directive::row;
use super::super::kind::Kind::Int;
use super::super::kind::Kind::Memory;
use super::super::kind::Kind::Text;
use super::super::kind::Kind::YesNo;

#[rustfmt::skip] // One row, one line.
pub(super) const ROWS: &[Directive] = &[
    //  name, what it takes, default, when it may change, what it is worth
    row("testdouble",       YesNo,                    "no",      Fixed, Used).hidden(),
    row("clock",            Text(checks::clock),      "real",    Fixed, Used).hidden(),
    row("faults",           Text(checks::any),        "",        Fixed, Used).hidden(),
    row("strict",           YesNo,                    "no",      Fixed, Used).hidden(),
    row("seed",             Int(-1, i64::MAX),        "-1",      Fixed, Used).hidden(),
    row("calls-memory",     Memory(65_536, LONG_MAX), "2097152", Fixed, Used).hidden(),
    row("fixture",          Text(checks::any),        "",        Fixed, Used).hidden(),
    row("ready-file",       Text(checks::any),        "",        Fixed, Used).hidden(),
    row("ready-fd",         Int(-1, I32_MAX),         "-1",      Fixed, Used).hidden(),
    row("listen-fd",        Int(-1, I32_MAX),         "-1",      Fixed, Used).hidden(),
    row("exit-with-parent", YesNo,                    "no",      Fixed, Used).hidden(),
    row("idle-exit",        Int(0, I32_MAX),          "0",       Fixed, Used).hidden(),
];

const LONG_MAX: u64 = i64::MAX as u64;
/// Descriptors and seconds are not larger.
const I32_MAX: i64 = i32::MAX as i64;
