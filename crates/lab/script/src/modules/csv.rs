//! `k6/experimental/csv`: records of files, all at once and shared by all users, or one by one.

use std::cell::RefCell;

use rquickjs::{
    Class, Coerced, Ctx, Exception, Function, IntoJs as _, JsLifetime, Object, Promise, Result, Value,
    class::Trace, function::Opt,
};
use serde_json::{Map, Value as Json};

use self::reader::{Options, Reader, Record};
use super::{
    data,
    fs::File,
    k6::is_truthy,
    module::{Module, differs, same},
};
use crate::{
    arguments::Text,
    host::{Host, Stage},
    program::SharedItems,
    promises::{rejected, resolved},
};

mod reader;

pub(super) const MODULE: Module = Module {
    id: "k6/experimental/csv",
    build,
    api: &[
        same("parse"),
        differs("Parser", "the file's own position is at its end from then on"),
        same("Parser.next"),
    ],
};

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    exports.set("parse", Function::new(ctx.clone(), parse)?.with_name("parse")?)?;
    exports.set("Parser", Class::<Parser>::create_constructor(ctx)?)?;
    Ok(exports)
}

/// `parse(file, options)`: a promise of a SharedArray with all records.
fn parse<'js>(ctx: Ctx<'js>, file: Opt<Value<'js>>, options: Opt<Value<'js>>) -> Result<Promise<'js>> {
    let host = only_before_the_run(&ctx, "csv.parse()")?;
    let file = file_of(&ctx, file.0.as_ref(), "csv.parse()")?;
    let options = options_of(&ctx, options.0.as_ref(), "csv.parse()")?;
    let name = format!("csv.parse.{}.{options:?}", file.borrow().place());
    let items = match host.program.shared_items(&name) {
        Some(items) => items,
        None => {
            let (content, at) = file.borrow().take();
            let all = Reader::new(content, at, options).and_then(all_of);
            match all {
                Ok(all) => host.program.keep_shared_items(&name, all),
                Err(error) => {
                    let text = format!("csv.parse() of `{}`: {error}", file.borrow().place());
                    return rejected(&ctx, "Error", &text);
                }
            }
        }
    };
    resolved(&ctx, data::array(&ctx, &name, items)?)
}

/// All records, each as JSON.
fn all_of(mut reader: Reader) -> std::result::Result<SharedItems, String> {
    let mut items = Vec::new();
    while let Some(record) = reader.next()? {
        let json = match record {
            Record::Fields(fields) => Json::from(fields),
            Record::Named(fields) => {
                let fields = fields.into_iter().map(|(name, value)| (name, Json::from(value)));
                Json::from(fields.collect::<Map<_, _>>())
            }
        };
        items.push(json.to_string().into_boxed_str());
    }
    Ok(items.into())
}

/// A reader of records, one by one.
#[derive(Trace, JsLifetime)]
#[rquickjs::class]
struct Parser {
    #[qjs(skip_trace)]
    reader: RefCell<Reader>,
}

#[rquickjs::methods]
impl Parser {
    #[qjs(constructor)]
    fn new<'js>(ctx: Ctx<'js>, file: Opt<Value<'js>>, options: Opt<Value<'js>>) -> Result<Self> {
        only_before_the_run(&ctx, "new csv.Parser()")?;
        let file = file_of(&ctx, file.0.as_ref(), "new csv.Parser()")?;
        let options = options_of(&ctx, options.0.as_ref(), "new csv.Parser()")?;
        let (content, at) = file.borrow().take();
        let reader = Reader::new(content, at, options);
        let reader = reader.map_err(|error| {
            let text = format!("new csv.Parser() of `{}`: {error}", file.borrow().place());
            Exception::throw_message(&ctx, &text)
        })?;
        Ok(Self {
            reader: RefCell::new(reader),
        })
    }

    /// A promise of `{ done, value }`.
    fn next<'js>(&self, ctx: Ctx<'js>) -> Result<Promise<'js>> {
        let record = self.reader.borrow_mut().next();
        let record = match record {
            Ok(record) => record,
            Err(error) => return rejected(&ctx, "Error", &format!("csv.Parser: {error}")),
        };
        let result = Object::new(ctx.clone())?;
        result.set("done", record.is_none())?;
        let value = match record {
            None => Vec::<String>::new().into_js(&ctx)?,
            Some(Record::Fields(fields)) => fields.into_js(&ctx)?,
            Some(Record::Named(fields)) => {
                let object = Object::new(ctx.clone())?;
                for (name, value) in fields {
                    object.set(name, value)?;
                }
                object.into_value()
            }
        };
        result.set("value", value)?;
        resolved(&ctx, result)
    }
}

fn only_before_the_run(ctx: &Ctx<'_>, what: &str) -> Result<std::rc::Rc<Host>> {
    let host = Host::of(ctx);
    if host.stage() == Stage::Init {
        return Ok(host);
    }
    let text = format!("{what} works only in the init context, outside of functions");
    Err(Exception::throw_message(ctx, &text))
}

fn file_of<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>, what: &str) -> Result<Class<'js, File>> {
    let file = value
        .and_then(Value::as_object)
        .and_then(Class::<File>::from_object);
    file.ok_or_else(|| {
        let found = value.map_or("undefined", |value| value.type_name());
        let text = format!(
            "{what} was given {found}; expected a file of k6/experimental/fs, for example \
             `await open(\"users.csv\")`"
        );
        Exception::throw_type(ctx, &text)
    })
}

fn options_of<'js>(ctx: &Ctx<'js>, value: Option<&Value<'js>>, what: &str) -> Result<Options> {
    let mut options = Options::default();
    let Some(object) = value.and_then(Value::as_object) else {
        return Ok(options);
    };
    let get = |name: &str| -> Result<Option<Value<'js>>> {
        let value: Value<'js> = object.get(name)?;
        Ok((!value.is_undefined()).then_some(value))
    };
    let refuse = |text: &str| Exception::throw_message(ctx, &format!("the options of {what}: {text}"));
    if let Some(delimiter) = get("delimiter")? {
        match delimiter.get::<Text>()?.0.as_bytes() {
            [byte] if !matches!(byte, b'"' | b'\r' | b'\n') && byte.is_ascii() => options.delimiter = *byte,
            _ => {
                return Err(refuse(
                    "delimiter must be a single character of ASCII that is no quote and ends no line",
                ));
            }
        }
    }
    let line = |name: &str| -> Result<Option<u64>> {
        let Some(value) = get(name)? else { return Ok(None) };
        let Coerced(number) = value.get::<Coerced<f64>>()?;
        if !(0.0..=9e15).contains(&number) {
            return Err(refuse(&format!("{name} must be a number from 0")));
        }
        Ok(Some(number as u64))
    };
    options.from_line = line("fromLine")?;
    options.to_line = line("toLine")?;
    options.skips_first_line = get("skipFirstLine")?.is_some_and(|value| is_truthy(&value));
    options.as_objects = get("asObjects")?.is_some_and(|value| is_truthy(&value));
    options.check().map_err(|error| refuse(&error))?;
    Ok(options)
}
