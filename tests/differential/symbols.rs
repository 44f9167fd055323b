//! The words that `$names` of the grammar stand for.
//!
//! There are few of each, so that commands meet each other's keys, entries, groups and consumers. A word that is
//! there twice comes twice as often; shrinking goes to the first.

use tailrace_server::COMMANDS;

use super::families::scripts;
use super::payloads;

/// The words of one name.
///
/// # Panics
///
/// If there is no such name.
pub(super) fn words(name: &str) -> Vec<Vec<u8>> {
    let listed = match name {
        "key" => "s s t t u k k n x ''",
        "stream" => "s s s s s s s s s s s s t t t u k x ''",
        "text_key" => "k k k n n n x s ''",
        "id" => ID,
        "new_id" => NEW_ID,
        "bound" => BOUND,
        "group" => "g g g g g g g g h h h i ''",
        "consumer" => "a a a b b c ''",
        "field" => "f g 1 ''",
        "value" => VALUE,
        "text" => TEXT,
        "count" => "1 2 3 10 100 0 -1",
        "maxlen" => "0 1 2 3 5 10 50 100 150 -1",
        "limit" => "1 2 3 10 100 0 -1",
        // Far from each other, so that the few milliseconds between two servers never decide.
        "idle" => "0 0 0 0 100000 10000000 -1",
        "idle_set" => "0 50000 1000000 100000000 -5",
        "time_set" => "0 1000 1700000000000 99999999999999",
        "deliveries" => "0 1 5 9223372036854775807 -1",
        "entries_read" => "0 1 2 3 5 100 -1 -2 9223372036854775807",
        "entries_added" => "0 1 3 5 100 -1",
        "db" => "0 0 0 0 1 1 2 15 16 -1",
        // Deadlines lie far ahead or behind.
        "seconds" => "1000 5000 100000 0 -1 9223372036854775807 9223372036854775",
        "seconds_at" => "99999999999 4102444800 1 0 -1 9223372036854775807",
        "ms" => "1000000 5000000 0 -1 9223372036854775807",
        "ms_at" => "99999999999999 4102444800000 1 0 -1 9223372036854775807",
        "integer" => "1 2 5 -1 0 9223372036854775807 -9223372036854775808 100",
        "float" => "1 0.1 -2.5 1e3 3.0e-5 inf 1e400 nan 9007199254740993 0.30000000000000004",
        "offset" => "0 1 2 3 10 -1 -2 -100 536870912 9223372036854775807",
        "pattern" => "* s ? [st] [^s] s* *s \\s [a-t] x ''",
        "type" => "stream string list nothing STREAM",
        "channel" => "c d e ''",
        "channel_pattern" => "c* ? [cd] e *",
        "name" => "alice bob '' x",
        "classes" => CLASSES,
        "client" => "$client0 $client1 $client2 $client3",
        "address" => "$address0 $address1 $address2 1.2.3.4:5",
        "server" => "$server",
        "command" => return commands(),
        "cluster" => return cluster(),
        "script" => return scripts(),
        "sha" => return scripts::digests(),
        "bad" => BAD,
        "payload" => return payloads::all(),
        _ => panic!("no words are named ${name}"),
    };
    listed.split(' ').map(word).collect()
}

/// The name of every command and subcommand, but of those with subcommands that are not there.
fn commands() -> Vec<Vec<u8>> {
    let names = COMMANDS.iter().flat_map(|command| {
        let subcommands = command.subcommands.iter().map(|subcommand| subcommand.name);
        subcommands.chain([command.name])
    });
    let names = names.filter(|name| !["acl", "module"].contains(name));
    names.map(|name| name.as_bytes().to_vec()).collect()
}

fn scripts() -> Vec<Vec<u8>> {
    let texts = scripts::TEXTS.iter();
    texts.map(|text| text.as_bytes().to_vec()).collect()
}

/// The subcommands of CLUSTER that are refused where there is none.
fn cluster() -> Vec<Vec<u8>> {
    let commands = COMMANDS.iter().filter(|command| command.name == "cluster");
    let names = commands.flat_map(|command| command.subcommands.iter());
    names
        .map(|subcommand| subcommand.short_name().as_bytes().to_vec())
        .collect()
}

