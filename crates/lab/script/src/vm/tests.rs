//! The memory of a virtual user: the bytes that its runtime asks for until its script can begin.

use std::task::Waker;

use super::*;
use crate::{
    modules,
    source::{self, Builtins, Entry},
};

/// The heap of the second user of a script, in bytes. The first one also checks imports and compiles.
fn heap_bytes(text: &str) -> usize {
    let program = program(text);
    heap_bytes_of_user(&program, 0, |_| ());
    program.finish_reading();
    heap_bytes_of_user(&program, 1, |_| ())
}

fn program(text: &str) -> Arc<Program> {
    let present: Vec<_> = modules::ids().collect();
    let builtins = Builtins {
        present: &present,
        absent: modules::ABSENT,
        node: None,
    };
    let entry = Entry::Text {
        path: "/test/script.js".into(),
        text: text.to_owned(),
    };
    let sources = source::load_files(entry, builtins).unwrap();
    let env = [("VUS".to_owned(), "10".to_owned())].into();
    Arc::new(Program::from_sources(sources, env, "/test".into()))
}

fn heap_bytes_of_user(program: &Arc<Program>, vu: u32, act: fn(&Ctx<'_>)) -> usize {
    let (own, n_bytes) = (Arc::clone(program), Rc::new(RefCell::new(0)));
    let result = Rc::clone(&n_bytes);
    let mut coroutine = Coroutine::new(STACK_BYTES, move |switch| {
        let context = make(&switch, &own).unwrap();
        context.with(|ctx| {
            let host = Host::new(Arc::clone(&own), vu, Rc::clone(&switch));
            initialize(&ctx, &host).unwrap();
            act(&ctx);
            host.end();
        });
        let runtime = context.runtime();
        runtime.run_gc();
        *result.borrow_mut() = runtime.memory_usage().malloc_size as usize;
    })
    .unwrap();
    while coroutine.resume(Waker::noop()) != Turn::Ended {}
    n_bytes.take()
}

#[test]
fn users_take_no_more_memory_than_these_bytes() {
    // Some hundred bytes more than measured, for small changes. A new function that every user has takes 250.
    let mut exceeded = Vec::new();
    let mut check = |text: &str, most: usize| {
        let n_bytes = heap_bytes(text);
        if n_bytes > most {
            exceeded.push(format!("{n_bytes} bytes, at most {most} expected: {text}"));
        }
    };
    check("export default () => {};", 88_000);
    check(
        "import { sleep } from 'k6'; export default () => sleep(1);",
        89_500,
    );
    check("import http from 'k6/http'; export default () => {};", 92_500);
    check("import { get } from 'k6/http'; export default () => {};", 92_500);
    check("import cable from 'k6/x/cable'; export default () => {};", 89_300);
    check(
        "import { Trend } from 'k6/metrics'; new Trend('rtt'); export default () => {};",
        89_800,
    );
    check("export default () => console.log(__ENV.NAME);", 89_300);
    check(include_str!("../../../../../benchmarks/js/chat.js"), 106_500);
    assert_eq!(exceeded, [""; 0]);
}

#[test]
fn the_classes_of_cable_clients_take_no_more_memory_than_these_bytes() {
    let program = program("import cable from 'k6/x/cable'; export default () => {};");
    let without = heap_bytes_of_user(&program, 0, |_| ());
    let with = heap_bytes_of_user(&program, 0, |ctx| {
        modules::cable_prototypes(ctx).unwrap();
    });
    assert!(with - without <= 5_000, "{}", with - without);
}
