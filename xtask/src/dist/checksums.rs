//! `SHA256SUMS`, and the table of files that the task prints.

use std::{fs, path::Path};

use super::{Error, Release, staging};
use crate::{command, repository};

/// The file that `sha256sum --check` reads.
const NAME: &str = "SHA256SUMS";

/// The SHA-256 sum of a file, in hexadecimal.
pub(super) fn of(file: &Path) -> Result<String, Error> {
    let mut sum = command::read(repository::command("sha256sum").arg(file))?;
    sum.truncate(sum.find(' ').unwrap_or(sum.len()));
    Ok(sum)
}

/// Writes the sums of all finished files.
pub(super) fn write(release: &Release) -> Result<(), Error> {
    let mut sum = repository::command("sha256sum");
    sum.current_dir(&release.out);
    for file in staging::files(&release.out)? {
        sum.args(file.file_name());
    }
    let sums = command::read(&mut sum)?;
    staging::write(
        &release.artefact(NAME),
        format!("{sums}\n").as_bytes(),
        staging::FILE,
    )
}

/// Each file with its size.
pub(super) fn table(release: &Release) -> Result<String, Error> {
    let mut lines = vec![format!("Files in {}:", release.out.display())];
    for file in staging::files(&release.out)? {
        let size = fs::metadata(&file).map_err(Error::file(&file))?.len();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        lines.push(format!("  {:>8.2} MB  {name}", size as f64 / 1e6));
    }
    Ok(lines.join("\n"))
}
