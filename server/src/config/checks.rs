//! What the text of some directives must look like, beyond being text.
//!
//! Each check gets the directive's name, because the messages name it.

use std::net::Ipv4Addr;
use std::net::Ipv6Addr;

use super::start_clock::StartClock;

/// Says what is wrong with a text, in words for the client.
pub(super) type Check = fn(name: &str, text: &[u8]) -> Result<(), String>;

/// Takes any text.
pub(super) fn any(_name: &str, _text: &[u8]) -> Result<(), String> {
    Ok(())
}

/// Takes what a clock may do at first.
pub(super) fn clock(name: &str, text: &[u8]) -> Result<(), String> {
    refuse(StartClock::parse(text).is_none(), || {
        format!("{name} must be real, frozen, frozen:UNIX-MS, auto or auto:CLIENTS")
    })
}

/// Takes any text but none.
pub(super) fn some(name: &str, text: &[u8]) -> Result<(), String> {
    refuse(text.is_empty(), || format!("{name} can't be empty"))
}

/// Takes the name of a file without a path.
pub(super) fn file_name(name: &str, text: &[u8]) -> Result<(), String> {
    base_name(name, text, "filename")
}

/// Takes the name of a directory without a path.
pub(super) fn dir_name(name: &str, text: &[u8]) -> Result<(), String> {
    base_name(name, text, "dirname")
}

fn base_name(name: &str, text: &[u8], noun: &str) -> Result<(), String> {
    some(name, text)?;
    let is_path = text.iter().any(|byte| matches!(byte, b'/' | b'\\'));
    refuse(is_path, || format!("{name} can't be a path, just a {noun}"))
}

/// Takes an IPv4 address or nothing.
pub(super) fn ipv4(_name: &str, text: &[u8]) -> Result<(), String> {
    refuse(!is_empty_or::<Ipv4Addr>(text), || {
        "Invalid IPv4 address".to_owned()
    })
}

/// Takes an IPv6 address or nothing.
pub(super) fn ipv6(_name: &str, text: &[u8]) -> Result<(), String> {
    refuse(!is_empty_or::<Ipv6Addr>(text), || {
        "Invalid IPv6 address".to_owned()
    })
}

fn is_empty_or<T: std::str::FromStr>(text: &[u8]) -> bool {
    text.is_empty() || str::from_utf8(text).is_ok_and(|text| text.parse::<T>().is_ok())
}

/// Takes an address that other nodes are told, as short as any and without special characters.
pub(super) fn announced_ip(name: &str, text: &[u8]) -> Result<(), String> {
    refuse(text.len() >= IP_BYTES_MAX, || format!("{name} is too long"))?;
    let is_plain = text.iter().all(|byte| is_plain(*byte));
    refuse(!is_plain, || format!("{name} contains invalid character"))
}

/// Takes a name for a node without special characters.
pub(super) fn node_name(_name: &str, text: &[u8]) -> Result<(), String> {
    let is_plain = text.iter().all(|byte| is_plain(*byte));
    refuse(!is_plain, || {
        "Announced human node name contained invalid character".to_owned()
    })
}

/// Takes letters, digits, hyphens and dots.
pub(super) fn host_name(_name: &str, text: &[u8]) -> Result<(), String> {
    refuse(text.len() >= HOST_BYTES_MAX, || {
        format!("Hostnames must be less than {HOST_BYTES_MAX} characters")
    })?;
    let is_of_host = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    refuse(!text.iter().all(is_of_host), || {
        "Hostnames may only contain alphanumeric characters, hyphens or dots".to_owned()
    })
}

/// Takes the name of a locale, as in `C.UTF-8` and `pt_BR`. Which ones there are depends on the system.
pub(super) fn locale(_name: &str, text: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(text);
    let name = text.split(['.', '@']).next().unwrap_or_default();
    let (language, country) = name.split_once('_').unwrap_or((name, "XX"));
    let is_plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_language = matches!(language.len(), 2 | 3) && is_plain(language);
    let is_country = country.len() == 2 && is_plain(country);
    let is_known =
        matches!(name, "" | "C" | "POSIX") || is_language && is_country && name.len() > 3;
    refuse(!is_known, || "Invalid locale name".to_owned())
}

