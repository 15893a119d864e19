//! Names of other modules: imported ones, and properties of modules imported as a whole.

use std::collections::BTreeMap;

use oxc_ast::{
    AstKind,
    ast::{
        Argument, BindingPattern, CallExpression, Expression, ImportDeclaration, ImportDeclarationSpecifier,
        VariableDeclarator,
    },
};
use oxc_semantic::{NodeId, Semantic, SymbolId};
use oxc_span::{GetSpan, Span};

use super::guards::is_guarded;
use crate::source::usage::{Call, Member, Path, Usage, Whole};

/// Adds the members of all imports and their calls.
pub(super) fn find(semantic: &Semantic<'_>, usage: &mut Usage) {
    for node in semantic.nodes().iter() {
        match node.kind() {
            AstKind::ImportDeclaration(import) => of_import(semantic, import, usage),
            AstKind::VariableDeclarator(declarator) => of_require(semantic, declarator, usage),
            _ => {}
        }
    }
}

/// `const http = require("k6/http")`, or with names in braces.
fn of_require(semantic: &Semantic<'_>, declarator: &VariableDeclarator<'_>, usage: &mut Usage) {
    let Some(Expression::CallExpression(call)) = &declarator.init else {
        return;
    };
    let (Expression::Identifier(callee), [Argument::StringLiteral(module)]) =
        (&call.callee, call.arguments.as_slice())
    else {
        return;
    };
    if callee.name != "require" || !semantic.is_reference_to_global_variable(callee) {
        return;
    }
    let module = module.value.as_str();
    match &declarator.id {
        BindingPattern::BindingIdentifier(whole) => {
            of_whole(semantic, module, whole.symbol_id(), Whole::Namespace, usage);
        }
        BindingPattern::ObjectPattern(pattern) => {
            // One with a default may be missing.
            let plain = pattern.properties.iter().filter(|property| !property.computed);
            for property in plain {
                let (Some(name), BindingPattern::BindingIdentifier(bound)) =
                    (property.key.static_name(), &property.value)
                else {
                    continue;
                };
                let mut uses = semantic.symbol_references(bound.symbol_id());
                usage.members.push(Member {
                    module: module.to_owned(),
                    whole: Whole::Named,
                    written: name.to_string(),
                    name: name.to_string(),
                    offset: property.key.span().start as usize,
                    is_certain: uses.any(|reference| {
                        let id = reference.node_id();
                        fails_without(semantic, id, semantic.nodes().kind(id).span())
                    }),
                });
            }
        }
        _ => {}
    }
}

fn of_import(semantic: &Semantic<'_>, import: &ImportDeclaration<'_>, usage: &mut Usage) {
    let module = import.source.value.as_str();
    for specifier in import.specifiers.iter().flatten() {
        let symbol = specifier.local().symbol_id();
        match specifier {
            ImportDeclarationSpecifier::ImportSpecifier(named) if named.imported.name() != "default" => {
                let name = named.imported.name().to_string();
                for reference in semantic.symbol_references(symbol) {
                    let id = reference.node_id();
                    usage.calls.extend(call(semantic, module, &name, id));
                    if let Some(instance) = instance(semantic, id) {
                        usage.paths.extend(paths(semantic, module, Some(&name), instance));
                    }
                }
                usage.members.push(Member {
                    module: module.to_owned(),
                    whole: Whole::Named,
                    written: name.clone(),
                    name,
                    offset: named.imported.span().start as usize,
                    is_certain: true,
                });
            }
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => {
                of_whole(semantic, module, symbol, Whole::Namespace, usage);
            }
            _ => {
                of_whole(semantic, module, symbol, Whole::Default, usage);
                usage.paths.extend(paths(semantic, module, None, symbol));
            }
        }
    }
}

/// The properties that the module uses of another module.
fn of_whole(semantic: &Semantic<'_>, module: &str, symbol: SymbolId, whole: Whole, usage: &mut Usage) {
    let nodes = semantic.nodes();
    let mut members: BTreeMap<String, Member> = BTreeMap::new();
    for reference in semantic.symbol_references(symbol) {
        let id = reference.node_id();
        let AstKind::StaticMemberExpression(member) = nodes.parent_kind(id) else {
            continue;
        };
        let name = member.property.name.as_str();
        let member_id = nodes.parent_id(id);
        usage.calls.extend(call(semantic, module, name, member_id));
        let offset = member.property.span.start as usize;
        let known = members.entry(name.to_owned()).or_insert_with(|| Member {
            module: module.to_owned(),
            whole,
            name: name.to_owned(),
            offset,
            written: format!("{}.{name}", semantic.scoping().symbol_name(symbol)),
            is_certain: true,
        });
        known.is_certain &= fails_without(semantic, member_id, member.span());
        known.offset = known.offset.min(offset);
    }
    usage.members.extend(members.into_values());
}

