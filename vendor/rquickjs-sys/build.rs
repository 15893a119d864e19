//! Compiles QuickJS-ng. Written for this copy: the original also serves Windows, WebAssembly, sanitizers and bindgen.

use std::env;

const SOURCES: [&str; 4] = ["libregexp.c", "libunicode.c", "quickjs.c", "dtoa.c"];

fn main() {
    println!("cargo:rerun-if-changed=quickjs");
    let mut build = cc::Build::new();
    build
        .include("quickjs")
        .files(SOURCES.map(|name| format!("quickjs/{name}")))
        .define("_GNU_SOURCE", None)
        // The engine then asks our allocator for every block, as it does under the address sanitizer, and keeps no pages of
        // its own for each size of block and virtual user. Neither the compiler nor any other source sees the name.
        .define("__SANITIZE_ADDRESS__", None)
        .warnings(false)
        .extra_warnings(false);
    // Its assertions, and 16 bytes per name and text with which it finds what was not freed, are for debug builds.
    let is_release = env::var("PROFILE").as_deref() == Ok("release");
    if is_release || env::var_os("CARGO_FEATURE_DISABLE_ASSERTIONS").is_some() {
        build.define("NDEBUG", None);
    }
    build.compile("quickjs");
}
