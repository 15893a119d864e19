//! The names and packages by which the checks of the table recognise what a crate must not know.

/// Sockets; addresses are data.
pub(super) const SOCKETS: &[&str] = &[
    "TcpListener",
    "TcpSocket",
    "TcpStream",
    "ToSocketAddrs",
    "UdpSocket",
    "UnixListener",
    "UnixStream",
    "nix::sys::socket",
    "rustix::net",
    "socket2",
    "tokio::net",
];

pub(super) const CLOCK: &[&str] = &[".elapsed", "Instant::now", "SystemTime::now", "tokio::time"];

pub(super) const THREADS: &[&str] = &["std::thread"];

pub(super) const FILES: &[&str] = &["std::fs", "tokio::fs"];

/// Packages with a runtime, or of no use without one.
pub(super) const RUNTIME: &[&str] = &[
    "futures-util",
    "h2",
    "hyper",
    "hyper-util",
    "tokio",
    "tokio-rustls",
    "tonic",
];

/// What starts a run of `load`, or something that runs by itself.
pub(super) const STARTS: &[&str] = &["RunConfig", "plimsoll_load::run::run", "tokio::runtime"];

/// Arguments, signals, standard streams and exit codes, and the environment.
pub(super) const PROCESS: &[&str] = &[
    "ExitCode",
    "eprint!",
    "eprintln!",
    "print!",
    "println!",
    "std::env::args",
    "std::env::args_os",
    "std::env::set_var",
    "std::env::var",
    "std::env::var_os",
    "std::env::vars",
    "std::env::vars_os",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::process::abort",
    "std::process::exit",
    "tokio::io::stderr",
    "tokio::io::stdin",
    "tokio::io::stdout",
    "tokio::signal",
];

pub(super) const COMMAND_LINE: &[&str] = &["clap", "clap_complete"];
