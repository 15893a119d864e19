//! The sources of a runtime's modules: the host's own modules, CommonJS modules, and bytecode that was compiled once.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use rquickjs::{
    Ctx, Error, Exception, Function, JsLifetime, Module, Object, Result, Value,
    context::EvalOptions,
    loader::{ImportAttributes, Loader, Resolver},
    module::{Declarations, Declared, Exports, ModuleDef, WriteOptions},
};

use crate::{
    calling,
    host::Host,
    modules,
    program::Program,
    source::{self, Builtins, Resolved, Specifier},
};

/// Finds and loads the modules of one program.
#[derive(Clone)]
pub(crate) struct ModuleLoader(pub(crate) Arc<Program>);

/// Exports that exist once per context: those of the host's modules, and `module` of CommonJS ones.
#[derive(Default, JsLifetime)]
struct Instances<'js> {
    by_name: RefCell<HashMap<String, Object<'js>>>,
    /// How many functions were on the stack when each module that `require` began was begun, outermost first.
    begun: RefCell<Vec<isize>>,
}

/// A module whose exports are the properties of an object.
struct OfObject;

impl Resolver for ModuleLoader {
    fn resolve<'js>(
        &mut self,
        _: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        self.0
            .resolve(base, name)
            .ok_or_else(|| Error::new_resolving(base.to_owned(), name.to_owned()))
    }
}

impl Loader for ModuleLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        self.0.module(ctx, name)
    }
}

impl Program {
    /// The name of the module that `specifier` means in the module `base`.
    fn resolve(&self, base: &str, specifier: &str) -> Option<String> {
        if modules::find(specifier).is_some() || self.modules.contains_key(specifier) {
            return Some(specifier.to_owned());
        }
        self.modules.get(base)?.imports.get(specifier).cloned()
    }

    /// A module, ready to be linked.
    pub(crate) fn module<'js>(&self, ctx: &Ctx<'js>, name: &str) -> Result<Module<'js, Declared>> {
        let source = self.modules.get(name).filter(|module| !module.is_common_js);
        let Some(source) = source else {
            return Module::declare_def::<OfObject, _>(ctx.clone(), name);
        };
        let module = match self.compiled(name) {
            Some(bytecode) => {
                // SAFETY: the bytes come from `Module::write` of this very library in this process.
                #[expect(
                    unsafe_code,
                    reason = "compiling the text again in each of thousands of runtimes costs too much"
                )]
                unsafe {
                    Module::load(ctx.clone(), &bytecode)?
                }
            }
            None => {
                let module = Module::declare(ctx.clone(), name, source.text.as_bytes())?;
                let options = WriteOptions {
                    strip_source: true,
                    ..WriteOptions::default()
                };
                self.keep_compiled(name, module.write(options)?);
                module
            }
        };
        if source.text.contains("import.meta") {
            module.meta()?.set("resolve", resolve_from(ctx, name)?)?;
        }
        Ok(module)
    }
}

impl ModuleDef for OfObject {
    fn declare<'js>(declarations: &Declarations<'js>) -> Result<()> {
        let module = declarations.module();
        let object = exports_of(module.ctx(), &module.name::<String>()?)?;
        declarations.declare("default")?;
        if let Some(object) = object.as_object() {
            for name in object.keys::<String>() {
                let name = name?;
                if name != "default" {
                    declarations.declare(name)?;
                }
            }
        }
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let value = exports_of(ctx, &exports.module().name::<String>()?)?;
        let Some(object) = value.as_object() else {
            exports.export("default", value)?;
            return Ok(());
        };
        let default = match object.get::<_, Value<'js>>("default")? {
            default if default.is_undefined() => value.clone(),
            default => default,
        };
        exports.export("default", default)?;
        for name in object.keys::<String>() {
            let name = name?;
            if name != "default" {
                let value: Value<'js> = object.get(name.as_str())?;
                exports.export(name, value)?;
            }
        }
        Ok(())
    }
}

/// The exports of a module of the host or of a CommonJS module, made at the first request.
pub(crate) fn exports_of<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Value<'js>> {
    if let Some(module) = modules::find(name) {
        return match instance(ctx, name) {
            Some(object) => Ok(object.into_value()),
            None => {
                let object = (module.build)(ctx)?;
                keep(ctx, name, &object);
                Ok(object.into_value())
            }
        };
    }
    let module = match instance(ctx, name) {
        Some(module) => module,
        None => run_common_js(ctx, name)?,
    };
    module.get("exports")
}

