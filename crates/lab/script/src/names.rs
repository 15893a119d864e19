//! Names that the runtimes of a thread share.
//!
//! Every virtual user of a script has the names of the language, of the host and of the script itself. The engine holds
//! those that a runtime gets at its beginning once per thread, and they stay there until the thread's last runtime ends
//! (vendor/rquickjs-sys/README.md). Names that come later depend on data, and belong to their runtime.

use rquickjs::{Ctx, qjs};

/// From now on new names belong to this runtime alone.
#[expect(
    unsafe_code,
    reason = "rquickjs has no function for it, which the engine's copy adds"
)]
pub(crate) fn keep_new_ones(ctx: &Ctx<'_>) {
    // SAFETY: the context is alive, as `ctx` borrows it, and so is its runtime. The call sets a flag.
    unsafe { qjs::JS_SetNameSharing(qjs::JS_GetRuntime(ctx.as_raw().as_ptr()), false) }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Module, Runtime, module::WriteOptions};

    use super::*;
    use crate::members::members;

    fn context() -> Context {
        Context::full(&Runtime::new().expect("a runtime")).expect("a context")
    }

    #[track_caller]
    fn check(context: &Context, source: &str, expected: &str) {
        let answer = context.with(|ctx| ctx.eval::<String, _>(source).expect("the source runs"));
        assert_eq!(answer, expected, "{source}");
    }

    /// A source that makes an object with so many names, and gives its last number.
    fn names(prefix: &str, n: usize) -> String {
        let names: String = (0..n)
            .map(|i| format!("o.{prefix}_name_of_some_length_{i} = {i};"))
            .collect();
        format!("{{ const o = {{}}; {names} globalThis.o = o; String(Object.values(o).at(-1)) }}")
    }

    /// What a runtime with such an object asks for, in bytes.
    fn n_bytes(prefix: &str, is_sharing: bool) -> i64 {
        let context = context();
        context.with(|ctx| {
            if !is_sharing {
                keep_new_ones(&ctx);
            }
        });
        check(&context, &names(prefix, 300), "299");
        context.runtime().memory_usage().malloc_size
    }

    #[test]
    fn a_thread_holds_names_once() {
        let first = context();
        check(&first, &names("shared", 300), "299");
        let (shared, own) = (n_bytes("shared", true), n_bytes("of_its", false));
        assert!(own - shared > 300 * 48, "{own} {shared}");
    }

    #[test]
    fn a_name_that_one_runtime_has_stays_the_same_when_another_shares_it() {
        let (early, late) = (context(), context());
        early.with(|ctx| keep_new_ones(&ctx));
        check(&early, "globalThis.o = { ownFirst: 'a' }; o.ownFirst", "a");
        check(&late, "globalThis.o = { ownFirst: 'b' }; o.ownFirst", "b");
        check(
            &early,
            "o['own' + 'First'] + Object.keys(o) + ('ownFirst' in o)",
            "aownFirsttrue",
        );
        check(
            &early,
            "delete o.ownFirst; o.ownFirst = 'c'; JSON.stringify(o)",
            r#"{"ownFirst":"c"}"#,
        );
        check(
            &late,
            "JSON.stringify(JSON.parse('{\"ownFirst\":1}'))",
            r#"{"ownFirst":1}"#,
        );
        // Its own name is gone with the last use, and the shared one takes its place.
        check(
            &early,
            "o = null; const p = { ownFirst: 'd' }; p['ownF' + 'irst']",
            "d",
        );
        drop(late);
        check(
            &early,
            "globalThis.q = { ownFirst: 'e' }; q['own' + 'First']",
            "e",
        );
    }

    #[test]
    fn tables_and_bytecode_have_the_names_that_their_runtime_has() {
        let table = members![text c"ownInTable" => c"of the table"];
        let source = "globalThis.ownInModule = 'of the module';";
        let (early, late) = (context(), context());
        early.with(|ctx| keep_new_ones(&ctx));
        check(
            &early,
            "globalThis.o = { ownInTable: 1, ownInModule: 2 }; Object.keys(o).join()",
            "ownInTable,ownInModule",
        );
        let bytecode = late
            .with(|ctx| Module::declare(ctx, "m", source)?.write(WriteOptions::default()))
            .expect("bytecode");
        // The second one finds the names where the first one has read them, and the early one has its own.
        for context in [&late, &context(), &early] {
            context.with(|ctx| {
                table.define(&ctx.globals()).expect("a member");
                #[expect(unsafe_code, reason = "only the engine's own bytecode may be loaded")]
                // SAFETY: it is.
                let module = unsafe { Module::load(ctx, &bytecode) }.expect("a module");
                module
                    .eval()
                    .and_then(|(_, done)| done.finish::<()>())
                    .expect("it runs");
            });
            check(
                context,
                "globalThis['own' + 'InTable'] + ', ' + globalThis['own' + 'InModule']",
                "of the table, of the module",
            );
        }
    }

    #[test]
    fn names_outlive_the_runtimes_that_brought_them() {
        let staying = context();
        let source = "globalThis.o = { 'fromTheFirst': 1, 'wîde→name': 2 }; Object.keys(o).join()";
        let going = context();
        check(&going, source, "fromTheFirst,wîde→name");
        drop(going);
        check(&staying, source, "fromTheFirst,wîde→name");
        check(
            &staying,
            "String(o['from' + 'TheFirst'] + o['wîde' + '→name'])",
            "3",
        );
    }

    #[test]
    fn symbols_belong_to_their_runtime() {
        let (one, other) = (context(), context());
        let source = "globalThis.m = new WeakMap([[Symbol.iterator, 'i']]); globalThis.r = new WeakRef(Symbol.match); \
                      m.get(Symbol.iterator) + m.has(Symbol.asyncIterator) + r.deref().description";
        check(&one, source, "ifalseSymbol.match");
        check(&other, source, "ifalseSymbol.match");
        drop(one);
        check(
            &other,
            "m.delete(Symbol.iterator); String(m.get(Symbol.iterator))",
            "undefined",
        );
        check(
            &other,
            "[...'ab'].join() + String(Symbol.for('x') === Symbol.for('x'))",
            "a,btrue",
        );
    }

    #[test]
    fn what_finds_no_room_belongs_to_the_runtime() {
        let context = context();
        for prefix in ["full", "more"] {
            check(&context, &names(prefix, 5_000), "4999");
        }
        let long = "x".repeat(1000);
        check(&context, &format!("({{ {long}: 'long' }})['{long}']"), "long");
    }
}
