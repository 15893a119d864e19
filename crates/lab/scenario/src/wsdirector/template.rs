//! Variables of the environment in a file. wsdirector runs its files through ERB, a template language with all of Ruby;
//! here the forms that name a variable are replaced, and others are mistakes.

use crate::document::{Mistake, Mistakes, Place};

/// What can be written, for error texts.
const EXPECTED: &str = "expected <%= ENV[\"NAME\"] %>, <%= ENV[\"NAME\"] || \"default\" %> or \
                        <%= ENV.fetch(\"NAME\", \"default\") %>; Ruby code is not supported";

/// The text with values in place of its `<%= … %>`; `variable` looks up the environment. Comments (`<%# … %>`) are
/// removed, and `<%%` becomes `<%`.
///
/// # Errors
/// Any other tag, and unset variables without a default.
pub fn fill_in(
    name: &str,
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Mistakes> {
    let (mut filled, mut mistakes) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find("<%") {
        filled.push_str(&rest[..start]);
        let tag = &rest[start..];
        if let Some(behind) = tag.strip_prefix("<%%") {
            filled.push_str("<%");
            rest = behind;
            continue;
        }
        let place = place_of(text, text.len() - tag.len());
        let mistake = |problem: String| Mistake {
            place,
            path: String::new(),
            problem,
        };
        // Behind `<%`, so that the `%` of `<%>` does not end it.
        let Some(end) = tag[2..].find("%>").map(|end| end + 2) else {
            mistakes.push(mistake(format!("`<%` without `%>`: {EXPECTED}")));
            rest = "";
            break;
        };
        match value(&tag[2..end], variable) {
            Ok(value) => filled.push_str(&value),
            Err(problem) => mistakes.push(mistake(problem)),
        }
        rest = &tag[end + 2..];
    }
    filled.push_str(rest);
    match mistakes.as_slice() {
        [] => Ok(filled),
        _ => Err(Mistakes::new(name, mistakes)),
    }
}

/// The value of a tag, given without its delimiters.
fn value(tag: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    if tag.starts_with('#') {
        return Ok(String::new());
    }
    let tag = tag.strip_suffix('-').unwrap_or(tag);
    let wanted = tag.strip_prefix('=').and_then(|code| Wanted::parse(code.trim()));
    let Some(Wanted { name, default }) = wanted else {
        return Err(EXPECTED.to_owned());
    };
    let value = variable(name).or(default.map(str::to_owned));
    value.ok_or_else(|| {
        format!("the variable {name} is not set; set it, or write a default: <%= ENV[\"{name}\"] || \"default\" %>")
    })
}

/// A variable, and its default.
struct Wanted<'a> {
    name: &'a str,
    default: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn parse(code: &'a str) -> Option<Self> {
        let code = code.strip_prefix("ENV")?;
        if let Some(arguments) = code.strip_prefix(".fetch(") {
            let (name, rest) = quoted(arguments)?;
            let rest = rest.trim().strip_suffix(')')?.trim();
            let default = match rest {
                "" => None,
                _ => Some(literal(rest.strip_prefix(',')?.trim())?),
            };
            return Some(Self { name, default });
        }
        let (name, rest) = quoted(code.strip_prefix('[')?)?;
        let rest = rest.trim_start().strip_prefix(']')?.trim();
        let default = match rest {
            "" => None,
            _ => Some(literal(rest.strip_prefix("||")?.trim())?),
        };
        Some(Self { name, default })
    }
}

/// The text between quotes, and the rest.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|first| "\"'".contains(*first))?;
    text[1..].split_once(quote)
}

/// A text between quotes or a number, and nothing else.
fn literal(text: &str) -> Option<&str> {
    match quoted(text) {
        Some((literal, "")) => Some(literal),
        Some(_) => None,
        None => text.parse::<f64>().is_ok().then_some(text),
    }
}

fn place_of(text: &str, position: usize) -> Place {
    let before = &text[..position];
    let line = before.rsplit('\n').next().unwrap_or_default();
    Place {
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    fn known(name: &str) -> Option<String> {
        (name == "HOST").then(|| "here".to_owned())
    }

    #[test]
    fn variables_are_filled_in() {
        let check = |text: &str, expected: &str| {
            assert_eq!(fill_in("test.yml", text, &known).unwrap(), expected, "{text}");
        };
        check("no variable %> here", "no variable %> here");
        check("a: <%= ENV[\"HOST\"] %>!", "a: here!");
        check("<%=ENV['HOST']-%>", "here");
        check(
            "<%= ENV[\"HOST\"] || \"x\" %> <%= ENV[\"NONE\"] || 'a b' %>",
            "here a b",
        );
        check(
            "<%= ENV.fetch(\"HOST\") %> <%= ENV.fetch('NONE', 10) %>",
            "here 10",
        );
        check("<%= ENV.fetch( 'NONE' , \"x\" ) %>", "x");
        check("<%# a comment %>é<%% x", "é<% x");
    }

    #[test]
    fn all_that_is_no_variable_is_told() {
        let text = "- é: <%= ENV[\"NONE\"] %>\n- <%= 1 + 1 %>\n  <% 3.times do %><%= ENV[\"A\"] || foo %>\n- <%= ENV[\"A\"\n";
        expect![[r#"
            test.yml:1:6: the variable NONE is not set; set it, or write a default: <%= ENV["NONE"] || "default" %>
            test.yml:2:3: expected <%= ENV["NAME"] %>, <%= ENV["NAME"] || "default" %> or <%= ENV.fetch("NAME", "default") %>; Ruby code is not supported
            test.yml:3:3: expected <%= ENV["NAME"] %>, <%= ENV["NAME"] || "default" %> or <%= ENV.fetch("NAME", "default") %>; Ruby code is not supported
            test.yml:3:19: expected <%= ENV["NAME"] %>, <%= ENV["NAME"] || "default" %> or <%= ENV.fetch("NAME", "default") %>; Ruby code is not supported
            test.yml:4:3: `<%` without `%>`: expected <%= ENV["NAME"] %>, <%= ENV["NAME"] || "default" %> or <%= ENV.fetch("NAME", "default") %>; Ruby code is not supported"#]].assert_eq(&fill_in("test.yml", text, &known).unwrap_err().to_string());
    }

    #[test]
    fn a_tag_does_not_end_within_its_own_beginning() {
        let error = fill_in("test.yml", "<%>", &known).unwrap_err().to_string();
        assert!(error.contains("`<%` without `%>`"), "{error}");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[<%=>#ENV.fetch\\[\\]()\"' |a1é,\n-]{0,48}") {
            if let Ok(filled) = fill_in("test.yml", &text, &known) {
                prop_assert!(!text.contains("<%") || filled != text);
            }
        }
    }
}
