//! `cargo xtask dist`: the files of a release, for people without a Rust toolchain.
//!
//! One program per target, built once, goes into every package. Each format is made by its own tool (dpkg-deb, npm, gem,
//! Python's wheel); the image is a folder of its own format, so that no daemon is needed. What a package claims about the
//! program, such as the oldest C library that it runs with, is read from the program.

mod archive;
mod bill;
mod build;
mod checksums;
mod deb;
mod dependencies;
mod documents;
mod epoch;
mod gem;
mod homebrew;
mod image;
mod licences;
mod npm;
mod program;
mod staging;
mod target;
mod template;
mod wheel;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use epoch::Epoch;
use program::Program;
use target::Target;

use crate::{command, debian, debian::Need, repository};

/// The tools that make packages.
const NEEDS: [Need; 6] = [
    Need {
        probes: &[&["dpkg-deb", "--version"]],
        packages: &["dpkg"],
    },
    Need {
        probes: &[&["objdump", "--version"]],
        packages: &["binutils"],
    },
    Need {
        probes: &[&["npm", "--version"]],
        packages: &["npm"],
    },
    Need {
        probes: &[&["gem", "--version"]],
        packages: &["ruby"],
    },
    Need {
        probes: &[&["/usr/bin/python3", "-m", "wheel", "version"]],
        packages: &["python3", "python3-wheel"],
    },
    Need {
        probes: &[&["test", "-e", "/etc/ssl/certs/ca-certificates.crt"]],
        packages: &["ca-certificates"],
    },
];

/// What to make, and of which program.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Build for these targets (comma separated).
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "TARGET",
        default_value = Target::HERE.triple()
    )]
    targets: Vec<Target>,
    /// Package this program instead of building one (repeat for one of each target; a program says itself what it is for).
    #[arg(long = "program", value_name = "FILE", conflicts_with = "targets")]
    programs: Vec<PathBuf>,
    /// The folder for the files; those of an earlier call are deleted first.
    #[arg(long, value_name = "DIR", default_value = "target/packages")]
    out: PathBuf,
    /// The URL of the folder where the files will be published, for Homebrew's formula; without it, no formula is made.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

/// Why the files could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Debian(#[from] debian::Error),
    #[error(transparent)]
    Command(#[from] command::Error),
    #[error("cannot read or write {}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{} holds other files than those of a release: name another folder with --out", path.display())]
    NotOurs { path: PathBuf },
    #[error(
        "none of the programs runs on this machine, and one has to print its manual pages: add --targets {host}, \
         or the --program for it"
    )]
    NoneRuns { host: &'static str },
    #[error(
        "{} is no program of a known target ({}): build one for such a target",
        path.display(), Target::ALL.map(Target::triple).join(", ")
    )]
    NoTarget { path: PathBuf },
    #[error("{what} is `{found}`: expected seconds since 1970, below 2^32")]
    Time { what: &'static str, found: String },
    #[error("two programs are for {triple}: name one of each target")]
    SameTarget { triple: &'static str },
    #[error("`{what}` printed something unexpected: {found}")]
    Unexpected { what: &'static str, found: String },
    #[error("the template {} names `{{{{{name}}}}}`, which has no value", path.display())]
    Template { path: PathBuf, name: String },
}

impl Error {
    /// An error of the file system, with its path.
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File {
            path: path.to_owned(),
            source,
        }
    }
}

/// Everything that the formats share.
struct Release {
    /// Of the workspace, without a `v`.
    version: &'static str,
    /// The time of everything in the packages.
    epoch: Epoch,
    /// The folder for finished files.
    out: PathBuf,
    /// A folder for files on their way into a package.
    work: PathBuf,
    /// Manual pages, completion, licences.
    documents: PathBuf,
}

/// Makes all files and prints a table of them.
pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let start = Instant::now();
    debian::install(&NEEDS)?;
    let release = Release::prepare(options)?;
    let programs = programs(options, &release)?;
    let Some(here) = programs.iter().find(|program| program.runs_here()) else {
        return Err(Error::NoneRuns {
            host: Target::HERE.triple(),
        });
    };
    let start_time = here.start_time()?;
    let targets: Vec<Target> = programs.iter().map(|program| program.target).collect();
    let shipped = dependencies::shipped(&targets)?;
    bill::write(&release, &shipped)?;
    licences::write(&release, &shipped)?;
    documents::write(&release, here)?;
    for program in &programs {
        make(&release, program)?;
    }
    npm::make_launcher(&release)?;
    if let Some(url) = &options.url {
        homebrew::make(&release, &programs, url.trim_end_matches('/'))?;
    }
    fs::remove_dir_all(&release.work).map_err(Error::file(&release.work))?;
    checksums::write(&release)?;
    println!("\n{}", checksums::table(&release)?);
    println!(
        "`plimsoll --version` takes {:.1} ms (median); made in {:.0} s",
        start_time.as_secs_f64() * 1e3,
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// Every format with one program.
fn make(release: &Release, program: &Program) -> Result<(), Error> {
    println!(
        "\n== {}: needs glibc {} or newer",
        program.target.triple(),
        program.glibc
    );
    archive::make(release, program)?;
    deb::make(release, program)?;
    npm::make(release, program)?;
    gem::make(release, program)?;
    wheel::make(release, program)?;
    image::make(release, program)
}

fn programs(options: &Options, release: &Release) -> Result<Vec<Program>, Error> {
    let mut programs: Vec<Program> = if options.programs.is_empty() {
        let built = build::all(&options.targets)?;
        built.into_iter().map(Program::read).collect::<Result<_, _>>()?
    } else {
        let stripped = |given: &PathBuf| Program::stripped(given, release);
        options.programs.iter().map(stripped).collect::<Result<_, _>>()?
    };
    // In one order, whatever the caller's is: Homebrew's formula names them all.
    programs.sort_by_key(|program| program.target);
    match programs
        .array_windows()
        .find(|[one, next]| one.target == next.target)
    {
        Some([one, _]) => Err(Error::SameTarget {
            triple: one.target.triple(),
        }),
        None => Ok(programs),
    }
}

impl Release {
    fn prepare(options: &Options) -> Result<Self, Error> {
        let epoch = Epoch::of_release()?;
        let out = repository::root().join(&options.out);
        staging::empty(&out)?;
        let work = out.join("work");
        let release = Self {
            version: env!("CARGO_PKG_VERSION"),
            epoch,
            documents: work.join("documents"),
            out,
            work,
        };
        staging::folder(&release.documents)?;
        Ok(release)
    }

    /// A new, empty folder for the files of one package.
    fn staging(&self, name: &str) -> Result<PathBuf, Error> {
        let folder = self.work.join(name);
        staging::folder(&folder)?;
        Ok(folder)
    }

    /// A tool that makes packages and is told the time of the release.
    fn tool(&self, program: &str) -> Command {
        let mut tool = repository::command(program);
        tool.env(epoch::VARIABLE, self.epoch.to_string());
        tool
    }

    /// A finished file.
    fn artefact(&self, name: &str) -> PathBuf {
        self.out.join(name)
    }
}
