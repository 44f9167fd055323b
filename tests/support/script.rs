//! Takes a transcript apart into lines to keep and steps to play.

/// A part of a transcript.
#[derive(Debug)]
pub(crate) enum Part {
    /// A comment or a blank line.
    Aside(String),
    /// Something to do, with what is expected of it.
    Step(Step),
}

/// One command or directive.
#[derive(Debug)]
pub(crate) struct Step {
    /// Where it stands, from 1.
    pub(crate) line: usize,
    /// The line as it is.
    pub(crate) input: String,
    /// The reply, over as many lines as it takes.
    pub(crate) reply: Option<String>,
    /// What is received beyond that reply: by whom, and what.
    pub(crate) late: Vec<(String, String)>,
}

/// Parses a transcript.
///
/// # Errors
///
/// What is wrong with it, in words.
pub(crate) fn parse(text: &str) -> Result<Vec<Part>, String> {
    let mut parts: Vec<Part> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            parts.push(Part::Aside(line.to_owned()));
            continue;
        }
        if line.starts_with('@') || split_name(line, "> ").is_some() {
            parts.push(Part::Step(Step {
                line: index + 1,
                input: line.to_owned(),
                reply: None,
                late: Vec::new(),
            }));
            continue;
        }
        let Some(Part::Step(step)) = parts.last_mut() else {
            return Err(format!("line {}: a reply to nothing", index + 1));
        };
        step.take(line)
            .map_err(|reason| format!("line {}: {reason}", index + 1))?;
    }
    Ok(parts)
}

impl Step {
    /// Commands are, and of the directives only those that send whole commands.
    fn is_replied_to(&self) -> bool {
        !self.input.starts_with('@') || self.input.starts_with("@repeat ")
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        let continues = line.starts_with([' ', ']', '}']);
        let latest = match self.late.last_mut() {
            Some((_, text)) => Some(text),
            None => self.reply.as_mut(),
        };
        if continues {
            let latest = latest.ok_or("a reply does not begin like this")?;
            latest.push('\n');
            latest.push_str(line);
        } else if let Some((name, text)) = split_name(line, "< ") {
            self.late.push((name.to_owned(), text.to_owned()));
        } else if self.is_replied_to() && self.reply.is_none() && self.late.is_empty() {
            self.reply = Some(line.to_owned());
        } else {
            return Err("there is one reply only; more are written `name< reply`".to_owned());
        }
        Ok(())
    }
}

/// Splits `name> rest`, or with another mark.
pub(crate) fn split_name<'a>(line: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let (name, rest) = line.split_once(mark)?;
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    is_name.then_some((name, rest))
}
