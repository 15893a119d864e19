//! Code around a name that handles its absence.

use oxc_ast::AstKind;
use oxc_semantic::{NodeId, Semantic};
use oxc_span::GetSpan;
use oxc_syntax::operator::UnaryOperator;

/// Whether this is `typeof …`.
pub(super) fn is_typeof(kind: AstKind<'_>) -> bool {
    matches!(kind, AstKind::UnaryExpression(unary) if unary.operator == UnaryOperator::Typeof)
}

/// Whether an exception at this node has a handler in the text around it, in the same function or outside of it.
pub(super) fn is_guarded(semantic: &Semantic<'_>, id: NodeId) -> bool {
    let nodes = semantic.nodes();
    let span = nodes.kind(id).span();
    nodes.ancestor_kinds(id).any(|kind| {
        matches!(kind, AstKind::TryStatement(statement)
            if statement.handler.is_some() && statement.block.span.contains_inclusive(span))
    })
}
