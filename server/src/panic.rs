//! Names the command that runs, for the report of a panic.

use std::cell::Cell;

thread_local! {
    static COMMAND: Cell<&'static str> = const { Cell::new("") };
}

/// Notes the command that this thread begins to execute.
pub(crate) fn set_command(name: &'static str) {
    COMMAND.set(name);
}

/// The command that this thread executed last; empty if it executed none.
pub(crate) fn command() -> &'static str {
    COMMAND.get()
}

/// Makes a panic name its command, and end the process however the program was built. For the
/// binary: a fault may have left data half changed, and nobody is to read or change it any more.
pub fn report_and_abort() {
    let inner = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let command = command();
        if !command.is_empty() {
            eprintln!("tailrace: a fault in the command '{command}' ends the server");
        }
        inner(info);
        std::process::abort();
    }));
}
