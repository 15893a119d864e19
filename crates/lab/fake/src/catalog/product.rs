//! Goods.

use super::{color, payment};
use crate::{
    check_digit,
    function::{Function, plain, text, word},
    generator::Generator,
    parameter::Kind,
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    plain("product", Kind::Object, product),
    word("productCategory", DEPARTMENTS),
    text("productDescription", description),
    word("productFeature", FEATURES),
    word("productMaterial", MATERIALS),
    text("productName", name),
    text("productUpc", upc),
];

/// Departments of a shop.
pub const DEPARTMENTS: Words = words(
    "Bathroom, Books, Clothing, Electronics, Garden, Grocery, Health, Jewelry, Kitchen, Music, Office, \
     Outdoor, Pets, Sports, Tools, Toys",
);
/// Qualities of goods.
pub const ADJECTIVES: Words =
    words("Compact, Durable, Elegant, Foldable, Handmade, Light, Modern, Quiet, Soft, Sturdy");
/// Materials of goods.
pub const MATERIALS: Words = words(
    "Aluminium, Bamboo, Brass, Ceramic, Cork, Cotton, Felt, Glass, Leather, Linen, Oak, Paper, Rubber, \
     Silk, Steel, Wool",
);
/// Kinds of goods.
pub const PRODUCTS: Words = words(
    "Backpack, Blanket, Bottle, Camera, Chair, Clock, Gloves, Hammock, Hat, Headphones, Kettle, Keyboard, \
     Lamp, Mirror, Monitor, Mug, Notebook, Scarf, Shirt, Speaker, Table, Umbrella",
);
const FEATURES: Words = words(
    "adjustable, battery-powered, dishwasher-safe, easy to clean, energy-saving, extra wide, \
     machine-washable, non-slip, rechargeable, repairable, scratch-resistant, stackable, washable, \
     waterproof, wireless",
);

/// The name of a product: `Quiet Bamboo Lamp`.
pub fn name(generator: &mut Generator) -> String {
    format!(
        "{} {} {}",
        generator.pick(ADJECTIVES),
        generator.pick(MATERIALS),
        generator.pick(PRODUCTS)
    )
}

fn description(generator: &mut Generator) -> String {
    let goods = generator.pick(PRODUCTS).to_lowercase();
    let (feature, material) = (generator.pick(FEATURES), generator.pick(MATERIALS).to_lowercase());
    let department = generator.pick(DEPARTMENTS).to_lowercase();
    format!("One {feature} {goods}, partly made of {material}, from our department {department}.")
}

/// The number in a bar code: twelve digits, of which the last checks the others.
fn upc(generator: &mut Generator) -> String {
    let mut number = format!("0{}", generator.digits(10));
    number.push(check_digit::upc(&number));
    number
}

fn product(generator: &mut Generator) -> Value {
    let (n_categories, n_features) = (generator.size(1..=4), generator.size(1..=5));
    Value::object([
        ("name", name(generator).into()),
        ("description", description(generator).into()),
        (
            "categories",
            Value::list(generator.several(DEPARTMENTS, n_categories)),
        ),
        ("price", payment::price(generator, 3.0, 100.0).into()),
        ("features", Value::list(generator.several(FEATURES, n_features))),
        ("color", generator.pick(color::BASIC).into()),
        ("material", generator.pick(MATERIALS).into()),
        ("upc", upc(generator).into()),
    ])
}
