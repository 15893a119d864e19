//! Functions: optional parameters, `this`, and types over several lines.

use oxc_ast::ast::{ArrowFunctionExpression, FormalParameter, FormalParameters, Function};
use oxc_ast_visit::walk;
use oxc_span::GetSpan;

use super::eraser::Eraser;

impl Eraser<'_> {
    /// `this` is no parameter at run time.
    pub(super) fn this_parameter(&mut self, function: &Function<'_>) {
        let Some(this) = &function.this_param else {
            return;
        };
        let params = &function.params;
        let first = params.items.first().map(|item| item.span.start);
        let rest = params.rest.as_ref().map(|rest| rest.span.start);
        let next = first.or(rest);
        // A comma may follow even the last one.
        let comma = self
            .find_mark(b',', this.span.end)
            .filter(|comma| *comma < params.span.end);
        let end = next.or(comma.map(|comma| comma + 1)).unwrap_or(this.span.end);
        self.edits.blank(this.span.start, end);
    }

    pub(super) fn parameter<'a>(&mut self, parameter: &FormalParameter<'a>) {
        let pattern = parameter.pattern.span();
        if parameter.accessibility.is_some() || parameter.readonly || parameter.r#override {
            let words = ["public", "private", "protected", "readonly", "override"];
            self.blank_words(&words, parameter.span.start, pattern.start);
        }
        if parameter.optional {
            self.blank_mark(b'?', pattern.end);
        }
        walk::walk_formal_parameter(self, parameter);
    }

    /// A line break may neither be before `=>` nor behind `async`: the bracket moves over the type.
    pub(super) fn arrow<'a>(&mut self, arrow: &ArrowFunctionExpression<'a>) {
        let params: &FormalParameters<'_> = &arrow.params;
        if let Some(types) = &arrow.type_parameters
            && arrow.r#async
            && self.is_multi_line(types.span)
        {
            self.edits.insert(types.span.start, "(");
            self.edits.blank(params.span.start, params.span.start + 1);
        }
        if let Some(result) = &arrow.return_type
            && self.is_multi_line(result.span)
        {
            self.edits.blank(params.span.end - 1, params.span.end);
            walk::walk_arrow_function_expression(self, arrow);
            self.edits.insert(result.span.end, ")");
        } else {
            walk::walk_arrow_function_expression(self, arrow);
        }
    }
}
