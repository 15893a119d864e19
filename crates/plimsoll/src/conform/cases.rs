//! `--list`: the cases of a suite, one a line.

use plimsoll_conformance::{Case, Clause};

/// Id, level, title and clause in columns.
pub(super) fn listing(cases: &[Case]) -> String {
    let width = |text: fn(&Case) -> &str| cases.iter().map(|case| text(case).chars().count()).max();
    let id_width = width(|case| case.id.as_str()).unwrap_or(0);
    let title_width = width(|case| &case.title).unwrap_or(0);
    let level_width = width(|case| case.clause.level.word()).unwrap_or(0);
    let line = |case: &Case| {
        let Case {
            id,
            title,
            clause: Clause { place, level },
        } = case;
        format!("{id:id_width$}  {level:level_width$}  {title:title_width$}  {place}\n")
    };
    cases.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use plimsoll_conformance::CaseId;

    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_have_to_be() {
        let case = |id: &'static str, title: &'static str| Case {
            id: CaseId::new(id),
            title: title.into(),
            clause: Clause::must("RFC 6455 §5"),
        };
        let mut cases = [case("1.1.1", "größe"), case("10.1.1", "size 0")];
        cases[1].clause = Clause::should("RFC 6455 §7");
        assert_eq!(
            listing(&cases),
            "1.1.1   MUST    größe   RFC 6455 §5\n10.1.1  SHOULD  size 0  RFC 6455 §7\n"
        );
    }
}
