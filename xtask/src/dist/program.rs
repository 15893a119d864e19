//! A finished program, and what it needs from the machine that it will run on.

use std::{
    fmt, fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use super::{Error, Release, staging, target::Target};
use crate::{command, repository};

/// Starts of which the median is told.
const STARTS: usize = 21;

/// Bytes at the start of a program that say what machine it is for.
const HEADER: u64 = 64;

/// A program without symbols.
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) target: Target,
    pub(super) glibc: Glibc,
}

/// The oldest C library that has every symbol of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Glibc {
    pub(super) major: u32,
    pub(super) minor: u32,
}

impl Program {
    /// A program that has been stripped by its build.
    pub(super) fn read(path: PathBuf) -> Result<Self, Error> {
        let target = target(&path)?;
        let symbols = command::read(repository::command("objdump").arg("-T").arg(&path))?;
        let glibc = Glibc::newest_in(&symbols).ok_or_else(|| Error::Unexpected {
            what: "objdump -T",
            found: format!("no symbol of glibc in {}", path.display()),
        })?;
        Ok(Self { path, target, glibc })
    }

    /// A copy of any program, without its symbols if it is of this machine: its linker's tools know no other.
    pub(super) fn stripped(given: &Path, release: &Release) -> Result<Self, Error> {
        let given = fs::canonicalize(given).map_err(Error::file(given))?;
        let target = target(&given)?;
        let path = release
            .staging(&format!("program-{}", target.triple()))?
            .join("plimsoll");
        staging::copy(&given, &path, staging::PROGRAM)?;
        if target == Target::HERE {
            command::run(repository::command("strip").arg(&path))?;
        }
        Self::read(path)
    }

    /// Whether it starts on this machine. An emulator does not count: it would spoil the time of a start.
    pub(super) fn runs_here(&self) -> bool {
        self.target == Target::HERE && command::succeeds(&self.path.to_string_lossy(), &["--version"])
    }

    /// The median time from the start of `plimsoll --version` to its end.
    pub(super) fn start_time(&self) -> Result<Duration, Error> {
        let mut times = Vec::with_capacity(STARTS);
        for _ in 0..STARTS {
            let start = Instant::now();
            command::read(Command::new(&self.path).arg("--version"))?;
            times.push(start.elapsed());
        }
        times.sort_unstable();
        Ok(times[STARTS / 2])
    }
}

/// What kind of machine a program is for.
fn target(program: &Path) -> Result<Target, Error> {
    let mut header = Vec::new();
    let file = fs::File::open(program).map_err(Error::file(program))?;
    file.take(HEADER)
        .read_to_end(&mut header)
        .map_err(Error::file(program))?;
    Target::of_program(&header).ok_or_else(|| Error::NoTarget {
        path: program.to_owned(),
    })
}

impl Glibc {
    /// The newest version in the output of `objdump -T`: a library that is older lacks a symbol.
    fn newest_in(symbols: &str) -> Option<Self> {
        let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
            let mut numbers = rest[..end.unwrap_or(rest.len())].split('.');
            Some(Self {
                major: numbers.next()?.parse().ok()?,
                minor: numbers.next()?.parse().ok()?,
            })
        });
        versions.max()
    }
}

impl fmt::Display for Glibc {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_symbol_decides() {
        let check = |symbols, expected: Option<&str>| {
            let found = Glibc::newest_in(symbols).map(|version| version.to_string());
            assert_eq!(found.as_deref(), expected, "{symbols}");
        };
        check(
            "0000 DF *UND*  0000 (GLIBC_2.2.5) free\n0000 DF *UND* 0000 (GLIBC_2.17) clock_gettime\n",
            Some("2.17"),
        );
        check("(GLIBC_2.9) a (GLIBC_2.34)", Some("2.34"));
        check("(GCC_3.0) _Unwind_Resume (GLIBC_PRIVATE) b", None);
        check("", None);
    }
}
