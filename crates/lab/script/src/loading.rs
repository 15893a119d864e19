//! The sources of a runtime's modules: the host's own modules, CommonJS modules, and bytecode that was compiled once.

use std::{cell::RefCell, collections::HashMap, path::Path, sync::Arc};

use rquickjs::{
    Ctx, Error, Exception, Function, JsLifetime, Module, Object, Result, Value,
    context::EvalOptions,
    function::This,
    loader::{ImportAttributes, Loader, Resolver},
    module::{Declarations, Declared, Exports, ModuleDef, WriteOptions},
};

use crate::{
    calling, context_data,
    host::Host,
    modules,
    node::{library, native},
    program::Program,
    source::{self, Builtins, Platform, Resolved, Specifier, Unresolved},
    source_module::of_require,
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

/// Node's code for an error of `require`.
pub(crate) const NO_MODULE: &str = "MODULE_NOT_FOUND";

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
            .resolve(base, name, false)
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
    /// The name of the module that `specifier` means in the module `base`, for `require` or for an import.
    fn resolve(&self, base: &str, specifier: &str, is_require: bool) -> Option<String> {
        if self.platform == Platform::Node
            && let Some(id) = library::id_of(specifier)
        {
            return Some(id);
        }
        if modules::find(specifier).is_some() || self.modules.contains_key(specifier) {
            return Some(specifier.to_owned());
        }
        let imports = &self.modules.get(base)?.imports;
        let required = is_require.then(|| imports.get(&of_require(specifier)));
        required.flatten().or_else(|| imports.get(specifier)).cloned()
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
                self.keep_compiled(name, without_checksum(module.write(options)?));
                module
            }
        };
        if source.text.contains("import.meta") {
            self.describe(ctx, name, &module.meta()?)?;
        }
        Ok(module)
    }

    /// Fills `import.meta`.
    fn describe<'js>(&self, ctx: &Ctx<'js>, name: &str, meta: &Object<'js>) -> Result<()> {
        meta.set("resolve", resolve_from(ctx, name)?)?;
        if self.platform == Platform::Node {
            let [file, folder] = places(name);
            meta.set("url", name)?;
            meta.set("filename", file)?;
            meta.set("dirname", folder)?;
        }
        Ok(())
    }

    /// What a module without exports of its own gives as its default: everything, or `exports.default`.
    fn default_of<'js>(&self, exports: &Object<'js>) -> Result<Option<Value<'js>>> {
        if self.platform == Platform::Node {
            // Artillery bundles TypeScript, and its bundler takes modules that were ES modules for what they were.
            let is_typescript = [".ts", ".mts"].iter().any(|end| self.entry.ends_with(end));
            if !is_typescript || !modules::is_truthy(&exports.get("__esModule")?) {
                return Ok(None);
            }
        }
        let default: Value<'js> = exports.get("default")?;
        Ok(Some(default).filter(|default| !default.is_undefined()))
    }
}

/// Bytecode that the engine reads without adding it up: every virtual user reads it, and nothing changes it meanwhile.
fn without_checksum(mut bytecode: Vec<u8>) -> Vec<u8> {
    if let Some(checksum) = bytecode.get_mut(1..5) {
        checksum.fill(0xff);
    }
    bytecode
}

impl ModuleDef for OfObject {
    fn declare<'js>(declarations: &Declarations<'js>) -> Result<()> {
        let module = declarations.module();
        let (ctx, id) = (module.ctx(), module.name::<String>()?);
        let object = exports_of(ctx, &id)?;
        declarations.declare("default")?;
        if let Some(object) = object.as_object() {
            for name in declared(ctx, &id, object)? {
                declarations.declare(name)?;
            }
        }
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let id = exports.module().name::<String>()?;
        let value = exports_of(ctx, &id)?;
        let Some(object) = value.as_object() else {
            exports.export("default", value)?;
            return Ok(());
        };
        let default = Host::of(ctx).program.default_of(object)?;
        let default = default.unwrap_or_else(|| value.clone());
        exports.export("default", default)?;
        for name in declared(ctx, &id, object)? {
            let value: Value<'js> = object.get(name.as_str())?;
            exports.export(name, value)?;
        }
        Ok(())
    }
}

