//! Configuration: a file, then commands that set directives. What is accepted is written to a file by CONFIG REWRITE, and
//! read from there it is the same.
//!
//! An input is the text of a file and, behind zero bytes, the arguments of CONFIG SET: a line for each directive, its name
//! up to the first blank and the rest its value.

use std::ffi::OsString;
use std::sync::LazyLock;

use tailrace_server::Config;
use tailrace_server::config::Start;

pub(super) fn run(input: &[u8]) {
    // It reads other files, which may be endless.
    if input
        .to_ascii_lowercase()
        .windows(7)
        .any(|word| word == b"include")
    {
        return;
    }
    let mut parts = input.split(|byte| *byte == 0);
    let file = parts.next().unwrap_or_default();
    let Ok(mut config) = read(file) else {
        return;
    };
    let file = assert_rewrites(&config, file);
    for lines in parts {
        set(&mut config, lines);
    }
    assert_rewrites(&config, &file);
    assert_shown_values_are_taken(&mut config);
}

/// As the binary reads it.
fn read(file: &[u8]) -> Result<Config, String> {
    match Config::from_args([OsString::from("-")], file) {
        Ok(Start::Run(config)) => Ok(*config),
        Ok(Start::Print(_)) => Err("it prints".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Writes a file that said `before`, and reads it again.
fn assert_rewrites(config: &Config, before: &[u8]) -> Vec<u8> {
    let file = config.rewritten(before);
    let shown = || file.escape_ascii().to_string();
    let again = read(&file).unwrap_or_else(|error| panic!("{error}: {}", shown()));
    if again != *config {
        let all = |config: &Config| config.rewritten(b"").escape_ascii().to_string();
        panic!(
            "{}\nis read as\n{} {:?}\nand was\n{} {:?}",
            shown(),
            all(&again),
            again.renames(),
            all(config),
            config.renames(),
        );
    }
    assert!(again.rewritten(&file) == file, "{} changes", shown());
    file
}

/// All of it or nothing.
fn set(config: &mut Config, lines: &[u8]) {
    let lines = lines.split(|byte| *byte == b'\n');
    let pairs = lines.map(|line| {
        let end = line.iter().position(|byte| *byte == b' ');
        let (name, value) = line.split_at(end.unwrap_or(line.len()));
        (name, value.get(1..).unwrap_or_default())
    });
    let before = config.clone();
    if config.set(pairs, true).is_err() {
        assert!(*config == before, "an error has changed something");
    }
}

/// What CONFIG GET shows means the same to CONFIG SET, where that may be set at all.
fn assert_shown_values_are_taken(config: &mut Config) {
    let before = config.clone();
    let shown = before.get(SETTABLE.iter().map(|name| name.as_bytes()));
    let pairs = shown.iter().map(|(name, value)| (&**name, &**value));
    if let Err(error) = config.set(pairs, true) {
        panic!("what is shown is refused: {error}");
    }
    assert!(*config == before, "a value that was shown means another");
}

/// The directives that CONFIG SET may set, each by one of its names.
static SETTABLE: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut settable: Vec<String> = Vec::new();
    let usual = Config::default();
    for (name, value) in usual.get([&b"*"[..]]) {
        let name = String::from_utf8_lossy(&name).into_owned();
        let before = usual.get(settable.iter().map(|name| name.as_bytes()));
        let before = before.iter().map(|(name, value)| (&**name, &**value));
        let pairs = before.chain([(name.as_bytes(), &*value)]);
        if usual.clone().set(pairs, true).is_ok() {
            settable.push(name);
        }
    }
    settable
});