/// Runs a CommonJS module and gives its `module`.
pub(crate) fn run_common_js<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    let program = Arc::clone(&Host::of(ctx).program);
    let source = program
        .modules
        .get(name)
        .ok_or_else(|| Error::new_loading(name.to_owned()))?;
    let module = Object::new(ctx.clone())?;
    let exports = Object::new(ctx.clone())?;
    module.set("exports", exports.clone())?;
    // Before it runs, so that a cycle finds what is there by then, as in Node.
    keep(ctx, name, &module);
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(name.to_owned());
    // On one line, so that line numbers stay those of the file.
    let text = format!("(function (module, exports, require) {{{}\n}})", source.text);
    let function: Function<'js> = ctx.eval_with_options(text, options)?;
    let require = require_from(ctx, name)?;
    beginning(ctx, || function.call::<_, ()>((module.clone(), exports, require)))?;
    Ok(module)
}

/// Evaluates modules that `require` asks for.
fn beginning<'js, T>(ctx: &Ctx<'js>, evaluate: impl FnOnce() -> Result<T>) -> Result<T> {
    if let Some(instances) = ctx.userdata::<Instances<'js>>() {
        instances.begun.borrow_mut().push(calling::n_frames(ctx));
    }
    let evaluated = evaluate();
    if let Some(instances) = ctx.userdata::<Instances<'js>>() {
        instances.begun.borrow_mut().pop();
    }
    evaluated
}

/// The module that is being evaluated. It need not be the one in whose text the caller stands: as in k6, a function
/// that opens files for others opens them relative to the module that calls it.
pub(crate) fn module_in_evaluation<'js>(ctx: &Ctx<'js>) -> Option<String> {
    let begun = ctx.userdata::<Instances<'js>>()?.begun.borrow().last().copied();
    let own_code = calling::n_frames(ctx) - begun.unwrap_or(0) - 1;
    calling::module_at(ctx, own_code.max(0))
}

/// The global `require`, for the module in whose text the call stands.
pub(crate) fn require<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    Function::new(ctx.clone(), |ctx: Ctx<'js>, specifier: String| {
        let base = calling::module_at(&ctx, 0).unwrap_or_else(|| Host::of(&ctx).program.entry.clone());
        require_in(&ctx, &base, &specifier)
    })?
    .with_name("require")
}

/// `import.meta.resolve` for the module of this name.
fn resolve_from<'js>(ctx: &Ctx<'js>, base: &str) -> Result<Function<'js>> {
    let base = base.to_owned();
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, specifier: String| {
        let resolved =
            Specifier::parse(&base).map(|base| source::resolve(&base, &specifier, Builtins::default()));
        match resolved {
            Some(Ok(Resolved::Module(module))) => Ok(module.as_str().to_owned()),
            Some(Err(unresolved)) => Err(Exception::throw_message(&ctx, &unresolved.to_string())),
            Some(Ok(Resolved::Builtin(_))) | None => {
                let text = format!("{specifier:?} is not a file and has no URL; expected a path or a URL");
                Err(Exception::throw_message(&ctx, &text))
            }
        }
    })?
    .with_name("resolve")
}

/// `require` for the module of this name.
fn require_from<'js>(ctx: &Ctx<'js>, base: &str) -> Result<Function<'js>> {
    let base = base.to_owned();
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, specifier: String| {
        require_in(&ctx, &base, &specifier)
    })?
    .with_name("require")
}

/// The exports of a module, at once.
fn require_in<'js>(ctx: &Ctx<'js>, base: &str, specifier: &str) -> Result<Value<'js>> {
    let program = Arc::clone(&Host::of(ctx).program);
    let Some(name) = program.resolve(base, specifier) else {
        let text = why_missing(base, specifier);
        return Err(Exception::throw_message(ctx, &text));
    };
    let is_es_module = program
        .modules
        .get(&name)
        .is_some_and(|module| !module.is_common_js);
    if !is_es_module {
        return exports_of(ctx, &name);
    }
    let namespace: Object<'js> = beginning(ctx, || Module::import(ctx, name)?.finish())?;
    Ok(namespace.into_value())
}

/// Why a module is not among those that were read.
fn why_missing(base: &str, specifier: &str) -> String {
    let base = Specifier::parse(base);
    match base.map(|base| source::resolve(&base, specifier, Builtins::default())) {
        Some(Err(unresolved)) => unresolved.to_string(),
        _ => format!(
            "cannot find the module `{specifier}`; require() needs a string literal, so that the module can be read \
             before the run"
        ),
    }
}

fn instance<'js>(ctx: &Ctx<'js>, name: &str) -> Option<Object<'js>> {
    let instances = ctx.userdata::<Instances<'js>>()?;
    instances.by_name.borrow().get(name).cloned()
}

fn keep<'js>(ctx: &Ctx<'js>, name: &str, object: &Object<'js>) {
    if let Some(instances) = ctx.userdata::<Instances<'js>>() {
        instances
            .by_name
            .borrow_mut()
            .insert(name.to_owned(), object.clone());
    }
}

/// Prepares a context for modules; once, before any is loaded.
pub(crate) fn install(ctx: &Ctx<'_>) -> Result<()> {
    ctx.store_userdata(Instances::default())
        .map(drop)
        .map_err(|error| Exception::throw_internal(ctx, &error.to_string()))
}
