//! Imports that are only types.
//!
//! A module such as `k6/options` has nothing but types, and does not exist at run time. So, as in esbuild, an imported
//! name that is nowhere used as a value is not imported.

use std::collections::HashSet;

use oxc_ast::ast::{
    Declaration, ExportSpecifier, IdentifierReference, ImportDeclaration, ImportDeclarationSpecifier,
    Program, Statement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};

use super::eraser::Eraser;

/// Names that are used as values anywhere in the module, without resolving what they refer to.
pub(super) fn values(program: &Program<'_>) -> HashSet<String> {
    let mut search = Values(HashSet::new());
    search.visit_program(program);
    search.0
}

/// Names of the types that the module declares, and of no value.
pub(super) fn types(program: &Program<'_>) -> HashSet<String> {
    let declarations = program.body.iter().filter_map(|statement| match statement {
        Statement::ExportDeclaration(export) => Some(&export.declaration),
        other => other.as_declaration(),
    });
    let names = declarations.filter_map(|declaration| match declaration {
        Declaration::TSTypeAliasDeclaration(alias) => Some(alias.id.name.to_string()),
        Declaration::TSInterfaceDeclaration(interface) => Some(interface.id.name.to_string()),
        _ => None,
    });
    names.collect()
}

struct Values(HashSet<String>);

impl<'a> VisitJs<'a> for Values {
    fn visit_identifier_reference(&mut self, reference: &IdentifierReference<'a>) {
        self.0.insert(reference.name.to_string());
    }

    fn visit_export_specifier(&mut self, specifier: &ExportSpecifier<'a>) {
        if !specifier.export_kind.is_type() {
            walk_js::walk_export_specifier(self, specifier);
        }
    }
}

impl Eraser<'_> {
    pub(super) fn import(&mut self, import: &ImportDeclaration<'_>) {
        let Some(specifiers) = import
            .specifiers
            .as_deref()
            .filter(|specifiers| !specifiers.is_empty())
        else {
            return;
        };
        let is_value = |specifier: &ImportDeclarationSpecifier<'_>| {
            let is_type = matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(named) if named.import_kind.is_type());
            !is_type && self.values.contains(specifier.name().as_str())
        };
        let is_kept: Vec<bool> = specifiers.iter().map(is_value).collect();
        if !is_kept.contains(&true) {
            self.edits.blank_statement(import.span);
            return;
        }
        for (index, specifier) in specifiers.iter().enumerate() {
            if !is_kept[index] {
                let before = index.checked_sub(1).and_then(|index| specifiers.get(index));
                self.drop_specifier(before, specifier);
            }
        }
    }

    fn drop_specifier(
        &mut self,
        before: Option<&ImportDeclarationSpecifier<'_>>,
        specifier: &ImportDeclarationSpecifier<'_>,
    ) {
        let span = specifier.span();
        match (specifier, before) {
            (ImportDeclarationSpecifier::ImportNamespaceSpecifier(_), Some(before)) => {
                self.edits.blank(before.span().end, span.end);
            }
            _ => self.blank_with_comma(span),
        }
    }

    /// With the comma behind it, if there is one; the comma before it may stay when a bracket follows.
    fn blank_with_comma(&mut self, span: Span) {
        let bracket = self.find_mark(b'}', span.end);
        let comma = self.find_mark(b',', span.end);
        let comma = comma.filter(|comma| bracket.is_none_or(|bracket| *comma < bracket));
        self.edits
            .blank(span.start, comma.map_or(span.end, |comma| comma + 1));
    }

    pub(super) fn export_names(&mut self, specifiers: &[ExportSpecifier<'_>]) {
        for specifier in specifiers {
            let name = specifier.local.name();
            if specifier.export_kind.is_type() || self.types.contains(name.as_str()) {
                self.blank_with_comma(specifier.span);
            }
        }
    }
}
