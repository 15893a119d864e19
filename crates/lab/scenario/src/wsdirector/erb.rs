//! Templates in a scenario. wsdirector runs its files through ERB, a template language with all of Ruby; here is the part
//! of it that scenarios use: the scale and the environment, arithmetic, conditions, loops, and random values.
//!
//! From the outside in: [`template`] cuts a file into texts and code, [`token`] makes words of them, [`parser`] the
//! statements of [`syntax`], and [`evaluator`] runs these with [`value`]s within a [`budget`].

mod arithmetic;
mod budget;
mod evaluator;
mod format;
mod functions;
mod methods;
mod parser;
mod problem;
mod syntax;
mod template;
mod token;
mod value;

use crate::document::{Mistake, Mistakes, Place};

/// The text that a template gives. `scale` is the value of its variable `scale`; `variable` looks up the environment.
///
/// # Errors
/// The first mistake, with its place: code that is not understood, that fails, or that does not end.
pub fn fill_in(
    name: &str,
    text: &str,
    scale: u32,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Mistakes> {
    // Most files have no code.
    if !text.contains("<%") {
        return Ok(text.to_owned());
    }
    let filled = parser::parse(text).and_then(|body| evaluator::run(&body, scale, variable));
    filled.map_err(|problem| {
        let mistake = Mistake {
            place: place_of(text, problem.at),
            path: String::new(),
            problem: problem.text,
        };
        Mistakes::new(name, vec![mistake])
    })
}

fn place_of(text: &str, position: usize) -> Place {
    let before = &text[..text.floor_char_boundary(position)];
    let line = before.rsplit('\n').next().unwrap_or_default();
    Place {
        file: 0,
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
    }
}

#[cfg(test)]
mod tests;
