//! Programs from Debian packages, installed only where they are missing. On another system they have to be there
//! already; the error names them.

use std::process::{Command, Stdio};

use crate::{command, repository};

/// Something that a task starts, and the Debian packages that bring it.
pub(crate) struct Need {
    /// Commands of which one succeeds where it is installed.
    pub(crate) probes: &'static [&'static [&'static str]],
    pub(crate) packages: &'static [&'static str],
}

/// Why the packages are not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{missing} are missing, and this system has no apt-get: install the programs and start again")]
    NoAptGet { missing: String },
    #[error(
        "the Debian packages {missing} are missing, and this user is neither root nor may use sudo: \
         run `apt-get install {missing}` as root and start again"
    )]
    NotRoot { missing: String },
    #[error(transparent)]
    Command(#[from] command::Error),
}

impl Need {
    fn is_met(&self) -> bool {
        self.probes
            .iter()
            .any(|probe| command::succeeds(probe[0], &probe[1..]))
    }
}

/// The packages that unmet needs ask for, each once. An installed package is left out, unless all packages of its need
/// are installed: then one of them is broken.
fn missing(
    needs: &[Need],
    is_met: impl Fn(&Need) -> bool,
    is_installed: impl Fn(&str) -> bool,
) -> Vec<&'static str> {
    let mut missing = Vec::new();
    for need in needs.iter().filter(|need| !is_met(need)) {
        let are_all_installed = need.packages.iter().all(|package| is_installed(package));
        for package in need.packages {
            if (are_all_installed || !is_installed(package)) && !missing.contains(package) {
                missing.push(*package);
            }
        }
    }
    missing
}

/// Whether dpkg knows the package as installed. Without dpkg, no package is.
fn is_installed(package: &str) -> bool {
    let mut query = repository::command("dpkg-query");
    query
        .args(["--show", "--showformat=${db:Status-Status}", package])
        .stderr(Stdio::null());
    query.output().is_ok_and(|output| output.stdout == b"installed")
}

/// Installs the packages that `needs` lack. Asks for root only if there are some.
pub(crate) fn install(needs: &[Need]) -> Result<(), Error> {
    let missing = missing(needs, Need::is_met, is_installed);
    if missing.is_empty() {
        println!("Debian packages: nothing missing");
        return Ok(());
    }
    let names = missing.join(" ");
    println!("Debian packages missing: {names}");
    if !command::succeeds("apt-get", &["--version"]) {
        return Err(Error::NoAptGet { missing: names });
    }
    let Some(prefix) = root_prefix() else {
        return Err(Error::NotRoot { missing: names });
    };
    command::run(as_root(prefix, &["update"]).arg("-qq"))?;
    command::run(as_root(prefix, &["install", "--yes", "-qq", "--no-install-recommends"]).args(&missing))?;
    Ok(())
}

/// What to put before a command so that it runs as root: nothing for root, sudo where it asks no password.
fn root_prefix() -> Option<&'static [&'static str]> {
    let is_root = rustix::process::geteuid().is_root();
    let prefix: &[_] = if is_root {
        &[]
    } else {
        &["sudo", "--non-interactive"]
    };
    (is_root || command::succeeds("sudo", &["--non-interactive", "true"])).then_some(prefix)
}

fn as_root(prefix: &[&str], arguments: &[&str]) -> Command {
    let words: Vec<&str> = [
        prefix,
        &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"],
        arguments,
    ]
    .concat();
    let mut command = repository::command(words[0]);
    command.args(&words[1..]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUMA: Need = Need {
        probes: &[],
        packages: &["puma"],
    };
    const RAILS: Need = Need {
        probes: &[],
        packages: &["ruby", "ruby-railties"],
    };
    const GRPC: Need = Need {
        probes: &[],
        packages: &["ruby", "ruby-grpc"],
    };

    #[test]
    fn missing_packages_are_named_once_and_installed_ones_are_not() {
        for (installed, expected) in [
            (&[][..], &["ruby", "ruby-railties", "ruby-grpc"][..]),
            (&["ruby"], &["ruby-railties", "ruby-grpc"]),
            (&["ruby", "ruby-grpc"], &["ruby-railties", "ruby", "ruby-grpc"]),
        ] {
            let is_met = |need: &Need| need.packages == PUMA.packages;
            let found = missing(&[PUMA, RAILS, GRPC], is_met, |package| {
                installed.contains(&package)
            });
            assert_eq!(found, expected, "with {installed:?}");
        }
    }

    #[test]
    fn sudo_goes_before_the_environment() {
        let command = as_root(&["sudo", "-n"], &["update"]);
        assert_eq!(
            command::line(&command),
            "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get update"
        );
    }
}
