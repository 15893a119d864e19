//! The script of a test: reads it, evaluates it once, and returns its exports.

use std::{ffi::OsString, io, path::Path};

use plimsoll_load::plan::{Options, Plan};
use plimsoll_script::{
    Options as Effective, Program, Redaction, Script, modules,
    source::{self, Builtins, Entry, LoadOptions},
};
use serde_json::{Value, json};

use super::{environment, mistake::Mistake, options::ReadingFlags, secret_source};
use crate::{
    exit::{Failure, TestFailure},
    surroundings::Surroundings,
};

/// Reads a script with all that it imports, and evaluates it once. `-` is standard input. `__ENV` has the variables of
/// the system when the flags say so, or nothing, and then `with_system` does. `redaction` learns which secrets it reads.
pub(super) async fn read(
    path: &Path,
    flags: &ReadingFlags,
    with_system: bool,
    surroundings: &Surroundings<'_>,
    redaction: &Redaction,
) -> Result<Script, Failure> {
    let secrets = secret_source::read(&flags.secret_source, surroundings, redaction);
    let secrets = secrets.map_err(|error| TestFailure::InvalidOptions.because(error))?;
    let entry = match path.to_str() {
        Some("-") => Entry::Text {
            path: path.to_owned(),
            text: io::read_to_string(io::stdin())?,
        },
        _ => Entry::File(path.to_owned()),
    };
    let present: Vec<_> = modules::ids().collect();
    let options = LoadOptions {
        builtins: Builtins {
            present: &present,
            absent: modules::ABSENT,
        },
        cache: source::cache_folder(|name| surroundings.variable(name).map(OsString::from)),
        is_offline: flags.offline,
    };
    let sources = source::load(entry, &options).await;
    let sources = sources.map_err(|error| match error.excerpt {
        None => TestFailure::NoFile.because(error),
        Some(_) => TestFailure::ScriptFailed.because(error),
    })?;
    for notice in &sources.notices {
        tracing::info!("{notice}");
    }
    let with_system = flags.include_system_env_vars.unwrap_or(with_system);
    let env = environment::compose(&flags.env, with_system, surroundings);
    let program = Program::from_sources(sources, env, std::env::current_dir()?).with_secrets(secrets);
    Script::read(program).map_err(|error| {
        let text = match error.excerpt {
            Some(_) => error.to_string(),
            None => format!("{}: {error}", path.display()),
        };
        TestFailure::ScriptFailed.because(redaction.redact(&text))
    })
}

/// The script's exported `options`.
pub(super) fn options(script: &Script) -> serde_json::Result<Value> {
    let options = script.options()?;
    Ok(if options.is_null() { json!({}) } else { options })
}

/// Whether the script has every function that a scenario calls.
pub(super) fn check_functions(script: &Script, name: &str, plan: &Plan) -> Result<(), Mistake> {
    let functions = script.functions();
    match plan
        .scenarios
        .iter()
        .find(|scenario| !functions.contains(&scenario.exec))
    {
        None => Ok(()),
        Some(scenario) => {
            let exported: Vec<_> = functions.iter().map(String::as_str).collect();
            let problem = format!(
                "scenario `{}` calls the function `{}`, which is not exported; there are: {}. Write `export {} … {{ }}`, or \
                 name another function in `exec`",
                scenario.name,
                scenario.exec,
                exported.join(", "),
                match scenario.exec.as_str() {
                    "default" => "default function ()".to_owned(),
                    name => format!("function {name}()"),
                }
            );
            Err(Mistake::new(name, problem))
        }
    }
}

/// All options as scripts and protocols see them.
pub(super) fn effective(values: Options, plan: &Plan) -> Effective {
    Effective {
        consolidated: values.consolidated(plan).to_string(),
        values,
        system_tags: plan.system_tags.clone(),
    }
}
