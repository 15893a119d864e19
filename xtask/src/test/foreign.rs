//! The end-to-end tests: files of Node.js tests that drive the binary with foreign clients and servers.
//!
//! Most files wait more than they compute, so as many run at the same time as the machine has CPUs. Files that measure
//! time or fill the machine run one at a time afterwards; `alone` lists them, each with its reason. The output of a file
//! goes to a log in `target/foreign`. What failed is printed at the end, shortly, so that a terminal and the last page of a
//! CI's log have all of it.

mod alone;
mod cpu;
mod excerpt;
mod pool;
mod timing;

use std::{
    fs::{self, File},
    io,
    path::Path,
    process::Stdio,
    thread,
    time::Instant,
};

use timing::Times;

use crate::repository;

/// The folder of the end-to-end tests, relative to the root of the repository.
pub(super) const FOLDER: &str = "tests/foreign";

/// The ending of a test file's name.
const ENDING: &str = ".test.mjs";

/// The most quiet files that run at the same time. Reason: some of them start a browser, Redis or Prometheus, or open
/// thousands of files.
const MOST_AT_ONCE: usize = 8;

/// The number of files in the list of the slowest.
const N_SLOWEST: usize = 10;

/// A reason for which the end-to-end tests did not pass.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot read {FOLDER}, or write the logs of its tests")]
    Files(#[from] io::Error),
    #[error("no file is called {FOLDER}/{name}{ENDING}")]
    Unknown { name: String },
    #[error("failed: {}", names.join(", "))]
    Failed { names: Vec<String> },
}

/// A test file that has ended.
struct Ended {
    name: String,
    /// From its start to its end.
    seconds: f64,
    /// CPU time, with all programs that it started and waited for.
    cpu_seconds: f64,
    has_passed: bool,
    /// What it says about tests that failed. Empty if it passed.
    failures: String,
}

/// Runs the files called `only`, or all files, against `binary`. Names do not include [`ENDING`].
pub(super) fn run(binary: &Path, only: &[String]) -> Result<(), Error> {
    let names = chosen(&names_in(&repository::root().join(FOLDER))?, only)?;
    let logs = binary.ancestors().nth(2).unwrap_or(binary).join("foreign");
    fs::create_dir_all(&logs)?;
    let record = logs.join("seconds.json");
    let mut times = Times::read(&record);
    let start = Instant::now();
    let mut ended = run_in_pools(times.slowest_first(names), binary, &logs)?;
    ended.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    times.note(&ended);
    times.write(&record)?;
    report(&ended, start.elapsed().as_secs_f64());
    judge(ended)
}

/// Runs the quiet files, several at a time, and after them the others, each alone.
fn run_in_pools(names: Vec<String>, binary: &Path, logs: &Path) -> io::Result<Vec<Ended>> {
    let (alone, quiet): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| alone::reason(name).is_some());
    println!("Logs: {}", logs.display());
    let n_cpus = thread::available_parallelism().map_or(1, usize::from);
    println!("{} quiet files, {} at a time", quiet.len(), at_once(n_cpus));
    let work = |name: &String| run_file(name, binary, logs);
    let mut ended = pool::run(&quiet, at_once(n_cpus), work)?;
    println!("{} files that need the machine to themselves", alone.len());
    ended.extend(pool::run(&alone, 1, work)?);
    Ok(ended)
}

/// Starts Node.js with one file and waits for its end.
fn run_file(name: &str, binary: &Path, logs: &Path) -> io::Result<Ended> {
    let path = logs.join(format!("{name}.log"));
    let log = File::create(&path)?;
    let start = Instant::now();
    let mut child = repository::command("node")
        .arg("--test-reporter=spec")
        .arg(Path::new(FOLDER).join(format!("{name}{ENDING}")))
        .env("PLIMSOLL_BIN", binary)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()?;
    let cpu_seconds = cpu::of_ended(&child)?.as_secs_f64();
    let status = child.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    let has_passed = status.success();
    if has_passed {
        println!("  passed {seconds:6.1} s, CPU {cpu_seconds:5.1} s  {name}");
    } else {
        let reason =
            alone::reason(name).map_or_else(String::new, |reason| format!("; it runs alone: it {reason}"));
        println!(
            "  FAILED {seconds:6.1} s  {name} ({status}{reason}): {}",
            path.display()
        );
    }
    let failures = if has_passed {
        String::new()
    } else {
        excerpt::of_failures(&String::from_utf8_lossy(&fs::read(&path)?))
    };
    Ok(Ended {
        name: name.to_owned(),
        seconds,
        cpu_seconds,
        has_passed,
        failures,
    })
}

