//! What the tests need from outside the Rust toolchain, installed only where it is missing.
//!
//! Debian packages bring Node.js, a browser, Redis, NATS, nginx, HAProxy, Prometheus and its Pushgateway, systemd's checks,
//! openssl for certificates, curl and jq for load tests in CI, a real Action Cable and gRPC for Ruby, WebSockets for Python;
//! pip its verifier of NTLM; npm packages the foreign clients, what the Node.js example needs, and the builder of the
//! documents' site.

use std::{fs, io};

use super::{foreign, web};
use crate::{command, debian, debian::Need, repository, site};

/// The folders with a `package-lock.json`, relative to the root of the repository.
const NPM_FOLDERS: [&str; 4] = [foreign::FOLDER, web::FOLDER, site::FOLDER, "examples/apps/node"];

/// `node --test` with all the options that we use.
const MIN_NODE_MAJOR: u32 = 20;

/// What the go.mod of the real k6 asks for: 1.25.
const MIN_GO_MINOR: u32 = 25;

/// A copy of the lock file that `node_modules` was installed from: equal means up to date.
const INSTALLED_LOCK: &str = "node_modules/.installed-lock.json";

/// The folder with the packages of Python that Debian lacks, relative to the root of the repository.
const PYTHON_FOLDER: &str = "tests/foreign/ntlm";

/// The list of those packages, with their hashes; its copy is beside the installed ones.
const PYTHON_LIST: &str = "requirements.txt";

/// What tests start.
const NEEDS: [Need; 21] = [
    Need {
        probes: &[&["node", "--version"]],
        packages: &["nodejs"],
    },
    Need {
        probes: &[&["npm", "--version"]],
        packages: &["npm"],
    },
    Need {
        probes: &[
            &["chromium", "--version"],
            &["chromium-browser", "--version"],
            &["google-chrome", "--version"],
        ],
        packages: &["chromium"],
    },
    Need {
        probes: &[&["puma", "--version"]],
        packages: &["puma"],
    },
    Need {
        probes: &[&["ruby", "-e", "require 'rails'; require 'action_cable/engine'"]],
        packages: &["ruby", "ruby-actioncable", "ruby-railties"],
    },
    Need {
        probes: &[&["redis-server", "--version"]],
        packages: &["redis-server"],
    },
    Need {
        // Users other than root do not have /usr/sbin in their PATH.
        probes: &[&["nginx", "-v"], &["/usr/sbin/nginx", "-v"]],
        packages: &["nginx-light"],
    },
    Need {
        probes: &[&["haproxy", "-v"], &["/usr/sbin/haproxy", "-v"]],
        packages: &["haproxy"],
    },
    Need {
        probes: &[&["nats-server", "--version"]],
        packages: &["nats-server"],
    },
    Need {
        probes: &[&["prometheus", "--version"]],
        packages: &["prometheus"],
    },
    Need {
        probes: &[&["prometheus-pushgateway", "--version"]],
        packages: &["prometheus-pushgateway"],
    },
    Need {
        probes: &[&["systemd-analyze", "--version"]],
        packages: &["systemd"],
    },
    Need {
        probes: &[&["ruby", "-e", "require 'grpc'; require 'redis'"]],
        packages: &["ruby", "ruby-grpc", "ruby-redis"],
    },
    Need {
        probes: &[&["ab", "-V"]],
        packages: &["apache2-utils"],
    },
    Need {
        probes: &[&["openssl", "version"]],
        packages: &["openssl"],
    },
    Need {
        probes: &[&["curl", "--version"]],
        packages: &["curl"],
    },
    Need {
        probes: &[&["jq", "--version"]],
        packages: &["jq"],
    },
    Need {
        probes: &[&["python3", "--version"]],
        packages: &["python3"],
    },
    Need {
        probes: &[&["python3", "-m", "pip", "--version"]],
        packages: &["python3-pip"],
    },
    Need {
        // Another Python may come before Debian's, whose packages are its own.
        probes: &[
            &["python3", "-c", "import websockets, aiohttp"],
            &["/usr/bin/python3", "-c", "import websockets, aiohttp"],
        ],
        packages: &["python3", "python3-websockets", "python3-aiohttp"],
    },
    Need {
        probes: &[
            &["python3", "-c", "import cryptography"],
            &["/usr/bin/python3", "-c", "import cryptography"],
        ],
        packages: &["python3", "python3-cryptography"],
    },
];

