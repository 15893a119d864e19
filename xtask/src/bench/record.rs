//! Results on disk: one dated folder per benchmark, with everything needed to judge or repeat the run.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use serde_json::{Value, json};

use super::Outcome;
use crate::{command, repository};

/// Why a result was not saved.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("cannot write the result")]
    Write(#[from] io::Error),
    #[error("cannot tell today's date")]
    Date(#[from] command::Error),
}

/// Writes `summary.txt` and `result.json` to `benchmarks/<date>-<name>/`, over those of an earlier run of the day.
pub(super) fn save(name: &str, outcome: &Outcome) -> Result<PathBuf, Error> {
    let date = command::read(Command::new("date").args(["--utc", "+%F"]))?;
    let folder = Path::new("benchmarks").join(format!("{date}-{name}"));
    let absolute = repository::root().join(&folder);
    let mut json = serde_json::to_string_pretty(&document(name, &date, &outcome.raw))
        .expect("a Value always serializes");
    json.push('\n');
    fs::create_dir_all(&absolute)?;
    fs::write(absolute.join("summary.txt"), outcome.text.trim_start())?;
    fs::write(absolute.join("result.json"), json)?;
    Ok(folder)
}

fn document(name: &str, date: &str, raw: &[Value]) -> Value {
    let arguments: Vec<String> = env::args().skip(1).collect();
    json!({
        "benchmark": name,
        "date": date,
        "command": format!("cargo xtask {}", arguments.join(" ")),
        "revision": repository::revision(),
        "machine": machine(),
        "results": raw,
    })
}

/// What the figures depend on.
fn machine() -> Value {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    json!({
        "cpu_model": field(&cpus, "model name"),
        "n_cores": thread::available_parallelism().map_or(0, usize::from),
        "memory": field(&memory, "MemTotal"),
        "kernel": kernel.trim(),
    })
}

/// The value of the first `key : value` line in a file of /proc.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_proc_files() {
        let text = "processor\t: 0\nmodel name\t: Fast CPU\nmodel name\t: Other\nMemTotal:  24 kB\n";
        assert_eq!(field(text, "model name"), Some("Fast CPU"));
        assert_eq!(field(text, "MemTotal"), Some("24 kB"));
        assert_eq!(field(text, "none"), None);
    }
}
