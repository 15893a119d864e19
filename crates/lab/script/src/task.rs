//! What a runtime is asked to do, and how the script's event loop is drained around it.

use std::{collections::BTreeSet, rc::Rc, sync::Arc};

use rquickjs::{Coerced, Ctx, Error, Exception, Function, Object, Result, Value, function::IntoArgs};

use crate::{bytes, error::ScriptError, host::Host, rejections, setup_data};

/// One thing to do.
#[derive(Debug)]
pub(crate) enum Task {
    /// Call the function of a scenario.
    Iterate {
        /// Its name among the exports.
        function: String,
        /// What `setup` returned, as JSON; `None` is undefined.
        data: Option<Arc<str>>,
    },
    /// Call `setup`.
    Setup,
    /// Call `teardown`.
    Teardown {
        /// As above.
        data: Option<Arc<str>>,
    },
    /// Call `handleSummary`.
    Summarize {
        /// Its argument, as JSON.
        data: String,
    },
}

/// Contents by name: `stdout`, `stderr` or a path.
pub type Files = Vec<(String, Vec<u8>)>;

/// What came out of it.
#[derive(Debug)]
pub(crate) enum Output {
    /// Nothing that matters.
    Nothing,
    /// What a script is, once it was evaluated.
    Script(Description),
    /// What `setup` returned, as JSON.
    Data(Option<String>),
    /// What `handleSummary` returned: texts and bytes by name. `None` when it returned nothing.
    Files(Option<Files>),
}

/// What a script exports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Description {
    /// The names of its functions.
    pub(crate) functions: BTreeSet<String>,
    /// Its `options`, as JSON.
    pub(crate) options: Option<String>,
}

impl Task {
    /// What a script exports, after it was evaluated.
    pub(crate) fn describe<'js>(
        ctx: &Ctx<'js>,
        host: &Rc<Host>,
        exports: &Object<'js>,
    ) -> std::result::Result<Output, ScriptError> {
        let describe = || {
            let mut functions = BTreeSet::new();
            for entry in exports.props::<String, Value<'js>>() {
                let (name, value) = entry?;
                if value.is_function() && name != "options" {
                    functions.insert(name);
                }
            }
            let options: Value<'js> = exports.get("options")?;
            if options.is_function() {
                return Err(Exception::throw_type(
                    ctx,
                    "`options` is a function; export an object",
                ));
            }
            Ok(Output::Script(Description {
                functions,
                options: json(ctx, options)?,
            }))
        };
        describe().map_err(|error| ScriptError::caught(ctx, &error, &host.program))
    }

    /// Does it. `data` keeps what `setup` returned, read once.
    pub(crate) fn perform<'js>(
        self,
        ctx: &Ctx<'js>,
        host: &Rc<Host>,
        exports: &Object<'js>,
        data: &mut Option<Value<'js>>,
    ) -> std::result::Result<Output, ScriptError> {
        let result = self.call(ctx, host, exports, data);
        result.map_err(|error| ended(ctx, host, &error))
    }

    fn call<'js>(
        self,
        ctx: &Ctx<'js>,
        host: &Rc<Host>,
        exports: &Object<'js>,
        data: &mut Option<Value<'js>>,
    ) -> Result<Output> {
        match self {
            Self::Iterate {
                function: name,
                data: json,
            } => {
                host.program.prepare_iteration(ctx, host)?;
                let data = read_once(ctx, data, json.as_deref())?;
                call(ctx, host, exports, &name, (data,))?;
                Ok(Output::Nothing)
            }
            Self::Setup => {
                let returned = call(ctx, host, exports, "setup", ())?;
                Ok(Output::Data(setup_data::to_json(ctx, returned)?))
            }
            Self::Teardown { data: json } => {
                let data = read_once(ctx, data, json.as_deref())?;
                call(ctx, host, exports, "teardown", (data,))?;
                Ok(Output::Nothing)
            }
            Self::Summarize { data } => {
                let data = ctx.json_parse(data)?;
                let returned = call(ctx, host, exports, "handleSummary", (data,))?;
                files(&returned).map(Output::Files)
            }
        }
    }
}

