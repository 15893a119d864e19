//! What comes with the program in most packages: manual pages, completion, licences.

use std::{path::Path, process::Command};

use super::{Error, Release, licences, program::Program, staging};
use crate::command;

/// Shells, the folder below `share` in which each looks for completion, and the file's name.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/plimsoll"),
    ("zsh", "zsh/site-functions/_plimsoll"),
    ("fish", "fish/vendor_completions.d/plimsoll.fish"),
];

/// Writes the documents in the layout of a `share` folder. `program` runs on this machine.
pub(super) fn write(release: &Release, program: &Program) -> Result<(), Error> {
    let pages = release.documents.join("man/man1");
    command::run(Command::new(&program.path).args(["man", "--dir"]).arg(&pages))?;
    // Without a name and a time in it, so that two builds are alike.
    command::read(Command::new("gzip").arg("-n").args(staging::files(&pages)?))?;
    for (shell, path) in SHELLS {
        let script = command::read(Command::new(&program.path).args(["completion", shell]))?;
        let path = release.documents.join(path);
        staging::write(&path, format!("{script}\n").as_bytes(), staging::FILE)?;
    }
    let folder = release.documents.join("doc/plimsoll");
    staging::copy(
        &release.artefact(licences::OWN),
        &folder.join("copyright"),
        staging::FILE,
    )?;
    let of_others = release.artefact(licences::OF_OTHERS);
    staging::copy(&of_others, &folder.join(licences::OF_OTHERS), staging::FILE)
}

/// Copies the documents into a `share` folder of a package.
pub(super) fn copy(release: &Release, share: &Path) -> Result<(), Error> {
    for file in staging::files(&release.documents)? {
        let name = file.strip_prefix(&release.documents).unwrap_or(&file);
        staging::copy(&file, &share.join(name), staging::FILE)?;
    }
    Ok(())
}

/// Writes our licence and those of others into a folder of a package.
pub(super) fn copy_licences(release: &Release, folder: &Path) -> Result<(), Error> {
    for name in [licences::OWN, licences::OF_OTHERS] {
        staging::copy(&release.artefact(name), &folder.join(name), staging::FILE)?;
    }
    Ok(())
}
