//! Programs that run with an old C library.
//!
//! `cargo-zigbuild` links against the symbols of a chosen glibc, whatever the building machine has, and compiles C for other
//! architectures. It and the compiler come from PyPI, into a folder of their own.

use std::{env, ffi::OsString, path::PathBuf};

use super::{Error, target::Target};
use crate::{command, repository};

/// The oldest glibc that Rust's standard library runs with (platform support of rustc); distributions of 2014 have it.
const GLIBC: &str = "2.17";

/// Versions that were tried.
const TOOLS: [&str; 2] = ["cargo-zigbuild==0.24.1", "ziglang==0.15.2"];

/// Builds for each target, and returns the programs' paths.
pub(super) fn all(targets: &[Target]) -> Result<Vec<(Target, PathBuf)>, Error> {
    let path = install_tools()?;
    targets.iter().map(|&target| build(target, &path)).collect()
}

/// Installs the tools unless they are there. Returns a PATH on which they come first.
fn install_tools() -> Result<OsString, Error> {
    let folder = repository::root().join("target/dist-tools");
    let bin = folder.join("bin");
    if !command::succeeds(&bin.join("cargo-zigbuild").to_string_lossy(), &["--version"]) {
        command::run(repository::command("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut install = repository::command(bin.join("pip"));
        command::run(install.args(["install", "--quiet"]).args(TOOLS))?;
    }
    let others = env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(bin).chain(env::split_paths(&others));
    env::join_paths(paths).map_err(|error| Error::Unexpected {
        what: "PATH",
        found: error.to_string(),
    })
}

fn build(target: Target, path: &OsString) -> Result<(Target, PathBuf), Error> {
    let triple = target.triple();
    command::run(repository::command("rustup").args(["target", "add", triple]))?;
    let mut build = repository::cargo();
    build.env("PATH", path).args([
        "zigbuild",
        "--locked",
        "--profile",
        "dist",
        "--package",
        "plimsoll",
        "--target",
        &format!("{triple}.{GLIBC}"),
    ]);
    command::run(&mut build)?;
    let program = repository::root().join(format!("target/{triple}/dist/plimsoll"));
    Ok((target, program))
}
