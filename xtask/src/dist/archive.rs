//! The program and its documents as `.tar.gz`: for `cargo binstall`, Homebrew, and by hand.

use std::path::Path;

use super::{Error, Release, documents, program::Program, staging};
use crate::{command, repository};

/// Where the program is, below the folder of the archive.
const PROGRAM: &str = "bin/plimsoll";

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
    staging::copy(&program.path, &content.join(PROGRAM), staging::PROGRAM)?;
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

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use serde_json::Value;

    use super::*;
    use crate::dist::{epoch::Epoch, program::Glibc, target::Target};

    /// The metadata of the package for `cargo binstall`, as Cargo reads it.
    fn binstall() -> Value {
        let mut metadata = repository::cargo();
        metadata.args([
            "metadata",
            "--locked",
            "--offline",
            "--no-deps",
            "--format-version",
            "1",
        ]);
        let text = command::read(&mut metadata).expect("cargo reads the workspace");
        let workspace: Value = serde_json::from_str(&text).expect("cargo prints JSON");
        let packages = workspace["packages"]
            .as_array()
            .expect("a workspace has packages");
        let package = packages.iter().find(|package| package["name"] == "plimsoll");
        package.expect("the package of the program")["metadata"]["binstall"].clone()
    }

    /// A template as `cargo binstall` fills it in; it knows further names, which are left as they are.
    fn filled(template: &Value, target: Target) -> String {
        let values = [
            ("{ repo }", "https://forge.example/plimsoll"),
            ("{ name }", "plimsoll"),
            ("{ bin }", "plimsoll"),
            ("{ version }", env!("CARGO_PKG_VERSION")),
            ("{ target }", target.triple()),
        ];
        let template = template.as_str().expect("a template is a text");
        let fill = |text: String, (name, value): (&str, &str)| text.replace(name, value);
        values.into_iter().fold(template.to_owned(), fill)
    }

    #[test]
    fn cargo_binstall_finds_the_archive_and_the_program_in_it() {
        let release = Release {
            version: env!("CARGO_PKG_VERSION"),
            epoch: Epoch::default(),
            out: PathBuf::new(),
            work: PathBuf::new(),
            documents: PathBuf::new(),
        };
        let metadata = binstall();
        for target in [Target::X86_64, Target::Aarch64] {
            let program = Program {
                path: PathBuf::new(),
                target,
                glibc: Glibc { major: 2, minor: 17 },
            };
            let folder = format!(
                "https://forge.example/plimsoll/releases/download/v{}",
                release.version
            );
            let url = format!("{folder}/{}", name(&release, &program));
            assert_eq!(filled(&metadata["pkg-url"], target), url);
            let inside = format!("{}/{PROGRAM}", stem(&release, &program));
            assert_eq!(filled(&metadata["bin-dir"], target), inside);
        }
        assert_eq!(metadata["pkg-fmt"], "tgz");
    }

    #[test]
    fn the_release_workflow_publishes_where_cargo_binstall_looks() {
        let workflow = repository::root().join(".github/workflows/release.yml");
        let workflow = fs::read_to_string(workflow).expect("the workflow is in the repository");
        for part in [
            "tags: [\"v*\"]",
            "/releases/download/${GITHUB_REF_NAME}\"",
            "gh release create \"$GITHUB_REF_NAME\"",
        ] {
            assert!(workflow.contains(part), "{part}");
        }
    }
}
