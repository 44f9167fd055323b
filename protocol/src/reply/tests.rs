//! Replies are read back by a parser of their own, in both dialects.

use proptest::prelude::*;

use super::*;

proptest! {
    /// Every element is read back as itself, as its dialect shows it, and nothing is left over.
    #[test]
    fn replies_survive(elements in prop::collection::vec(element(), 1..5)) {
        for version in [Version::Resp2, Version::Resp3] {
            let mut out = Vec::new();
            let mut writer = ReplyWriter::new(&mut out, version);
            for element in &elements {
                element.write(&mut writer);
            }

            let mut rest = &out[..];
            for element in &elements {
                prop_assert_eq!(Value::parse(&mut rest), element.shown(version));
            }
            prop_assert_eq!(rest, b"");
        }
    }

    /// Replies that stand behind each other are told apart, and half a reply is none.
    #[test]
    fn replies_end_where_the_next_begins(elements in prop::collection::vec(element(), 1..5)) {
        for version in [Version::Resp2, Version::Resp3] {
            let mut out = Vec::new();
            let mut ends = Vec::new();
            for element in &elements {
                element.write(&mut ReplyWriter::new(&mut out, version));
                ends.push(out.len());
            }
            let mut at = 0;
            for end in ends {
                prop_assert_eq!(reply_bytes(&out[at..]), Some(end - at));
                for half in at..end {
                    prop_assert_eq!(reply_bytes(&out[at..half]), None);
                }
                at = end;
            }
        }
    }

    /// A header put in afterwards makes the same bytes as one that was written first.
    #[test]
    fn a_header_may_come_late(elements in prop::collection::vec(element(), 0..30)) {
        let mut out = b"+before\r\n".to_vec();
        let mut first = out.clone();

        let mut writer = ReplyWriter::new(&mut out, Version::Resp3);
        let mark = writer.mark();
        for element in &elements {
            element.write(&mut writer);
        }
        writer.insert_array(mark, elements.len());
        let mut writer = ReplyWriter::new(&mut first, Version::Resp3);
        writer.array(elements.len());
        for element in &elements {
            element.write(&mut writer);
        }

        prop_assert_eq!(out, first);
    }

    /// Headers hold the number that they were given, where they are ready-made and beyond.
    #[test]
    fn headers_hold_their_number(value in prop_oneof![0..1_100_u64, any::<u64>()]) {
        let out = written(Version::Resp2, |writer| writer.unsigned(value));
        prop_assert_eq!(out, format!(":{value}\r\n").into_bytes());
    }
}

#[test]
fn what_is_no_reply_reaches_nowhere() {
    let cases: [&[u8]; 7] = [
        b"",
        b"what\r\n",
        b"$x\r\n",
        b"*99999999999999999999\r\n",
        b"$9223372036854775807\r\n",
        b"%9223372036854775807\r\n",
        b"*1\r\n?\r\n",
    ];
    for bytes in cases {
        assert_eq!(reply_bytes(bytes), None, "{}", bytes.escape_ascii());
    }
    assert_eq!(reply_bytes(b"|1\r\n+a\r\n+b\r\n+c\r\n+d\r\n"), Some(16));
    assert_eq!(reply_bytes(b"*-1\r\n$-1\r\n"), Some(5));
}

#[test]
fn the_dialects_differ_where_they_should() {
    let cases: [(Write, &str, &str); 14] = [
        (|writer| writer.map(2), "*4\r\n", "%2\r\n"),
        (|writer| writer.pairs(2), "*2\r\n", "%2\r\n"),
        (|writer| writer.pair(), "*2\r\n", ""),
        (|writer| writer.set(3), "*3\r\n", "~3\r\n"),
        (|writer| writer.push(3), "*3\r\n", ">3\r\n"),
        (|writer| writer.null(), "$-1\r\n", "_\r\n"),
        (|writer| writer.null_array(), "*-1\r\n", "_\r\n"),
        (|writer| writer.boolean(true), ":1\r\n", "#t\r\n"),
        (|writer| writer.double(2.5), "$3\r\n2.5\r\n", ",2.5\r\n"),
        (
            |writer| writer.verbatim(b"hi"),
            "$2\r\nhi\r\n",
            "=6\r\ntxt:hi\r\n",
        ),
        (|writer| writer.id(7, 0), "$3\r\n7-0\r\n", "$3\r\n7-0\r\n"),
        (
            |writer| writer.bulk_integer(-12),
            "$3\r\n-12\r\n",
            "$3\r\n-12\r\n",
        ),
        (
            |writer| writer.integer(i64::MIN),
            ":-9223372036854775808\r\n",
            ":-9223372036854775808\r\n",
        ),
        (|writer| writer.ok(), "+OK\r\n", "+OK\r\n"),
    ];
    for (write, resp2, resp3) in cases {
        assert_eq!(written(Version::Resp2, write), resp2.as_bytes());
        assert_eq!(written(Version::Resp3, write), resp3.as_bytes());
    }
}

