//! A Debian package: the program, a systemd unit, settings, manual pages, completion.

use super::{Error, Release, documents, program::Program, staging, template};
use crate::{command, repository};

/// Scripts that dpkg runs.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

pub(super) fn make(release: &Release, program: &Program) -> Result<(), Error> {
    let name = format!("plimsoll_{}_{}.deb", release.version, program.target.debian());
    let root = release.staging(&name)?;
    staging::copy(&program.path, &root.join("usr/bin/plimsoll"), staging::PROGRAM)?;
    documents::copy(release, &root.join("usr/share"))?;
    let deploy = repository::root().join("deploy");
    let settings = root.join("etc/plimsoll/plimsoll.toml");
    staging::copy(&deploy.join("plimsoll.toml"), &settings, staging::FILE)?;
    unit(&root.join("lib/systemd/system/plimsoll.service"))?;
    let glibc = program.glibc.to_string();
    let mut values = template::values(release, program.target).to_vec();
    values.push(("glibc", &glibc));
    let control = root.join("DEBIAN");
    template::write("deb/control", &values, &control.join("control"), staging::FILE)?;
    template::write("deb/conffiles", &[], &control.join("conffiles"), staging::FILE)?;
    for script in SCRIPTS {
        let template = format!("deb/{script}");
        template::write(&template, &[], &control.join(script), staging::PROGRAM)?;
    }
    // dpkg-deb takes the time of the release only in place of later ones.
    staging::settle(&root, release.epoch)?;
    let mut build = release.tool("dpkg-deb");
    build
        .args(["--root-owner-group", "-Zxz", "--build"])
        .arg(&root)
        .arg(release.artefact(&name));
    Ok(command::run(&mut build)?)
}

/// The unit of `deploy/systemd`, for a program in /usr/bin instead of /usr/local/bin.
fn unit(to: &std::path::Path) -> Result<(), Error> {
    let path = repository::root().join("deploy/systemd/plimsoll.service");
    let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
    let text = text.replace("/usr/local/bin/plimsoll", "/usr/bin/plimsoll");
    staging::write(to, text.as_bytes(), staging::FILE)
}
