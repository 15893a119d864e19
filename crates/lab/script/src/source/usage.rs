//! The names that a module uses, as far as its text alone says: for checks of a script that does not run.

use std::collections::BTreeMap;

/// The names that one module uses, exports and defines. Offsets are bytes of the module's text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Names that the module does not declare, each once.
    pub free: Vec<FreeName>,
    /// Names that it defines on the global object, as in `globalThis.name = 1`.
    pub globals: Vec<String>,
    /// Whether it can define globals whose names the text does not say.
    pub is_open: bool,
    /// Properties of modules imported as a whole, each once, and imported names.
    pub members: Vec<Member>,
    /// Properties of objects that other modules export, each once.
    pub paths: Vec<Path>,
    /// Calls of functions of other modules, without those that spread their arguments.
    pub calls: Vec<Call>,
    /// The exports by name; `None` if others may exist, as after `export *`.
    pub exports: Option<BTreeMap<String, Export>>,
    /// The literal that is exported as `options`.
    pub options: Option<Literal>,
}

/// A name that a module uses and does not declare.
#[derive(Debug, PartialEq, Eq)]
pub struct FreeName {
    /// The name.
    pub name: String,
    /// Its first use.
    pub offset: usize,
    /// Whether nothing around its first use handles the exception.
    pub is_certain: bool,
    /// The nearest name that is visible there.
    pub nearest: Option<String>,
}

/// How a module is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// `import http from "k6/http"`.
    Default,
    /// `import * as http from "k6/http"`.
    Namespace,
    /// `import { get } from "k6/http"`.
    Named,
}

/// A name of another module.
#[derive(Debug, PartialEq, Eq)]
pub struct Member {
    /// The other module, as it stands in the import.
    pub module: String,
    /// How it is imported.
    pub whole: Whole,
    /// The name there.
    pub name: String,
    /// Its first use.
    pub offset: usize,
    /// The text for people: `http.gett`.
    pub written: String,
    /// Whether each use fails if the name does not exist. Otherwise the module may only test for it.
    pub is_certain: bool,
}

/// A property of an object that another module exports, or of an instance of one of its classes.
#[derive(Debug, PartialEq, Eq)]
pub struct Path {
    /// The other module, as it stands in the import.
    pub module: String,
    /// The class of the instance; `None` for the default export.
    pub class: Option<String>,
    /// The names from the object on: `person` and `firstName`. Two for the default export, one or two for an instance.
    pub names: Vec<String>,
    /// Its first use.
    pub offset: usize,
    /// The text for people: `faker.person.firstName`.
    pub written: String,
    /// Whether each use fails if the name does not exist.
    pub is_certain: bool,
}

/// A call of a function of another module.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    /// The other module, as it stands in the import.
    pub module: String,
    /// The name of the function there.
    pub name: String,
    /// The number of arguments.
    pub n_arguments: usize,
    /// The call.
    pub offset: usize,
}

/// An export.
#[derive(Debug, PartialEq, Eq)]
pub struct Export {
    /// Its name in the text.
    pub offset: usize,
    /// Whether it is a function that the module itself does not use.
    pub is_idle_function: bool,
}

/// A literal of objects and arrays.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Literal {
    /// The literal itself.
    pub offset: usize,
    /// Keys and elements by path: `scenarios.chat.stages[1].target`.
    pub places: BTreeMap<String, usize>,
    /// Whether the text has every value of `scenarios`, and nothing changes it later.
    pub has_fixed_scenarios: bool,
}
