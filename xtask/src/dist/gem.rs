//! A gem with the program, so that a Rails application bundles its server.

use super::{Error, Release, documents, program::Program, staging, template};
use crate::command;

/// Files of the gem that are templates.
const FILES: [(&str, u32); 4] = [
    ("plimsoll.gemspec", staging::FILE),
    ("lib/plimsoll.rb", staging::FILE),
    ("exe/plimsoll", staging::PROGRAM),
    ("README.md", staging::FILE),
];

pub(super) fn make(release: &Release, program: &Program) -> Result<(), Error> {
    let name = format!(
        "plimsoll-{}-{}-linux.gem",
        release.version,
        program.target.machine()
    );
    let root = release.staging(&name)?;
    let values = template::values(release, program.target);
    for (file, mode) in FILES {
        template::write(&format!("gem/{file}"), &values, &root.join(file), mode)?;
    }
    staging::copy(&program.path, &root.join("libexec/plimsoll"), staging::PROGRAM)?;
    documents::copy_licences(release, &root)?;
    let mut build = release.tool("gem");
    build
        .current_dir(&root)
        .args(["build", "--silent", "plimsoll.gemspec", "--output"])
        .arg(release.artefact(&name));
    Ok(command::run(&mut build)?)
}