/// Why the tests cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Debian(#[from] debian::Error),
    #[error("the tests need Node.js {MIN_NODE_MAJOR} or newer, `node --version` says `{found}`")]
    OldNode { found: String },
    #[error(
        "the tests build the real k6 with Go 1.{MIN_GO_MINOR} or newer, and `go version` says `{found}`: \
         install it from https://go.dev/dl and run `cargo xtask test` again"
    )]
    NoGo { found: String },
    #[error(transparent)]
    Command(#[from] command::Error),
    #[error("cannot read or keep the lists of the packages for npm and pip")]
    Lists(#[from] io::Error),
}

/// Installs what is missing and says what is there.
pub(super) fn run() -> Result<(), Error> {
    debian::install(&NEEDS)?;
    check_node_version()?;
    check_go_version()?;
    install_python_packages()?;
    NPM_FOLDERS.into_iter().try_for_each(install_npm_packages)
}

/// Installs the listed packages of Python into a folder of their own, unless they are there already.
fn install_python_packages() -> Result<(), Error> {
    let path = repository::root().join(PYTHON_FOLDER);
    let list = fs::read(path.join(PYTHON_LIST))?;
    let packages = path.join("packages");
    let installed = packages.join(PYTHON_LIST);
    if fs::read(&installed).is_ok_and(|known| known == list) {
        println!("Python packages of {PYTHON_FOLDER}: up to date");
        return Ok(());
    }
    let mut pip = repository::command("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"])
        .args(["--only-binary", ":all:", "--upgrade", "--requirement"])
        .arg(path.join(PYTHON_LIST))
        .arg("--target")
        .arg(&packages);
    command::run(&mut pip)?;
    fs::write(installed, list)?;
    Ok(())
}

fn check_node_version() -> Result<(), Error> {
    let found = command::read(repository::command("node").arg("--version"))?;
    if node_major(&found).is_some_and(|major| major >= MIN_NODE_MAJOR) {
        println!("Node.js {found}");
        return Ok(());
    }
    Err(Error::OldNode { found })
}

/// `v20.11.1` → 20.
fn node_major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Debian has no Go that is new enough, so that this one is not installed.
fn check_go_version() -> Result<(), Error> {
    let found =
        command::read(repository::command("go").arg("version")).unwrap_or_else(|error| crate::chain(&error));
    if go_minor(&found).is_some_and(|minor| minor >= MIN_GO_MINOR) {
        println!("{found}");
        return Ok(());
    }
    Err(Error::NoGo { found })
}

/// `go version go1.26.8 linux/amd64` → 26.
fn go_minor(version: &str) -> Option<u32> {
    let (_, version) = version.split_once("go1.")?;
    version.split([' ', '.', 'r']).next()?.parse().ok()
}

/// Installs what the lock file of a folder names, unless it is there already.
pub(crate) fn install_npm_packages(folder: &str) -> Result<(), Error> {
    let path = repository::root().join(folder);
    let lock = fs::read(path.join("package-lock.json"))?;
    let installed = path.join(INSTALLED_LOCK);
    if fs::read(&installed).is_ok_and(|known| known == lock) {
        println!("npm packages of {folder}: up to date");
        return Ok(());
    }
    let mut npm = repository::command("npm");
    // No package here has an install script that we need, and none may fetch anything by itself.
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(path);
    command::run(&mut npm)?;
    fs::write(installed, lock)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn node_versions() {
        for (version, expected) in [
            ("v20.11.1", Some(20)),
            ("v8.0.0", Some(8)),
            ("20.1", None),
            ("", None),
        ] {
            assert_eq!(node_major(version), expected, "{version}");
        }
    }

    #[test]
    fn go_versions() {
        for (version, expected) in [
            ("go version go1.26.8 linux/amd64", Some(26)),
            ("go version go1.27rc1 linux/amd64", Some(27)),
            ("go version devel", None),
            ("No such file or directory", None),
        ] {
            assert_eq!(go_minor(version), expected, "{version}");
        }
    }

    #[test]
    fn the_development_container_brings_what_the_tests_need() {
        let read =
            |path: &str| fs::read_to_string(repository::root().join(path)).expect("a file of the repository");
        let container: Value =
            serde_json::from_str(&read(".devcontainer/devcontainer.json")).expect("JSON without comments");
        let toolchain = read("rust-toolchain.toml");
        let channel = toolchain.split('"').nth(1).expect("the channel comes first");
        assert_eq!(container["image"], format!("rust:{channel}-bookworm"));
        let version = |feature: &str| {
            let version =
                &container["features"][format!("ghcr.io/devcontainers/features/{feature}:1")]["version"];
            version.as_str().expect("a feature with a version").to_owned()
        };
        assert!(node_major(&format!("v{}", version("node"))) >= Some(MIN_NODE_MAJOR));
        assert!(go_minor(&format!("go{}", version("go"))) >= Some(MIN_GO_MINOR));
        assert_eq!(container["postCreateCommand"], "cargo xtask test --only setup");
    }
}
