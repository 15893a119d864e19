//! What is sent for a form and a link.

use super::*;
use crate::{
    modules::html::page::{Page, PageReader, pieces},
    native_memory::Held,
};

const PAGE: &str = "<form id=find><input name=q value=old><button type=submit name=how value=fast>Find</button></form>
    <form id=post method=post action='/say?x=1'><input name=a value=1><input name=b value=2><input name=a value=3>
    <input type=submit name=save value=Save><input type=submit name=drop value=Drop></form><a>x</a><a href='../up'>y</a>";

fn page() -> Selection {
    let mut reader = PageReader::new();
    pieces(PAGE).for_each(|piece| reader.read(piece).unwrap());
    Selection::new(Nodes::root(
        Page::new(reader.finish(), String::new(), Held::default()).into(),
    ))
}

#[test]
fn forms_are_filled_in() {
    let submit = "[type=submit]";
    for (form_selector, submit_selector, fields, expected) in [
        ("form", submit, vec![], Some("GET  q=old how=fast")),
        (
            "#find",
            "none",
            vec![("q", "new"), ("page", "2")],
            Some("GET  q=new page=2"),
        ),
        (
            "#post",
            submit,
            vec![],
            Some("POST /say?x=1 a=1 b=2 a=3 save=Save"),
        ),
        (
            "#post",
            "[name=drop]",
            vec![("a", "9")],
            Some("POST /say?x=1 a=9 b=2 drop=Drop"),
        ),
        ("#none", submit, vec![], None),
    ] {
        let fields: Vec<_> = fields
            .into_iter()
            .map(|(name, value): (&str, &str)| (name.to_owned(), value.to_owned()))
            .collect();
        let submission = form(&page(), form_selector, submit_selector, &fields).unwrap();
        let written = submission.map(|submission| {
            let fields = submission
                .fields
                .iter()
                .map(|(name, value)| format!(" {name}={value}"));
            format!(
                "{} {}{}",
                submission.method,
                submission.action,
                fields.collect::<String>()
            )
        });
        assert_eq!(written.as_deref(), expected, "{form_selector} {submit_selector}");
    }
    assert!(form(&page(), "[", submit, &[]).is_err());
}

#[test]
fn links_lead_somewhere() {
    for (selector, expected) in [("a[href]", Some("../up")), ("a", None), ("#none", None)] {
        assert_eq!(
            link(&page(), selector).unwrap().as_deref(),
            expected,
            "{selector}"
        );
    }
    assert!(link(&page(), "a[").is_err());
}
