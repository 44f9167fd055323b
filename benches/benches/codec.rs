//! How fast are requests found in the input, and replies written?
//!
//! Bad news would be a request that costs more when the network cuts it in pieces, because its start is
//! read again: a byte should cost the same whatever the length. And a reply should cost no more in RESP3.

mod support;

use std::hint::black_box;

use criterion::BenchmarkId;
use criterion::Criterion;
use criterion::Throughput;
use criterion::criterion_group;
use criterion::criterion_main;
use tailrace_protocol::Batch;
use tailrace_protocol::BatchBounds;
use tailrace_protocol::Decoder;
use tailrace_protocol::Limits;
use tailrace_protocol::ReplyWriter;
use tailrace_protocol::Version;

use support::entry;
use support::lengths;

fn pipeline(c: &mut Criterion) {
    let mut group = c.benchmark_group("decode/pipeline");
    group.throughput(Throughput::Elements(COMMANDS));
    for value_bytes in [16, 1_024] {
        let mut input = Vec::new();
        for _ in 0..COMMANDS {
            push_add(&mut input, &entry(value_bytes));
        }
        group.bench_function(format!("{value_bytes}B"), |b| {
            let mut decoder = Decoder::new(Limits::default());
            let mut batch = Batch::new();
            b.iter(|| {
                let used = decoder.decode(black_box(&input), &mut batch, BatchBounds::NONE);
                assert_eq!(used, Ok(input.len()));
                batch.len()
            });
        });
    }
    group.finish();
}

fn in_pieces(c: &mut Criterion) {
    let mut group = c.benchmark_group("decode/in pieces");
    for args in lengths([10, 1_000, 100_000]) {
        let mut input = Vec::new();
        push_command(&mut input, &vec![&b"0123456789"[..]; args]);
        group.throughput(Throughput::Bytes(input.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(args), |b| {
            let mut decoder = Decoder::new(Limits::default());
            let mut batch = Batch::new();
            b.iter(|| {
                // A client that sends in pieces: each time there is a little more of the command.
                let ends = (PIECE..input.len()).step_by(PIECE).chain([input.len()]);
                let used = ends.map(|end| {
                    decoder.decode(black_box(&input[..end]), &mut batch, BatchBounds::NONE)
                });
                assert_eq!(used.last(), Some(Ok(input.len())));
            });
        });
    }
    group.finish();
}

fn reply(c: &mut Criterion) {
    let mut group = c.benchmark_group("reply/100 entries");
    group.throughput(Throughput::Elements(COMMANDS));
    for value_bytes in [16, 1_024] {
        let entry = entry(value_bytes);
        for version in [Version::Resp2, Version::Resp3] {
            let id = BenchmarkId::new(format!("{version:?}"), format!("{value_bytes}B"));
            group.bench_function(id, |b| {
                let mut out = Vec::new();
                b.iter(|| {
                    out.clear();
                    write_entries(&mut ReplyWriter::new(&mut out, version), &entry);
                    out.len()
                });
            });
        }
    }
    group.finish();
}

fn write_entries(reply: &mut ReplyWriter<'_>, entry: &[Vec<u8>]) {
    reply.array(COMMANDS_LEN);
    for seq in 0..COMMANDS {
        reply.array(2);
        reply.id(1_700_000_000_000, seq);
        reply.array(entry.len());
        for part in black_box(entry) {
            reply.bulk(part);
        }
    }
}

fn push_add(out: &mut Vec<u8>, entry: &[Vec<u8>]) {
    let words = [&b"XADD"[..], b"measurements", b"*"];
    let args = words.into_iter().chain(entry.iter().map(Vec::as_slice));
    push_command(out, &args.collect::<Vec<_>>());
}

fn push_command(out: &mut Vec<u8>, args: &[&[u8]]) {
    out.extend(format!("*{}\r\n", args.len()).bytes());
    for arg in args {
        out.extend(format!("${}\r\n", arg.len()).bytes());
        out.extend_from_slice(arg);
        out.extend(b"\r\n");
    }
}

/// Commands in a pipeline, and entries in a reply.
const COMMANDS: u64 = 100;

const COMMANDS_LEN: usize = 100;

/// What a small network packet brings.
const PIECE: usize = 1_000;

criterion_group!(benches, pipeline, in_pieces, reply);
criterion_main!(benches);