/// Takes a seed of bounded length.
pub(super) fn hash_seed(name: &str, text: &[u8]) -> Result<(), String> {
    refuse(text.len() > SEED_BYTES_MAX, || {
        format!("{name} must be less than or equal to {SEED_BYTES_MAX} characters")
    })
}

/// Takes a template for the title of the process, which may not come out empty.
pub(super) fn title_template(_name: &str, text: &[u8]) -> Result<(), String> {
    let is_title = |filled: String| !filled.trim_matches(' ').is_empty();
    let is_valid = fill_title(&String::from_utf8_lossy(text)).is_some_and(is_title);
    refuse(!is_valid, || {
        "template format is invalid or contains unknown variables".to_owned()
    })
}

/// Fills in a template with what a server without a title would show; `{{` is a brace.
fn fill_title(template: &str) -> Option<String> {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        if let Some(quoted) = after.strip_prefix('{') {
            filled.push('{');
            rest = quoted;
            continue;
        }
        let (variable, tail) = after.split_once('}')?;
        filled.push_str(match variable {
            "title" | "server-mode" | "unixsocket" => "",
            "listen-addr" | "config-file" | "port" | "tls-port" => "-",
            _ => return None,
        });
        rest = tail;
    }
    Some(filled + rest)
}

fn refuse(is_wrong: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if is_wrong { Err(message()) } else { Ok(()) }
}

/// Whether a byte may stand in what nodes write into their table of nodes.
fn is_plain(byte: u8) -> bool {
    byte > b',' && byte != 0x7f && !b";<=>?@[]^{|}~\\".contains(&byte)
}

/// The longest IPv6 address and one more.
const IP_BYTES_MAX: usize = 46;
/// The longest name of a host and one more.
const HOST_BYTES_MAX: usize = 256;
/// As long as the reference's.
const SEED_BYTES_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::Check;

    fn accepts(check: Check, text: &str) -> bool {
        check("name", text.as_bytes()).is_ok()
    }

    #[test]
    fn a_title_may_not_come_out_empty() {
        assert!(accepts(
            super::title_template,
            "{title} {listen-addr} {server-mode}"
        ));
        assert!(accepts(super::title_template, "a{{b"));
        for template in [
            "",
            " ",
            "{title}",
            "{server-mode}",
            "{nonsense}",
            "{",
            "{port",
        ] {
            assert!(!accepts(super::title_template, template), "{template:?}");
        }
    }

    #[test]
    fn names_of_hosts_and_nodes_are_plain() {
        assert!(accepts(super::host_name, "node-1.example"));
        assert!(!accepts(super::host_name, "a_b"));
        assert!(!accepts(super::host_name, &"a".repeat(256)));
        assert!(accepts(super::node_name, "a_b"));
        assert!(!accepts(super::node_name, "a b"));
        assert!(!accepts(super::announced_ip, &"1".repeat(46)));
    }

    #[test]
    fn locales_have_a_language_and_a_country() {
        for name in ["", "C", "C.UTF-8", "en_US", "de_AT.UTF-8@euro"] {
            assert!(accepts(super::locale, name), "{name}");
        }
        for name in ["abc", "1", "yes", "no", "en_", "a b", "007"] {
            assert!(!accepts(super::locale, name), "{name}");
        }
    }

    #[test]
    fn a_file_name_is_not_a_path() {
        assert!(accepts(super::file_name, "dump.rdb"));
        assert_eq!(
            super::file_name("dbfilename", b"/tmp/x"),
            Err("dbfilename can't be a path, just a filename".to_owned()),
        );
        assert!(!accepts(super::dir_name, ""));
    }
}
