//! Turns TypeScript into JavaScript in place: types become spaces, so lines and columns do not change.
//!
//! Types are not checked, as in k6. TypeScript's features beyond types are generated in place if they are in common use
//! (enums, parameter properties). Features that load tests do not use (namespaces with values, `import =`, `export =`)
//! are refused.

mod class;
mod edits;
mod enumeration;
mod eraser;
mod function;
mod imports;

use oxc_ast::ast::{
    ArrowFunctionExpression, Class, ClassElement, Declaration, ExportDefaultDeclaration,
    ExportDefaultDeclarationKind, ExportFromDeclaration, ExportNamedDeclaration, ExpressionStatement,
    FormalParameter, Function, IdentifierReference, ImportDeclaration, Program, ReturnStatement, Statement,
    TSAsExpression, TSEnumDeclaration, TSExportAssignment, TSImportEqualsDeclaration, TSNamespaceDeclaration,
    TSNamespaceDeclarationBody, TSNonNullExpression, TSSatisfiesExpression, TSThisParameter,
    TSTypeAnnotation, TSTypeAssertion, TSTypeParameterDeclaration, TSTypeParameterInstantiation,
    ThrowStatement, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;
use oxc_syntax::scope::ScopeFlags;

use self::{
    edits::Edits,
    eraser::{Eraser, Scope},
};
use crate::source::Problem;

/// The JavaScript of a tree without mistakes, or what is refused and its byte.
pub(super) fn erase(source: &str, program: &Program<'_>) -> Result<String, (Problem, usize)> {
    let mut eraser = Eraser {
        source,
        values: imports::values(program),
        types: imports::types(program),
        scope: Scope::default(),
        edits: Edits::default(),
        refused: None,
    };
    eraser.visit_program(program);
    match eraser.refused {
        Some((what, instead, span)) => Err((Problem::TypeScript { what, instead }, span.start as usize)),
        None => Ok(eraser.edits.apply(source)),
    }
}

/// Whether a statement has no effect at run time.
fn is_type(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ExportDeclaration(export) => is_type_declaration(&export.declaration),
        Statement::ExportDefaultDeclaration(export) => match &export.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.body.is_none(),
            _ => false,
        },
        Statement::ExportNamedDeclaration(export) => export.export_kind.is_type(),
        Statement::ExportFromDeclaration(export) => export.export_kind.is_type(),
        Statement::ExportAllDeclaration(export) => export.export_kind.is_type(),
        Statement::ImportDeclaration(import) => import.import_kind.is_type(),
        Statement::TSNamespaceExportDeclaration(_) => true,
        other => other.as_declaration().is_some_and(is_type_declaration),
    }
}

fn is_type_declaration(declaration: &Declaration<'_>) -> bool {
    match declaration {
        Declaration::TSTypeAliasDeclaration(_)
        | Declaration::TSInterfaceDeclaration(_)
        | Declaration::TSExternalModuleDeclaration(_)
        | Declaration::TSGlobalDeclaration(_) => true,
        Declaration::FunctionDeclaration(function) => function.declare || function.body.is_none(),
        Declaration::VariableDeclaration(variables) => variables.declare,
        Declaration::ClassDeclaration(class) => class.declare,
        Declaration::TSEnumDeclaration(enumeration) => enumeration.declare,
        Declaration::TSNamespaceDeclaration(namespace) => namespace.declare || has_only_types(namespace),
        Declaration::TSImportEqualsDeclaration(import) => import.import_kind.is_type(),
    }
}

fn has_only_types(namespace: &TSNamespaceDeclaration<'_>) -> bool {
    match &namespace.body {
        TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => has_only_types(inner),
        TSNamespaceDeclarationBody::TSModuleBlock(block) => block.body.iter().all(is_type),
    }
}

