//! An image in the layout of the OCI image specification, as one tar file: `docker load`, `podman load` and `skopeo copy
//! oci-archive:…` read it. It holds the program, the C library of this machine, certificates, and nothing else.

use std::{fs, os::unix::fs::symlink, path::Path};

use serde_json::{Value, json};

use super::{Error, Release, archive, checksums, documents, program::Program, staging, target::Target};
use crate::{command, repository};

/// The user and group without rights that distroless images have made customary.
const UNPRIVILEGED: &str = "65532";

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Makes the image, for the architecture of this machine only: its C library is the one that is here.
pub(super) fn make(release: &Release, program: &Program) -> Result<(), Error> {
    if program.target != Target::HERE {
        println!(
            "no image for {}: its C library is not on this machine",
            program.target.triple()
        );
        return Ok(());
    }
    let name = format!("plimsoll-{}-{}.oci.tar", release.version, program.target.debian());
    let root = release.staging("image-root")?;
    files(release, program, &root)?;
    let layout = release.staging("image")?;
    write_layout(release, program, &root, &layout)?;
    let contents = ["oci-layout", "index.json", "blobs"];
    archive::pack(release, &layout, &contents, &release.artefact(&name))
}

/// What the container will see.
fn files(release: &Release, program: &Program, root: &Path) -> Result<(), Error> {
    staging::copy(&program.path, &root.join("usr/bin/plimsoll"), staging::PROGRAM)?;
    // As `k6` it takes the calls of the k6 operator.
    let k6 = root.join("usr/bin/k6");
    symlink("plimsoll", &k6).map_err(Error::file(&k6))?;
    for library in libraries(program)? {
        let to = root.join(library.trim_start_matches('/'));
        staging::copy(Path::new(&library), &to, staging::PROGRAM)?;
    }
    let certificates = "etc/ssl/certs/ca-certificates.crt";
    staging::copy(
        &Path::new("/").join(certificates),
        &root.join(certificates),
        staging::FILE,
    )?;
    let users = format!(
        "root:x:0:0:root:/:/sbin/nologin\nplimsoll:x:{UNPRIVILEGED}:{UNPRIVILEGED}:plimsoll:/:/sbin/nologin\n"
    );
    staging::write(&root.join("etc/passwd"), users.as_bytes(), staging::FILE)?;
    let groups = format!("root:x:0:\nplimsoll:x:{UNPRIVILEGED}:\n");
    staging::write(&root.join("etc/group"), groups.as_bytes(), staging::FILE)?;
    // Names of hosts: files first, as everywhere.
    staging::write(
        &root.join("etc/nsswitch.conf"),
        b"hosts: files dns\n",
        staging::FILE,
    )?;
    documents::copy_licences(release, &root.join("usr/share/doc/plimsoll"))?;
    // Histories, reports and scripts of those who run load from the image; a volume in most cases.
    staging::folder(&root.join("work"))
}

/// The loader and the libraries that the program is linked to, as `ldd` finds them.
fn libraries(program: &Program) -> Result<Vec<String>, Error> {
    let listing = command::read(repository::command("ldd").arg(&program.path))?;
    let mut found = paths(&listing);
    let loader = program.target.loader();
    if !found.iter().any(|path| path == loader) {
        found.push(loader.to_owned());
    }
    Ok(found)
}

/// `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)` → its path.
fn paths(listing: &str) -> Vec<String> {
    let path = |line: &str| {
        let line = line.split(" => ").last()?.trim();
        let path = line.split(" (").next()?;
        path.starts_with('/').then(|| path.to_owned())
    };
    listing.lines().filter_map(path).collect()
}

/// The files of an OCI layout: the layer, its configuration, a manifest, an index.
fn write_layout(release: &Release, program: &Program, root: &Path, layout: &Path) -> Result<(), Error> {
    let packed = release.work.join("layer.tar");
    archive::pack(release, root, &["."], &packed)?;
    let content = checksums::of(&packed)?;
    archive::compress(&packed)?;
    let packed = release.work.join("layer.tar.gz");
    let packed = fs::read(&packed).map_err(Error::file(&packed))?;
    let layer = blob(layout, LAYER, &packed, release)?;
    let created = release.epoch.rfc3339()?;
    let config = json!({
        "created": &created,
        "architecture": program.target.debian(),
        "os": "linux",
        "config": {
            "User": format!("{UNPRIVILEGED}:{UNPRIVILEGED}"),
            "Env": ["PATH=/usr/bin"],
            "Entrypoint": ["/usr/bin/plimsoll"],
            "Cmd": ["serve", "--host", "0.0.0.0"],
            "WorkingDir": "/work",
            "ExposedPorts": { "8080/tcp": {}, "9091/tcp": {} },
            "Labels": {
                "org.opencontainers.image.created": &created,
                "org.opencontainers.image.title": "plimsoll",
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.revision": repository::revision(),
                "org.opencontainers.image.licenses": "MIT",
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{content}")] },
    });
    let config = blob(layout, CONFIG, config.to_string().as_bytes(), release)?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config,
        "layers": [layer],
    });
    let mut manifest = blob(layout, MANIFEST, manifest.to_string().as_bytes(), release)?;
    manifest["annotations"] = json!({
        "org.opencontainers.image.ref.name": release.version,
        "io.containerd.image.name": format!("docker.io/library/plimsoll:{}", release.version),
    });
    let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    staging::write(
        &layout.join("index.json"),
        index.to_string().as_bytes(),
        staging::FILE,
    )?;
    let version = json!({ "imageLayoutVersion": "1.0.0" }).to_string();
    staging::write(&layout.join("oci-layout"), version.as_bytes(), staging::FILE)
}

/// Writes content under its digest, and returns its descriptor.
fn blob(layout: &Path, media_type: &str, content: &[u8], release: &Release) -> Result<Value, Error> {
    let path = release.work.join("blob");
    staging::write(&path, content, staging::FILE)?;
    let digest = checksums::of(&path)?;
    staging::copy(&path, &layout.join("blobs/sha256").join(&digest), staging::FILE)?;
    Ok(json!({ "mediaType": media_type, "digest": format!("sha256:{digest}"), "size": content.len() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_read_from_ldd() {
        let listing = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                       \tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f2a)\n\
                       \t/lib64/ld-linux-x86-64.so.2 (0x00007f2b)\n";
        assert_eq!(
            paths(listing),
            ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"]
        );
    }
}
