//! The JSON Schema of summaries, generated from the types and their docs.

use schemars::{Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

use crate::Summary;

/// A JSON Schema (draft 7) of the output of [`json`](crate::json) for a [`Summary`].
pub fn schema() -> Value {
    // For serialization, so that optional fields are not required.
    let settings = SchemaSettings::draft07()
        .for_serialize()
        .with_transform(RecursiveTransform(without_format));
    let mut schema = settings.into_generator().into_root_schema_for::<Summary>();
    schema.insert(
        "title".to_owned(),
        "Summary of a load run by plimsoll, version 2".into(),
    );
    schema.to_value()
}

/// Removes the sizes of Rust's integers, which are not formats of JSON Schema. Validators refuse them.
fn without_format(schema: &mut Schema) {
    schema.remove("format");
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    #[test]
    fn the_schema_in_the_repository_is_that_of_the_types() {
        expect_file!["../../../../docs/schema/summary.json"].assert_eq(&format!("{:#}\n", super::schema()));
    }
}
