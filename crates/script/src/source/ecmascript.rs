//! What the syntax of a source says: ES module or CommonJS, and what it imports.
//!
//! Syntax comes from a real parser ([decision 6](../../../docs/decisions/0006-parsing-scripts.md)), so that text in
//! comments, strings and templates is never taken for an import.

mod imports;
mod parser;

use std::sync::Arc;

use self::parser::Parsed;
use super::{ImportedName, Location, Problem, SourceError, SourceKind, Specifier};

/// A source whose syntax is in order.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) kind: SourceKind,
    /// What the engine gets.
    pub(super) text: Arc<str>,
    pub(super) requests: Vec<Request>,
}

/// A specifier that a source names.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) written: String,
    pub(super) location: Location,
    pub(super) names: Vec<ImportedName>,
    /// `require`, which may never run.
    pub(super) is_require: bool,
}

/// Parses the source of the module `name`.
pub(super) fn read(name: &Specifier, source: &Arc<str>) -> Result<Module, SourceError> {
    parser::with_stack(source.len(), || parse(name, source))
        .unwrap_or_else(|error| Err(SourceError::without_place(Problem::Parser(error))))
}

/// As k6: what is no module by its syntax is CommonJS. What has `import` or `export` and a mistake is a module with a
/// mistake, so the mistake is shown and not what it looks like as CommonJS.
fn parse(name: &Specifier, source: &Arc<str>) -> Result<Module, SourceError> {
    parser::with_tree(source, SourceKind::EsModule, |tree| {
        if !tree.is_module() {
            return None;
        }
        Some(module(name, source, SourceKind::EsModule, tree))
    })
    .unwrap_or_else(|| {
        parser::with_tree(source, SourceKind::CommonJs, |tree| {
            module(name, source, SourceKind::CommonJs, tree)
        })
    })
}

fn module(
    name: &Specifier,
    source: &Arc<str>,
    kind: SourceKind,
    tree: &Parsed<'_>,
) -> Result<Module, SourceError> {
    if let Some((problem, offset)) = tree.mistake() {
        return Err(SourceError::at_offset(problem, name, source, offset));
    }
    let requests = imports::find(name, source, tree)?;
    Ok(Module {
        kind,
        text: engine_text(source),
        requests,
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
