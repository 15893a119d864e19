//! What the syntax of a source says: ES module or CommonJS, and what it imports.
//!
//! Syntax comes from a real parser ([decision 6](../../../../docs/decisions/0006-parsing-scripts.md)), so that text in
//! comments, strings and templates is never taken for an import.

mod imports;
mod names;
mod parser;
mod request;
mod top_level_await;
mod typescript;

use std::{io, sync::Arc};

use self::parser::{Language, Parsed};
pub(super) use self::request::Request;
use super::{Location, Platform, Problem, Source, SourceError, SourceKind, Specifier, usage::Usage};

/// A source whose syntax is in order.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) kind: SourceKind,
    /// What the engine gets.
    pub(super) text: Arc<str>,
    pub(super) requests: Vec<Request>,
}

/// Parses the source of the module `name`.
pub(super) fn read(name: &Specifier, source: &Arc<str>, platform: Platform) -> Result<Module, SourceError> {
    parser::with_stack(source.len(), || {
        javascript(name, source).and_then(|text| module(name, source, text, platform))
    })
    .unwrap_or_else(|error| Err(SourceError::without_place(Problem::Parser(error))))
}

/// The names that a module uses. Reads its text once more, because no run needs them.
///
/// # Errors
/// When no thread can be started for the parser.
pub fn usage(source: &Source) -> io::Result<Usage> {
    parser::with_stack(source.text.len(), || {
        parser::with_tree(&source.text, Language::JavaScript, source.kind, |tree| {
            names::find(tree.program(), source.kind)
        })
    })
}

fn javascript(name: &Specifier, source: &Arc<str>) -> Result<Arc<str>, SourceError> {
    if !name.is_typescript() {
        return Ok(engine_text(source));
    }
    let erased = with_tree_of_kind(source, Language::TypeScript, |tree, _| {
        tree.mistake()
            .map_or_else(|| typescript::erase(source, tree.program()), Err)
    });
    erased
        .map(|text| engine_text(&text.into()))
        .map_err(|(problem, offset)| SourceError::at_offset(problem, name, source, offset))
}

fn module(name: &Specifier, source: &str, text: Arc<str>, platform: Platform) -> Result<Module, SourceError> {
    let read = with_tree_of_kind(&text, Language::JavaScript, |tree, kind| match tree.mistake() {
        Some(mistake) => Err(mistake),
        None => Ok((kind, imports::find(name, &text, tree, platform)?)),
    });
    match read {
        Ok((kind, requests)) => Ok(Module { kind, text, requests }),
        Err((problem, offset)) => {
            let location = Location::at(&name.to_string(), &text, offset);
            Err(SourceError::at(problem, location, source))
        }
    }
}

/// As in k6, a file without module syntax is CommonJS. A file with `import` or `export` and a mistake is a module with a
/// mistake, so its error is shown and not that of CommonJS.
fn with_tree_of_kind<T>(text: &str, language: Language, read: impl Fn(&Parsed<'_>, SourceKind) -> T) -> T {
    let as_module = parser::with_tree(text, language, SourceKind::EsModule, |tree| {
        tree.is_module().then(|| read(tree, SourceKind::EsModule))
    });
    as_module.unwrap_or_else(|| {
        parser::with_tree(text, language, SourceKind::CommonJs, |tree| {
            read(tree, SourceKind::CommonJs)
        })
    })
}

/// A hashbang is for the shell; as a comment it is also valid inside of a function.
fn engine_text(source: &Arc<str>) -> Arc<str> {
    match source.strip_prefix("#!") {
        Some(rest) => format!("//{rest}").into(),
        None => Arc::clone(source),
    }
}

#[cfg(test)]
mod tests;
