//! Targets, and what each package format calls them.

use std::str::FromStr;

/// A kind of machine that a release is for: Linux with glibc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    X86_64,
    Aarch64,
}

impl Target {
    const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

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
