//! Names that sources take from Node's modules, as far as their text says.

use std::io;

use crate::source::{Excerpt, Resolved, Source, Sources, usage::Whole, usage_of};

/// One name.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// The module's name in a runtime.
    pub(crate) module: String,
    /// The name there.
    pub(crate) name: String,
    /// The text for people: `fs.writeFileSync`.
    pub(crate) written: String,
    /// Whether the source fails without it.
    pub(crate) is_certain: bool,
    /// Where it stands.
    pub(crate) place: Excerpt,
}

/// All of them, in the order of their places. Packages are left out: their authors check them.
///
/// # Errors
/// When no thread can be started for the parser.
pub(crate) fn all(sources: &Sources) -> io::Result<Vec<Taken>> {
    let mut all = Vec::new();
    for source in &sources.modules {
        let is_own = !source.specifier.is_remote() && !source.specifier.is_of_package();
        if is_own
            && source
                .imports
                .iter()
                .any(|import| id_of(&import.resolved).is_some())
        {
            of_source(source, &mut all)?;
        }
    }
    all.sort_by_key(|taken| {
        let place = &taken.place.location;
        (place.file.clone(), place.line, place.column)
    });
    Ok(all)
}

fn of_source(source: &Source, all: &mut Vec<Taken>) -> io::Result<()> {
    for member in usage_of(source)?.members {
        let mut imports = source.imports.iter();
        let import = imports.find(|import| import.written == member.module);
        let Some(module) = import.and_then(|import| id_of(&import.resolved)) else {
            continue;
        };
        if member.whole == Whole::Namespace && member.name == "default" {
            continue;
        }
        all.push(Taken {
            module: module.to_owned(),
            name: member.name,
            written: member.written,
            is_certain: member.is_certain,
            place: Excerpt::new(source.place(member.offset), &source.original),
        });
    }
    Ok(())
}

/// The name of a module of Node's.
fn id_of(resolved: &Resolved) -> Option<&str> {
    match resolved {
        Resolved::Builtin(id) if id.starts_with("node:") => Some(id),
        _ => None,
    }
}
