//! Numbers of metrics in JSON: integers if they are whole, and null for values that are not numbers, which scripts may
//! record.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::quantity;

/// A number that is written as an integer if it is whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number(pub(crate) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match quantity::integer(self.0) {
            Some(integer) => serializer.serialize_i64(integer),
            None => serializer.serialize_f64(self.0),
        }
    }
}

/// Writes an integer if the number is whole.
pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Number(*number).serialize(serializer)
}

/// Reads null as not-a-number.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// The functions for lists.
pub(crate) mod list {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Number;

    pub(crate) fn serialize<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(numbers.iter().map(|&number| Number(number)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let numbers = Vec::<Option<f64>>::deserialize(deserializer)?;
        Ok(numbers
            .into_iter()
            .map(|number| number.unwrap_or(f64::NAN))
            .collect())
    }
}
