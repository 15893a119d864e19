//! `--at`: commands that do something to the target while the load goes on.

use std::{
    cell::Cell,
    io::{self, PipeReader, Read},
    process::{Command, Stdio},
    rc::Rc,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::Duration,
};

use clap::Args;
use plimsoll_load::{plan::parse_duration, run::Control};
use plimsoll_report::{Summary, quantity, summary::TimedCommand};
use tokio::{
    task::{JoinHandle, spawn_blocking, spawn_local},
    time::{Instant, sleep_until},
};

use crate::exit::Failure;

/// The end of a command's output that is kept, in bytes.
const MAX_OUTPUT_BYTES: usize = 2048;

/// How long the output of a command that has ended is waited for. One that leaves a program running, which may print
/// more, does not close it.
const OUTPUT_PATIENCE: Duration = Duration::from_millis(200);

/// The commands that run beside the load.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CommandFlags {
    /// Run a shell command when the load has gone on for so long, for example --at 5s 'systemctl restart redis'; the
    /// charts mark it; may be given several times
    #[arg(long = "at", num_args = 2, value_names = ["TIME", "COMMAND"])]
    at: Vec<String>,
}

/// A command and its time after the start of the load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    after: Duration,
    command: String,
}

/// Commands that wait for their time, run, or have run.
pub(super) struct Commands {
    list: Vec<Begun>,
    beginnings: Beginnings,
}

/// The commands that have begun, for those who look at a run that goes on. A clone is the same list.
#[derive(Clone, Debug, Default)]
pub(super) struct Beginnings(Arc<Mutex<Vec<TimedCommand>>>);

struct Begun {
    planned: Planned,
    has_begun: Rc<Cell<bool>>,
    task: JoinHandle<Ran>,
}

/// A command that has run.
struct Ran {
    begin: Instant,
    end: Instant,
    exit_code: Option<i32>,
    output: String,
}

impl CommandFlags {
    /// The commands in the order of their times.
    ///
    /// # Errors
    /// A time cannot be read, or a command is empty.
    pub(super) fn plan(&self) -> Result<Vec<Planned>, Failure> {
        let (pairs, _) = self.at.as_chunks::<2>();
        let mut planned = pairs.iter().map(planned).collect::<Result<Vec<_>, _>>()?;
        planned.sort_by_key(|planned| planned.after);
        Ok(planned)
    }
}

fn planned([time, command]: &[String; 2]) -> Result<Planned, Failure> {
    let after = parse_duration(time).map_err(|error| {
        Failure::Usage(format!(
            "--at: {error}; the time comes first, then the command in quotes: --at 5s 'systemctl restart redis'"
        ))
    })?;
    if command.trim().is_empty() {
        let message = format!("--at {time}: the command is empty");
        return Err(Failure::Usage(message));
    }
    Ok(Planned {
        after,
        command: command.clone(),
    })
}

impl Commands {
    /// Waits for the beginning of the load, and runs each command at its time.
    pub(super) fn start(planned: Vec<Planned>, control: &Control) -> Self {
        let beginnings = Beginnings::default();
        let list = planned.into_iter().map(|planned| {
            let (has_begun, control) = (Rc::new(Cell::new(false)), control.clone());
            let (begun, beginnings) = (Rc::clone(&has_begun), beginnings.clone());
            let Planned { after, command } = planned.clone();
            let task = spawn_local(async move {
                let start = control.began().await;
                sleep_until(start + after).await;
                begun.set(true);
                let begin = Instant::now();
                beginnings.add(&command, begin.saturating_duration_since(start));
                tracing::info!("The command `{command}` of --at begins.");
                let ran = spawn_blocking({
                    let command = command.clone();
                    move || run(&command, begin)
                });
                // A panic is a bug in this file.
                let ran = ran.await;
                let ran = ran.unwrap_or_else(|error| Ran::failed(begin, error.to_string()));
                ran.tell(&command);
                ran
            });
            Begun {
                planned,
                has_begun,
                task,
            }
        });
        Self {
            list: list.collect(),
            beginnings,
        }
    }

    /// The commands that have begun, now and later.
    pub(super) fn beginnings(&self) -> Beginnings {
        self.beginnings.clone()
    }

    /// Waits for the end of commands that still run, because they may undo what they have done, and writes into the
    /// summary what became of all.
    pub(super) async fn finish(mut self, control: &Control, summary: &mut Summary) {
        for begun in std::mem::take(&mut self.list) {
            let Planned { after, command } = begun.planned;
            if !begun.has_begun.get() {
                begun.task.abort();
                let notice = format!(
                    "the command `{command}` of --at did not run, because the run ended before {}",
                    quantity::duration(after)
                );
                summary.notices.push(notice);
                continue;
            }
            if !begun.task.is_finished() {
                tracing::info!("Waiting for the end of the command `{command}` of --at.");
            }
            let Ok(ran) = begun.task.await else {
                continue;
            };
            let start = control.began().await;
            let command = TimedCommand {
                command,
                at_seconds: ran.begin.saturating_duration_since(start).as_secs_f64(),
                seconds: ran.end.duration_since(ran.begin).as_secs_f64(),
                exit_code: ran.exit_code,
                output: ran.output,
            };
            summary.notices.push(command.sentence());
            summary.commands.push(command);
        }
    }
}

