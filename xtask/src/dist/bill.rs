//! The bill of materials: CycloneDX 1.6.

use serde_json::json;

use super::{Error, Release, dependencies::Dependency, staging};

/// Writes `plimsoll-0.1.0.cdx.json`.
pub(super) fn write(release: &Release, shipped: &[Dependency]) -> Result<(), Error> {
    let components: Vec<_> = shipped.iter().map(component).collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "plimsoll",
                "name": "plimsoll",
                "version": release.version,
                "licenses": [{ "expression": "MIT" }],
            },
        },
        "components": components,
    });
    let path = release.artefact(&format!("plimsoll-{}.cdx.json", release.version));
    staging::write(&path, format!("{bill:#}\n").as_bytes(), staging::FILE)
}

fn component(dependency: &Dependency) -> serde_json::Value {
    let purl = format!("pkg:cargo/{}@{}", dependency.name, dependency.version);
    let mut component = json!({
        "type": "library",
        "bom-ref": &purl,
        "name": &dependency.name,
        "version": &dependency.version,
        // Cargo's old way of writing OR.
        "licenses": [{ "expression": dependency.licence.replace('/', " OR ") }],
        "purl": purl,
    });
    if !dependency.is_from_registry {
        component["pedigree"] = json!({ "notes": "a changed copy: see the folder vendor" });
    }
    component
}
