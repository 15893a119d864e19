//! Says which commit the program is made of, for `plimsoll --version`.
//!
//! Only optimised builds ask git: a development build would otherwise be linked anew after every commit.

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
};

fn main() {
    println!("cargo::rerun-if-env-changed=PLIMSOLL_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let target = variable("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=PLIMSOLL_VERSION={}", version(&target));
}

/// `0.1.0 (65301f76a1b2, 2026-11-24, x86_64-unknown-linux-gnu)`. A packager without a git checkout sets `PLIMSOLL_COMMIT`.
fn version(target: &str) -> String {
    let commit = variable("PLIMSOLL_COMMIT").or_else(|| {
        let is_optimised = variable("PROFILE").is_some_and(|profile| profile == "release");
        is_optimised.then(commit).flatten()
    });
    let number = variable("CARGO_PKG_VERSION").unwrap_or_default();
    let commit = commit.unwrap_or_else(|| "commit unknown".to_owned());
    format!("{number} ({commit}, {target})")
}

/// The commit that is checked out and its date. `None` without git or a checkout.
fn commit() -> Option<String> {
    // Each commit, checkout and rebase writes to this log.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = git(&["log", "-1", "--abbrev=12", "--format=%h, %cs"])?;
    Some(commit)
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
