//! Gives the inputs that fuzzing has kept to the targets again: small ones that it starts from, and all that once showed a
//! fault.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;

use tailrace_server::COMMANDS;
use tailrace_server::Config;
use tailrace_tests::fuzz;

#[test]
fn decode_withstands_what_was_found() {
    replay("decode");
}

#[test]
fn commands_withstands_what_was_found() {
    replay("commands");
}

#[test]
fn config_withstands_what_was_found() {
    replay("config");
}

#[test]
fn restore_withstands_what_was_found() {
    replay("restore");
}

/// A target that nobody runs finds nothing.
#[test]
fn every_target_is_replayed_and_can_be_run() {
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    for (name, _) in fuzz::TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        let test = format!("replay(\"{name}\")");
        assert!(include_str!("fuzz.rs").contains(&test), "{name}");
    }
}

/// The fuzzer puts whole words together, rather than bytes, if it has them. `UPDATE=1` writes them down: it is
/// a help, and need not have the newest.
#[test]
fn there_is_a_dictionary() {
    let path = root().join("fuzz/words.dict");
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, dictionary()).unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"xreadgroup\"") && text.contains("\"maxmemory\""));
}

/// Commands, their options, directives with their usual values, and what is on the wire.
fn dictionary() -> String {
    let mut words: BTreeSet<String> = WIRE.iter().map(|&word| word.to_owned()).collect();
    for command in COMMANDS {
        let subcommands = command.subcommands.iter().copied();
        for spec in [*command].into_iter().chain(subcommands) {
            words.insert(spec.short_name().to_owned());
            let tokens = spec.syntax.split(|c: char| !c.is_ascii_uppercase());
            words.extend(tokens.filter(|word| word.len() > 1).map(str::to_owned));
        }
    }
    for (name, value) in Config::default().get([&b"*"[..]]) {
        words.extend([&*name, &*value].map(|word| String::from_utf8_lossy(word).into_owned()));
    }
    words.retain(|word| !word.is_empty() && !word.contains('/'));
    let lines = words.iter().map(|word| format!("\"{}\"\n", escaped(word)));
    format!("# {DICTIONARY_HEAD}\n{}", lines.collect::<String>())
}

fn escaped(word: &str) -> String {
    let escape = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    word.bytes().map(escape).collect()
}

const DICTIONARY_HEAD: &str =
    "Written by tests/fuzz.rs: commands, options, directives, and what is on the wire.";
const WIRE: &[&str] = &[
    "\r\n",
    "*0\r\n",
    "*1\r\n",
    "*2\r\n",
    "*-1\r\n",
    "$0\r\n\r\n",
    "$1\r\n",
    "$-1\r\n",
    "$16384\r\n",
    "$16385\r\n",
    "$536870912\r\n",
    "*2147483647\r\n",
    "*2147483648\r\n",
    "\"\\x41\"",
    "'\\''",
    "kb",
    "mb",
    "gb",
    "%",
    "0x",
    "1e400",
    "18446744073709551615",
    "9223372036854775807",
    "-9223372036854775808",
    "1-1",
    "0-0",
    "requirepass \"\"",
];

fn replay(target: &str) {
    let mut count = 0;
    for folder in ["seeds", "found"] {
        let folder = root().join("fuzz").join(folder).join(target);
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            // If it panics, this names the input.
            println!("{}", path.display());
            fuzz::run(target, &fs::read(&path).unwrap());
            count += 1;
        }
    }
    assert!(count > 0, "there is nothing for {target}");
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
