//! `cargo xtask site`: the documents as a static site, which VitePress builds from the Markdown files of the repository.

use std::path::{Path, PathBuf};

use crate::{command, repository, test::setup};

/// The settings of VitePress, relative to the root of the repository.
pub(crate) const FOLDER: &str = "site";

/// Where the site goes, relative to the root of the repository.
const SITE: &str = "target/site";

/// Where the site will be, and what it may link to.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The path that the site is served below.
    #[arg(long, value_name = "PATH", default_value = "/", value_parser = base)]
    base: String,
    /// Where the repository's files can be read, for links to sources. Without it these links are text.
    #[arg(long, value_name = "URL")]
    sources: Option<String>,
    /// The folder to write to; its contents are replaced.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Why there is no site.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Setup(#[from] setup::Error),
    #[error(transparent)]
    Command(#[from] command::Error),
    #[error("cannot use the folder {path}")]
    Folder { path: String, source: std::io::Error },
}

/// Builds the site. Dead links between pages are errors.
pub(crate) fn run(options: &Options) -> Result<(), Error> {
    setup::install_npm_packages(FOLDER)?;
    let site = match &options.out {
        Some(folder) => absolute(folder)?,
        None => repository::root().join(SITE),
    };
    let mut build = repository::command("npm");
    build
        .args(["run", "--silent", "build", "--", "--outDir"])
        .arg(&site)
        .current_dir(repository::root().join(FOLDER))
        .env("SITE_BASE", &options.base);
    if let Some(sources) = &options.sources {
        build.env("SOURCE_URL", sources.trim_end_matches('/'));
    }
    command::run(&mut build)?;
    println!("The site is in {}", site.display());
    Ok(())
}

fn absolute(folder: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(folder).map_err(|source| Error::Folder {
        path: folder.display().to_string(),
        source,
    })
}

fn base(text: &str) -> Result<String, String> {
    if text.starts_with('/') && text.ends_with('/') {
        return Ok(text.into());
    }
    Err("expected a path that begins and ends with a slash, for example /plimsoll/".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_begins_and_ends_with_a_slash() {
        for (text, expected) in [
            ("/", true),
            ("/a/b/", true),
            ("/a", false),
            ("a/", false),
            ("", false),
        ] {
            assert_eq!(base(text).is_ok(), expected, "{text}");
        }
    }
}
