//! npm packages: one with the program per platform, and `plimsoll`, which depends on them and starts the one that npm chose.

use super::{Error, Release, documents, program::Program, staging, target::Target, template};
use crate::command;

/// The package with a target's program.
pub(super) fn make(release: &Release, program: &Program) -> Result<(), Error> {
    let name = format!("plimsoll-linux-{}", program.target.node());
    let root = release.staging(&format!("npm-{name}"))?;
    staging::copy(&program.path, &root.join("bin/plimsoll"), staging::PROGRAM)?;
    documents::copy_licences(release, &root)?;
    let values = template::values(release, program.target);
    for file in ["package.json", "README.md"] {
        template::write(
            &format!("npm/platform/{file}"),
            &values,
            &root.join(file),
            staging::FILE,
        )?;
    }
    pack(release, &root)
}

/// The package that people install.
pub(super) fn make_launcher(release: &Release) -> Result<(), Error> {
    let root = release.staging("npm-plimsoll")?;
    // Its values are the same for each target.
    let values = template::values(release, Target::X86_64);
    for (file, mode) in [
        ("package.json", staging::FILE),
        ("README.md", staging::FILE),
        ("bin/plimsoll.js", staging::PROGRAM),
    ] {
        template::write(&format!("npm/{file}"), &values, &root.join(file), mode)?;
    }
    documents::copy_licences(release, &root)?;
    pack(release, &root)
}

fn pack(release: &Release, root: &std::path::Path) -> Result<(), Error> {
    let mut pack = release.tool("npm");
    pack.current_dir(root)
        .args(["pack", "--silent", "--pack-destination"])
        .arg(&release.out);
    Ok(command::run(&mut pack)?)
}
