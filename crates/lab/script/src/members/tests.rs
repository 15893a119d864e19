//! Members that come into being at first use, compared with members that exist from the beginning: each expression must
//! give the same for both.

use rquickjs::{Class, Coerced, Context, Function, Runtime, class::Trace, function::Opt};

use super::*;

/// Runs `text` with `o`, which `make` makes, in a context of its own; the result as JSON.
fn result(text: &str, make: impl for<'js> Fn(&Ctx<'js>) -> Result<Object<'js>>) -> String {
    const BEGINNING: &str = "const describe = (of, name) => {
        const { value, ...flags } = Object.getOwnPropertyDescriptor(of, name);
        return [typeof value, String(value), Object.entries(flags).sort()];
    };
    const thrown = (f) => { try { return f(); } catch (e) { return `${e.name}: ${e.message}`; } };";
    let runtime = Runtime::new().unwrap();
    Context::full(&runtime).unwrap().with(|ctx| {
        ctx.globals().set("o", make(&ctx).unwrap()).unwrap();
        let text = format!("'use strict'; {{ {BEGINNING} globalThis.result = (() => {{ {text} }})(); }}");
        if let Err(error) = ctx.eval::<(), _>(text.as_str()) {
            panic!("{error}: {:?}: {text}", ctx.catch());
        }
        let json = ctx.json_stringify(ctx.globals().get::<_, Value<'_>>("result").unwrap());
        json.unwrap()
            .map_or_else(String::new, |json| json.to_string().unwrap())
    })
}

fn add(one: i32, other: Opt<i32>) -> i32 {
    one + other.0.unwrap_or(0)
}

fn text_of(value: Coerced<String>) -> String {
    value.0
}

fn fail(ctx: Ctx<'_>) -> Result<()> {
    Err(Exception::throw_range(&ctx, "out of range"))
}

fn call<'js>(function: Function<'js>) -> Result<Value<'js>> {
    function.call(())
}

fn make<'js>(ctx: Ctx<'js>, x: Opt<i32>) -> Result<Object<'js>> {
    let point = Object::new(ctx)?;
    point.set("x", x.0)?;
    Ok(point)
}

fn lazy<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    members![
        function c"add" => add,
        function c"textOf" => text_of,
        function c"fail" => fail,
        function c"call" => call,
        constructor c"Point" => make,
        text c"text" => c"a text",
        object c"inner" => members![function c"add" => add, text c"text" => c"another"],
    ]
    .define(&object)?;
    Ok(object)
}

fn eager<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let (object, inner) = (Object::new(ctx.clone())?, Object::new(ctx.clone())?);
    let function = || Function::new(ctx.clone(), add)?.with_name("add");
    object.set("add", function()?)?;
    object.set(
        "textOf",
        Function::new(ctx.clone(), text_of)?.with_name("textOf")?,
    )?;
    object.set("fail", Function::new(ctx.clone(), fail)?.with_name("fail")?)?;
    object.set("call", Function::new(ctx.clone(), call)?.with_name("call")?)?;
    let point = Function::new(ctx.clone(), make)?.with_name("Point")?;
    object.set("Point", point.with_constructor(true))?;
    object.set("text", "a text")?;
    inner.set("add", function()?)?;
    inner.set("text", "another")?;
    object.set("inner", inner)?;
    Ok(object)
}