impl Beginnings {
    fn add(&self, command: &str, at: Duration) {
        self.list().push(TimedCommand {
            command: command.to_owned(),
            at_seconds: at.as_secs_f64(),
            // It goes on; what became of it is in the summary of the whole run.
            seconds: 0.0,
            exit_code: None,
            output: String::new(),
        });
    }

    /// What is known of them at their beginning.
    pub(super) fn so_far(&self) -> Vec<TimedCommand> {
        self.list().clone()
    }

    fn list(&self) -> MutexGuard<'_, Vec<TimedCommand>> {
        // Each change is a single call, so a panic cannot leave half of one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Commands {
    /// A run without a result starts no more commands.
    fn drop(&mut self) {
        for begun in self.list.iter().filter(|begun| !begun.has_begun.get()) {
            begun.task.abort();
        }
    }
}

impl Ran {
    fn tell(&self, command: &str) {
        let seconds = (self.end - self.begin).as_secs_f64();
        match self.exit_code {
            Some(0) => tracing::info!("The command `{command}` of --at has ended after {seconds:.1} s."),
            Some(code) => {
                tracing::warn!(
                    "The command `{command}` of --at has failed after {seconds:.1} s: exit code {code}."
                );
            }
            None => tracing::warn!("The command `{command}` of --at did not end by itself."),
        }
    }

    fn failed(begin: Instant, output: String) -> Self {
        Self {
            begin,
            end: Instant::now(),
            exit_code: None,
            output,
        }
    }
}

/// Runs a command to its end. It begins now, at `begin`.
fn run(command: &str, begin: Instant) -> Ran {
    match run_shell(command) {
        Ok((exit_code, output)) => Ran {
            begin,
            end: Instant::now(),
            exit_code,
            output,
        },
        Err(error) => Ran::failed(begin, format!("it could not be started: {error}")),
    }
}

fn run_shell(command: &str) -> io::Result<(Option<i32>, String)> {
    let (reader, writer) = io::pipe()?;
    let mut child = {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command);
        shell
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        // This closes our ends for writing with the shell's description.
        shell.spawn()?
    };
    let (end, ended) = mpsc::channel();
    thread::Builder::new()
        .name("command".to_owned())
        .spawn(move || drop(end.send(tail(reader))))?;
    let status = child.wait()?;
    let output = ended.recv_timeout(OUTPUT_PATIENCE).unwrap_or_default();
    Ok((status.code(), output))
}

/// The end of what a command prints.
fn tail(mut reader: PipeReader) -> String {
    let mut tail = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(n @ 1..) = reader.read(&mut buffer) {
        tail.extend_from_slice(&buffer[..n]);
        tail.drain(..tail.len().saturating_sub(MAX_OUTPUT_BYTES));
    }
    String::from_utf8_lossy(&tail).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(flags: &[&str], expected: Result<&[(u64, &str)], &str>) {
        let flags = CommandFlags {
            at: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        };
        let planned = flags.plan().map_err(|failure| match failure {
            Failure::Usage(text) => text,
            other => panic!("{other:?}"),
        });
        let expected = expected.map(|list| {
            let planned = list.iter().map(|(ms, command)| Planned {
                after: Duration::from_millis(*ms),
                command: (*command).to_owned(),
            });
            planned.collect::<Vec<_>>()
        });
        assert_eq!(planned, expected.map_err(str::to_owned), "{flags:?}");
    }

    #[test]
    fn commands_are_planned_in_the_order_of_their_times() {
        check(&[], Ok(&[]));
        check(&["1m", "b", "500ms", "a -x"], Ok(&[(500, "a -x"), (60_000, "b")]));
        check(&["5s", " "], Err("--at 5s: the command is empty"));
        check(
            &["reboot", "5s"],
            Err(
                "--at: `reboot` is not a duration; expected something like `1m30s`, `10s`, `500ms`, or a number of \
                 milliseconds; the time comes first, then the command in quotes: --at 5s 'systemctl restart redis'",
            ),
        );
    }

    #[test]
    fn a_command_is_run_by_a_shell() {
        for (command, exit_code, output) in [
            ("echo a; echo b >&2", Some(0), "a\nb\n"),
            ("exit 3", Some(3), ""),
            ("kill -9 $$", None, ""),
            ("head -c 5000 /dev/zero | tr '\\0' x; echo end", Some(0), "end\n"),
        ] {
            let ran = run(command, Instant::now());
            assert_eq!(ran.exit_code, exit_code, "{command}");
            assert!(ran.output.ends_with(output), "{command}: {}", ran.output);
            assert!(ran.output.len() <= MAX_OUTPUT_BYTES, "{command}");
        }
    }

    #[test]
    fn a_program_that_is_left_behind_is_not_waited_for() {
        let ran = run("sleep 5 & echo left", Instant::now());
        assert_eq!(ran.exit_code, Some(0));
        assert!(ran.end - ran.begin < Duration::from_secs(5));
    }
}
