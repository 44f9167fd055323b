//! Holds the documents to what they speak of.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use tailrace_server::COMMANDS;

/// Whoever looks for a command must find it, with what it is worth.
#[test]
fn every_command_has_a_row_in_compatibility() {
    let rows = rows();
    let is_listed = |command: &String| {
        rows.iter()
            .any(|row| row.is_answered && row.names.contains(command))
    };
    let missing: Vec<String> = commands()
        .into_iter()
        .filter(|command| !is_listed(command))
        .collect();
    assert!(
        missing.is_empty(),
        "COMPATIBILITY.md has no row that says yes or partly for {missing:?}"
    );
}

/// What the page promises is there, and what it denies is not.
#[test]
fn compatibility_says_what_is_there() {
    let commands = commands();
    let is_wrong = |name: &String, is_answered| commands.contains(name) != is_answered;
    let wrong: Vec<String> = rows()
        .into_iter()
        .flat_map(|row| {
            row.names
                .into_iter()
                .map(move |name| (name, row.is_answered))
        })
        .filter(|(name, is_answered)| is_wrong(name, *is_answered))
        .map(|(name, _)| name)
        .collect();
    assert!(
        wrong.is_empty(),
        "COMPATIBILITY.md and the table of commands differ on {wrong:?}"
    );
}

/// A name in two rows could be promised in one and denied in the other.
#[test]
fn no_command_has_two_rows() {
    let mut seen = BTreeSet::new();
    for name in rows().into_iter().flat_map(|row| row.names) {
        assert!(
            seen.insert(name.clone()),
            "COMPATIBILITY.md has two rows for {name}"
        );
    }
}

/// The two commands that everybody starts with.
#[test]
fn the_readme_says_how_to_run_and_test() {
    let readme = read("README.md");
    for command in ["cargo run --release", "cargo test --workspace"] {
        let block = format!("```sh\n{command}\n```");
        assert!(
            readme.contains(&block),
            "the README does not show {command}"
        );
    }
}

/// A link to a file that was moved leads nowhere.
#[test]
fn links_between_documents_lead_somewhere() {
    let documents = documents();
    assert!(documents.len() > 4, "documents are not found");
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text) {
            let file = document.parent().unwrap().join(link);
            assert!(
                file.exists(),
                "{} links to {link}, which does not exist",
                document.display()
            );
        }
    }
}

/// Documents name files to be found by; one that is gone is looked for in vain.
#[test]
fn files_that_documents_name_are_there() {
    let packages = ["protocol", "storage", "server", "tests", "benches"];
    let folders: Vec<PathBuf> = packages
        .iter()
        .flat_map(|package| [root().join(package), root().join(package).join("src")])
        .chain([root()])
        .collect();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for name in text.split('`').filter(|word| is_name_of_source(word)) {
            let is_there = folders.iter().any(|folder| folder.join(name).exists());
            assert!(
                is_there,
                "{} names {name}, which does not exist",
                document.display()
            );
        }
    }
}

/// Who opens a file can look up what it is to the others.
#[test]
fn every_file_of_the_server_stands_in_architecture() {
    let text = read("ARCHITECTURE.md");
    let mut missing = Vec::new();
    for package in ["protocol", "storage", "server"] {
        for entry in fs::read_dir(root().join(package).join("src")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // What is in a folder is told by the file of its name, unless there is none.
            let is_told = text.contains(&format!("`{name}`"))
                || text.contains(&format!("`{name}/`"))
                || (path.is_dir() && path.with_extension("rs").exists());
            if !is_told {
                missing.push(format!("{package}/src/{name}"));
            }
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md lacks {missing:?}");
}

/// A row of COMPATIBILITY.md.
struct Row {
    /// Commands, in upper case.
    names: Vec<String>,
    /// Whether they are, at least in part.
    is_answered: bool,
}

/// The rows that begin with names of commands.
fn rows() -> Vec<Row> {
    let text = read("COMPATIBILITY.md");
    let rows: Vec<Row> = text.lines().filter_map(row).collect();
    assert!(!rows.is_empty(), "COMPATIBILITY.md has no rows");
    rows
}

fn row(line: &str) -> Option<Row> {
    let mut cells = line.strip_prefix("| `")?.split(" | ");
    let names = cells.next()?.trim_end_matches('`');
    let is_answered = match cells.next()? {
        "yes" | "partly" => true,
        "no" => false,
        other => panic!("COMPATIBILITY.md says '{other}' in: {line}"),
    };
    Some(Row {
        names: names.split("`, `").map(str::to_owned).collect(),
        is_answered,
    })
}

/// All commands as a manual writes them. One that only holds others is not listed itself.
fn commands() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for command in COMMANDS {
        let is_container = !command.subcommands.is_empty();
        if !is_container || command.arity == -1 {
            names.insert(command.name.to_uppercase());
        }
        for subcommand in command.subcommands {
            names.insert(subcommand.name.replace('|', " ").to_uppercase());
        }
    }
    names
}

fn is_name_of_source(word: &str) -> bool {
    word.ends_with(".rs") && !word.contains([' ', '*', '\n'])
}

/// Where the links of a document lead, within the repository and without the place in the file.
fn links(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next())
        .filter(|link| !link.is_empty() && !link.contains("://"))
        .collect()
}

/// All Markdown files, but for those that came with packages.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_foreign = name.starts_with('.') || name == "target" || name == "node_modules";
            if path.is_dir() && !is_foreign {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "md") {
                found.push(path);
            }
        }
    }
    found
}

fn read(document: &str) -> String {
    let path = root().join(document);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