/// The names that the module of this id exports beside its default: for a module of the host, those that the script can
/// see.
fn declared<'js>(ctx: &Ctx<'js>, id: &str, object: &Object<'js>) -> Result<Vec<String>> {
    let wanted = &Host::of(ctx).program.wanted_exports;
    let is_of_host = modules::find(id).is_some();
    let mut names = object.keys::<String>().collect::<Result<Vec<_>>>()?;
    names.retain(|name| name != "default" && (!is_of_host || wanted.has(id, name)));
    Ok(names)
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
    let module = match (instance(ctx, name), library::text(name)) {
        (Some(module), _) => module,
        (None, Some(text)) => run_of_node(ctx, name, text)?,
        (None, None) => run_common_js(ctx, name)?,
    };
    module.get("exports")
}

/// Runs a module of Node's and gives its `module`.
fn run_of_node<'js>(ctx: &Ctx<'js>, id: &str, text: &str) -> Result<Object<'js>> {
    let native = match instance(ctx, NATIVE) {
        Some(native) => native,
        None => {
            let native = native::build(ctx)?;
            keep(ctx, NATIVE, &native);
            native
        }
    };
    let (module, exports) = new_module(ctx, id)?;
    let require = Function::new(ctx.clone(), |ctx: Ctx<'js>, name: String| {
        exports_of(&ctx, &library::internal_id(&name))
    })?;
    let of = Function::new(ctx.clone(), |ctx: Ctx<'js>, from: String| {
        let base = Specifier::parse(&from).or_else(|| Specifier::of_file(Path::new(&from)));
        let base = base.ok_or_else(|| {
            let text = format!("createRequire() needs a file URL or an absolute path, not {from:?}");
            Exception::throw_type(&ctx, &text)
        })?;
        require_from(&ctx, base.as_str())
    })?;
    require.set("of", of)?;
    require.set("names", library::names())?;
    let mut options = EvalOptions::default();
    options.filename = Some(id.to_owned());
    let text = format!("(function (module, exports, require, native) {{{text}\n}})");
    let function: Function<'js> = ctx.eval_with_options(text, options)?;
    beginning(ctx, || {
        function.call::<_, ()>((module.clone(), exports, require, native))
    })?;
    if library::names().contains(&id.trim_start_matches("node:")) {
        watch_names(ctx, id, &module)?;
    }
    Ok(module)
}

/// A `module` with empty `exports`. It is known before it runs, so that a cycle finds what is there by then, as in Node.
fn new_module<'js>(ctx: &Ctx<'js>, name: &str) -> Result<(Object<'js>, Object<'js>)> {
    let (module, exports) = (Object::new(ctx.clone())?, Object::new(ctx.clone())?);
    module.set("exports", exports.clone())?;
    keep(ctx, name, &module);
    Ok((module, exports))
}

/// Lets the host know names that are asked for and do not exist.
fn watch_names<'js>(ctx: &Ctx<'js>, id: &str, module: &Object<'js>) -> Result<()> {
    const WATCHED: &str = "(exports, note) => {
        if (typeof exports !== 'object') return exports;
        const watched = new Proxy(exports, { get(target, key) {
            if (typeof key === 'string' && !(key in target) && !['default', 'then', 'toJSON', '__esModule'].includes(key)) note(key);
            return target[key];
        } });
        // path.posix is path. Getters are left alone: they load what they give.
        for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(exports))) if (value === exports) exports[key] = watched;
        return watched;
    }";
    let id = id.trim_start_matches("node:").to_owned();
    let note = Function::new(ctx.clone(), move |ctx: Ctx<'js>, key: String| {
        Host::of(&ctx).note_absent_of_node(format!("{id}.{key}"));
    })?;
    let watched: Function<'js> = ctx.eval(WATCHED)?;
    let exports: Value<'js> = watched.call((module.get::<_, Value<'js>>("exports")?, note))?;
    module.set("exports", exports)
}

/// The name under which the host's part of Node's modules is kept.
const NATIVE: &str = "native";

