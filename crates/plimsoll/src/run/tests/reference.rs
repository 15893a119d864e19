//! The reference page of the flags, made from the program. The test writes it anew with
//! `UPDATE_EXPECT=1 cargo test -p plimsoll reference`.

use std::fmt::Write;

use clap::{Arg, CommandFactory};
use expect_test::expect_file;
use plimsoll_load::plan;

use crate::run::{Options, flags, variables};

#[test]
fn the_reference_page_is_up_to_date() {
    expect_file!["../../../../../docs/reference/run-options.md"].assert_eq(&page());
}

fn page() -> String {
    let mut page = String::from(
        "# Flags and options of `plimsoll run`\n\n\
         Made from the program by `UPDATE_EXPECT=1 cargo test -p plimsoll reference`. How the layers work is in\n\
         [run.md](run.md#options).\n\n\
         | flag | variable | key in `options` | meaning |\n|---|---|---|---|\n",
    );
    let run = Options::command();
    let args = run
        .get_arguments()
        .filter(|arg| arg.get_long().is_some() && !arg.is_hide_set());
    for arg in args {
        let long = arg.get_long().unwrap_or_default();
        let key = flags::key_of(long);
        let variable = key.map_or_else(|| variables::of_flag(long), plan::Options::variable);
        let _infallible = writeln!(
            page,
            "| {} | {} | {} | {} |",
            names(arg),
            code(variable),
            code(key),
            arg.get_help()
                .map(ToString::to_string)
                .unwrap_or_default()
                .replace('|', "\\|"),
        );
    }
    page.push_str("\n## Options without a flag\n\n| key in `options` | variable |\n|---|---|\n");
    for key in plan::Options::names().filter(|key| flags::flag_of(key).is_none()) {
        let _infallible = writeln!(page, "| `{key}` | {} |", code(plan::Options::variable(key)));
    }
    page
}

fn names(arg: &Arg) -> String {
    let long = format!("`--{}`", arg.get_long().unwrap_or_default());
    arg.get_short()
        .map_or_else(|| long.clone(), |short| format!("`-{short}`, {long}"))
}

fn code(text: Option<&str>) -> String {
    text.map_or_else(|| "–".to_owned(), |text| format!("`{text}`"))
}
