//! Programs from Debian packages, installed only where they are missing. On another system they have to be there
//! already; the error names them.

use std::process::Command;

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
    fn is_installed(&self) -> bool {
        self.probes
            .iter()
            .any(|probe| command::succeeds(probe[0], &probe[1..]))
    }
}

/// Installs what of `needs` is missing.
pub(crate) fn install(needs: &[Need]) -> Result<(), Error> {
    let missing = needs.iter().filter(|need| !need.is_installed());
    let missing: Vec<_> = missing.flat_map(|need| need.packages).copied().collect();
    if missing.is_empty() {
        println!("Debian packages: nothing missing");
        return Ok(());
    }
    let names = missing.join(" ");
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

    #[test]
    fn sudo_goes_before_the_environment() {
        let command = as_root(&["sudo", "-n"], &["update"]);
        assert_eq!(
            command::line(&command),
            "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get update"
        );
    }
}
