//! The bill of materials: CycloneDX 1.6.

use serde_json::{Value, json};

use super::{Error, Release, checksums, dependencies::Dependency, staging};

/// Writes `plimsoll-0.1.0.cdx.json`. Its number is one of its content, so that the same release has the same bill.
pub(super) fn write(release: &Release, shipped: &[Dependency]) -> Result<(), Error> {
    let components: Vec<_> = shipped.iter().map(component).collect();
    let mut bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": null,
        "version": 1,
        "metadata": {
            "timestamp": release.epoch.rfc3339()?,
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
    let write = |bill: &Value| staging::write(&path, format!("{bill:#}\n").as_bytes(), staging::FILE);
    write(&bill)?;
    bill["serialNumber"] = format!("urn:uuid:{}", uuid(&checksums::of(&path)?)).into();
    write(&bill)
}

/// A UUID of version 8, which is for such uses (RFC 9562, 5.8), with the first digits of a sum in hexadecimal.
fn uuid(sum: &str) -> String {
    format!(
        "{}-{}-8{}-8{}-{}",
        &sum[..8],
        &sum[8..12],
        &sum[12..15],
        &sum[15..18],
        &sum[18..30]
    )
}

fn component(dependency: &Dependency) -> Value {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_becomes_a_uuid() {
        let sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        assert_eq!(uuid(sum), "01234567-89ab-8cde-8f01-23456789abcd");
    }
}
