//! The declarations have the names of the engine, and no others.

use std::collections::{BTreeMap, BTreeSet};

use oxc_allocator::Allocator;
use oxc_ast::ast::{Declaration, Statement};
use oxc_parser::Parser;
use oxc_span::SourceType;

use super::declarations;
use crate::Interface;

/// What the declarations say: the values that each module exports, and the globals.
fn declared() -> (BTreeMap<String, BTreeSet<String>>, BTreeSet<String>) {
    let text = declarations();
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, &text, SourceType::d_ts()).parse();
    let errors: Vec<_> = parsed
        .diagnostics
        .errors()
        .map(|error| format!("{error:?}"))
        .collect();
    assert_eq!(errors, Vec::<String>::new());
    let (mut modules, mut globals) = (BTreeMap::new(), BTreeSet::new());
    for statement in &parsed.program.body {
        let Some(declaration) = statement.as_declaration() else {
            continue;
        };
        match declaration {
            Declaration::TSExternalModuleDeclaration(module) => {
                if let Some(block) = &module.body {
                    modules.insert(module.id.value.to_string(), exports(&block.body));
                }
            }
            other => globals.extend(names(other)),
        }
    }
    (modules, globals)
}

fn exports(statements: &[Statement<'_>]) -> BTreeSet<String> {
    let of = |statement: &Statement<'_>| match statement {
        Statement::ExportDeclaration(export) => names(&export.declaration),
        Statement::ExportFromDeclaration(export) => {
            let specifiers = export.specifiers.iter();
            specifiers.map(|one| one.exported.name().to_string()).collect()
        }
        Statement::ExportDefaultDeclaration(_) => vec!["default".to_owned()],
        _ => Vec::new(),
    };
    statements.iter().flat_map(of).collect()
}

/// The values that a declaration names.
fn names(declaration: &Declaration<'_>) -> Vec<String> {
    match declaration {
        Declaration::FunctionDeclaration(function) => {
            function.id.iter().map(|id| id.name.to_string()).collect()
        }
        Declaration::ClassDeclaration(class) => class.id.iter().map(|id| id.name.to_string()).collect(),
        Declaration::VariableDeclaration(variables) => variables
            .declarations
            .iter()
            .flat_map(|variable| variable.id.get_binding_identifiers())
            .map(|id| id.name.to_string())
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn declared_and_real_exports_are_the_same() {
    let (mut declared, _) = declared();
    // Only types, which a script erases.
    assert_eq!(declared.remove("k6/options"), Some(BTreeSet::new()));
    let interface = Interface::read().unwrap();
    let real = interface
        .modules
        .into_iter()
        .map(|(id, members)| (id, members.exports));
    assert_eq!(declared, real.collect());
}

#[test]
fn declared_globals_exist_and_those_beyond_the_language_are_declared() {
    let (_, declared) = declared();
    let real = Interface::read().unwrap().globals;
    assert_eq!(
        declared.difference(&real).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    let runtime = rquickjs::Runtime::new().unwrap();
    let context = rquickjs::Context::full(&runtime).unwrap();
    let of_language: BTreeSet<String> = context
        .with(|ctx| {
            ctx.eval::<Vec<String>, _>("Object.getOwnPropertyNames(globalThis)")
                .unwrap()
        })
        .into_iter()
        .collect();
    let missing: Vec<_> = real
        .difference(&of_language)
        .filter(|name| !declared.contains(*name))
        .collect();
    assert_eq!(missing, Vec::<&String>::new());
}
