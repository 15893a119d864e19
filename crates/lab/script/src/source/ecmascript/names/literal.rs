//! The places of keys in the literal of `options`.

use oxc_ast::{
    AstKind,
    ast::{Expression, ObjectExpression, ObjectPropertyKind},
};
use oxc_semantic::{Semantic, SymbolId};
use oxc_span::GetSpan;

use crate::source::usage::Literal;

/// The literal of the variable `options`; `None` if its value is no literal of an object.
pub(super) fn find(semantic: &Semantic<'_>, symbol: SymbolId) -> Option<Literal> {
    let AstKind::VariableDeclarator(variable) = semantic.symbol_declaration(symbol).kind() else {
        return None;
    };
    let Some(Expression::ObjectExpression(object)) = &variable.init else {
        return None;
    };
    let is_touched = semantic.symbol_references(symbol).any(|reference| {
        !matches!(
            semantic.nodes().parent_kind(reference.node_id()),
            AstKind::ExportSpecifier(_)
        )
    });
    let mut literal = Literal {
        offset: object.span.start as usize,
        has_fixed_scenarios: !is_touched && has_fixed_scenarios(object),
        ..Literal::default()
    };
    add_object(object, "", &mut literal);
    Some(literal)
}

fn add(value: &Expression<'_>, path: &str, literal: &mut Literal) {
    match value {
        Expression::ObjectExpression(object) => add_object(object, path, literal),
        Expression::ArrayExpression(array) => {
            for (index, element) in array.elements.iter().enumerate() {
                let path = format!("{path}[{index}]");
                let offset = element.span().start as usize;
                literal.places.insert(path.clone(), offset);
                if let Some(value) = element.as_expression() {
                    add(value, &path, literal);
                }
            }
        }
        _ => {}
    }
}

fn add_object(object: &ObjectExpression<'_>, path: &str, literal: &mut Literal) {
    for property in &object.properties {
        let ObjectPropertyKind::ObjectProperty(property) = property else {
            continue;
        };
        let Some(name) = property.key.static_name() else {
            continue;
        };
        let dot = if path.is_empty() { "" } else { "." };
        let path = format!("{path}{dot}{name}");
        let offset = property.key.span().start as usize;
        literal.places.insert(path.clone(), offset);
        add(&property.value, &path, literal);
    }
}

/// Whether the text has every scenario and its `exec`.
fn has_fixed_scenarios(options: &ObjectExpression<'_>) -> bool {
    let Some(Expression::ObjectExpression(scenarios)) = property(options, "scenarios") else {
        return false;
    };
    is_plain(options)
        && is_plain(scenarios)
        && scenarios.properties.iter().all(|scenario| match scenario {
            ObjectPropertyKind::ObjectProperty(scenario) => has_fixed_exec(&scenario.value),
            ObjectPropertyKind::SpreadProperty(_) => false,
        })
}

fn has_fixed_exec(scenario: &Expression<'_>) -> bool {
    let Expression::ObjectExpression(keys) = scenario else {
        return false;
    };
    is_plain(keys) && property(keys, "exec").is_none_or(|exec| matches!(exec, Expression::StringLiteral(_)))
}

/// Whether all keys stand in the text.
fn is_plain(object: &ObjectExpression<'_>) -> bool {
    object.properties.iter().all(|property| match property {
        ObjectPropertyKind::ObjectProperty(property) => property.key.static_name().is_some(),
        ObjectPropertyKind::SpreadProperty(_) => false,
    })
}

fn property<'o, 'a>(object: &'o ObjectExpression<'a>, name: &str) -> Option<&'o Expression<'a>> {
    object.properties.iter().find_map(|property| match property {
        ObjectPropertyKind::ObjectProperty(property)
            if property.key.static_name().as_deref() == Some(name) =>
        {
            Some(&property.value)
        }
        _ => None,
    })
}
