//! The binary: reads the configuration, starts a server, and ends it when asked to.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use tailrace_server::Builder;
use tailrace_server::Cluster;
use tailrace_server::Config;
use tailrace_server::Server;
use tailrace_server::config::Start;
use tailrace_server::panic;
use tokio::signal::unix::SignalKind;
use tokio::signal::unix::signal;

use self::parent::Parent;
use self::supervisor::Supervisor;

mod parent;
mod startup;
mod supervisor;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let parent = Parent::now();
    panic::report_and_abort();
    let started = Config::from_args(std::env::args_os().skip(1), std::io::stdin());
    let config = match started {
        Ok(Start::Run(config)) => *config,
        Ok(Start::Print(text)) => {
            // Whoever pipes it into a program that reads its first lines does not want the rest.
            let _ = writeln!(std::io::stdout(), "{text}");
            return ExitCode::SUCCESS;
        }
        Err(error) => return fail(&error),
    };
    match run(config, parent) {
        Ok(code) => code,
        Err(error) => fail(&*error),
    }
}

fn fail(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("tailrace: {error}");
    ExitCode::FAILURE
}

fn run(mut config: Config, parent: Parent) -> Result<ExitCode, Box<dyn std::error::Error>> {
    startup::change_dir(config.settings())?;
    let set_log_level = startup::log_to(config.settings())?;
    startup::raise_open_files(&mut config);
    let supervisor = Supervisor::find(config.settings());
    let is_background = config.settings().daemonize && matches!(supervisor, Supervisor::Nobody);
    if is_background {
        supervisor::detach()?;
        config.choose_pidfile(startup::PID_FILE);
    }
    let builder = Server::builder()
        .supervised_by(supervisor.name())
        .busy_polling(startup::busy_poll_us(config.settings()))
        .on_log_level(set_log_level);
    let served = serve(config, builder, &supervisor, parent);
    if is_background && let Err(error) = &served {
        // Nobody sees what it says on its way out.
        tracing::error!("{error}");
    }
    served
}

fn serve(
    config: Config,
    builder: Builder,
    supervisor: &Supervisor,
    parent: Parent,
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let has_log_file = !config.settings().logfile.is_empty();
    let is_double = config.settings().testdouble;
    let is_strict = config.settings().strict;
    let wishes = config.settings().parent.clone();
    let _pid_file = startup::PidFile::write(config.settings());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(config.settings().threads)
        .thread_name("tailrace")
        .thread_stack_size(tailrace_server::blocking::STACK_BYTES)
        .enable_all()
        .build()?;
    // The server's work happens on the workers: this thread only waits for the end.
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let server = Cluster::start(builder.config(config)).await?;
        let ready = match is_double {
            true => parent::describe(&server),
            false => ready(&server),
        };
        parent::announce(&wishes, &ready)?;
        announce(&ready);
        supervisor.on_ready();
        if has_log_file {
            tracing::info!("{ready}");
        }
        let why = tokio::select! {
            _ = terminate.recv() => "SIGTERM".to_owned(),
            _ = interrupt.recv() => "SIGINT".to_owned(),
            () = server.ended() => "SHUTDOWN".to_owned(),
            why = parent.until_unneeded(wishes, &server) => why,
            () = give_memory_back() => unreachable!("this goes on for as long as the server runs"),
        };
        tracing::info!("{why}: answering what was read, then ending");
        supervisor.on_stopping();
        let unsupported = server.unsupported();
        server.stop().await;
        tracing::info!("ended");
        if is_strict && !unsupported.counts().is_empty() {
            eprintln!("tailrace: what is not supported was asked for: {unsupported}");
            return Ok(ExitCode::from(UNSUPPORTED));
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// How a strict test double ends that was asked for what it does not do.
const UNSUPPORTED: u8 = 3;

/// Lets the allocator return what has been free for a while, over and over.
///
/// It looks for that when a thread ends, or after very many allocations, which a server that was emptied may
/// never make again.
async fn give_memory_back() {
    loop {
        tokio::time::sleep(GIVES_BACK_EVERY).await;
        // Without a thread nothing is lost but time.
        let _ = std::thread::Builder::new().spawn(|| drop(std::hint::black_box(Box::new(0))));
    }
}

/// As long as the allocator keeps what is free, in case that it is needed again.
const GIVES_BACK_EVERY: Duration = Duration::from_secs(1);

/// One line that a test can wait for.
fn ready(server: &Cluster) -> String {
    let mut addresses: Vec<String> = server.addrs().iter().map(ToString::to_string).collect();
    addresses.extend(server.unix_path().map(str::to_owned));
    format!(
        "tailrace {}: Ready to accept connections on {} (data lives in memory only)",
        env!("CARGO_PKG_VERSION"),
        addresses.join(", ")
    )
}

fn announce(ready: &str) {
    let mut stdout = std::io::stdout().lock();
    // Nobody may be listening to standard output; the server serves all the same.
    let _ = writeln!(stdout, "{ready}");
    let _ = stdout.flush();
}
