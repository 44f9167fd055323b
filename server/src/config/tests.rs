//! What a user of the configuration relies on, through its public face.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use tailrace_storage::Compat;

use super::Config;
use super::EventClasses;
use super::LogLevel;
use super::SetError;
use super::Start;
use super::Trust;

fn start(args: &[&str], stdin: &str) -> Result<Config, String> {
    let args = args.iter().map(OsString::from);
    match Config::from_args(args, stdin.as_bytes()) {
        Ok(Start::Run(config)) => Ok(*config),
        Ok(Start::Print(text)) => Err(format!("prints {text}")),
        Err(error) => Err(error.to_string()),
    }
}

fn from_text(text: &str) -> Result<Config, String> {
    start(&["-"], text)
}

fn value(config: &Config, name: &str) -> String {
    let found = config.get([name.as_bytes()]);
    let [(_, value)] = found.as_slice() else {
        panic!("{name} is not one directive")
    };
    String::from_utf8_lossy(value).into_owned()
}

fn set(config: &mut Config, pairs: &[(&str, &str)]) -> Result<(), String> {
    let pairs = pairs
        .iter()
        .map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    config
        .set(pairs, true)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// A directory of its own for a test, which removes it at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tailrace-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(fs::canonicalize(path).unwrap())
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_default_passes_its_own_check_and_is_kept() {
    let config = Config::default();
    for (row, directive) in config.table.rows().iter().enumerate() {
        let shown = config.values[row].shown();
        assert_eq!(directive.effect.refusal(&shown), None, "{}", directive.name);
    }
}

#[test]
fn defaults_are_the_reference_s_but_for_what_tailrace_is() {
    let config = start(&[], "").unwrap();
    let settings = config.settings();
    assert_eq!(
        (settings.port, settings.databases, settings.threads),
        (6_379, 16, 1)
    );
    assert_eq!(settings.bind, ["127.0.0.1", "-::1"]);
    assert_eq!(settings.compat, Compat::Valkey);
    assert_eq!(settings.stream_node_max_bytes, 4_096);
    assert_eq!(settings.slowlog_log_slower_than_us, Some(10_000));
    assert_eq!(settings.requirepass, None);
    assert_eq!(value(&config, "save"), "");
    assert_eq!(value(&config, "maxclients"), "10000");
}

#[test]
fn an_embedded_server_takes_a_free_port_of_this_machine() {
    let config = Config::embedded();
    assert_eq!(config.settings().port, 0);
    assert_eq!(config.settings().bind, ["127.0.0.1"]);
}

#[test]
fn a_program_adds_lines_to_the_configuration_of_its_server() {
    let config = Config::embedded()
        .with("databases 2\nenable-debug-command yes")
        .unwrap();
    assert_eq!(config.settings().databases, 2);
    assert_eq!(config.settings().enable_debug_command, Trust::Yes);
    let error = Config::embedded()
        .with("\nsave 1 1")
        .err()
        .map(|error| error.to_string());
    assert!(
        error
            .unwrap_or_default()
            .starts_with("line 2: save: '1 1' is not possible")
    );
}

#[test]
fn a_file_is_lines_of_names_and_words() {
    let text = "# a comment\n\n  PORT 7000\r\nrequirepass \"a b\"\nmaxmemory 100mb\n\
        bind 10.0.0.1 -::1\nclient-output-buffer-limit normal 1kb 0 0\n\
        client-output-buffer-limit replica 2kb 1kb 5\nnotify-keyspace-events KEA\n\
        unixsocketperm 700\nloglevel VERBOSE\nlatency-tracking-info-percentiles \"50 99.90\"\n\
        io-threads-do-reads yes\nthreads 4\ncompat redis\nstream-packing no\nbusy-poll-us 20\n\
        enable-debug-command local";
    let config = from_text(text).unwrap();
    let settings = config.settings();
    assert_eq!(settings.port, 7_000);
    assert_eq!(settings.requirepass.as_deref(), Some(&b"a b"[..]));
    assert_eq!(settings.maxmemory_bytes, 104_857_600);
    assert_eq!(settings.bind, ["10.0.0.1", "-::1"]);
    assert_eq!(
        settings.client_output_buffer_limits.normal.hard_bytes,
        1_024
    );
    assert_eq!(settings.client_output_buffer_limits.replica.soft_s, 5);
    assert!(
        settings
            .notify_keyspace_events
            .contains(EventClasses::STREAM)
    );
    assert_eq!(settings.unixsocketperm, Some(0o700));
    assert_eq!(settings.loglevel, LogLevel::Verbose);
    assert_eq!((settings.threads, settings.compat), (4, Compat::Redis));
    assert!(!settings.stream_packing);
    assert_eq!(settings.busy_poll_us, 20);
    assert_eq!(settings.enable_debug_command, Trust::Local);
    assert!(Trust::Local.allows(true) && !Trust::Local.allows(false));
    assert_eq!(
        value(&config, "latency-tracking-info-percentiles"),
        "50 99.9"
    );
}

#[test]
fn an_error_names_line_and_option_and_says_what_to_do() {
    let problem = |text: &str| from_text(text).err().unwrap_or_default();
    assert_eq!(
        problem("port 1\n\nappendonly yes"),
        "standard input:3: appendonly: 'yes' is not possible: data lives in memory only and ends \
         with the process; use 'appendonly no'"
    );
    assert_eq!(
        problem("prot 1"),
        "standard input:1: prot: unknown option; correct its name or remove it"
    );
    assert_eq!(
        problem("port 70000"),
        "standard input:1: port: argument must be between 0 and 65535 inclusive"
    );
    assert_eq!(
        problem("port 1 2"),
        "standard input:1: port: wrong number of arguments"
    );
    assert_eq!(
        problem("requirepass \"secret"),
        "standard input:1: requirepass: unbalanced quotes; close every quote"
    );
}

#[test]
fn what_tailrace_does_not_do_is_refused() {
    for text in [
        "save 60 1",
        "replicaof 127.0.0.1 6379",
        "slaveof 127.0.0.1 6379",
        "tls-port 6380",
        "loadmodule /tmp/x.so",
        "aclfile /tmp/users.acl",
        "user alice on >x ~* +@all",
        "maxmemory-policy allkeys-lru",
        "min-replicas-to-write 1",
        "shutdown-on-sigterm save",
        "sentinel monitor x 127.0.0.1 1 1",
        "syslog-enabled yes",
    ] {
        assert!(from_text(text).is_err(), "{text}");
    }
    for text in [
        "save \"\"",
        "replicaof no one",
        "io-threads 4",
        "tls-port 0",
        "daemonize yes",
        "supervised systemd",
        "shutdown-on-sigterm nosave now",
        "appendfsync always",
    ] {
        assert_eq!(from_text(text).err(), None, "{text}");
    }
}

#[test]
fn the_last_word_on_a_directive_counts() {
    let file = "save 900 1\nsave 300 10\nappendonly yes";
    let config = start(&["--save", "", "--appendonly", "no", "-"], file).unwrap();
    assert_eq!(value(&config, "save"), "");
    let problem = start(&["--appendonly", "no", "-"], file)
        .err()
        .unwrap_or_default();
    assert!(
        problem.starts_with("standard input:2: save: '900 1 300 10'"),
        "{problem}"
    );
}

#[test]
fn the_command_line_has_the_grammar_of_the_reference() {
    let line = [
        "--port",
        "0",
        "--save",
        "--bind",
        "127.0.0.1",
        "::1",
        "--timeout 9",
        "--SAVE",
    ];
    let config = start(&line, "").unwrap();
    assert_eq!(config.settings().bind, ["127.0.0.1", "::1"]);
    assert_eq!(config.settings().timeout_s, 9);
    let config = start(&["--requirepass", "--secret", "--logfile", ""], "").unwrap();
    assert_eq!(value(&config, "requirepass"), "--secret");
    let config = start(&["--slowlog-log-slower-than", "-1"], "").unwrap();
    assert_eq!(config.settings().slowlog_log_slower_than_us, None);
    assert!(start(&["--bind", "127.0.0.1 ::1"], "").is_ok());
    for line in [
        &["-p", "1"][..],
        &["--"],
        &["--port"],
        &["--port", "1", "2"],
        &["--nonsense", "1"],
    ] {
        assert!(start(line, "").is_err(), "{line:?}");
    }
}

#[test]
fn help_and_version_are_printed() {
    let printed = |arg: &str| start(&[arg], "").err().unwrap_or_default();
    assert!(printed("--version").starts_with("prints Tailrace server v=0."));
    assert_eq!(printed("-v"), printed("--version"));
    assert!(printed("-h").contains("CONFIG-FILE"));
    assert_eq!(printed("-h"), printed("--help"));
}

#[test]
fn a_file_includes_others_and_options_override_it() {
    let directory = Directory::new("include");
    directory.write("conf.d/b.conf", "timeout 2\n");
    directory.write("conf.d/a.conf", "timeout 1\nhz 20\n");
    directory.write("conf.d/.hidden.conf", "nonsense\n");
    directory.write("more.conf", "tcp-keepalive 60\nhz x\n");
    let path = directory.0.display();
    let text = format!("dir {path}\ninclude conf.d/*.conf\ninclude none/*.conf\nport 7000\n");
    let main = directory.write("main.conf", &text);

    let config = start(&[&main, "--port", "7001"], "").unwrap();
    assert_eq!(config.file(), main);
    assert_eq!(config.settings().dir, path.to_string());
    assert_eq!(
        (config.settings().timeout_s, config.settings().port),
        (2, 7_001)
    );
    assert_eq!(value(&config, "hz"), "20");

    let main = directory.write("main.conf", &format!("include {path}/more.conf"));
    let problem = start(&[&main], "").err().unwrap_or_default();
    assert!(
        problem.starts_with(&format!("{path}/more.conf:2: hz: ")),
        "{problem}"
    );
    let main = directory.write("main.conf", &format!("\ninclude {path}/missing.conf"));
    let problem = start(&[&main], "").err().unwrap_or_default();
    let place = format!("{path}/main.conf:2: {path}/missing.conf: ");
    assert_eq!(
        problem,
        place + "can't open config file: No such file or directory; check its path"
    );
    let main = directory.write("main.conf", &format!("include {path}/main.conf"));
    let problem = start(&[&main], "").err().unwrap_or_default();
    assert!(
        problem.ends_with("files include each other in a circle"),
        "{problem}"
    );
}

#[test]
fn commands_are_renamed_or_removed() {
    let config = from_text("rename-command FLUSHALL \"\"\nrename-command config secret").unwrap();
    let renames = config.renames();
    assert_eq!(
        (&*renames[0].from, &*renames[0].to),
        (&b"flushall"[..], &b""[..])
    );
    assert_eq!(
        (&*renames[1].from, &*renames[1].to),
        (&b"config"[..], &b"secret"[..])
    );
}

#[test]
fn config_get_finds_names_and_patterns() {
    let config = Config::default();
    let names = |patterns: &[&str]| -> Vec<String> {
        let found = config.get(patterns.iter().map(|pattern| pattern.as_bytes()));
        let name = |(name, _): (std::borrow::Cow<'_, [u8]>, Vec<u8>)| {
            String::from_utf8_lossy(&name).into_owned()
        };
        found.into_iter().map(name).collect()
    };
    assert_eq!(names(&["TIMEOUT", "timeou?", "no-such-name"]), ["TIMEOUT"]);
    assert_eq!(
        names(&["slave-p*", "replica-p*"]),
        ["replica-priority", "slave-priority"]
    );
    assert_eq!(names(&["watchdog-*"]), [""; 0]);
    assert_eq!(names(&["watchdog-period"]), ["watchdog-period"]);
    let all = names(&["*"]);
    assert!(all.is_sorted() && all.len() > 200);
}

#[test]
fn config_set_changes_all_or_nothing() {
    let mut config = Config::default();
    set(
        &mut config,
        &[("maxmemory", "1kb"), ("Slowlog-Max-Len", "5")],
    )
    .unwrap();
    assert_eq!(config.settings().maxmemory_bytes, 1_024);
    assert_eq!(value(&config, "commandlog-slow-execution-max-len"), "5");
    let error = set(&mut config, &[("maxmemory", "2kb"), ("hz", "x")]).err();
    let text = "ERR CONFIG SET failed (possibly related to argument 'hz') - argument couldn't be \
        parsed into an integer";
    assert_eq!(error.as_deref(), Some(text));
    assert_eq!(value(&config, "maxmemory"), "1024");
}

#[test]
fn config_set_says_why_not() {
    let mut config = Config::default();
    let mut error = |pairs: &[(&str, &str)]| set(&mut config, pairs).err().unwrap_or_default();
    assert_eq!(
        error(&[("timeout", "1"), ("nonsense", "1")]),
        "ERR Unknown option or number of arguments for CONFIG SET - 'nonsense'"
    );
    let failed =
        |name: &str| format!("ERR CONFIG SET failed (possibly related to argument '{name}') - ");
    assert_eq!(
        error(&[("timeout", "1"), ("TIMEOUT", "2")]),
        failed("TIMEOUT") + "duplicate parameter"
    );
    assert_eq!(
        error(&[("Databases", "1")]),
        failed("Databases") + "can't set immutable config"
    );
    assert_eq!(
        error(&[("dir", "/")]),
        failed("dir") + "can't set protected config"
    );
    assert!(error(&[("save", "60 1")]).contains("data lives in memory only"));
    assert!(error(&[("appendonly", "yes")]).contains("data lives in memory only"));
}

#[test]
fn config_set_takes_what_test_suites_send() {
    let mut config = Config::default();
    for (name, value) in [
        ("save", ""),
        ("appendonly", "no"),
        ("port", "6379"),
        ("stream-node-max-entries", "10"),
        ("slave-read-only", "no"),
        ("list-max-ziplist-size", "-1"),
    ] {
        assert_eq!(set(&mut config, &[(name, value)]), Ok(()), "{name}");
    }
}

#[test]
fn protected_directives_can_be_opened() {
    let mut config = from_text("enable-protected-configs local").unwrap();
    let pair = [(&b"dbfilename"[..], &b"x.rdb"[..])];
    assert!(config.set(pair, false).is_err());
    assert!(config.set(pair, true).is_ok());
}

#[test]
fn a_change_says_what_changed_and_can_be_undone() {
    let mut config = Config::default();
    let pairs = [("requirepass", "x"), ("timeout", "0")];
    let pairs = pairs.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    let Ok(changed) = config.set(pairs, true) else {
        panic!("both may be set")
    };
    assert!(changed.contains("requirepass") && !changed.contains("timeout"));
    assert!(config.settings().requirepass.is_some());
    config.undo(changed);
    assert_eq!(config.settings().requirepass, None);
    assert!(config.is_secret(b"RequirePass") && !config.is_secret(b"timeout"));
    let error = SetError::failed(b"maxclients", "too many".to_owned());
    assert!(error.to_string().ends_with("'maxclients') - too many"));
}
/// CONFIG GET shows addresses with blanks between them, so one that has some itself, or quotes, was
/// another after CONFIG REWRITE.
#[test]
fn an_address_has_no_blanks_or_quotes() {
    for text in [
        "bind 'a b' c",
        "bind 'a\"b' c",
        "bind \"\\x01\" c",
        "bind '' c",
    ] {
        let refusal = "bind: an address has no blanks, quotes or the like";
        assert_eq!(
            from_text(text).err().unwrap(),
            format!("standard input:1: {refusal}")
        );
    }
    let config = from_text("bind * -::1 fe80::1%eth0 my-host.example").unwrap();
    assert_eq!(
        value(&config, "bind"),
        "* -::1 fe80::1%eth0 my-host.example"
    );
}

#[test]
fn what_only_a_test_double_does_needs_one() {
    let lines = ["clock frozen", "faults f", "strict yes", "calls-memory 1mb"];
    for line in lines {
        let refused = from_text(line).err().unwrap();
        assert!(refused.contains("this is for a test double"), "{refused}");
        let refused = from_text(&format!("{line}\ntestdouble yes")).err();
        assert_eq!(refused, None, "{line}");
    }
    let refused = from_text("testdouble yes\ncalls-memory 1kb").err().unwrap();
    assert!(refused.contains("65536"), "{refused}");
    let config = from_text("testdouble yes\ncalls-memory 1mb").ok().unwrap();
    assert_eq!(config.settings().calls_bytes_max, 1_048_576);
}
