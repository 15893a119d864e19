//! Files of the conformance suites: expectations that are written are read as the same, and results make a page, a table
//! and XML.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_conformance::{Expectations, Results, matrix};
use plimsoll_report::Style;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(expectations) = Expectations::read("file", text) {
        let again = Expectations::read("file", &expectations.to_string());
        assert_eq!(again.as_ref(), Ok(&expectations));
    }
    if let Ok(results) = Results::read(text) {
        assert!(!results.text(Style::PLAIN).contains('\u{1b}'));
        assert!(!results.junit().contains("<script"));
        assert!(!matrix(&[results]).contains("<script"));
    }
});
