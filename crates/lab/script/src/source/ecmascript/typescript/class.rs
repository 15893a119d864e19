//! Classes: modifiers, members that are only declared, and parameter properties.

use oxc_ast::ast::{
    Class, ClassElement, Expression, Function, FunctionBody, MethodDefinition, MethodDefinitionKind,
    MethodDefinitionType, PropertyDefinition, PropertyDefinitionType, Statement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;

use super::eraser::Eraser;

/// Words before a member's name that say nothing at run time.
const MODIFIERS: [&str; 7] = [
    "public",
    "private",
    "protected",
    "readonly",
    "abstract",
    "override",
    "declare",
];

impl Eraser<'_> {
    pub(super) fn class<'a>(&mut self, class: &Class<'a>) {
        if class.r#abstract
            && let Some(keyword) = self.source[class.span.start as usize..].find("class")
        {
            let end = class.span.start + u32::try_from(keyword).unwrap_or(0);
            self.blank_words(&["abstract"], class.span.start, end);
        }
        if let (Some(first), Some(last)) = (class.implements.first(), class.implements.last()) {
            let before = [
                class.id.as_ref().map(|id| id.span.end),
                class.type_parameters.as_ref().map(|types| types.span.end),
                class
                    .heritage
                    .as_ref()
                    .map(|heritage| heritage.expression.span().end),
                class
                    .heritage
                    .as_ref()
                    .and_then(|heritage| heritage.type_arguments.as_ref())
                    .map(|types| types.span.end),
            ];
            let start = before.into_iter().flatten().max().unwrap_or(class.span.start);
            self.blank_words(&["implements"], start, first.span.start);
            self.edits.blank(first.span.start, last.span.end);
        }
        for decorator in &class.decorators {
            self.visit_decorator(decorator);
        }
        if let Some(types) = &class.type_parameters {
            self.visit_ts_type_parameter_declaration(types);
        }
        if let Some(heritage) = &class.heritage {
            self.visit_class_heritage(heritage);
        }
        self.visit_class_body(&class.body);
    }

    pub(super) fn member<'a>(&mut self, member: &ClassElement<'a>) {
        match member {
            _ if is_declaration(member) => self.edits.blank_statement(member.span()),
            ClassElement::MethodDefinition(method) => self.method(method),
            ClassElement::PropertyDefinition(property) => self.property(property),
            other => walk::walk_class_element(self, other),
        }
    }

    fn method<'a>(&mut self, method: &MethodDefinition<'a>) {
        self.modifiers(method.span.start, method.key.span().start);
        if method.optional {
            self.blank_mark(b'?', method.key.span().end);
        }
        walk::walk_method_definition(self, method);
        if method.kind == MethodDefinitionKind::Constructor {
            self.parameter_properties(&method.value);
        }
    }

    fn property<'a>(&mut self, property: &PropertyDefinition<'a>) {
        let key = property.key.span();
        self.modifiers(property.span.start, key.start);
        if property.optional {
            self.blank_mark(b'?', key.end);
        }
        if property.definite {
            self.blank_mark(b'!', key.end);
        }
        walk::walk_property_definition(self, property);
        self.end_statement(property.span);
    }

    /// The first becomes a semicolon, because without it `["name"]` would go on with the line before.
    fn modifiers(&mut self, start: u32, end: u32) {
        if let Some(first) = self.blank_words(&MODIFIERS, start, end)
            && first == start
        {
            self.edits.insert(first, ";");
        }
    }

    /// `constructor(private name)` sets `this.name`, behind `super(…)` where there is one.
    fn parameter_properties(&mut self, constructor: &Function<'_>) {
        let properties = constructor.params.items.iter().filter(|parameter| {
            parameter.accessibility.is_some() || parameter.readonly || parameter.r#override
        });
        let sets: String = properties
            .filter_map(|parameter| parameter.pattern.get_identifier_name())
            .map(|name| format!(" this.{name} = {name};"))
            .collect();
        if let Some(body) = constructor.body.as_ref().filter(|_| !sets.is_empty()) {
            self.edits.insert(start_of_own_part(body), format!(";{sets}"));
        }
    }
}

fn start_of_own_part(body: &FunctionBody<'_>) -> u32 {
    let is_super = |statement: &&Statement<'_>| {
        let Statement::ExpressionStatement(statement) = statement else {
            return false;
        };
        let Expression::CallExpression(call) = &statement.expression else {
            return false;
        };
        matches!(call.callee, Expression::Super(_))
    };
    let after_directives = body.directives.last().map(|directive| directive.span.end);
    let after_super = body
        .statements
        .iter()
        .find(is_super)
        .map(|statement| statement.span().end);
    after_super.or(after_directives).unwrap_or(body.span.start + 1)
}

/// Whether a member has no effect at run time.
fn is_declaration(member: &ClassElement<'_>) -> bool {
    match member {
        ClassElement::TSIndexSignature(_) => true,
        ClassElement::MethodDefinition(method) => {
            method.r#type == MethodDefinitionType::TSAbstractMethodDefinition || method.value.body.is_none()
        }
        ClassElement::PropertyDefinition(property) => {
            property.declare || property.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition
        }
        ClassElement::AccessorProperty(_) | ClassElement::StaticBlock(_) => false,
    }
}
