//! CONFIG REWRITE: the text of a configuration file that says what is in force.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::Config;
use super::kind::Kind;
use super::kind::system_message;
use super::words::is_plain;
use super::words::split_words;

impl Config {
    /// Writes what is in force to the file that the server was started with.
    ///
    /// Comments, the order of lines, `include`, `rename-command` and what is in force anyway stay. A directive that the file
    /// does not name is added at the end if it is not at its default.
    ///
    /// # Errors
    ///
    /// What the system said, if the file cannot be read or replaced. It is unchanged then.
    pub fn rewrite(&self) -> Result<(), String> {
        let write = || -> io::Result<()> {
            let path = Path::new(&self.file);
            let text = match fs::read(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                read => read?,
            };
            let draft = path.with_extension(format!("{}.tmp", std::process::id()));
            // There may be a password in it, so nobody else may read it even for a moment.
            let mut file = fs::File::options()
                .create(true)
                .truncate(true)
                .write(true)
                .mode(0o600)
                .open(&draft)?;
            file.write_all(&self.rewritten(&text))?;
            if let Ok(before) = fs::metadata(path) {
                fs::set_permissions(&draft, before.permissions())?;
            }
            fs::rename(&draft, path).inspect_err(|_| {
                // What is left behind does no harm.
                let _ = fs::remove_file(&draft);
            })
        };
        write().map_err(|error| system_message(&error))
    }

    /// The text of a file that said `text` before, as [`Self::rewrite`] writes it. Out of nothing it
    /// is everything that is not at its default.
    #[must_use]
    pub fn rewritten(&self, text: &[u8]) -> Vec<u8> {
        let rows = self.table.rows();
        let usual = Self::default();
        // Nothing, if it does not stand by itself: the command line may have mended it.
        let said = str::from_utf8(text).map_or(None, |text| usual.clone().with(text).ok());
        let mut written = vec![false; rows.len()];
        let mut out = Vec::new();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let row = self.row_of(line);
            let Some(row) = row else {
                out.extend_from_slice(line);
                continue;
            };
            if self.stays(row, said.as_ref()) {
                written[row] = true;
                out.extend_from_slice(line);
                continue;
            }
            // Lines of one directive add up or override each other; one says it all.
            if !std::mem::replace(&mut written[row], true) {
                self.append_line(row, &mut out);
            }
        }
        let changed = |row: &usize| !written[*row] && self.values[*row] != usual.values[*row];
        let missing: Vec<usize> = (0..rows.len()).filter(changed).collect();
        if !missing.is_empty() && !text.windows(MARK.len()).any(|part| part == MARK) {
            end_line(&mut out);
            out.extend_from_slice(MARK);
            out.push(b'\n');
        }
        for row in missing {
            end_line(&mut out);
            self.append_line(row, &mut out);
        }
        out
    }

    /// Whether a file that says `said` needs no change for this row, and so keeps its own spelling.
    fn stays(&self, row: usize, said: Option<&Self>) -> bool {
        // What a relative path means depends on where the server was started.
        !matches!(self.table.rows()[row].kind, Kind::Directory)
            && said.is_some_and(|said| said.values[row] == self.values[row])
    }

    /// Which directive a line of a file sets.
    fn row_of(&self, line: &[u8]) -> Option<usize> {
        let line = line.trim_ascii();
        if line.starts_with(b"#") {
            return None;
        }
        let words = split_words(line).ok()?;
        self.table.find(words.first()?).map(|name| name.row)
    }

    fn append_line(&self, row: usize, out: &mut Vec<u8>) {
        let directive = self.table.rows()[row];
        let value = self.values[row].shown();
        out.extend_from_slice(directive.name.as_bytes());
        out.push(b' ');
        if directive.kind.is_list() && !value.is_empty() {
            out.extend_from_slice(&value);
        } else {
            append_word(&value, out);
        }
        out.push(b'\n');
    }
}

/// Appends one word, in quotes if it needs them.
fn append_word(word: &[u8], out: &mut Vec<u8>) {
    if is_plain(word) {
        return out.extend_from_slice(word);
    }
    let mut quoted = String::from('"');
    for &byte in word {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..=b'~' => quoted.push(char::from(byte)),
            _ => write!(quoted, "\\x{byte:02x}").expect("a String takes any text"),
        }
    }
    quoted.push('"');
    out.extend_from_slice(quoted.as_bytes());
}

fn end_line(out: &mut Vec<u8>) {
    if out.last().is_some_and(|&byte| byte != b'\n') {
        out.push(b'\n');
    }
}

/// Stands above what the file did not name before.
const MARK: &[u8] = b"# Generated by CONFIG REWRITE";

#[cfg(test)]
mod tests {
    use super::Config;

    fn rewritten(lines: &str, set: &[(&str, &str)]) -> String {
        let mut config = Config::default().with(lines).unwrap();
        let pairs = set
            .iter()
            .map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        config.set(pairs, true).unwrap();
        String::from_utf8(config.rewritten(lines.as_bytes())).unwrap()
    }

    #[test]
    fn lines_stay_where_they_are() {
        let file = "# mine\nmaxmemory 1mb\n\nrename-command KEYS \"\"\nTimeout 5\nmaxmemory 2mb";
        assert_eq!(
            rewritten(file, &[("maxmemory", "3mb"), ("timeout", "7")]),
            "# mine\nmaxmemory 3145728\n\nrename-command KEYS \"\"\ntimeout 7\n"
        );
    }

    #[test]
    fn lines_that_say_what_is_in_force_keep_their_spelling() {
        let limits = "client-output-buffer-limit normal 1mb 0 0\n\
                      client-output-buffer-limit pubsub 32mb 8mb 60\n";
        let file = format!("Maxmemory 64mb\n{limits}timeout '5'");
        assert_eq!(rewritten(&file, &[]), file);
        assert_eq!(
            rewritten(&file, &[("timeout", "7")]),
            file.replace("'5'", "7\n")
        );
    }

    #[test]
    fn what_the_file_does_not_name_is_added_unless_it_is_usual() {
        let text = rewritten("port 7000", &[("maxmemory", "1kb"), ("timeout", "0")]);
        let mark = "# Generated by CONFIG REWRITE";
        assert_eq!(text, format!("port 7000\n{mark}\nmaxmemory 1024\n"));
        let again = rewritten(&text, &[("timeout", "3")]);
        assert_eq!(again, format!("{text}timeout 3\n"));
    }

    /// A file that was written says the same when it is read again, whatever is in it.
    #[test]
    fn values_survive() {
        let password = "a \"b\\ 'c' #d\u{1}";
        let set = [
            ("requirepass", password),
            ("client-output-buffer-limit", "pubsub 1mb 2mb 3"),
            ("notify-keyspace-events", "KEA"),
            ("latency-tracking-info-percentiles", ""),
        ];
        let text = rewritten("", &set);
        let config = Config::default().with(&text).unwrap();
        for (name, _) in set {
            let shown = |config: &Config| config.get([name.as_bytes()])[0].1.clone();
            let mut wanted = Config::default();
            let pairs = set.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
            wanted.set(pairs, true).unwrap();
            assert_eq!(shown(&config), shown(&wanted), "{text}");
        }
    }
}
