//! The checkout that this program was built from: its root, its files, its revision, and its release binary.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::command;

/// The folder of the workspace manifest.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask
        .parent()
        .expect("the xtask package lies one folder below the root of the repository")
}

/// A command that runs in the root of the repository.
pub(crate) fn command(program: impl Into<OsString>) -> Command {
    let mut command = Command::new(program.into());
    command.current_dir(root());
    command
}

/// Cargo, the same one that started this program, as if a person had started it.
pub(crate) fn cargo() -> Command {
    let mut cargo = command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command::without_cargos_variables(&mut cargo);
    cargo
}

/// Paths relative to the root of all files that are committed or would be with `git add --all`.
pub(crate) fn files() -> Result<Vec<PathBuf>, command::Error> {
    let listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = command::read(command("git").args(listing))?;
    let mut files: Vec<PathBuf> = output
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// The commit that is checked out, with `-dirty` when the tree differs from it; `unknown` before the first commit.
pub(crate) fn revision() -> String {
    let mut describe = command("git");
    describe
        .args(["describe", "--always", "--dirty", "--abbrev=12"])
        .stderr(Stdio::null());
    let output = describe.output().ok().filter(|output| output.status.success());
    output.map_or_else(
        || "unknown".into(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

/// Builds `package` in the release profile and returns the path of its binary.
pub(crate) fn build_release(package: &str) -> Result<PathBuf, command::Error> {
    build(package, "release")
}

/// Builds `package` in a profile of the root manifest and returns the path of its binary.
pub(crate) fn build(package: &str, profile: &str) -> Result<PathBuf, command::Error> {
    build_selection(package, &["--profile", profile, "--package", package])
}

/// Builds everything that `cargo test --workspace` builds, and returns the path of `package`'s binary. The binary by itself
/// would have other features of its dependencies, so Cargo would compile most of them and all our crates once more.
pub(crate) fn build_with_tests(package: &str) -> Result<PathBuf, command::Error> {
    build_selection(package, &["--workspace", "--all-targets"])
}

fn build_selection(package: &str, selection: &[&str]) -> Result<PathBuf, command::Error> {
    let mut build = cargo();
    build.arg("build").args(selection);
    built(build, package)
}

/// Runs a command of Cargo that builds `package`, and returns the path of its binary, wherever Cargo puts it.
pub(crate) fn built(mut build: Command, package: &str) -> Result<PathBuf, command::Error> {
    build.args(["--message-format", "json-render-diagnostics"]);
    println!("$ {}", command::line(&build));
    let messages = command::read(&mut build)?;
    Ok(executable(&messages, package).expect("cargo reports the executable of a package that has a binary"))
}

/// The binary of this name in Cargo's JSON messages. The tests of its code have the same name.
fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == name && message["profile"]["test"] == false)
        .filter_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
        .next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_read_from_cargos_messages() {
        let messages = r#"{"target":{"name":"plimsoll"},"profile":{"test":false},"executable":null}
not json
{"target":{"name":"plimsoll"},"profile":{"test":true},"executable":"target/debug/deps/plimsoll-1"}
{"target":{"name":"plimsoll"},"profile":{"test":false},"executable":"target/debug/plimsoll"}
{"target":{"name":"xtask"},"profile":{"test":false},"executable":"target/debug/xtask"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(
            executable(messages, "plimsoll"),
            Some(PathBuf::from("target/debug/plimsoll"))
        );
        assert_eq!(executable("", "plimsoll"), None);
    }

    #[test]
    fn this_file_is_listed() {
        let files = files().unwrap();
        assert!(
            files.contains(&PathBuf::from("xtask/src/repository.rs")),
            "{files:?}"
        );
    }
}