#[test]
fn scripts_cannot_tell_when_members_came_into_being() {
    for text in [
        // Before the first use.
        "return Object.keys(o);",
        "return Reflect.ownKeys(o);",
        "const names = []; for (const name in o) names.push(name); return names;",
        "return ['add' in o, 'absent' in o, o.hasOwnProperty('text'), Object.hasOwn(o, 'inner')];",
        "return Object.keys(o).map((name) => o.propertyIsEnumerable(name));",
        "return Object.keys(o).map((name) => describe(o, name));",
        "return Object.keys(o).map((name) => typeof o[name]);",
        "return [o.text, o.inner.text, Object.keys(o.inner)];",
        "return JSON.stringify(o);",
        "return { ...o };",
        "const { add, ...rest } = o; return [add(1), Object.keys(rest)];",
        // After it.
        "o.add(1); o.text; o.inner; return Object.keys(o);",
        "o.add(1); o.text; o.inner; new o.Point(); return Object.keys(o).map((name) => describe(o, name));",
        "o.inner.text; return Object.keys(o.inner).map((name) => describe(o.inner, name));",
        // Identity.
        "return [o.add === o.add, o.inner === o.inner, o.inner.add === o.add];",
        "const { add } = o; add(1); return [add === o.add, Object.assign({}, o).add === add];",
        // Assigned, deleted, redefined and frozen before the first use.
        "o.add = 1; o.text = 2; o.inner = 3; return [o, Object.keys(o)];",
        "o.add = 1; return describe(o, 'add');",
        "return [delete o.add, delete o.inner, o.add, 'add' in o, Object.keys(o)];",
        "delete o.add; o.add = 1; return Object.keys(o);",
        "Object.defineProperty(o, 'add', { enumerable: false }); return [describe(o, 'add'), Object.keys(o)];",
        "Object.defineProperty(o, 'text', { get: () => 1 }); return [o.text, Object.keys(o)];",
        "Object.defineProperty(o, 'add', { value: 1, writable: false }); return describe(o, 'add');",
        "Object.freeze(o); return [Object.isFrozen(o), o.add(1), thrown(() => { o.add = 1; })];",
        "Object.freeze(o); return Object.keys(o).map((name) => describe(o, name));",
        "Object.seal(o); return [Object.isSealed(o), thrown(() => delete o.text)];",
        "Object.preventExtensions(o); return [o.text, o.add(1), o.inner.add(2)];",
        // Inherited.
        "const heir = Object.create(o); return [heir.add(1, 2), Object.keys(heir), 'text' in heir];",
        "const heir = Object.create(o); heir.add = 5; return [heir, typeof o.add];",
        "return new Proxy(o, {}).add(1, 2);",
        // Functions.
        "return [o.add.length, o.add.name, o.textOf.length, o.Point.length, o.Point.name];",
        "return [Object.getOwnPropertyNames(o.add), describe(o.add, 'length'), describe(o.add, 'name')];",
        "return [o.add.toString(), Object.getPrototypeOf(o.add) === Function.prototype];",
        "return [o.add(1), o.add(1, 2), o.add(1, 2, 3), o.add.call(null, 1, 2), o.add.apply(o, [1, 2])];",
        "return [[1, 2].map(o.textOf), o.add.bind(null, 1)(2), Reflect.apply(o.add, null, [1, 2])];",
        "return o.textOf({ toString: () => o.textOf(o.add(1, o.add(2, 3))) });",
        "return o.call(() => o.call(() => o.add(1, o.call(() => 2))));",
        "return [thrown(() => o.add()), thrown(() => o.add('x')), thrown(() => o.fail()), o.add(1)];",
        "return thrown(() => o.call(() => { throw new TypeError('of the script'); }));",
        "return [thrown(() => new o.add(1)), thrown(() => new o.call(() => 1))];",
        "return [new o.Point(1), o.Point(2), Reflect.construct(o.Point, [4])];",
        "return [o.Point.prototype === undefined, thrown(() => ({}) instanceof o.Point)];",
    ] {
        assert_eq!(result(text, lazy), result(text, eager), "{text}");
    }
}

#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "Thing")]
struct Lazy {
    size: i32,
}

class_members![Lazy:
    method c"grown" => grown,
    method c"described" => described,
    method c"loop" => repeat,
    getter c"size" => size,
];

impl Lazy {
    fn grown(&self, by: i32) -> i32 {
        self.size + by
    }

    fn described<'js>(&self, ctx: Ctx<'js>, prefix: Opt<Value<'js>>) -> Result<Object<'js>> {
        let described = Object::new(ctx)?;
        described.set("prefix", prefix.0)?;
        Ok(described)
    }

    fn repeat<'js>(&self, function: Function<'js>) -> Result<Value<'js>> {
        function.call((self.size,))
    }

    fn size(&self) -> i32 {
        self.size
    }
}

#[derive(Trace, JsLifetime)]
#[rquickjs::class(rename = "Thing")]
struct Eager {
    inner: Lazy,
}

