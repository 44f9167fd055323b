//! What is seen on the terminal while it runs; nothing where there is none.

use indicatif::ProgressBar;
use indicatif::ProgressStyle;

/// A bar for the run at hand, and lines for what is done.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Shows nothing yet.
    pub(crate) fn new() -> Self {
        let style = ProgressStyle::with_template("{msg:<52} {wide_bar:.cyan/238} {percent:>3} %")
            .expect("the template names what a bar has")
            .progress_chars("━╸━");
        let bar = ProgressBar::new(1).with_style(style);
        Self { bar }
    }

    /// Begins a run.
    pub(crate) fn begin(&self, what: String) {
        self.bar.reset();
        self.bar.set_position(0);
        self.bar.set_message(what);
    }

    /// Tells how far the run is.
    pub(crate) fn advance(&self, done: u64, of: u64) {
        self.bar.set_length(of);
        self.bar.set_position(done);
    }

    /// Writes a line that stays.
    pub(crate) fn note(&self, line: &str) {
        self.bar.println(line);
    }

    /// Lets something be written elsewhere, with the bar out of its way.
    pub(crate) fn aside(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