#[test]
fn an_error_stays_on_one_line() {
    let out = written(Version::Resp2, |writer| writer.error("ERR a\r\nb\nc\r\n"));
    assert_eq!(out, b"-ERR a  b c\r\n");
    let out = written(Version::Resp2, |writer| writer.error(b"ERR \xff\0"));
    assert_eq!(out, b"-ERR \xff\0\r\n");
    let out = written(Version::Resp2, |writer| writer.error("\n"));
    assert_eq!(out, b"-\r\n");
}

#[test]
fn what_was_written_since_a_mark_can_be_taken_back() {
    let mut out = Vec::new();
    let mut writer = ReplyWriter::new(&mut out, Version::Resp2);
    writer.ok();
    let mark = writer.mark();
    writer.bulk(b"x");

    writer.rewind(mark);
    writer.null();

    assert_eq!(out, b"+OK\r\n$-1\r\n");
}

type Write = fn(&mut ReplyWriter<'_>);

/// What a handler may say.
#[derive(Clone, Debug)]
enum Element {
    Array(Vec<Self>),
    Map(Vec<(Self, Self)>),
    Pairs(Vec<(Self, Self)>),
    Set(Vec<Self>),
    Push(Vec<Self>),
    Bulk(Vec<u8>),
    BulkInteger(i64),
    Integer(i64),
    Unsigned(u64),
    Id(u64, u64),
    Double(f64),
    Boolean(bool),
    Verbatim(Vec<u8>),
    Null,
    NullArray,
    Simple(String),
    Error(String),
}

impl Element {
    fn write(&self, writer: &mut ReplyWriter<'_>) {
        match self {
            Self::Array(elements) | Self::Set(elements) | Self::Push(elements) => {
                match self {
                    Self::Set(_) => writer.set(elements.len()),
                    Self::Push(_) => writer.push(elements.len()),
                    _ => writer.array(elements.len()),
                }
                elements.iter().for_each(|element| element.write(writer));
            }
            Self::Map(pairs) | Self::Pairs(pairs) => {
                let nested = matches!(self, Self::Pairs(_));
                if nested {
                    writer.pairs(pairs.len());
                } else {
                    writer.map(pairs.len());
                }
                for (name, value) in pairs {
                    if nested {
                        writer.pair();
                    }
                    name.write(writer);
                    value.write(writer);
                }
            }
            Self::Bulk(bytes) => writer.bulk(bytes),
            Self::BulkInteger(value) => writer.bulk_integer(*value),
            Self::Integer(value) => writer.integer(*value),
            Self::Unsigned(value) => writer.unsigned(*value),
            Self::Id(ms, seq) => writer.id(*ms, *seq),
            Self::Double(value) => writer.double(*value),
            Self::Boolean(value) => writer.boolean(*value),
            Self::Verbatim(text) => writer.verbatim(text),
            Self::Null => writer.null(),
            Self::NullArray => writer.null_array(),
            Self::Simple(text) => writer.simple(text),
            Self::Error(text) => writer.error(text),
        }
    }

    /// What a client of this dialect sees.
    fn shown(&self, version: Version) -> Value {
        let resp3 = version == Version::Resp3;
        let many = |elements: &[Self]| elements.iter().map(|e| e.shown(version)).collect();
        let flat = |pairs: &[(Self, Self)]| {
            pairs
                .iter()
                .flat_map(|(name, value)| [name.shown(version), value.shown(version)])
                .collect()
        };
        let bulk = |text: String| Value::String('$', text.into_bytes());
        match self {
            Self::Set(elements) if resp3 => Value::Many('~', many(elements)),
            Self::Push(elements) if resp3 => Value::Many('>', many(elements)),
            Self::Array(elements) | Self::Set(elements) | Self::Push(elements) => {
                Value::Many('*', many(elements))
            }
            Self::Map(pairs) | Self::Pairs(pairs) if resp3 => Value::Many('%', flat(pairs)),
            Self::Map(pairs) => Value::Many('*', flat(pairs)),
            Self::Pairs(pairs) => {
                let pair = |(name, value): &(Self, Self)| {
                    Value::Many('*', vec![name.shown(version), value.shown(version)])
                };
                Value::Many('*', pairs.iter().map(pair).collect())
            }
            Self::Bulk(bytes) => Value::String('$', bytes.clone()),
            Self::BulkInteger(value) => bulk(value.to_string()),
            Self::Integer(value) => Value::Line(':', value.to_string().into_bytes()),
            Self::Unsigned(value) => Value::Line(':', value.to_string().into_bytes()),
            Self::Id(ms, seq) => bulk(format!("{ms}-{seq}")),
            Self::Double(value) => {
                let mut text = Vec::new();
                number::append_f64(&mut text, *value);
                if resp3 {
                    Value::Line(',', text)
                } else {
                    Value::String('$', text)
                }
            }
            Self::Boolean(value) if resp3 => {
                Value::Line('#', if *value { b"t".to_vec() } else { b"f".to_vec() })
            }
            Self::Boolean(value) => Value::Line(':', u8::from(*value).to_string().into_bytes()),
            Self::Verbatim(text) if resp3 => Value::String('=', [b"txt:", &text[..]].concat()),
            Self::Verbatim(text) => Value::String('$', text.clone()),
            Self::Null | Self::NullArray if resp3 => Value::Line('_', Vec::new()),
            Self::Null => Value::Absent('$'),
            Self::NullArray => Value::Absent('*'),
            Self::Simple(text) => Value::Line('+', text.clone().into_bytes()),
            Self::Error(text) => Value::Line('-', text.clone().into_bytes()),
        }
    }
}

/// What lies on the wire, by its first byte.
#[derive(Debug, PartialEq)]
enum Value {
    Line(char, Vec<u8>),
    String(char, Vec<u8>),
    Many(char, Vec<Self>),
    Absent(char),
}

impl Value {
    /// Takes one value off the front of `input`.
    fn parse(input: &mut &[u8]) -> Self {
        let line = take(
            input,
            input.windows(2).position(|pair| pair == b"\r\n").unwrap(),
        );
        let kind = char::from(line[0]);
        let text = &line[1..];
        let count = || str::from_utf8(text).unwrap().parse::<usize>().unwrap();
        match kind {
            '$' | '*' if text == b"-1" => Self::Absent(kind),
            '$' | '=' => Self::String(kind, take(input, count()).to_vec()),
            '*' | '~' | '>' => Self::Many(kind, (0..count()).map(|_| Self::parse(input)).collect()),
            '%' => Self::Many(kind, (0..count() * 2).map(|_| Self::parse(input)).collect()),
            _ => Self::Line(kind, text.to_vec()),
        }
    }
}

/// Takes `len` bytes and the line end after them.
fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (bytes, rest) = input.split_at(len);
    *input = rest.strip_prefix(b"\r\n").unwrap();
    bytes
}