impl<'a> Visit<'a> for Eraser<'_> {
    fn visit_statement(&mut self, statement: &Statement<'a>) {
        if is_type(statement) {
            self.edits.blank_statement(statement.span());
        } else {
            walk::walk_statement(self, statement);
        }
    }

    fn visit_declaration(&mut self, declaration: &Declaration<'a>) {
        walk::walk_declaration(self, declaration);
        if let Declaration::VariableDeclaration(variables) = declaration {
            self.end_statement(variables.span);
        }
    }

    fn visit_expression_statement(&mut self, statement: &ExpressionStatement<'a>) {
        walk::walk_expression_statement(self, statement);
        self.end_statement(statement.span);
    }

    fn visit_return_statement(&mut self, statement: &ReturnStatement<'a>) {
        walk::walk_return_statement(self, statement);
        self.end_statement(statement.span);
    }

    fn visit_throw_statement(&mut self, statement: &ThrowStatement<'a>) {
        walk::walk_throw_statement(self, statement);
        self.end_statement(statement.span);
    }

    fn visit_export_default_declaration(&mut self, export: &ExportDefaultDeclaration<'a>) {
        walk::walk_export_default_declaration(self, export);
        self.end_statement(export.span);
    }

    fn visit_export_from_declaration(&mut self, export: &ExportFromDeclaration<'a>) {
        self.export_names(&export.specifiers);
    }

    fn visit_export_named_declaration(&mut self, export: &ExportNamedDeclaration<'a>) {
        self.export_names(&export.specifiers);
    }

    fn visit_import_declaration(&mut self, import: &ImportDeclaration<'a>) {
        self.import(import);
    }

    fn visit_variable_declarator(&mut self, variable: &VariableDeclarator<'a>) {
        if variable.definite {
            self.blank_mark(b'!', variable.id.span().end);
        }
        walk::walk_variable_declarator(self, variable);
    }

    fn visit_ts_type_annotation(&mut self, annotation: &TSTypeAnnotation<'a>) {
        self.edits.blank(annotation.span.start, annotation.span.end);
    }

    fn visit_ts_type_parameter_declaration(&mut self, parameters: &TSTypeParameterDeclaration<'a>) {
        self.edits.blank(parameters.span.start, parameters.span.end);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, arguments: &TSTypeParameterInstantiation<'a>) {
        self.edits.blank(arguments.span.start, arguments.span.end);
    }

    fn visit_ts_as_expression(&mut self, cast: &TSAsExpression<'a>) {
        self.visit_expression(&cast.expression);
        self.edits.blank(cast.expression.span().end, cast.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, check: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&check.expression);
        self.edits.blank(check.expression.span().end, check.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, assertion: &TSNonNullExpression<'a>) {
        self.visit_expression(&assertion.expression);
        self.edits
            .blank(assertion.expression.span().end, assertion.span.end);
    }

    fn visit_ts_type_assertion(&mut self, cast: &TSTypeAssertion<'a>) {
        self.edits.blank(cast.span.start, cast.expression.span().start);
        self.visit_expression(&cast.expression);
    }

    fn visit_function(&mut self, function: &Function<'a>, flags: ScopeFlags) {
        self.this_parameter(function);
        walk::walk_function(self, function, flags);
    }

    fn visit_ts_this_parameter(&mut self, _: &TSThisParameter<'a>) {}

    fn visit_formal_parameter(&mut self, parameter: &FormalParameter<'a>) {
        self.parameter(parameter);
    }

    fn visit_arrow_function_expression(&mut self, arrow: &ArrowFunctionExpression<'a>) {
        self.arrow(arrow);
    }

    fn visit_class(&mut self, class: &Class<'a>) {
        self.class(class);
    }

    fn visit_class_element(&mut self, member: &ClassElement<'a>) {
        self.member(member);
    }

    fn visit_identifier_reference(&mut self, reference: &IdentifierReference<'a>) {
        self.enum_reference(reference);
    }

    fn visit_ts_enum_declaration(&mut self, enumeration: &TSEnumDeclaration<'a>) {
        self.enumeration(enumeration);
    }

    fn visit_ts_namespace_declaration(&mut self, namespace: &TSNamespaceDeclaration<'a>) {
        self.refuse(
            "a namespace with values",
            "export them from a module of their own",
            namespace.span,
        );
    }

    fn visit_ts_import_equals_declaration(&mut self, import: &TSImportEqualsDeclaration<'a>) {
        self.refuse(
            "import … =",
            "import lib from \"./lib.js\", or const lib = require(\"./lib.js\")",
            import.span,
        );
    }

    fn visit_ts_export_assignment(&mut self, export: &TSExportAssignment<'a>) {
        self.refuse("export =", "export default", export.span);
    }
}

#[cfg(test)]
mod tests;
