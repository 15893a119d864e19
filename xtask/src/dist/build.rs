//! Programs that run with an old C library.
//!
//! `cargo-zigbuild` links against the symbols of a chosen glibc, whatever the building machine has, and compiles C for other
//! architectures. It and the compiler come from PyPI, into a folder of their own.
//!
//! Messages of panics and assertions name source files. They start with names of our own instead of this machine's folders, so
//! that builds in two places are alike and tell nothing about either.

use std::{env, ffi::OsString, path::PathBuf};

use super::{Error, target::Target};
use crate::{command, repository};

/// The oldest glibc that Rust's standard library runs with (platform support of rustc); distributions of 2014 have it.
const GLIBC: &str = "2.17";

/// The variable with flags for C that is compiled for the target, as the crate `cc` names it.
const C_FLAGS: &str = "TARGET_CFLAGS";

/// Versions that were tried.
const TOOLS: [&str; 2] = ["cargo-zigbuild==0.24.1", "ziglang==0.15.2"];

/// Builds for each target, and returns the programs' paths.
pub(super) fn all(targets: &[Target]) -> Result<Vec<PathBuf>, Error> {
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

fn build(target: Target, path: &OsString) -> Result<PathBuf, Error> {
    let triple = target.triple();
    command::run(repository::command("rustup").args(["target", "add", triple]))?;
    let renamed = renamed_folders();
    let mut build = repository::cargo();
    build
        .env("PATH", path)
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            rust_flags(&renamed, &given_rust_flags()),
        )
        .env(C_FLAGS, c_flags(&renamed, &env::var(C_FLAGS).unwrap_or_default()))
        .envs(target.build_variables())
        .args([
            "zigbuild",
            "--locked",
            "--profile",
            "dist",
            "--package",
            "plimsoll",
            "--target",
            &format!("{triple}.{GLIBC}"),
        ]);
    Ok(repository::built(build, "plimsoll")?)
}

/// Folders of sources, and their names in the program.
fn renamed_folders() -> [(PathBuf, &'static str); 2] {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    [
        (repository::root().to_owned(), "/plimsoll"),
        (home.unwrap_or_default(), "/cargo"),
    ]
}

/// The flags that a developer has set for rustc; Cargo takes the first variable only.
fn given_rust_flags() -> Vec<String> {
    let words = |name, separator| {
        let text = env::var(name).ok()?;
        Some(text.split(separator).map(str::to_owned).collect())
    };
    words("CARGO_ENCODED_RUSTFLAGS", '\x1f')
        .or_else(|| words("RUSTFLAGS", ' '))
        .unwrap_or_default()
}

/// Flags as Cargo wants them, because a folder's name may hold spaces: with U+001F in between.
fn rust_flags(renamed: &[(PathBuf, &str)], given: &[String]) -> String {
    let prefix =
        |(folder, name): &(PathBuf, &str)| format!("--remap-path-prefix={}={name}", folder.display());
    let given = given.iter().filter(|flag| !flag.is_empty()).cloned();
    let flags: Vec<String> = given.chain(renamed.iter().map(prefix)).collect();
    flags.join("\x1f")
}

/// The same for the compiler of C. The crate `cc` splits them at spaces, so a folder with one in its name keeps it.
fn c_flags(renamed: &[(PathBuf, &str)], given: &str) -> String {
    let prefix = |(folder, name): &(PathBuf, &str)| format!("-ffile-prefix-map={}={name}", folder.display());
    let whole = renamed.iter().map(prefix).filter(|flag| !flag.contains(' '));
    let given = given.split_whitespace().map(str::to_owned);
    let flags: Vec<String> = given.chain(whole).collect();
    flags.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_rename_folders_after_those_of_the_developer() {
        let renamed = [(PathBuf::from("/a b"), "/x"), (PathBuf::from("/c"), "/y")];
        let check = |given: &[&str], expected: &str| {
            let given: Vec<String> = given.iter().map(|flag| (*flag).to_owned()).collect();
            assert_eq!(rust_flags(&renamed, &given), expected);
        };
        check(&[], "--remap-path-prefix=/a b=/x\x1f--remap-path-prefix=/c=/y");
        check(
            &["-C", "", "target-cpu=native"],
            "-C\x1ftarget-cpu=native\x1f--remap-path-prefix=/a b=/x\x1f--remap-path-prefix=/c=/y",
        );
        assert_eq!(c_flags(&renamed, ""), "-ffile-prefix-map=/c=/y");
        assert_eq!(c_flags(&renamed, " -Os "), "-Os -ffile-prefix-map=/c=/y");
    }
}
