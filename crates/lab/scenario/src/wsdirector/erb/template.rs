//! Cuts a template into texts and code, as ERB does with `trim_mode: "-"`.

use super::problem::Problem;

/// A part of a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Text that is copied.
    Text(&'a str),
    /// Code that is run (`<% … %>`), and its position in the template.
    Code(&'a str, usize),
    /// Code whose value is written (`<%= … %>`), and its position in the template.
    Output(&'a str, usize),
}

/// Cuts the template. Comments (`<%# … %>`) are left out.
///
/// # Errors
/// A tag without an end.
pub(super) fn cut(template: &str) -> Result<Vec<Part<'_>>, Problem> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some(start) = rest.find("<%") {
        let (mut text, tag) = rest.split_at(start);
        let at = template.len() - tag.len();
        if let Some(behind) = tag.strip_prefix("<%%") {
            parts.push(Part::Text(text));
            parts.push(Part::Text(&tag[..2]));
            rest = behind;
            continue;
        }
        // Behind `<%`, so that the `%` of `<%>` does not end it.
        let Some(end) = tag[2..].find("%>").map(|end| end + 2) else {
            return Err(Problem::new(
                at,
                "`<%` without `%>`; write %> behind the code, or <%% for the text <%",
            ));
        };
        let mut code = &tag[2..end];
        rest = &tag[end + 2..];
        if let Some(trimmed) = code.strip_prefix('-') {
            code = trimmed;
            let line = text.trim_end_matches([' ', '\t']);
            if line.is_empty() && at == text.len() || line.ends_with('\n') {
                text = line;
            }
        }
        if let Some(trimmed) = code.strip_suffix('-') {
            code = trimmed;
            rest = rest
                .strip_prefix("\r\n")
                .or(rest.strip_prefix('\n'))
                .unwrap_or(rest);
        }
        parts.push(Part::Text(text));
        let position = |code: &str| code.as_ptr().addr() - template.as_ptr().addr();
        match code.strip_prefix('=') {
            _ if code.starts_with('#') => {}
            Some(code) => parts.push(Part::Output(code, position(code))),
            None => parts.push(Part::Code(code, position(code))),
        }
    }
    parts.push(Part::Text(rest));
    parts.retain(|part| *part != Part::Text(""));
    Ok(parts)
}