/// Long words have names, and `''` is the empty one.
fn word(listed: &str) -> Vec<u8> {
    match listed {
        "''" => Vec::new(),
        "two_words" => b"two words".to_vec(),
        "bytes" => b"\x00\r\n\xff".to_vec(),
        "x40" => vec![b'x'; 40],
        "x100" => vec![b'x'; 100],
        "x1500" => vec![b'x'; 1_500],
        _ => listed.as_bytes().to_vec(),
    }
}

/// Stands for the first, second ... id that the clock made in a sequence.
pub(super) const MADE_BY_CLOCK: &str = "$clock";

/// What stands for `$filter` in a form: by what CLIENT LIST and CLIENT KILL choose clients.
pub(super) const FILTER: &str = "( ID $client | ID $client $client | NOT-ID $client | TYPE ( normal | pubsub | replica | slave | master | primary | nothing ) \
    | NOT-TYPE ( pubsub | replica | slave | master | primary ) | USER ( default | nobody ) | NOT-USER default | ADDR $address | NOT-ADDR $address \
    | LADDR ( $server | 1.2.3.4:5 ) | NOT-LADDR $server | IP ( 127.0.0.1 | ::1 | x ) | NOT-IP 127.0.0.1 | NAME $name \
    | LIB-NAME $text | NOT-LIB-NAME $text | LIB-VER $text | NOT-LIB-VER $text | DB $db | NOT-DB $db \
    | FLAGS ( N | P | x | d | O | b | Nx | Q ) | NOT-FLAGS ( N | P | x | Q ) | CAPA ( r | q ) | NOT-CAPA r \
    | MAXAGE ( 100000 | abc | -1 ) | IDLE ( 100000 | abc | -1 ) | SKIPME ( yes | no | maybe ) )";

/// Which keyspace events are published.
const CLASSES: &str =
    "KEA KEA KEA KEAm KEAn KEAmn KEAn Kg Eg Et Kt$ En AKE Ex Kx Em '' K E A Q EKm$ d";

const ID: &str = "1-1 1-1 1-2 1-2 1-3 1-50 1-100 1-101 1-150 2-1 2-1 2-2 3-1 1 2 3 4-0 5 0 0 0-0 0-1 1-0 7-7 $clock0 $clock1 \
    0-18446744073709551615 1-18446744073709551615 18446744073709551614-18446744073709551615 \
    18446744073709551615-18446744073709551614 18446744073709551615-18446744073709551615 18446744073709551615";

const NEW_ID: &str = "1-* 1-* 1-* 2-* 2-* 3-* 4-* 5-* 1-1 1-2 2-1 2-2 3-1 4 5 6-* 7-7 7-* 0-* 0-1 0-0 0 * \
    18446744073709551615-* 18446744073709551615-18446744073709551615 18446744073709551614-* 8-8 9-*";

const BOUND: &str = "- - + + (1 (1-1 (2-1 (0 1 2 3 1-1 1-2 2-1 0 0-0 3-1 7 (3-1 (7-7 (0-0 $clock0 \
    (18446744073709551615-18446744073709551615 18446744073709551615";

const VALUE: &str = "v v w 1 -1 0 100 4096 70000 9223372036854775807 -9223372036854775808 9223372036854775808 '' x40 x100 x1500 \
    two_words bytes 01 +1 1.5";

const TEXT: &str =
    "v 1 10 -5 9223372036854775807 9223372036854775808 3.0 1.5 '' x40 x100 two_words bytes 007 x";

/// What some command refuses, somewhere.
const BAD: &str = "abc '' -1 1.5 0x1 +1 ' 1-a 1- -1-1 1-1-1 (1 - + $ > * 99999999999999999999 18446744073709551616 \
    9223372036854775807 -9223372036854775808 0 1 NX XX GT LT COUNT STREAMS MAXLEN MINID = ~ LIMIT BLOCK NOACK IDLE TIME \
    FORCE JUSTID LASTID MKSTREAM ENTRIESREAD FULL KEEPTTL GET EX PX REPLACE DB s k g two_words bytes";
