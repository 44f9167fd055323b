//! Shows a sequence that two servers answered differently, in lines that redis-cli takes.

use std::fmt::Write as _;

use tailrace_tests::Value;

use super::grammar::Words;
use super::talk::Exchange;
use super::talk::OBSERVER;
use super::texts;

/// Tells what was said up to the exchange of that number, and both replies to that.
pub(super) fn story(reference: &[Exchange], tailrace: &[Exchange], differing: usize) -> String {
    let mut story = String::new();
    let mut speaking = None;
    for (at, exchange) in reference.iter().enumerate().take(differing + 1) {
        let is_differing = at == differing;
        if exchange.client == OBSERVER && !is_differing && !is(exchange, "SELECT") {
            continue;
        }
        let who = connection(exchange);
        if speaking.as_ref() != Some(&who) {
            writeln!(story, "# {who}").expect("a text takes all");
            speaking = Some(who);
        }
        let mark = if exchange.is_late {
            "# has waited: "
        } else {
            ""
        };
        writeln!(story, "{mark}{}", line(&exchange.words)).expect("a text takes all");
        if is_differing {
            show(&mut story, "reference", Some(exchange));
            let is_other = |other: &&Exchange| {
                (other.client, &other.words) != (exchange.client, &exchange.words)
            };
            if let Some(other) = tailrace.get(at).filter(is_other) {
                let (who, what) = (connection(other), line(&other.words));
                writeln!(story, "--- tailrace answers {who} instead\n{what}")
                    .expect("a text takes all");
            }
            show(&mut story, "tailrace", tailrace.get(at));
            for line in texts::differing(exchange, tailrace.get(at)) {
                writeln!(story, "--- {line}").expect("a text takes all");
            }
        }
    }
    story
}

fn connection(exchange: &Exchange) -> String {
    match exchange.client {
        OBSERVER => "in the end".to_owned(),
        client => format!("connection {}", client + 1),
    }
}

fn is(exchange: &Exchange, name: &str) -> bool {
    super::talk::is(&exchange.words, 0, name)
}

fn show(story: &mut String, who: &str, exchange: Option<&Exchange>) {
    writeln!(story, "--- {who}").expect("a text takes all");
    let Some(exchange) = exchange else {
        return;
    };
    for reply in &exchange.replies {
        writeln!(story, "{reply}").expect("a text takes all");
    }
    if let Some(ending) = exchange.ending {
        writeln!(story, "({ending})").expect("a text takes all");
    }
}

/// A command as redis-cli reads it.
pub(super) fn line(words: &Words) -> String {
    words
        .iter()
        .map(|word| quoted(word))
        .collect::<Vec<_>>()
        .join(" ")
}

fn quoted(word: &[u8]) -> String {
    let is_bare = |byte: &u8| byte.is_ascii_graphic() && !b"\"'\\".contains(byte);
    if !word.is_empty() && word.iter().all(is_bare) {
        String::from_utf8_lossy(word).into_owned()
    } else {
        Value::Bulk(word.to_vec()).to_string()
    }
}
