//! The variables in a script's `__ENV`: those of the system by default, and those of `--env`.

use std::{collections::BTreeMap, str::FromStr};

use crate::surroundings::Surroundings;

/// `--env NAME=VALUE`, or `--env NAME`, which takes the value from the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    name: String,
    value: Option<String>,
}

impl Variable {
    /// The name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The value, if it is the URL of a server.
    pub(super) fn url(&self) -> Option<&str> {
        let value = self.value.as_deref()?;
        let schemes = ["http://", "https://", "ws://", "wss://"];
        schemes
            .iter()
            .any(|scheme| value.starts_with(scheme))
            .then_some(value)
    }

    /// Replaces the value.
    pub(super) fn set(&mut self, value: &str) {
        self.value = Some(value.to_owned());
    }
}

impl FromStr for Variable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty()
            || name.starts_with(|first: char| first.is_ascii_digit())
            || !name.bytes().all(is_word)
        {
            return Err(
                "expected NAME=VALUE, for example ROOM=lobby; a name has letters, digits and `_`".to_owned(),
            );
        }
        Ok(Self {
            name: name.to_owned(),
            value,
        })
    }
}

/// `__ENV`. Variables of the system that are not text are left out.
pub(super) fn compose(
    variables: &[Variable],
    with_system: bool,
    surroundings: &Surroundings<'_>,
) -> BTreeMap<String, String> {
    let system = surroundings.environment.iter();
    let system =
        system.filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.to_str()?.to_owned())));
    let mut environment: BTreeMap<_, _> = system.filter(|_| with_system).collect();
    for Variable { name, value } in variables {
        let value = value.as_deref().or_else(|| surroundings.variable(name));
        environment.insert(name.clone(), value.unwrap_or_default().to_owned());
    }
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_see_the_system_and_what_is_given() {
        let surroundings = Surroundings::of_variables(&[("HOME", "/me"), ("ROOM", "lobby")]);
        for (given, with_system, expected) in [
            (&[][..], true, "HOME=/me ROOM=lobby"),
            (&[][..], false, ""),
            (&["ROOM=attic", "A=b=c"][..], true, "A=b=c HOME=/me ROOM=attic"),
            (&["ROOM", "GONE", "A="][..], false, "A= GONE= ROOM=lobby"),
        ] {
            let variables: Vec<Variable> = given.iter().map(|text| text.parse().unwrap()).collect();
            let environment = compose(&variables, with_system, &surroundings);
            let pairs: Vec<_> = environment
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            assert_eq!(pairs.join(" "), expected, "{given:?}");
        }
    }

    #[test]
    fn names_are_words() {
        for text in ["", "=x", "1A=x", "A-B=x", "Ä=x", "A B"] {
            assert!(text.parse::<Variable>().is_err(), "{text}");
        }
    }
}
