//! The page has every case and nothing that a browser would take for its own.

use super::*;
use crate::results::tests::{outcome, sample};

#[test]
fn a_cell_leads_to_its_explanation() {
    let mut second = sample();
    second.target.name = "second".to_owned();
    second.outcomes.remove(1);
    second.outcomes.push(outcome("1.3", Verdict::Pass, "only here"));
    let page = matrix(&[sample(), second]);
    let links: Vec<_> = page
        .split("href=\"#")
        .skip(1)
        .filter_map(|rest| rest.split_once('"'))
        .map(|(id, _)| id)
        .collect();
    // 8 outcomes of each, with a link to each and one back.
    assert_eq!(links.len(), 32);
    for id in links {
        assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
    }
    assert_eq!(
        page.matches("<td class=\"muted\">–</td>").count(),
        2,
        "not run there"
    );
}

#[test]
fn families_with_nothing_to_see_are_closed() {
    let page = matrix(&[sample()]);
    assert!(page.contains("<details class=\"surface\" open><summary>1 Framing"));
    assert!(
        page.contains("<details class=\"surface\"><summary>other  <span class=\"muted\">1 case, all passed")
    );
    // In the order in which people count.
    let at = |id: &str| page.find(&format!(">{id}</span>")).unwrap();
    assert!(at("1.2") < at("1.10"));
}

#[test]
fn nothing_from_outside_is_markup() {
    let mut results = sample();
    let evil = "</style></pre><script>alert(1)</script>\"'";
    let first = &mut results.outcomes[1];
    first.case.title = evil.into();
    first.case.clause.place = evil.into();
    first.explanation = evil.to_owned();
    first.wire.received(evil);
    results.target.name = evil.to_owned();
    results.target.url = evil.to_owned();
    results.target.version = Some(evil.to_owned());
    results.tester = evil.to_owned();
    results.started = evil.to_owned();
    results.families.insert("1".to_owned(), evil.to_owned());
    for outcome in &mut results.outcomes {
        outcome.case.id = crate::CaseId::new(format!("{}{evil}", outcome.case.id));
    }
    let page = matrix(&[results]);
    assert!(!page.contains("<script"));
    assert_eq!(page.matches("</style>").count(), 1);
}

#[test]
fn a_page_of_nothing_is_a_page() {
    assert!(matrix(&[]).ends_with("</body>\n</html>\n"));
}
