//! Rules about the source itself that no lint knows.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use tailrace_server::COMMANDS;

/// Protocol is framing, storage is data structures, and neither knows the other or may grow a runtime.
/// The codec part of `tokio-util` brings traits only.
#[test]
fn dependencies_point_one_way() {
    let allowed = BTreeMap::from([
        ("protocol", &["bytes", "tokio-util"][..]),
        ("storage", &["foldhash", "hashbrown"][..]),
    ]);
    for (package, allowed) in allowed {
        for dependency in dependencies(package) {
            assert!(
                allowed.contains(&dependency.as_str()),
                "{package} must not depend on {dependency}"
            );
        }
    }
    for package in ["protocol", "storage", "server"] {
        for dependency in dependencies(package) {
            let is_of_tests = ["tailrace-tests", "tailrace-benches"].contains(&&*dependency);
            assert!(!is_of_tests, "{package} must not depend on {dependency}");
        }
    }
}

/// A file that is too long for one look is two files.
#[test]
fn no_file_is_too_long() {
    for path in sources() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(
            lines <= FILE_LINES_MAX,
            "{} has {lines} lines, more than {FILE_LINES_MAX}",
            path.display()
        );
    }
}

/// A function that is too long has parts that a reader would have names for. The lint of that kind does not
/// count comments and blank lines; this does, because a reader has to scroll past them too.
#[test]
fn no_function_is_too_long() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        for (line, length) in functions(&text) {
            assert!(
                length <= FUNCTION_LINES_MAX,
                "{}:{line} begins a function of {length} lines, more than {FUNCTION_LINES_MAX}",
                path.display()
            );
        }
    }
}

/// Whoever opens a file is told first what it is for.
#[test]
fn every_file_says_what_it_is_for() {
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("//! "),
            "{} has no first line of documentation",
            path.display()
        );
    }
}

/// A command without a transcript is a command that nobody has shown to work.
#[test]
fn every_command_has_a_transcript() {
    let said: String = files_below(&root().join("tests/transcripts"), "txt")
        .iter()
        .map(|path| fs::read_to_string(path).unwrap().to_lowercase())
        .collect();
    let shown = |name: &str| {
        let words = format!("> {}", name.replace('|', " "));
        said.contains(&format!("{words} ")) || said.contains(&format!("{words}\n"))
    };
    let names = COMMANDS.iter().flat_map(|command| {
        let subcommands = command.subcommands.iter().map(|subcommand| subcommand.name);
        subcommands.chain([command.name])
    });
    let unshown: Vec<&str> = names.filter(|name| !shown(name)).collect();
    assert!(unshown.is_empty(), "without a transcript: {unshown:?}");
}

/// A transcript is read before it is run: it says what it shows, and its name is a sentence.
#[test]
fn every_transcript_says_what_it_shows() {
    for path in files_below(&root().join("tests/transcripts"), "txt") {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(text.starts_with("# "), "{name} does not say what it shows");
        assert!(name.contains('_'), "{name} is no sentence");
    }
}

/// The names under `[dependencies]` in the manifest of `package`.
fn dependencies(package: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
    let Some((_, section)) = manifest.split_once("[dependencies]\n") else {
        return Vec::new();
    };
    let section = section.split("\n[").next().unwrap();
    section
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// Where each function of a formatted file begins, from 1, and how many lines it has.
fn functions(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let is_function = code.starts_with("fn ") || (is_signature(code) && code.contains(" fn "));
        if !is_function {
            continue;
        }
        // The formatter puts the closing brace under the beginning of the function, and nothing else there.
        let end = format!("{indent}}}");
        let body = lines[index..].iter().position(|line| **line == end);
        let first_close = lines[index..].iter().position(|line| line.ends_with(';'));
        if let Some(length) = body {
            let is_declaration = first_close.is_some_and(|at| {
                lines[index..=index + at]
                    .iter()
                    .all(|line| !line.contains('{'))
            });
            if !is_declaration {
                found.push((index + 1, length + 1));
            }
        }
    }
    found
}

fn is_signature(code: &str) -> bool {
    ["pub ", "pub(", "const ", "async ", "unsafe ", "extern "]
        .iter()
        .any(|word| code.starts_with(word))
}

/// All Rust files of the project's own packages.
fn sources() -> Vec<PathBuf> {
    let packages = ["protocol", "storage", "server", "tests", "benches", "fuzz"];
    let paths: Vec<PathBuf> = packages
        .iter()
        .flat_map(|package| files_below(&root().join(package), "rs"))
        .collect();
    assert!(!paths.is_empty(), "no sources found");
    paths
}

fn files_below(folder: &Path, kind: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        // What was built, or installed for tests with clients.
        let is_foreign = name == "target" || name.starts_with('.');
        if path.is_dir() && !is_foreign {
            found.extend(files_below(&path, kind));
        } else if path.extension().is_some_and(|found| found == kind) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Tests included.
const FILE_LINES_MAX: usize = 800;

/// Signature, comments and blank lines included.
const FUNCTION_LINES_MAX: usize = 90;
