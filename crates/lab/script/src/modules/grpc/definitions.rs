//! `Client.load` and `Client.loadProtoset`: definitions from files, before the run.

use rquickjs::{Array, Ctx, Exception, FromJs as _, Object, Result, Value};

use super::state::State;
use crate::{
    arguments::{Text, items},
    host::{Host, Stage},
    protobuf::Source,
};

/// Loads `.proto` files from folders.
pub(super) fn load<'js>(ctx: &Ctx<'js>, state: &State, arguments: &[Value<'js>]) -> Result<Value<'js>> {
    let folders = match arguments.first() {
        Some(folders) if !(folders.is_null() || folders.is_undefined()) => {
            let list = folders.as_array().ok_or_else(|| {
                let text = "the first argument of load() is not a list; expected folders to search for files, for \
                    example load(['definitions'], 'hello.proto')";
                Exception::throw_type(ctx, text)
            })?;
            items::<Text>(list)?
                .map(|text| Ok(text?.0))
                .collect::<Result<_>>()?
        }
        _ => Vec::new(),
    };
    let files = arguments.iter().skip(1);
    let files = files.map(|file| Ok(Text::from_js(ctx, file.clone())?.0));
    let files = files.collect::<Result<_>>()?;
    from(ctx, state, &Source::Files { folders, files })
}

/// Loads a file with a set of descriptors.
pub(super) fn load_protoset<'js>(ctx: &Ctx<'js>, state: &State, path: String) -> Result<Value<'js>> {
    from(ctx, state, &Source::Set(path))
}

/// Loads definitions; gives the list of their methods, or null without methods.
fn from<'js>(ctx: &Ctx<'js>, state: &State, source: &Source) -> Result<Value<'js>> {
    let host = Host::of(ctx);
    let fail = |text: &str| Exception::throw_message(ctx, text);
    if host.stage() != Stage::Init {
        return Err(fail("load must be called in the init context"));
    }
    let definitions = host.program.definitions(source).map_err(|error| fail(&error))?;
    let methods = Array::new(ctx.clone())?;
    for (index, (path, method)) in definitions.methods().enumerate() {
        let service = method.parent_service();
        let info = Object::new(ctx.clone())?;
        info.set("package", service.package_name())?;
        info.set("service", service.name())?;
        info.set("full_method", path)?;
        info.set("name", method.name())?;
        info.set("is_client_stream", method.is_client_streaming())?;
        info.set("is_server_stream", method.is_server_streaming())?;
        methods.set(index, info)?;
    }
    state.add(definitions);
    // As in k6, where an empty list is none.
    Ok(if methods.is_empty() {
        Value::new_null(ctx.clone())
    } else {
        methods.into_value()
    })
}