/// The path and the folder of a module that is a file.
fn places(name: &str) -> [String; 2] {
    let path = Specifier::parse(name).and_then(|module| module.to_path());
    let folder = path.as_deref().and_then(Path::parent);
    [path.as_deref(), folder].map(|path| path.map_or_else(String::new, |path| path.display().to_string()))
}

/// Runs a CommonJS module and gives its `module`.
pub(crate) fn run_common_js<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    let program = Arc::clone(&Host::of(ctx).program);
    let source = program
        .modules
        .get(name)
        .ok_or_else(|| Error::new_loading(name.to_owned()))?;
    let (module, exports) = new_module(ctx, name)?;
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(name.to_owned());
    // On one line, so that line numbers stay those of the file.
    let text = format!("(function ({PARAMETERS}) {{{}\n}})", source.text);
    let function: Function<'js> = ctx.eval_with_options(text, options)?;
    let require = require_from(ctx, name)?;
    if program.platform == Platform::K6 {
        beginning(ctx, || function.call::<_, ()>((module.clone(), exports, require)))?;
        return Ok(module);
    }
    let [file, folder] = places(name);
    for (key, value) in [("id", &file), ("filename", &file), ("path", &folder)] {
        module.set(key, value.as_str())?;
    }
    module.set("require", require.clone())?;
    module.set("loaded", false)?;
    beginning(ctx, || {
        function.call::<_, ()>((
            This(exports.clone()),
            module.clone(),
            exports,
            require,
            file,
            folder,
        ))
    })?;
    module.set("loaded", true)?;
    Ok(module)
}

/// The parameters of the function around a CommonJS module. Those for the place of the file are undefined for k6.
const PARAMETERS: &str = "module, exports, require, __filename, __dirname";

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
    let (own, base) = (base.to_owned(), base.to_owned());
    let require = Function::new(ctx.clone(), move |ctx: Ctx<'js>, specifier: String| {
        require_in(&ctx, &own, &specifier)
    })?
    .with_name("require")?;
    if Host::of(ctx).program.platform == Platform::Node {
        let resolve = move |ctx: Ctx<'js>, specifier: String| {
            let found = found_in_node(&base, &specifier).and_then(std::result::Result::ok);
            match found {
                Some(Resolved::Builtin(_)) => Ok(specifier),
                Some(Resolved::Module(module)) if module.to_path().is_some_and(|path| path.is_file()) => {
                    Ok(module.to_string())
                }
                _ => Err(missing(&ctx, &base, &specifier)),
            }
        };
        require.set("resolve", Function::new(ctx.clone(), resolve)?)?;
        require.set("cache", Object::new(ctx.clone())?)?;
    }
    Ok(require)
}

/// The exports of a module, at once.
fn require_in<'js>(ctx: &Ctx<'js>, base: &str, specifier: &str) -> Result<Value<'js>> {
    let program = Arc::clone(&Host::of(ctx).program);
    let Some(name) = program.resolve(base, specifier, true) else {
        return Err(missing(ctx, base, specifier));
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

/// Throws that a module is not there, with Node's code for code that looks for it.
fn missing(ctx: &Ctx<'_>, base: &str, specifier: &str) -> Error {
    let text = why_missing(Host::of(ctx).program.platform, base, specifier);
    let error = Exception::from_message(ctx.clone(), &text);
    let error = error.and_then(|error| {
        error.as_object().set("code", NO_MODULE)?;
        Ok(error)
    });
    error.map_or_else(|error| error, |error| ctx.throw(error.into_object().into_value()))
}

/// What `require` would find now by Node's rules, whether it was read or not.
fn found_in_node(base: &str, specifier: &str) -> Option<std::result::Result<Resolved, Unresolved>> {
    let builtins = Builtins {
        node: Some(&library::names()),
        ..Builtins::default()
    };
    Some(source::resolve_for_node(
        &Specifier::parse(base)?,
        specifier,
        true,
        builtins,
    ))
}

/// Why a module is not among those that were read.
fn why_missing(platform: Platform, base: &str, specifier: &str) -> String {
    let found = match platform {
        Platform::K6 => {
            Specifier::parse(base).map(|base| source::resolve(&base, specifier, Builtins::default()))
        }
        Platform::Node => found_in_node(base, specifier),
    };
    match found {
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
    context_data::store(ctx, Instances::default())
}
