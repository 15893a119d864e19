//! Homebrew's formula, for Linux.

use super::{Error, Release, archive, checksums, program::Program, staging, target::Target, template};

/// Writes `plimsoll.rb` with the archives' checksums; `url` is the folder where they are published.
pub(super) fn make(release: &Release, programs: &[Program], url: &str) -> Result<(), Error> {
    let mut sections = String::new();
    for program in programs {
        let name = archive::name(release, program);
        let sum = checksums::of(&release.artefact(&name))?;
        let block = match program.target {
            Target::X86_64 => "on_intel",
            Target::Aarch64 => "on_arm",
        };
        sections.push_str(&format!(
            "\n  {block} do\n    url \"{url}/{name}\"\n    sha256 \"{sum}\"\n  end\n"
        ));
    }
    let mut values = template::values(release, Target::X86_64).to_vec();
    values.push(("archives", &sections));
    values.push(("url", url));
    let formula = release.artefact("plimsoll.rb");
    template::write("homebrew/plimsoll.rb", &values, &formula, staging::FILE)
}
