//! What a syntax tree imports.

use std::collections::HashMap;

use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, CallExpression, ExportAllDeclaration, ExportFromDeclaration,
    Expression, FormalParameters, Function, ImportDeclaration, ImportDeclarationSpecifier, ImportExpression,
    StaticMemberExpression, StringLiteral, TryStatement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::{parser::Parsed, request::Request};
use crate::source::{ImportedName, Location, Platform, Problem, Specifier};

/// The requests of a module in the order of its text, or what is refused and its byte.
pub(super) fn find(
    name: &Specifier,
    source: &str,
    tree: &Parsed<'_>,
    platform: Platform,
) -> Result<Vec<Request>, (Problem, usize)> {
    let mut finder = Finder {
        file: name.to_string(),
        source,
        platform,
        n_guards: 0,
        n_shadows: 0,
        requests: Vec::new(),
        wholes: HashMap::new(),
        problem: None,
    };
    finder.visit_program(tree.program());
    match finder.problem {
        Some((problem, span)) => Err((problem, span.start as usize)),
        None => Ok(finder.requests),
    }
}

struct Finder<'s> {
    file: String,
    source: &'s str,
    platform: Platform,
    /// How many blocks of `try … catch` are around.
    n_guards: usize,
    /// How many functions are around that have a `require` of their own, as in bundles.
    n_shadows: usize,
    requests: Vec<Request>,
    /// Requests by the local name of their default or namespace.
    wholes: HashMap<String, usize>,
    /// The first thing that is not supported.
    problem: Option<(Problem, Span)>,
}

impl Finder<'_> {
    fn request(&mut self, specifier: &StringLiteral<'_>, is_require: bool, names: Vec<ImportedName>) {
        self.requests.push(Request {
            written: specifier.value.to_string(),
            location: self.location(specifier.span),
            names,
            is_namespace: false,
            is_require,
            is_guarded: self.n_guards > 0,
        });
    }

    /// Notes that the last request is for all exports.
    fn note_namespace(&mut self) {
        if let Some(request) = self.requests.last_mut() {
            request.is_namespace = true;
        }
    }

    fn location(&self, span: Span) -> Location {
        Location::at(&self.file, self.source, span.start as usize)
    }

    fn name(&self, name: &str, span: Span, is_property: bool) -> ImportedName {
        ImportedName {
            name: name.to_owned(),
            location: self.location(span),
            is_property,
        }
    }

    /// Refuses what k6's modules cannot have.
    fn refuse(&mut self, problem: Problem, span: Span) {
        if self.platform == Platform::K6 {
            self.problem.get_or_insert((problem, span));
        }
    }

    fn within_function(&mut self, parameters: &FormalParameters<'_>, walk: impl FnOnce(&mut Self)) {
        let mut names = parameters
            .items
            .iter()
            .map(|item| item.pattern.get_identifier_name());
        let is_shadow = names.any(|name| name.is_some_and(|name| name.as_str() == "require"));
        self.n_shadows += usize::from(is_shadow);
        walk(self);
        self.n_shadows -= usize::from(is_shadow);
    }
}

impl<'a> VisitJs<'a> for Finder<'_> {
    fn visit_import_declaration(&mut self, import: &ImportDeclaration<'a>) {
        if let Some(clause) = &import.with_clause {
            self.refuse(Problem::ImportAttributes, clause.span);
        }
        let (mut names, mut is_namespace) = (Vec::new(), false);
        for specifier in import.specifiers.iter().flatten() {
            match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(named) if named.imported.name() != "default" => {
                    names.push(self.name(&named.imported.name(), named.imported.span(), false));
                }
                whole => {
                    is_namespace |= matches!(whole, ImportDeclarationSpecifier::ImportNamespaceSpecifier(_));
                    self.wholes.insert(whole.name().to_string(), self.requests.len());
                }
            }
        }
        self.request(&import.source, false, names);
        if is_namespace {
            self.note_namespace();
        }
    }

    fn visit_export_from_declaration(&mut self, export: &ExportFromDeclaration<'a>) {
        if let Some(clause) = &export.with_clause {
            self.refuse(Problem::ImportAttributes, clause.span);
        }
        let locals = export.specifiers.iter().map(|specifier| &specifier.local);
        let names = locals
            .filter(|local| local.name() != "default")
            .map(|local| self.name(&local.name(), local.span(), false))
            .collect();
        self.request(&export.source, false, names);
    }

    fn visit_export_all_declaration(&mut self, export: &ExportAllDeclaration<'a>) {
        if let Some(clause) = &export.with_clause {
            self.refuse(Problem::ImportAttributes, clause.span);
        }
        self.request(&export.source, false, Vec::new());
        self.note_namespace();
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        self.refuse(Problem::DynamicImport, import.span);
        if self.platform == Platform::Node
            && let Expression::StringLiteral(specifier) = &import.source
        {
            self.request(specifier, false, Vec::new());
            self.note_namespace();
        }
        walk_js::walk_import_expression(self, import);
    }

    fn visit_try_statement(&mut self, statement: &TryStatement<'a>) {
        let is_guard = usize::from(statement.handler.is_some());
        self.n_guards += is_guard;
        self.visit_block_statement(&statement.block);
        self.n_guards -= is_guard;
        if let Some(handler) = &statement.handler {
            self.visit_catch_clause(handler);
        }
        if let Some(finalizer) = &statement.finalizer {
            self.visit_block_statement(finalizer);
        }
    }

    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        self.within_function(&function.params, |finder| {
            walk_js::walk_function(finder, function, flags);
        });
    }

    fn visit_arrow_function_expression(&mut self, function: &ArrowFunctionExpression<'a>) {
        self.within_function(&function.params, |finder| {
            walk_js::walk_arrow_function_expression(finder, function);
        });
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if let Expression::Identifier(callee) = &call.callee
            && callee.name == "require"
            && (self.platform == Platform::K6 || self.n_shadows == 0)
            && let [Argument::StringLiteral(specifier)] = call.arguments.as_slice()
        {
            self.request(specifier, true, Vec::new());
        }
        walk_js::walk_call_expression(self, call);
    }

    fn visit_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) {
        if let Expression::Identifier(object) = &member.object
            && let Some(&index) = self.wholes.get(object.name.as_str())
            && self.requests[index]
                .names
                .iter()
                .all(|known| known.name != member.property.name.as_str())
        {
            let name = self.name(&member.property.name, member.property.span, true);
            self.requests[index].names.push(name);
        }
        walk_js::walk_static_member_expression(self, member);
    }
}
