//! What a module exports, by name.

use std::collections::BTreeMap;

use oxc_ast::ast::{
    BindingIdentifier, Declaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind, ExportSpecifier,
    Expression, Statement,
};
use oxc_semantic::{Semantic, SymbolId};
use oxc_span::GetSpan;

use super::literal;
use crate::source::usage::{Export, Usage};

/// Adds the exports, and the literal of `options`.
pub(super) fn find(semantic: &Semantic<'_>, usage: &mut Usage) {
    let mut exports = Exports {
        semantic,
        by_name: BTreeMap::new(),
        is_open: false,
        options: None,
    };
    for statement in &semantic.nodes().program().body {
        exports.add(statement);
    }
    if let Some(symbol) = exports.options {
        usage.options = literal::find(semantic, symbol);
    }
    usage.exports = (!exports.is_open).then_some(exports.by_name);
}

struct Exports<'s, 'a> {
    semantic: &'s Semantic<'a>,
    by_name: BTreeMap<String, Export>,
    is_open: bool,
    /// The variable that is exported as `options`.
    options: Option<SymbolId>,
}

impl<'a> Exports<'_, 'a> {
    fn add(&mut self, statement: &Statement<'a>) {
        match statement {
            Statement::ExportAllDeclaration(all) => match &all.exported {
                Some(name) => self.insert(&name.name(), name.span().start, false),
                None => self.is_open = true,
            },
            Statement::ExportDefaultDeclaration(default) => self.default(default),
            Statement::ExportDeclaration(export) => self.declaration(&export.declaration),
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    self.specifier(specifier);
                }
            }
            Statement::ExportFromDeclaration(export) => {
                for specifier in &export.specifiers {
                    let exported = &specifier.exported;
                    self.insert(&exported.name(), exported.span().start, false);
                }
            }
            _ => {}
        }
    }

    fn default(&mut self, default: &ExportDefaultDeclaration<'a>) {
        let is_idle_function = match &default.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                let id = function.id.as_ref();
                id.is_none_or(|id| self.is_unused(id.symbol_id()))
            }
            other => other.as_expression().is_some_and(is_function),
        };
        self.insert("default", default.span.start, is_idle_function);
    }

    fn declaration(&mut self, declaration: &Declaration<'a>) {
        match declaration {
            Declaration::FunctionDeclaration(function) => {
                if let Some(id) = &function.id {
                    self.binding(id, true);
                }
            }
            Declaration::ClassDeclaration(class) => {
                if let Some(id) = &class.id {
                    self.binding(id, false);
                }
            }
            Declaration::VariableDeclaration(variables) => {
                for variable in &variables.declarations {
                    let is_function = variable.init.as_ref().is_some_and(is_function);
                    for id in variable.id.get_binding_identifiers() {
                        self.binding(id, is_function);
                    }
                }
            }
            _ => {}
        }
    }

    fn binding(&mut self, id: &BindingIdentifier<'a>, is_function: bool) {
        let is_idle_function = is_function && self.is_unused(id.symbol_id());
        self.insert(id.name.as_str(), id.span.start, is_idle_function);
        if id.name == "options" {
            self.options = Some(id.symbol_id());
        }
    }

    /// An export of a name that is declared elsewhere in the module.
    fn specifier(&mut self, specifier: &ExportSpecifier<'a>) {
        let exported = specifier.exported.name();
        self.insert(&exported, specifier.exported.span().start, false);
        if exported == "options" {
            let local = specifier.local.name();
            let scoping = self.semantic.scoping();
            let mut bindings = scoping.get_bindings(scoping.root_scope_id()).values().copied();
            self.options = bindings.find(|symbol| scoping.symbol_name(*symbol) == local.as_str());
        }
    }

    fn insert(&mut self, name: &str, start: u32, is_idle_function: bool) {
        let export = Export {
            offset: start as usize,
            is_idle_function,
        };
        self.by_name.insert(name.to_owned(), export);
    }

    fn is_unused(&self, symbol: SymbolId) -> bool {
        let scoping = self.semantic.scoping();
        scoping.get_resolved_reference_ids(symbol).is_empty()
    }
}

fn is_function(expression: &Expression<'_>) -> bool {
    matches!(
        expression,
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
    )
}
