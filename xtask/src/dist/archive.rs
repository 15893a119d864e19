//! The program and its documents as `.tar.gz`: for `cargo binstall`, Homebrew, and by hand.

use std::path::Path;

use super::{Error, Release, documents, program::Program, staging};
use crate::{command, repository};

/// `plimsoll-0.1.0-x86_64-unknown-linux-gnu.tar.gz`
pub(super) fn name(release: &Release, program: &Program) -> String {
    format!("{}.tar.gz", stem(release, program))
}

/// The name of the folder in the archive.
fn stem(release: &Release, program: &Program) -> String {
    format!("plimsoll-{}-{}", release.version, program.target.triple())
}

pub(super) fn make(release: &Release, program: &Program) -> Result<(), Error> {
    let stem = stem(release, program);
    let folder = release.staging(&format!("archive-{stem}"))?;
    let content = folder.join(&stem);
    staging::copy(&program.path, &content.join("bin/plimsoll"), staging::PROGRAM)?;
    documents::copy_licences(release, &content)?;
    documents::copy(release, &content.join("share"))?;
    let packed = release.artefact(&format!("{stem}.tar"));
    pack(release, &folder, &[&stem], &packed)?;
    compress(&packed)
}

/// Packs `contents` of `folder`: sorted, owned by root, with the time of the release.
pub(super) fn pack(release: &Release, folder: &Path, contents: &[&str], to: &Path) -> Result<(), Error> {
    staging::settle(folder, release.epoch)?;
    let mut tar = repository::command("tar");
    tar.args([
        "--format=gnu",
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
    ])
    .arg(format!("--mtime=@{}", release.epoch))
    .args(["--create", "--file"])
    .arg(to)
    .arg("--directory")
    .arg(folder)
    .args(contents);
    Ok(command::run(&mut tar)?)
}

/// Puts `FILE.gz` in the place of `FILE`. It has no name and time in it, so that two builds are alike.
pub(super) fn compress(file: &Path) -> Result<(), Error> {
    command::read(repository::command("gzip").arg("-n").arg(file))?;
    Ok(())
}
