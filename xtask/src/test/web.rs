//! The pages that are embedded: their types, their unit tests, and whether the committed files are what `web/` builds.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::setup;
use crate::{command, repository};

/// The TypeScript sources, relative to the root of the repository.
pub(super) const FOLDER: &str = "web";

/// Where what is built is committed, relative to the root of the repository.
const ASSETS: &str = "crates/lab/report/assets";

/// What a build makes.
const BUILT: [&str; 2] = ["report.js", "report.css"];

/// Why the pages are not in order.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{path} is not what web/ builds: run `npm run build` in web/ and commit the files")]
    Stale { path: String },
    #[error("cannot read {path}")]
    Unreadable { path: String, source: io::Error },
    #[error(transparent)]
    Setup(#[from] setup::Error),
    #[error(transparent)]
    Command(#[from] command::Error),
}

/// Checks everything; what is built goes to `target/web`.
pub(super) fn run() -> Result<(), Error> {
    setup::install_npm_packages(FOLDER)?;
    npm(&["run", "--silent", "check"])?;
    npm(&["test", "--silent"])?;
    let built = repository::root().join("target/web");
    let folder = built.to_string_lossy();
    npm(&["run", "--silent", "build", "--", "--outDir", &folder])?;
    for name in BUILT {
        let committed = PathBuf::from(ASSETS).join(name);
        if read(&built.join(name))? != read(&repository::root().join(&committed))? {
            return Err(Error::Stale {
                path: committed.display().to_string(),
            });
        }
    }
    Ok(())
}

fn npm(arguments: &[&str]) -> Result<(), command::Error> {
    let mut npm = repository::command("npm");
    npm.args(arguments).current_dir(repository::root().join(FOLDER));
    command::run(&mut npm)
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| Error::Unreadable {
        path: path.display().to_string(),
        source,
    })
}