fn element() -> impl Strategy<Value = Element> {
    let bytes = || {
        prop_oneof![
            8 => prop::collection::vec(any::<u8>(), 0..20),
            1 => prop::collection::vec(any::<u8>(), 95..1_050),
        ]
    };
    let signed = (any::<i64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift);
    let unsigned = || (any::<u64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift);
    let leaf = prop_oneof![
        bytes().prop_map(Element::Bulk),
        signed.clone().prop_map(Element::BulkInteger),
        signed.prop_map(Element::Integer),
        unsigned().prop_map(Element::Unsigned),
        (unsigned(), unsigned()).prop_map(|(ms, seq)| Element::Id(ms, seq)),
        any::<f64>().prop_map(Element::Double),
        any::<bool>().prop_map(Element::Boolean),
        bytes().prop_map(Element::Verbatim),
        Just(Element::Null),
        Just(Element::NullArray),
        "[ -~]{0,20}".prop_map(Element::Simple),
        "[A-Z]{1,8} [ -~]{0,20}".prop_map(Element::Error),
    ];
    leaf.prop_recursive(3, 40, 12, |inner| {
        let many = || prop::collection::vec(inner.clone(), 0..12);
        let pairs = || prop::collection::vec((inner.clone(), inner.clone()), 0..6);
        prop_oneof![
            many().prop_map(Element::Array),
            pairs().prop_map(Element::Map),
            pairs().prop_map(Element::Pairs),
            many().prop_map(Element::Set),
            many().prop_map(Element::Push),
        ]
    })
}

fn written(version: Version, write: impl FnOnce(&mut ReplyWriter<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut ReplyWriter::new(&mut out, version));
    out
}

#[test]
fn what_is_put_in_late_can_be_all_that_stays() {
    let mut out = b"+OK\r\n".to_vec();
    let mut reply = ReplyWriter::new(&mut out, Version::Resp3);
    let mark = reply.mark();
    reply.bulk(b"before");
    reply.keep_late();
    let start = reply.mark();
    reply.bulk(b"name");
    reply.late_array(7);
    reply.integer(5);
    let inner = reply.mark();
    reply.bulk(b"x");
    reply.late_set(2);
    reply.insert_map(inner, 3);
    reply.insert_array(start, 4);
    let wrong = reply.mark();
    reply.late_id(1, 2);
    reply.rewind(wrong);
    reply.late_id(3, 4);
    reply.rewind_to_late(mark);
    reply.late_array(1);
    assert_eq!(out, b"+OK\r\n*4\r\n*7\r\n%3\r\n~2\r\n$3\r\n3-4\r\n*1\r\n");
}
