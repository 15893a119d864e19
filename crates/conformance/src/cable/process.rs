//! The server under test as a process of this suite: started, stopped, started again, and ended with the suite.

use std::{
    collections::VecDeque,
    io,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    net::TcpStream,
    process::{Child, Command},
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::words::{self, OpenQuotes};
use crate::Server;

/// The time limit for a server to listen. Reason: a Rails application takes some seconds on a slow machine.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// The interval between attempts to connect.
const START_INTERVAL: Duration = Duration::from_millis(50);

/// The time limit for a server to end after SIGTERM, before SIGKILL. Reason: AnyT, AnyCable's own suite, waits as
/// long (<https://github.com/anycable/anyt>).
const STOP_PATIENCE: Duration = Duration::from_secs(3);

/// The interval between checks whether the processes of the server have ended as well.
const STOP_INTERVAL: Duration = Duration::from_millis(20);

/// The largest kept part of the output in bytes, the latest.
const MOST_OUTPUT_BYTES: usize = 16 << 10;

/// Why the server under test does not run.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The command line is wrong.
    #[error(transparent)]
    Quotes(#[from] OpenQuotes),
    /// The command has no words.
    #[error(
        "the command is empty; expected something like \"plimsoll serve --port {{port}} --rpc_host {{rpc}}\""
    )]
    Empty,
    /// No such program, as a rule.
    #[error("cannot start {program:?}: {error}")]
    Spawn {
        /// The first word of the command.
        program: String,
        /// The system's error.
        error: io::Error,
    },
    /// The command ended before it listened.
    #[error("the command ended ({status}) before anything listened at {target}; it wrote:\n{output}")]
    Ended {
        /// The exit status.
        status: String,
        /// The address at which it should listen.
        target: String,
        /// The last that it wrote.
        output: String,
    },
    /// The command runs but does not listen.
    #[error(
        "nothing listens at {target} {} s after the command was started; it wrote:\n{output}",
        START_PATIENCE.as_secs()
    )]
    Silent {
        /// The address at which it should listen.
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

/// A server that was started; it is killed when this is dropped before it was [stopped](Self::stop).
#[derive(Debug)]
pub(super) struct Process {
    words: Vec<String>,
    target: Server,
    child: Child,
    output: Output,
    readers: [JoinHandle<()>; 2],
}

impl Process {
    /// Starts a command; `target` is where it is to [listen](Self::listens).
    pub(super) fn start(command: &str, target: Server) -> Result<Self, ProcessError> {
        let words = words::split(command)?;
        let output = Output::default();
        let (child, readers) = spawn(&words, &output)?;
        Ok(Self {
            words,
            target,
            child,
            output,
            readers,
        })
    }

    /// SIGTERM to the process and those that it started, and SIGKILL after three seconds. How long it took.
    pub(super) async fn stop(&mut self) -> Result<Duration, ProcessError> {
        let began = Instant::now();
        let Some(group) = self.group() else {
            return Ok(Duration::ZERO);
        };
        signal(group, Signal::TERM);
        let ended = timeout(STOP_PATIENCE, async {
            self.child.wait().await?;
            while test_kill_process_group(group).is_ok() {
                sleep(STOP_INTERVAL).await;
            }
            Ok::<_, io::Error>(())
        });
        match ended.await {
            Ok(ended) => ended?,
            Err(_elapsed) => {
                signal(group, Signal::KILL);
                self.child.wait().await?;
            }
        }
        Ok(began.elapsed())
    }

    /// Starts the command once more, after [`stop`](Self::stop).
    pub(super) async fn start_again(&mut self) -> Result<(), ProcessError> {
        (self.child, self.readers) = spawn(&self.words, &self.output)?;
        self.listens().await
    }

    /// Waits until something listens at the target.
    pub(super) async fn listens(&mut self) -> Result<(), ProcessError> {
        let deadline = Instant::now() + START_PATIENCE;
        let authority = self.target.authority();
        loop {
            if let Ok(connection) = TcpStream::connect(&authority).await {
                // While no program listens, TCP may connect a socket with itself, on its own port.
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

    /// The process group of the command and of the processes that it started; `None` after the command has ended.
    fn group(&self) -> Option<Pid> {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        id.and_then(Pid::from_raw)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = self.group() {
            signal(group, Signal::KILL);
        }
    }
}

fn signal(group: Pid, signal: Signal) {
    let _ended_meanwhile = kill_process_group(group, signal);
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
        let mut process = Process::start("sh -c 'echo port taken >&2; exit 3'", nowhere()).unwrap();
        let error = process.listens().await.unwrap_err();
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
                "the command is empty; expected something like \"plimsoll serve --port {port}",
            ),
            ("'a", "close the quotes"),
        ] {
            let error = Process::start(command, nowhere()).unwrap_err().to_string();
            assert!(error.contains(expected), "{command}: {error}");
        }
    }

    /// A script of the shell that has written its first line. What the shell itself says of signals is not heard.
    async fn begun(script: &str) -> Process {
        let process = Process::start(&format!("sh -c 'exec 2>/dev/null; {script}'"), nowhere()).unwrap();
        while process.output().is_empty() {
            sleep(STOP_INTERVAL).await;
        }
        process
    }

    /// The output of the process, once all of its writers have ended.
    async fn all_output(mut process: Process) -> String {
        for reader in &mut process.readers {
            reader.await.unwrap();
        }
        process.output()
    }

    #[tokio::test]
    async fn a_server_and_what_it_started_may_end_in_their_own_way() {
        for script in [
            "trap \"echo over; exit\" TERM; echo ready; while :; do sleep 0.01; done",
            "(trap \"echo over; exit\" TERM; echo ready; while :; do sleep 0.01; done) & wait",
        ] {
            let mut process = begun(script).await;
            process.stop().await.unwrap();
            assert_eq!(process.group(), None, "{script}");
            assert_eq!(all_output(process).await, "ready\nover\n", "{script}");
        }
    }

    #[tokio::test]
    async fn who_does_not_end_is_killed() {
        for script in [
            "trap \"\" TERM; echo ready; while :; do sleep 60; done",
            "(trap \"\" TERM; echo ready; while :; do sleep 60; done) & wait",
        ] {
            let mut process = begun(script).await;
            // Nothing else happens, so the patience is over at once.
            tokio::time::pause();
            process.stop().await.unwrap();
            // The output would never end if one of them still ran.
            assert_eq!(all_output(process).await, "ready\n", "{script}");
            tokio::time::resume();
        }
    }
}