/// Why a task has ended early. Not inlined: it would take room of the script's stack while the task is done.
#[inline(never)]
fn ended(ctx: &Ctx<'_>, host: &Host, error: &Error) -> ScriptError {
    let mut ended = ScriptError::caught(ctx, error, &host.program);
    if let Some(reason) = host.take_abort() {
        ended = ScriptError::new(reason);
        ended.is_abort = true;
    }
    ended.is_interruption = host.is_interrupted();
    ended
}

/// Calls an exported function of the script and waits for everything that the function starts.
fn call<'js>(
    ctx: &Ctx<'js>,
    host: &Host,
    exports: &Object<'js>,
    name: &str,
    arguments: impl IntoArgs<'js>,
) -> Result<Value<'js>> {
    let function: Function<'js> = exports.get(name)?;
    let returned = function.call(arguments)?;
    match settle(ctx, host, returned)? {
        Some(value) => Ok(value),
        None => Err(never_settles(ctx, name, &function)?),
    }
}

/// An exception at the position of the function, because the position where its promise was created is unknown.
fn never_settles<'js>(ctx: &Ctx<'js>, name: &str, function: &Function<'js>) -> Result<Error> {
    let place = |property| function.get::<_, Coerced<String>>(property).map(|text| text.0);
    let (file, line, column) = (place("fileName")?, place("lineNumber")?, place("columnNumber")?);
    let exception = Exception::from_message(
        ctx.clone(),
        "the promise that the function returned never settles: no timer, request or socket is left that could resolve \
         it",
    )?;
    exception.set("stack", format!("    at {name} ({file}:{line}:{column})"))?;
    Ok(ctx.throw(exception.into_value()))
}

/// Waits for everything that the script has started, then returns the result of its promise; `None` when the promise
/// stays pending.
fn settle<'js>(ctx: &Ctx<'js>, host: &Host, returned: Value<'js>) -> Result<Option<Value<'js>>> {
    loop {
        host.run_jobs(ctx)?;
        rejections::check(ctx, &returned)?;
        if host.events.is_empty() {
            break;
        }
        if let Some(callback) = host.wait(ctx, host.events.next())? {
            callback(ctx)?;
        }
    }
    if host.is_interrupted() {
        return Err(Exception::throw_message(ctx, "interrupted"));
    }
    let Some(promise) = returned.as_promise() else {
        return Ok(Some(returned));
    };
    promise.result().transpose()
}

/// What `setup` returned, read from its JSON the first time.
fn read_once<'js>(ctx: &Ctx<'js>, known: &mut Option<Value<'js>>, json: Option<&str>) -> Result<Value<'js>> {
    if let Some(known) = known {
        return Ok(known.clone());
    }
    let value = match json {
        Some(json) => ctx.json_parse(json)?,
        None => Value::new_undefined(ctx.clone()),
    };
    Ok(known.insert(value).clone())
}

/// A value as JSON; `None` for what JSON cannot say.
fn json<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Option<String>> {
    ctx.json_stringify(value)?
        .map(|json| json.to_string())
        .transpose()
}

/// The files of `handleSummary`.
fn files(returned: &Value<'_>) -> Result<Option<Files>> {
    let Some(object) = returned.as_object() else {
        return Ok(None);
    };
    let mut files = Vec::new();
    for entry in object.props::<String, Value<'_>>() {
        let (name, content) = entry?;
        if let Some(text) = content.as_string() {
            files.push((name, text.to_string()?.into_bytes()));
        } else if let Some(bytes) = bytes::copy(&content) {
            files.push((name, bytes));
        } else if !content.is_undefined() {
            let text = format!(
                "handleSummary returned a {} for `{name}`; expected text, for example JSON.stringify(data), or an \
                 ArrayBuffer",
                content.type_name()
            );
            return Err(Exception::throw_type(returned.ctx(), &text));
        }
    }
    Ok(Some(files))
}
