//! The script of a test: reads it, evaluates it once, and returns its exports.

use std::{ffi::OsString, io, path::Path, sync::Arc};

use plimsoll_clients::dial::Proxies;
use plimsoll_load::{
    nearest::nearest,
    plan::{Options, Plan},
};
use plimsoll_script::{
    Options as Effective, Program, Redaction, Script, ScriptError, modules,
    source::{self, Archive, ArchiveError, Builtins, Entry, LoadOptions, SourceError, Sources},
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
    let sources = sources(path, flags, surroundings).await.map_err(unreadable)?;
    for notice in &sources.notices {
        tracing::info!("{notice}");
    }
    evaluate(sources, flags, with_system, surroundings, redaction)?
        .map_err(|error| failed(path, &error, redaction))
}

/// Reads the text of a script and of all that it imports. `-` is standard input.
pub(super) async fn sources(
    path: &Path,
    flags: &ReadingFlags,
    surroundings: &Surroundings<'_>,
) -> Result<Sources, SourceError> {
    let archive = archive(path, flags)?;
    let entry = match path.to_str() {
        _ if let Some(archive) = archive => Entry::Archive(Arc::new(archive)),
        Some("-") => Entry::Text {
            path: path.to_owned(),
            text: io::read_to_string(io::stdin()).map_err(|error| SourceError::unreadable(path, error))?,
        },
        _ => Entry::File(path.to_owned()),
    };
    load(entry, flags.offline, surroundings).await
}

/// Reads the text of an entry and of all that it imports.
pub(super) async fn load(
    entry: Entry,
    is_offline: bool,
    surroundings: &Surroundings<'_>,
) -> Result<Sources, SourceError> {
    let present: Vec<_> = modules::ids().collect();
    let options = LoadOptions {
        builtins: Builtins {
            present: &present,
            absent: modules::ABSENT,
            node: None,
        },
        cache: source::cache_folder(|name| surroundings.variable(name).map(OsString::from)),
        is_offline,
        proxies: surroundings.proxies().map_err(SourceError::proxies)?,
    };
    source::load(entry, &options).await
}

/// The archive at this path; `None` if it is a script.
fn archive(path: &Path, flags: &ReadingFlags) -> Result<Option<Archive>, SourceError> {
    if path.as_os_str() == "-" || !flags.may_be_archive() {
        return Ok(None);
    }
    let archive = match Archive::read_file(path) {
        // The error about a script says more.
        Err(ArchiveError::Io(_)) => return Ok(None),
        archive => archive.map_err(|error| SourceError::archive(path, error))?,
    };
    if archive.is_none() && flags.must_be_archive() {
        let cause = io::Error::other("--type archive expects a tar file");
        return Err(SourceError::unreadable(path, cause));
    }
    Ok(archive)
}

/// The failure of a run whose script, or a module of it, cannot be read.
pub(super) fn unreadable(error: SourceError) -> Failure {
    match error.excerpt {
        None => TestFailure::NoFile.because(error),
        Some(_) => TestFailure::ScriptFailed.because(error),
    }
}

/// The failure of a run whose script threw.
pub(super) fn failed(path: &Path, error: &ScriptError, redaction: &Redaction) -> Failure {
    let text = match error.excerpt {
        Some(_) => error.to_string(),
        None => format!("{}: {error}", path.display()),
    };
    let failure = if error.is_abort {
        TestFailure::Aborted
    } else {
        TestFailure::ScriptFailed
    };
    failure.because(redaction.redact(&text))
}

/// Evaluates a script once. The inner error is the script's own.
pub(super) fn evaluate(
    sources: Sources,
    flags: &ReadingFlags,
    with_system: bool,
    surroundings: &Surroundings<'_>,
    redaction: &Redaction,
) -> Result<Result<Script, ScriptError>, Failure> {
    let secrets = secret_source::read(&flags.secret_source, surroundings, redaction);
    let secrets = secrets.map_err(|error| TestFailure::InvalidOptions.because(error))?;
    let with_system = flags.include_system_env_vars.unwrap_or(with_system);
    let mut env = environment::compose(&flags.env, with_system, surroundings);
    if let Some(archive) = &sources.archive {
        // The variables of now win.
        for (name, value) in &archive.env {
            env.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    let program = Program::from_sources(sources, env, std::env::current_dir()?).with_secrets(secrets);
    Ok(Script::read(program))
}

/// The script's exported `options`; for an archive those that it was made with, which replace them.
pub(super) fn options(script: &Script) -> serde_json::Result<Value> {
    if let Some(options) = script.archived_options() {
        return Ok(options.clone().into());
    }
    let options = script.options()?;
    Ok(if options.is_null() { json!({}) } else { options })
}

/// Whether the script has every function that a scenario calls.
pub(super) fn check_functions(script: &Script, name: &str, plan: &Plan) -> Result<(), Mistake> {
    match missing_functions(script, name, plan).into_iter().next() {
        None => Ok(()),
        Some(mistake) => Err(mistake),
    }
}

/// The scenarios whose function is not exported.
pub(super) fn missing_functions(script: &Script, name: &str, plan: &Plan) -> Vec<Mistake> {
    let functions = script.functions();
    let exported: Vec<_> = functions.iter().map(String::as_str).collect();
    let exported = exported.join(", ");
    let scenarios = plan.scenarios.iter();
    let wrong = scenarios.filter(|scenario| !functions.contains(&scenario.exec));
    wrong
        .map(|scenario| {
            let (scenario, exec) = (&scenario.name, scenario.exec.as_str());
            let hint = nearest(exec, functions).map(|name| format!("; did you mean `{name}`?"));
            let hint = hint.unwrap_or_default();
            let declared = match exec {
                "default" => "default function ()".to_owned(),
                name => format!("function {name}()"),
            };
            let problem = format!(
                "scenario `{scenario}` calls the function `{exec}`, which is not exported{hint}; there are: {exported}. \
                 Write `export {declared} {{ }}`, or name another function in `exec`"
            );
            Mistake::new(name, problem).of_option(&format!("scenarios.{scenario}.exec"))
        })
        .collect()
}

/// All options as scripts and protocols see them.
pub(super) fn effective(values: Options, plan: &Plan, proxies: Proxies) -> Effective {
    Effective {
        stripe: plan.stripe.clone(),
        proxies,
        consolidated: values.consolidated(plan).to_string(),
        values,
        system_tags: plan.system_tags.clone(),
    }
}
