//! A Python wheel that puts the program on the PATH of an environment.

use super::{Error, Release, documents, program::Program, staging, template};
use crate::command;

pub(super) fn make(release: &Release, program: &Program) -> Result<(), Error> {
    let (version, machine) = (release.version, program.target.machine());
    let root = release.staging(&format!("wheel-{machine}"))?;
    let scripts = root.join(format!("plimsoll-{version}.data/scripts"));
    staging::copy(&program.path, &scripts.join("plimsoll"), staging::PROGRAM)?;
    let info = root.join(format!("plimsoll-{version}.dist-info"));
    // `manylinux` tags name the oldest glibc (PEP 600).
    let glibc = format!("{}_{}", program.glibc.major, program.glibc.minor);
    let mut values = template::values(release, program.target).to_vec();
    values.push(("glibc", &glibc));
    for file in ["METADATA", "WHEEL"] {
        template::write(&format!("wheel/{file}"), &values, &info.join(file), staging::FILE)?;
    }
    documents::copy_licences(release, &info.join("licenses"))?;
    let mut pack = release.tool("/usr/bin/python3");
    pack.args(["-m", "wheel", "pack", "--dest-dir"])
        .arg(&release.out)
        .arg(&root);
    Ok(command::run(&mut pack)?)
}
