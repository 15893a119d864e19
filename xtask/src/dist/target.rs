//! Targets, and what each package format calls them.

use std::str::FromStr;

/// A kind of machine that a release is for: Linux with glibc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    X86_64,
    Aarch64,
}

impl Target {
    pub(super) const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    /// That of this machine; another architecture can start no program of a release, so its name does not matter.
    pub(super) const HERE: Self = if cfg!(target_arch = "aarch64") {
        Self::Aarch64
    } else {
        Self::X86_64
    };

    /// The target of a program that begins with these bytes. `None` for programs of other machines and other files.
    pub(super) fn of_program(header: &[u8]) -> Option<Self> {
        // Of 64 bits, and with the lowest byte of a number first; the machine is at 18 (ELF's specification, "ELF Header").
        let rest = header.strip_prefix(b"\x7fELF\x02\x01")?;
        let machine = rest.get(12..14)?;
        Self::ALL
            .into_iter()
            .find(|target| machine == target.elf_machine().to_le_bytes())
    }

    /// `EM_X86_64` and `EM_AARCH64`.
    fn elf_machine(self) -> u16 {
        match self {
            Self::X86_64 => 62,
            Self::Aarch64 => 183,
        }
    }

    /// Rust's name.
    pub(super) fn triple(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-unknown-linux-gnu",
            Self::Aarch64 => "aarch64-unknown-linux-gnu",
        }
    }

    /// Debian's name of the architecture; the OCI image specification has the same ones, from Go.
    pub(super) fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// `process.arch` in Node.js.
    pub(super) fn node(self) -> &'static str {
        match self {
            Self::X86_64 => "x64",
            Self::Aarch64 => "arm64",
        }
    }

    /// The machine's name in `uname`, which gems and wheels use.
    pub(super) fn machine(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// What build scripts have to be told about the target that they would otherwise take from this machine.
    pub(super) fn build_variables(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::X86_64 => None,
            // Kernels for arm64 have pages of 4, 16 or 64 KiB; jemalloc runs where they are not larger than it was built for.
            Self::Aarch64 => Some(("JEMALLOC_SYS_WITH_LG_PAGE", "16")),
        }
    }

    /// Where this architecture's programs look for their loader (System V ABI supplements).
    pub(super) fn loader(self) -> &'static str {
        match self {
            Self::X86_64 => "/lib64/ld-linux-x86-64.so.2",
            Self::Aarch64 => "/lib/ld-linux-aarch64.so.1",
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|target| target.triple() == name);
        found.ok_or_else(|| format!("known targets are {}", Self::ALL.map(Self::triple).join(" and ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_names_its_target() {
        let check = |header: &[u8], expected| assert_eq!(Target::of_program(header), expected, "{header:?}");
        let header =
            |machine: u8| [b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0", &[machine, 0][..]].concat();
        check(&header(62), Some(Target::X86_64));
        check(&header(183), Some(Target::Aarch64));
        // RISC-V.
        check(&header(243), None);
        check(&header(62)[..19], None);
        check(b"#!/bin/sh\nexit 0\n", None);
        check(b"", None);
    }
}
