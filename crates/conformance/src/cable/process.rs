//! The server under test as a process of this suite: started, stopped, started again, and ended with the suite.

use std::{
    collections::VecDeque,
    io,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::TcpStream,
    process::{Child, Command},
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::words::{self, OpenQuotes};
use crate::Server;

/// How long a server has to listen. Reason: a Rails application takes some seconds on a slow machine.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// How often it is tried to connect meanwhile.
const START_INTERVAL: Duration = Duration::from_millis(50);

/// How long a server has to end after SIGTERM before it is killed. Reason: that is what AnyT gives it (spec §7.1).
const STOP_PATIENCE: Duration = Duration::from_secs(3);

/// How much of what it wrote is kept, in bytes, the latest.
const MOST_OUTPUT_BYTES: usize = 16 << 10;

/// Why the server under test does not run.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The command line is wrong.
    #[error(transparent)]
    Quotes(#[from] OpenQuotes),
    /// There is nothing in it.
    #[error("the command is empty; give one like \"plimsoll serve --port {{port}} --rpc_host {{rpc}}\"")]
    Empty,
    /// No such program, as a rule.
    #[error("cannot start {program:?}: {error}")]
    Spawn {
        /// The first word of the command.
        program: String,
        /// What the system said.
        error: io::Error,
    },
    /// It ended before it listened.
    #[error("the command ended ({status}) before anything listened at {target}; it wrote:\n{output}")]
    Ended {
        /// How it ended.
        status: String,
        /// Where it was to listen.
        target: String,
        /// The last that it wrote.
        output: String,
    },
    /// It runs and does not listen.
    #[error(
        "nothing listens at {target} {} s after the command was started; it wrote:\n{output}",
        START_PATIENCE.as_secs()
    )]
    Silent {
        /// Where it was to listen.
        target: String,
        /// The last that it wrote.
        output: String,
    },
    /// The system does not let it end.
    #[error("cannot stop the command: {0}")]
    Stop(#[from] io::Error),
}

/// The last bytes that the process wrote, on both of its streams.
type Output = Arc<Mutex<VecDeque<u8>>>;

/// A server that runs; it is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    words: Vec<String>,
    target: Server,
    child: Child,
    output: Output,
    readers: [JoinHandle<()>; 2],
}

impl Process {
    /// Starts a command and waits until something listens at `target`.
    pub(super) async fn start(command: &str, target: Server) -> Result<Self, ProcessError> {
        let words = words::split(command)?;
        let output = Output::default();
        let (child, readers) = spawn(&words, &output)?;
        let mut process = Self {
            words,
            target,
            child,
            output,
            readers,
        };
        process.listens().await?;
        Ok(process)
    }

    /// SIGTERM to the process and its children, and SIGKILL after three seconds. How long it took.
    pub(super) async fn stop(&mut self) -> Result<Duration, ProcessError> {
        let began = Instant::now();
        self.signal(Signal::TERM);
        if timeout(STOP_PATIENCE, self.child.wait()).await.is_err() {
            self.signal(Signal::KILL);
            self.child.wait().await?;
        }
        Ok(began.elapsed())
    }

    /// Starts the command once more, after [`stop`](Self::stop).
    pub(super) async fn start_again(&mut self) -> Result<(), ProcessError> {
        (self.child, self.readers) = spawn(&self.words, &self.output)?;
        self.listens().await
    }

    async fn listens(&mut self) -> Result<(), ProcessError> {
        let deadline = Instant::now() + START_PATIENCE;
        let authority = self.target.authority();
        loop {
            if let Ok(connection) = TcpStream::connect(&authority).await {
                // While nobody listens, TCP may connect a socket with itself: its own port is as good as any other.
                if connection.local_addr()? != connection.peer_addr()? {
                    return Ok(());
                }
            }
            if let Some(status) = self.child.try_wait()? {
                // What it wrote last says why, unless a child of it keeps the streams open.
                let [stdout, stderr] = &mut self.readers;
                let _kept_open = timeout(STOP_PATIENCE, async { tokio::join!(stdout, stderr) }).await;
                return Err(ProcessError::Ended {
                    status: status.to_string(),
                    target: authority,
                    output: self.output(),
                });
            }
            if Instant::now() > deadline {
                return Err(ProcessError::Silent {
                    target: authority,
                    output: self.output(),
                });
            }
            sleep(START_INTERVAL).await;
        }
    }

    /// The last that it wrote.
    pub(super) fn output(&self) -> String {
        let mut kept = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }

    /// To the process and to those that it started: they share its group. One that has ended and was waited for has none.
    fn signal(&self, signal: Signal) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = id.and_then(Pid::from_raw) {
            let _ended_meanwhile = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

fn spawn(words: &[String], output: &Output) -> Result<(Child, [JoinHandle<()>; 2]), ProcessError> {
    let (program, arguments) = words.split_first().ok_or(ProcessError::Empty)?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Ctrl-C in a terminal reaches the suite alone, which then ends the server.
        .process_group(0)
        .spawn()
        .map_err(|error| ProcessError::Spawn {
            program: program.clone(),
            error,
        })?;
    let readers = [
        tokio::spawn(keep(child.stdout.take(), Arc::clone(output))),
        tokio::spawn(keep(child.stderr.take(), Arc::clone(output))),
    ];
    Ok((child, readers))
}

/// Reads to the end, so that the process never waits for room, and keeps the last of it.
async fn keep(stream: Option<impl AsyncRead + Unpin>, output: Output) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 4096];
    while let Ok(n_bytes @ 1..) = stream.read(&mut buffer).await {
        let mut kept = output.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&buffer[..n_bytes]);
        let n_over = kept.len().saturating_sub(MOST_OUTPUT_BYTES);
        kept.drain(..n_over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nowhere() -> Server {
        Server::parse("ws://127.0.0.1:9/cable", None).unwrap()
    }

    #[tokio::test]
    async fn a_command_that_ends_is_told_with_what_it_wrote() {
        let error = Process::start("sh -c 'echo port taken >&2; exit 3'", nowhere())
            .await
            .unwrap_err();
        let ProcessError::Ended { status, output, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!((&**status, &**output), ("exit status: 3", "port taken\n"));
    }

    #[tokio::test]
    async fn a_command_that_is_none_is_told() {
        for (command, expected) in [
            ("/no/such/program --port 1", "cannot start \"/no/such/program\""),
            (
                "",
                "the command is empty; give one like \"plimsoll serve --port {port}",
            ),
            ("'a", "close the quotes"),
        ] {
            let error = Process::start(command, nowhere()).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{command}: {error}");
        }
    }
}
