//! Enums, which are objects at run time: names to values, and numbers back to names.

use oxc_ast::ast::{Expression, IdentifierReference, TSEnumDeclaration, TSEnumMember, TSEnumMemberName};
use oxc_ast_visit::Visit;
use oxc_span::GetSpan;

use super::eraser::{Eraser, Scope};

impl Eraser<'_> {
    /// `enum A { X }` becomes `var A = ((A) => { A[A["X"] = 0] = "X"; return A; })(A || {});`, so that a second
    /// declaration of the same enum adds to it.
    pub(super) fn enumeration<'a>(&mut self, enumeration: &TSEnumDeclaration<'a>) {
        let name = enumeration.id.name.as_str();
        let body = enumeration.body.span;
        let head = format!("var {name} = (({name}) => {{");
        self.edits.replace(enumeration.span.start, body.start + 1, head);
        self.scope = Scope {
            name: name.to_owned(),
            members: Vec::new(),
        };
        let mut previous = None;
        for member in &enumeration.body.members {
            let key = self.key(&member.id);
            self.enum_member(name, &key, member, previous.as_deref());
            self.scope.members.push(member.id.static_name().to_string());
            previous = Some(key);
            let comma = self.find_mark(b',', member.span.end);
            if let Some(comma) = comma.filter(|comma| *comma < body.end) {
                self.edits.blank(comma, comma + 1);
            }
        }
        self.scope = Scope::default();
        let tail = format!("return {name}; }})({name} || {{}});");
        self.edits.replace(body.end - 1, body.end, tail);
    }

    fn enum_member<'a>(&mut self, name: &str, key: &str, member: &TSEnumMember<'a>, previous: Option<&str>) {
        let Some(initializer) = &member.initializer else {
            let value = previous.map_or("0".to_owned(), |previous| format!("{name}[{previous}] + 1"));
            let text = format!("{name}[{name}[{key}] = {value}] = {key};");
            self.edits.replace(member.span.start, member.span.end, text);
            return;
        };
        let start = initializer.span().start;
        self.edits
            .replace(member.span.start, start, format!("{name}[{key}] = "));
        self.visit_expression(initializer);
        let is_string = matches!(
            initializer,
            Expression::StringLiteral(_) | Expression::TemplateLiteral(_)
        );
        let back = if is_string {
            ";".to_owned()
        } else {
            format!("; typeof {name}[{key}] === \"number\" && ({name}[{name}[{key}]] = {key});")
        };
        self.edits.insert(member.span.end, back);
    }

    /// A member's name as a JavaScript string.
    fn key(&self, name: &TSEnumMemberName<'_>) -> String {
        let span = match name {
            TSEnumMemberName::Identifier(name) => return format!("\"{}\"", name.name),
            TSEnumMemberName::String(literal) | TSEnumMemberName::ComputedString(literal) => literal.span,
            TSEnumMemberName::ComputedTemplateString(template) => template.span,
        };
        self.source[span.start as usize..span.end as usize].to_owned()
    }

    pub(super) fn enum_reference(&mut self, reference: &IdentifierReference<'_>) {
        if self
            .scope
            .members
            .iter()
            .any(|member| *member == reference.name.as_str())
        {
            let text = format!("{}.{}", self.scope.name, reference.name);
            self.edits.replace(reference.span.start, reference.span.end, text);
        }
    }
}