#[rquickjs::methods]
impl Eager {
    fn grown(&self, by: i32) -> i32 {
        self.inner.grown(by)
    }

    fn described<'js>(&self, ctx: Ctx<'js>, prefix: Opt<Value<'js>>) -> Result<Object<'js>> {
        self.inner.described(ctx, prefix)
    }

    #[qjs(rename = "loop")]
    fn repeat<'js>(&self, function: Function<'js>) -> Result<Value<'js>> {
        self.inner.repeat(function)
    }

    #[qjs(get)]
    fn size(&self) -> i32 {
        self.inner.size()
    }
}

#[test]
fn instances_are_those_of_classes_of_the_library() {
    for text in [
        "return [o.grown(1), o.size, o.described(), o.described(1), o.loop((size) => size + 1)];",
        "return [Object.keys(o), 'grown' in o, 'size' in o, Object.hasOwn(o, 'grown')];",
        "return Object.getOwnPropertyNames(Object.getPrototypeOf(o));",
        "const of = Object.getPrototypeOf(o); return ['grown', 'described', 'loop'].map((name) => describe(of, name).slice(2));",
        "o.grown(1); return Object.getOwnPropertyNames(Object.getPrototypeOf(o));",
        "const { get, set, ...flags } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(o), 'size'); \
         return [typeof get, get.length, typeof set, flags, thrown(() => get.call({})), get.call(o)];",
        "return [o.grown.length, o.described.length, o.loop.length];",
        "const { grown } = o; return [thrown(() => grown(1)), thrown(() => grown.call({}, 1)), grown.call(o, 1)];",
        "return [thrown(() => o.grown()), thrown(() => { o.size = 4; }), o.size];",
        "o.grown = () => 'own'; return [o.grown(), Object.keys(o)];",
        "Object.getPrototypeOf(o).grown = () => 'of the class'; return o.grown();",
        "return [delete Object.getPrototypeOf(o).grown, typeof o.grown];",
        "return [o instanceof Object, Object.prototype.toString.call(o), String(o.constructor === Object)];",
    ] {
        let lazy = result(text, |ctx| {
            Ok(Class::instance(ctx.clone(), Lazy { size: 3 })?.into_inner())
        });
        let eager = result(text, |ctx| {
            let inner = Lazy { size: 3 };
            Ok(Class::instance(ctx.clone(), Eager { inner })?.into_inner())
        });
        assert_eq!(lazy, eager, "{text}");
    }
}

#[test]
fn a_panic_in_a_function_comes_out_of_the_engine() {
    fn panicking() {
        panic!("of the host");
    }
    let caught = std::panic::catch_unwind(|| {
        result("o.panicking();", |ctx| {
            let object = Object::new(ctx.clone())?;
            members![function c"panicking" => panicking].define(&object)?;
            Ok(object)
        })
    });
    let payload = caught.unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"of the host"));
}

#[test]
fn members_take_no_memory_until_they_are_used() {
    // Functions of the language come into being at their first use, too.
    const USED: &str = "Object.keys({}); Object.values({});";
    let used = |text: &str, make: fn(&Ctx<'_>)| {
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        context.with(|ctx| {
            make(&ctx);
            ctx.eval::<(), _>(text).unwrap();
        });
        runtime.run_gc();
        runtime.memory_usage().malloc_size
    };
    let without = used(USED, |_| ());
    let unused = used(USED, |ctx| ctx.globals().set("o", lazy(ctx).unwrap()).unwrap());
    let listed = used("Object.keys(o); Object.values({});", |ctx| {
        ctx.globals().set("o", lazy(ctx).unwrap()).unwrap();
    });
    let with = used("Object.keys({}); Object.values(o);", |ctx| {
        ctx.globals().set("o", lazy(ctx).unwrap()).unwrap();
    });
    let eager = used(USED, |ctx| ctx.globals().set("o", eager(ctx).unwrap()).unwrap());
    // The object, the gate and the names of seven members. A function takes 112 bytes.
    assert!(unused - without < 1_400, "{}", unused - without);
    assert!(listed - unused < 200, "{}", listed - unused);
    assert!(with - unused > 700, "{}", with - unused);
    assert!(eager - unused > 700, "{}", eager - unused);
}
