//! `tailrace-benches`: Tailrace and another server side by side, under the same load.

use std::process::ExitCode;

use tailrace_benches::Options;

fn main() -> ExitCode {
    match tailrace_benches::run(&Options::from_command_line(), &mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}
