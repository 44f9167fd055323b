//! The first line of a script, which may say what it does: `#!lua flags=no-writes,allow-oom`.

use crate::config::split_option as split_words;

/// What a script says about itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct ScriptFlags {
    /// It has no such line, so each of its commands is judged by itself.
    pub(crate) says_nothing: bool,
    /// It changes no data.
    pub(crate) no_writes: bool,
    /// It runs although memory is used up.
    pub(crate) allow_oom: bool,
    /// It does not run in a cluster.
    pub(crate) no_cluster: bool,
    /// In a cluster it uses keys of several slots.
    pub(crate) allow_cross_slot: bool,
}

/// A script's flags, its engine, and the text that is left for that.
pub(super) struct Header<'a> {
    pub(super) engine: Vec<u8>,
    pub(super) flags: ScriptFlags,
    pub(super) code: &'a [u8],
}

/// Reads the first line of a script.
///
/// # Errors
///
/// The text of the error, if there is such a line and it is wrong.
pub(super) fn parse(script: &[u8]) -> Result<Header<'_>, Vec<u8>> {
    let mut flags = ScriptFlags::default();
    if !script.starts_with(b"#!") {
        flags.says_nothing = true;
        let engine = b"lua".to_vec();
        let code = script;
        return Ok(Header {
            engine,
            flags,
            code,
        });
    }
    let end = crate::args::text(script)
        .iter()
        .position(|&byte| byte == b'\n');
    let end = end.ok_or(b"Invalid script shebang")?;
    let words = split_words(&script[..end]).unwrap_or_default();
    let mut words = words.into_iter();
    let engine = match words.next() {
        Some(word) if word.len() >= 2 => word[2..].to_vec(),
        _ => return Err(b"Invalid engine in script shebang".to_vec()),
    };
    for word in words {
        let Some(names) = word.strip_prefix(b"flags=") else {
            return Err([b"Unknown lua shebang option: ", &word[..]].concat());
        };
        if names.is_empty() {
            continue;
        }
        for name in names.split(|&byte| byte == b',') {
            match name {
                b"no-writes" => flags.no_writes = true,
                b"allow-oom" => flags.allow_oom = true,
                b"no-cluster" => flags.no_cluster = true,
                b"allow-cross-slot-keys" => flags.allow_cross_slot = true,
                // There is no replica with stale data for which it would matter.
                b"allow-stale" => {}
                _ => return Err([b"Unexpected flag in script shebang: ", name].concat()),
            }
        }
    }
    let code = &script[end..];
    Ok(Header {
        engine,
        flags,
        code,
    })
}