/// The longest path of names that is followed.
const MOST_NAMES: usize = 2;

/// The paths that begin with a variable: with an instance of the class, or with the default export of the module. The first
/// names of the latter are members.
fn paths(semantic: &Semantic<'_>, module: &str, class: Option<&str>, variable: SymbolId) -> Vec<Path> {
    let nodes = semantic.nodes();
    let least = if class.is_some() { 1 } else { MOST_NAMES };
    let mut paths: BTreeMap<Vec<String>, Path> = BTreeMap::new();
    for reference in semantic.symbol_references(variable) {
        let (mut id, mut names) = (reference.node_id(), Vec::new());
        while names.len() < MOST_NAMES
            && let AstKind::StaticMemberExpression(member) = nodes.parent_kind(id)
        {
            id = nodes.parent_id(id);
            names.push(member.property.name.to_string());
            if names.len() < least {
                continue;
            }
            let offset = member.property.span.start as usize;
            let known = paths.entry(names.clone()).or_insert_with(|| Path {
                module: module.to_owned(),
                class: class.map(str::to_owned),
                names: names.clone(),
                offset,
                written: format!("{}.{}", semantic.scoping().symbol_name(variable), names.join(".")),
                is_certain: true,
            });
            known.is_certain &= fails_without(semantic, id, member.span());
            known.offset = known.offset.min(offset);
        }
    }
    paths.into_values().collect()
}

/// The variable that keeps `new Name()`, where the node is the name, unless the variable ever gets another value.
fn instance(semantic: &Semantic<'_>, name: NodeId) -> Option<SymbolId> {
    let nodes = semantic.nodes();
    let AstKind::NewExpression(new) = nodes.parent_kind(name) else {
        return None;
    };
    let AstKind::VariableDeclarator(declarator) = nodes.parent_kind(nodes.parent_id(name)) else {
        return None;
    };
    let BindingPattern::BindingIdentifier(variable) = &declarator.id else {
        return None;
    };
    let is_its_class = new.callee.span() == nodes.kind(name).span();
    let variable = variable.symbol_id();
    (is_its_class && !semantic.scoping().symbol_is_mutated(variable)).then_some(variable)
}

/// Whether the use of a property at this node throws if the property is undefined, and nothing handles the exception.
fn fails_without(semantic: &Semantic<'_>, id: NodeId, span: Span) -> bool {
    let is_used = match semantic.nodes().parent_kind(id) {
        AstKind::CallExpression(call) => !call.optional && call.callee.span() == span,
        AstKind::NewExpression(new) => new.callee.span() == span,
        AstKind::StaticMemberExpression(of) => !of.optional,
        AstKind::ComputedMemberExpression(of) => !of.optional && of.object.span() == span,
        _ => false,
    };
    is_used && !is_guarded(semantic, id)
}

/// The call whose function is this node.
fn call(semantic: &Semantic<'_>, module: &str, name: &str, function: NodeId) -> Option<Call> {
    let nodes = semantic.nodes();
    let AstKind::CallExpression(call) = nodes.parent_kind(function) else {
        return None;
    };
    let is_it = call.callee.span() == nodes.kind(function).span();
    (is_it && !spreads(call) && !is_guarded(semantic, function)).then(|| Call {
        module: module.to_owned(),
        name: name.to_owned(),
        n_arguments: call.arguments.len(),
        offset: start(&call.callee),
    })
}

fn spreads(call: &CallExpression<'_>) -> bool {
    call.arguments.iter().any(Argument::is_spread)
}

/// The place of the name that is called: `get` in `http.get()`.
fn start(callee: &Expression<'_>) -> usize {
    let span = match callee {
        Expression::StaticMemberExpression(member) => member.property.span,
        other => other.span(),
    };
    span.start as usize
}
