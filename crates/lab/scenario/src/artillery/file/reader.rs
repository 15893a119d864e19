//! What all parts of a file are read with: texts with templates, the names that they read, and warnings.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    path::Path,
    str::FromStr,
    sync::Arc,
};

use plimsoll_load::nearest::nearest;
use serde_json::Value;

use super::{Surroundings, functions::Functions};
use crate::{
    artillery::{
        condition::Condition,
        phase::Spacing,
        template::{Fake, JsonTemplate, Template},
        variables::{Globals, Variables},
    },
    document::{Document, Fields, Mistakes, Part, Value as Written},
};

/// Variables that are always there.
const BUILT_IN: [&str; 8] = [
    "target",
    "$uuid",
    "$testId",
    "$environment",
    "$dirname",
    "$scenarioFile",
    "$loopCount",
    "$loopElement",
];

/// Reads one file.
pub(super) struct Reader<'a> {
    pub(super) document: &'a Document,
    pub(super) surroundings: &'a Surroundings<'a>,
    warnings: RefCell<Vec<String>>,
    /// Names that templates and conditions read, with the positions for errors about unknown ones.
    reads: RefCell<Vec<(String, Part<'a>)>>,
    /// Names of variables that are set.
    sets: RefCell<BTreeSet<String>>,
    pub(super) functions: RefCell<Functions>,
    /// Whether a capture fails without a value if it does not say so itself.
    pub(super) captures_strictly: Cell<bool>,
    /// Variables that the program sets, the same for all users.
    built_in: BTreeMap<String, Value>,
    /// The seeds of phases.
    seeds: RefCell<fastrand::Rng>,
    /// The places of files whose paths depend on the user.
    late_files: RefCell<Vec<String>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(document: &'a Document, surroundings: &'a Surroundings<'a>) -> Self {
        let sets = BUILT_IN.iter().map(|&name| name.to_owned());
        Self {
            document,
            surroundings,
            warnings: RefCell::default(),
            reads: RefCell::default(),
            functions: RefCell::default(),
            captures_strictly: Cell::new(true),
            built_in: built_in(surroundings),
            seeds: RefCell::new(fastrand::Rng::with_seed(surroundings.seed)),
            late_files: RefCell::default(),
            sets: RefCell::new(sets.chain(surroundings.variables.keys().cloned()).collect()),
        }
    }

    /// Warns that a setting has no effect here.
    pub(super) fn warn(&self, part: &Part<'_>, problem: &str) {
        let warning = format!("{}: {problem}", self.place_of(part));
        self.warnings.borrow_mut().push(warning);
    }

    /// The file, the line and the keys of a part.
    fn place_of(&self, part: &Part<'_>) -> String {
        let place = part.node().place;
        format!("{}:{place}: {}", self.document.file(place), part.path())
    }

    /// A file that is read while the test runs.
    pub(super) fn reads_late(&self, part: &Part<'_>) {
        self.late_files.borrow_mut().push(self.place_of(part));
    }

    pub(super) fn take_late_files(&self) -> Vec<String> {
        self.late_files.take()
    }

    /// The spacing of arrivals with this name.
    pub(super) fn spacing(&self, name: &str) -> Option<Spacing> {
        Spacing::of_mode(name, self.seeds.borrow_mut().u64(..))
    }

    /// Warns about something outside the file.
    pub(super) fn warn_of(&self, warning: String) {
        self.warnings.borrow_mut().push(warning);
    }

    /// Ends the reading of a map: warns about settings without effect, and refuses unknown keys.
    pub(super) fn finish(&self, mut fields: Fields<'a>) {
        for (part, reason) in fields.ignored() {
            self.warn(&part, reason);
        }
        fields.finish();
    }

    pub(super) fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    /// Records a variable that is set.
    pub(super) fn sets(&self, name: &str) {
        self.sets.borrow_mut().insert(name.to_owned());
    }

    /// The number of names read so far; for [`Self::names_since`].
    pub(super) fn n_names(&self) -> usize {
        self.reads.borrow().len()
    }

    /// The names that were read since then.
    pub(super) fn names_since(&self, n_before: usize) -> Vec<String> {
        let names: BTreeSet<_> = self.reads.borrow()[n_before..]
            .iter()
            .map(|(name, _)| name.clone())
            .collect();
        names.into_iter().collect()
    }

    /// Refuses names that are never set.
    pub(super) fn check_names(&self) {
        let sets = self.sets.borrow();
        for (name, part) in self
            .reads
            .borrow()
            .iter()
            .filter(|(name, _)| !sets.contains(name))
        {
            let hint = match nearest(name, sets.iter().map(String::as_str)) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => "set it in `config.variables`, in a `payload`, with `capture`, or with --variables"
                    .to_owned(),
            };
            if !self.may_be_of_functions(name) {
                self.warn(part, &format!("nothing sets the variable `{name}`; {hint}"));
            }
        }
    }

    /// A text with templates. A number or a boolean is used as written.
    pub(super) fn template(&self, part: &Part<'a>) -> Option<Template> {
        let text = scalar_text(part)?;
        match Template::parse(&text) {
            Ok(template) => {
                self.check_fake(template.fake(), part);
                self.note(template.names(), part);
                Some(template)
            }
            Err(error) => {
                part.mistake(error.to_string());
                None
            }
        }
    }

    /// A value whose texts have templates.
    pub(super) fn json(&self, part: &Part<'a>) -> Option<JsonTemplate> {
        match JsonTemplate::parse(&json_of(part)) {
            Ok(template) => {
                self.check_fake(template.fake(), part);
                self.note(template.names().into_iter(), part);
                Some(template)
            }
            Err(error) => {
                part.mistake(error.to_string());
                None
            }
        }
    }

    /// Refuses a function of the plugin `fake-data` in a file without the plugin.
    fn check_fake(&self, fake: Option<&Fake>, part: &Part<'a>) {
        let config = self.document.root().node().value.get("config");
        let plugins = config.and_then(|config| config.value.get("plugins"));
        let has_plugin = plugins.is_some_and(|plugins| plugins.value.get("fake-data").is_some());
        if let Some(fake) = fake.filter(|_| !has_plugin) {
            part.mistake(format!(
                "`{}` belongs to the plugin fake-data; name it in the configuration: plugins: {{ fake-data: {{}} }}",
                fake.name
            ));
        }
    }

    /// A condition on the user's variables.
    pub(super) fn condition(&self, part: &Part<'a>) -> Option<Condition> {
        let condition = match Condition::from_str(part.text()?) {
            Ok(condition) => condition,
            Err(error) => {
                part.mistake(error.to_string());
                return None;
            }
        };
        let names = condition.names();
        self.note(
            names
                .into_iter()
                .map(|name| name.split('.').next().unwrap_or(name)),
            part,
        );
        Some(condition)
    }

    pub(super) fn note<'n>(&self, names: impl Iterator<Item = &'n str>, part: &Part<'a>) {
        let names = names.map(|name| (name.to_owned(), part.clone()));
        self.reads.borrow_mut().extend(names);
    }

    /// A text of the configuration, constant for all users.
    pub(super) fn config_text(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<String> {
        let template = self.template(part)?;
        Some(template.render(&self.config_variables(variables)).into_owned())
    }

    /// A value of the configuration.
    pub(super) fn config_value(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<Value> {
        let template = self.json(part)?;
        Some(template.value(&self.config_variables(variables)))
    }

    /// A number of the configuration; text that is a number counts, too, because templates give texts.
    pub(super) fn config_number(&self, part: &Part<'a>, variables: &BTreeMap<String, Value>) -> Option<f64> {
        let number = number(&self.config_value(part, variables)?);
        if number.is_none() {
            part.unexpected("a number, for example 0.5");
        }
        number
    }

    /// The variables that the program sets, the same for all users.
    pub(super) fn built_in(&self) -> &BTreeMap<String, Value> {
        &self.built_in
    }

    pub(super) fn config_variables(&self, variables: &BTreeMap<String, Value>) -> Variables {
        let mut values = variables.clone();
        values.extend(self.built_in.clone());
        Variables::new(Arc::new(Globals {
            values,
            environment: self.surroundings.system.clone(),
            ..Globals::default()
        }))
    }

    /// For a file whose mistakes were all reported already.
    pub(super) fn incomplete(&self) -> Mistakes {
        self.document.root().mistake("the file cannot be read");
        match self.document.finish() {
            Err(mistakes) => mistakes,
            Ok(()) => unreachable!("a mistake was just written down"),
        }
    }
}

/// As in Artillery, the folder is that of the file of `--config`, if there is one.
fn built_in(surroundings: &Surroundings<'_>) -> BTreeMap<String, Value> {
    let path = surroundings.path;
    let config = surroundings.config_path.unwrap_or(path);
    let folder = config.parent().unwrap_or(Path::new("")).display();
    let texts = [
        ("$dirname", Some(folder.to_string())),
        ("$scenarioFile", Some(path.display().to_string())),
        ("$environment", surroundings.environment.clone()),
        ("$testId", Some(format!("t{:016x}", surroundings.seed))),
    ];
    let texts = texts.into_iter();
    texts
        .filter_map(|(name, text)| Some((name.to_owned(), text?.into())))
        .collect()
}

/// A number, or a text that is one.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A value as JSON.
pub(super) fn json_of(part: &Part<'_>) -> Value {
    serde_json::to_value(part.node()).unwrap_or_default()
}

fn scalar_text(part: &Part<'_>) -> Option<String> {
    part.read("a text", |value| match value {
        Written::Text(text) => Some(text.clone()),
        Written::Number(number) => Some(number.to_string()),
        Written::Boolean(boolean) => Some(boolean.to_string()),
        _ => None,
    })
}
