//! Whether a module waits outside of its functions.

use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, ForOfStatement, Function, Program, PropertyDefinition,
    StaticBlock, VariableDeclaration,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_syntax::scope::ScopeFlags;

/// Whether there is an `await` that belongs to the module itself.
pub(super) fn awaits_outside_of_functions(program: &Program<'_>) -> bool {
    let mut search = TopLevelAwait { is_found: false };
    search.visit_program(program);
    search.is_found
}

struct TopLevelAwait {
    is_found: bool,
}

impl<'a> VisitJs<'a> for TopLevelAwait {
    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.is_found = true;
    }

    fn visit_for_of_statement(&mut self, statement: &ForOfStatement<'a>) {
        self.is_found |= statement.r#await;
        walk_js::walk_for_of_statement(self, statement);
    }

    fn visit_variable_declaration(&mut self, declaration: &VariableDeclaration<'a>) {
        self.is_found |= declaration.kind.is_await();
        walk_js::walk_variable_declaration(self, declaration);
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}

    fn visit_property_definition(&mut self, _: &PropertyDefinition<'a>) {}

    fn visit_static_block(&mut self, _: &StaticBlock<'a>) {}
}
