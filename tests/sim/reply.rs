//! What replies say, in either version of the protocol.

use tailrace_tests::Value;

/// The text of a bulk, an error or the like.
pub(super) fn text(value: &Value) -> String {
    String::from_utf8_lossy(value.text()).into_owned()
}

/// The elements of an array, or keys and values of a map; nothing for a null.
pub(super) fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) | Value::Map(items) | Value::Set(items) => items,
        Value::Nil | Value::NilArray | Value::Null => &[],
        other => panic!("an aggregate was to come, not {other}"),
    }
}

/// A number of something, which is never negative.
pub(super) fn number(value: &Value) -> usize {
    match value {
        Value::Integer(number) => usize::try_from(*number).unwrap(),
        other => panic!("a number was to come, not {other}"),
    }
}

/// The value of `name` where keys and values alternate.
pub(super) fn field<'a>(value: &'a Value, name: &str) -> &'a Value {
    items(value)
        .chunks(2)
        .find(|pair| pair[0].text() == name.as_bytes())
        .map(|pair| &pair[1])
        .unwrap_or_else(|| panic!("{name} is missing"))
}

/// The IDs of entries, and whether the entry is still there. An element without fields is a pending
/// entry that was deleted.
pub(super) fn entries(value: &Value) -> Vec<(String, bool)> {
    let entry = |entry: &Value| {
        let parts = items(entry);
        (text(&parts[0]), matches!(parts[1], Value::Array(_)))
    };
    items(value).iter().map(entry).collect()
}

/// The entries of a read of one stream.
pub(super) fn read_entries(value: &Value) -> Vec<(String, bool)> {
    match value {
        Value::Map(items) => entries(&items[1]),
        Value::Array(streams) => entries(&items(&streams[0])[1]),
        _ => Vec::new(),
    }
}
