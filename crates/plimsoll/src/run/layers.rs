//! The options of a run, from all the places where they can be given: defaults, then a configuration file, then the
//! script, then the environment, then the command line. The later wins (docs/reference/run.md, Options).

use plimsoll_load::nearest::nearest;
use plimsoll_load::plan::{Options, OptionsError, Plan, Read};
use serde_json::Value;

use super::{
    config_file::ConfigFile,
    flags::{self, OptionFlags},
    mistake::Mistake,
};
use crate::surroundings::Surroundings;

/// The layers around the script's own, which are known before it is read.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// The configuration file, with its path.
    file: Option<(String, Options)>,
    environment: Options,
    flags: Options,
    /// About keys without meaning.
    warnings: Vec<Mistake>,
}

/// All layers merged.
#[derive(Debug, PartialEq)]
pub(super) struct Consolidated {
    pub(super) options: Options,
    /// The plan that the options describe.
    pub(super) plan: Plan,
    /// Warnings for people.
    pub(super) warnings: Vec<Mistake>,
}

impl Layers {
    /// Reads everything but the script.
    pub(super) fn read(
        file: ConfigFile,
        surroundings: &Surroundings<'_>,
        flags: &OptionFlags,
    ) -> Result<Self, Mistake> {
        let of_place = |error: OptionsError| Mistake::new(error.path, error.problem);
        let variable = |name: &str| surroundings.variable(name).map(str::to_owned);
        let mut warnings = Vec::new();
        let file = file.path.map(|path| {
            let path = path.display().to_string();
            let read = file.read;
            warnings.extend(read.unknown.iter().map(|key| unknown(&path, key)));
            warnings.extend(
                read.notices
                    .iter()
                    .map(|notice| Mistake::new(&path, notice.clone())),
            );
            (path, read.options)
        });
        Ok(Self {
            file,
            environment: Options::from_env(variable).map_err(of_place)?,
            flags: flags.layer().map_err(of_place)?,
            warnings,
        })
    }

    /// Merges all layers with the script's `options`. Scripts without options have an empty object.
    pub(super) fn consolidate(&self, script: &str, of_script: &Value) -> Result<Consolidated, Mistake> {
        let Read {
            options,
            unknown,
            notices,
        } = Options::from_json(of_script).map_err(|error| of_script_option(script, error))?;
        let keys = unknown
            .iter()
            .map(|key| self::unknown(script, key).of_option(key));
        let notices = notices.iter().map(|notice| Mistake::new(script, notice.clone()));
        let warnings = self.warnings.iter().cloned().chain(keys).chain(notices);
        let file = self.file.as_ref().map(|(_, options)| options.clone());
        let all = file
            .unwrap_or_default()
            .under(options.clone())
            .under(self.environment.clone())
            .under(self.flags.clone());
        let ineffective = INEFFECTIVE.iter().filter(|(key, _)| all.get(key).is_some());
        let ineffective =
            ineffective.map(|(key, why)| Mistake::new(format!("the option `{key}` has no effect"), *why));
        let warnings: Vec<_> = warnings.chain(ineffective).collect();
        let plan = plimsoll_script::check_options(&all)
            .and_then(|()| Plan::from_options(&all))
            .map_err(|error| self.blame(error, script, &options))?;
        let segment = all
            .get("executionSegment")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let idle = plan.idle.iter();
        let idle = idle.map(|name| {
            let problem = format!("there is no work for the segment {segment}, so it does not run");
            Mistake::new(format!("the scenario `{name}`"), problem)
        });
        let warnings = warnings.into_iter().chain(idle).collect();
        Ok(Consolidated {
            options: all,
            plan,
            warnings,
        })
    }

    /// Finds the layer of a mistake in the merged options: the highest that has the option.
    fn blame(&self, error: OptionsError, script: &str, of_script: &Options) -> Mistake {
        let end = error.path.find(['.', '[']).unwrap_or(error.path.len());
        let key = error.path[..end].to_owned();
        let has = |layer: &Options| layer.get(&key).is_some();
        if let Some(flag) = flags::flag_of(&key).filter(|_| has(&self.flags)) {
            let error = error.at(&key, &flag);
            return Mistake::new(error.path, error.problem);
        }
        if let Some(variable) = Options::variable(&key).filter(|_| has(&self.environment)) {
            let error = error.at(&key, variable);
            return Mistake::new(error.path, error.problem);
        }
        match &self.file {
            Some((path, options)) if has(options) && !has(of_script) => Mistake::of_file(path, &error),
            _ => of_script_option(script, error),
        }
    }
}

/// Options of k6 that mean nothing here, and why.
const INEFFECTIVE: &[(&str, &str)] = &[(
    "metricSamplesBufferSize",
    "outputs do not have one buffer of this size; see the reference page about outputs",
)];

/// The mistake in an option of a script.
fn of_script_option(script: &str, error: OptionsError) -> Mistake {
    let option = error.path.clone();
    Mistake::of_file(script, &within_options(error)).of_option(&option)
}

/// The error about an option of a script, which is a field of its export.
fn within_options(error: OptionsError) -> OptionsError {
    if error.path == "options" {
        error
    } else {
        OptionsError {
            path: format!("options.{}", error.path),
            ..error
        }
    }
}

fn unknown(place: &str, key: &str) -> Mistake {
    let hint = nearest(key, Options::names()).map(|name| format!("; did you mean `{name}`?"));
    let hint = hint.unwrap_or_default();
    Mistake::new(
        place,
        format!("unknown option `{key}`, which has no effect{hint}"),
    )
}

#[cfg(test)]
mod tests;