/// The number of quiet files that run at the same time on so many CPUs. Reason: with three files per CPU, the suites that
/// measure the interval of pings saw late ones.
fn at_once(n_cpus: usize) -> usize {
    n_cpus.min(MOST_AT_ONCE)
}

/// The names of the test files in a folder. We search it ourselves, because Node.js versions search folders differently.
fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in folder.read_dir()? {
        let file_name = entry?.file_name();
        names.extend(
            file_name
                .to_str()
                .and_then(|name| name.strip_suffix(ENDING))
                .map(str::to_owned),
        );
    }
    names.sort();
    Ok(names)
}

/// All names, or the names in `only`.
fn chosen(names: &[String], only: &[String]) -> Result<Vec<String>, Error> {
    if let Some(name) = only.iter().find(|name| !names.contains(name)) {
        return Err(Error::Unknown { name: name.clone() });
    }
    let is_chosen = |name: &&String| only.is_empty() || only.contains(name);
    Ok(names.iter().filter(is_chosen).cloned().collect())
}

/// Prints the slowest files, the slowest last, the times of all files together, and what failed. `ended` is sorted by
/// seconds.
fn report(ended: &[Ended], seconds: f64) {
    let slowest = &ended[ended.len().saturating_sub(N_SLOWEST)..];
    println!("\nThe slowest files, in seconds:\n    wall     CPU");
    for file in slowest {
        let failed = if file.has_passed { "" } else { "  FAILED" };
        println!(
            "  {:6.1}  {:6.1}  {}{failed}",
            file.seconds, file.cpu_seconds, file.name
        );
    }
    let sum: f64 = ended.iter().map(|it| it.seconds).sum();
    let cpu: f64 = ended.iter().map(|it| it.cpu_seconds).sum();
    println!(
        "{} files in {seconds:.1} s; their times add up to {sum:.1} s, with {cpu:.1} s of CPU time",
        ended.len()
    );
    for file in ended.iter().filter(|it| !it.has_passed) {
        println!("\n== {}\n{}", file.name, file.failures);
    }
}

fn judge(ended: Vec<Ended>) -> Result<(), Error> {
    let failed = ended.into_iter().filter(|it| !it.has_passed);
    let names: Vec<String> = failed.map(|it| it.name).collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(Error::Failed { names })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().copied().map(str::to_owned).collect()
    }

    #[test]
    fn all_files_run_unless_some_are_named() {
        let names = owned(&["sse", "tls", "wire"]);
        for (only, expected) in [
            (&[][..], &["sse", "tls", "wire"][..]),
            (&["wire", "sse"], &["sse", "wire"]),
        ] {
            assert_eq!(chosen(&names, &owned(only)).unwrap(), owned(expected), "{only:?}");
        }
        let error = chosen(&names, &owned(&["wires"])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no file is called tests/foreign/wires.test.mjs"
        );
    }

    #[test]
    fn quiet_files_are_few_on_any_machine() {
        for (n_cpus, expected) in [(1, 1), (2, 2), (4, 4), (64, 8)] {
            assert_eq!(at_once(n_cpus), expected, "{n_cpus} CPUs");
        }
    }

    #[test]
    fn files_that_failed_are_named() {
        let ended = |name: &str, has_passed| Ended {
            name: name.to_owned(),
            seconds: 1.0,
            cpu_seconds: 0.5,
            has_passed,
            failures: String::new(),
        };
        assert!(judge(vec![ended("sse", true)]).is_ok());
        let error = judge(vec![
            ended("sse", true),
            ended("tls", false),
            ended("wire", false),
        ])
        .unwrap_err();
        assert_eq!(error.to_string(), "failed: tls, wire");
    }

    #[test]
    fn each_file_that_runs_alone_exists() {
        let names = names_in(&repository::root().join(FOLDER)).unwrap();
        for name in alone::names() {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
    }
}
