//! Pages of metrics that `--watch` reads; the first line has the names that are wanted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_load::watch::fuzzing::page;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    let (names, text) = text.split_once('\n').unwrap_or(("", text));
    page(text, names.split_whitespace().map(str::to_owned).collect());
});
