//! The names that a syntax tree uses, with the scopes in which they are declared.

mod exports;
mod guards;
mod literal;
mod members;

use std::collections::{BTreeSet, HashSet};

use oxc_ast::{
    AstKind,
    ast::{AssignmentTarget, IdentifierReference, Program},
};
use oxc_semantic::{AstNode, NodeId, Semantic, SemanticBuilder};
use oxc_span::{GetSpan, Span};
use plimsoll_load::nearest::nearest;

use self::guards::{is_guarded, is_typeof};
use crate::source::{
    SourceKind,
    usage::{FreeName, Usage},
};

/// Names of the global object.
const GLOBAL_OBJECTS: [&str; 2] = ["global", "globalThis"];
/// Functions that run a text.
const EVALUATORS: [&str; 2] = ["eval", "Function"];
/// Names that functions, and the function around a CommonJS module, have without a declaration.
const OF_FUNCTIONS: [&str; 1] = ["arguments"];
const OF_COMMON_JS: [&str; 3] = ["exports", "module", "require"];

/// The names of a module whose syntax is in order.
pub(super) fn find(program: &Program<'_>, kind: SourceKind) -> Usage {
    let semantic = SemanticBuilder::new()
        .with_build_nodes(true)
        .build(program)
        .semantic;
    let mut usage = Usage::default();
    Globals {
        semantic: &semantic,
        kind,
        usage: &mut usage,
        tested: HashSet::new(),
        seen: BTreeSet::new(),
    }
    .find();
    members::find(&semantic, &mut usage);
    exports::find(&semantic, &mut usage);
    usage
}

/// Names that the module takes from the global object, and those that it puts there.
struct Globals<'s, 'a> {
    semantic: &'s Semantic<'a>,
    kind: SourceKind,
    usage: &'s mut Usage,
    /// Names that the module tests for: `typeof name`.
    tested: HashSet<String>,
    seen: BTreeSet<String>,
}

impl<'a> Globals<'_, 'a> {
    fn find(mut self) {
        for node in self.semantic.nodes().iter() {
            match node.kind() {
                AstKind::IdentifierReference(name) if self.semantic.is_reference_to_global_variable(name) => {
                    self.take(node, name);
                }
                AstKind::WithStatement(_) => self.usage.is_open = true,
                // Outside of strict mode, `this` of a function is the global object.
                AstKind::ThisExpression(_) if self.kind == SourceKind::CommonJs => {
                    self.take_object(node.id());
                }
                _ => {}
            }
        }
        let tested = self.tested;
        self.usage.free.retain(|free| !tested.contains(&free.name));
    }

    fn take(&mut self, node: &AstNode<'a>, reference: &IdentifierReference<'a>) {
        let name = reference.name.as_str();
        if GLOBAL_OBJECTS.contains(&name) {
            self.take_object(node.id());
        } else if EVALUATORS.contains(&name) {
            self.usage.is_open = true;
        }
        if self.is_implied(name) {
            return;
        }
        if is_typeof(self.semantic.nodes().parent_kind(node.id())) {
            self.tested.insert(name.to_owned());
            return;
        }
        let scoping = self.semantic.scoping();
        let resolved = scoping.get_reference(reference.reference_id());
        if self.kind == SourceKind::CommonJs && resolved.is_write() {
            self.usage.globals.push(name.to_owned());
        }
        if !self.seen.insert(name.to_owned()) {
            return;
        }
        let visible = scoping
            .scope_ancestors(resolved.scope_id())
            .flat_map(|scope| scoping.get_bindings(scope).values())
            .map(|symbol| scoping.symbol_name(*symbol));
        // Tables have no order, and a suggestion must not change from run to run.
        let visible: BTreeSet<&str> = visible.collect();
        let free = FreeName {
            name: name.to_owned(),
            offset: reference.span.start as usize,
            is_certain: !is_guarded(self.semantic, node.id()),
            nearest: nearest(name, visible).map(str::to_owned),
        };
        self.usage.free.push(free);
    }

    fn is_implied(&self, name: &str) -> bool {
        OF_FUNCTIONS.contains(&name) || self.kind == SourceKind::CommonJs && OF_COMMON_JS.contains(&name)
    }

    /// A use of the global object: it may define a name.
    fn take_object(&mut self, id: NodeId) {
        let nodes = self.semantic.nodes();
        let of_object = nodes.kind(id).span();
        match nodes.parent_kind(id) {
            AstKind::StaticMemberExpression(member) if member.object.span() == of_object => {
                let name = member.property.name.to_string();
                let is_target = match nodes.parent_kind(nodes.parent_id(id)) {
                    AstKind::AssignmentExpression(assignment) => is_target(&assignment.left, member.span()),
                    _ => false,
                };
                if is_target {
                    self.usage.globals.push(name);
                }
            }
            AstKind::ComputedMemberExpression(member) if member.object.span() == of_object => {
                match member.static_property_name() {
                    Some(name) => self.usage.globals.push(name.to_string()),
                    None => self.usage.is_open = true,
                }
            }
            kind if is_typeof(kind) => {}
            _ => self.usage.is_open = true,
        }
    }
}

fn is_target(target: &AssignmentTarget<'_>, span: Span) -> bool {
    target.span() == span
}
