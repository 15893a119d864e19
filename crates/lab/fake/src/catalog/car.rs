//! Cars.

use crate::{
    function::{Function, plain, word},
    generator::Generator,
    parameter::Kind,
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    plain("car", Kind::Object, car),
    word("carFuelType", FUELS),
    word("carMaker", MAKERS),
    word("carModel", MODELS),
    word("carTransmissionType", TRANSMISSIONS),
    word("carType", TYPES),
];

const FUELS: Words = words("Diesel, Electric, Ethanol, Gasoline, Hybrid, Hydrogen, Methane");
const MAKERS: Words = words(
    "Audi, BMW, Chevrolet, Citroen, Dacia, Fiat, Ford, Honda, Hyundai, Jaguar, Kia, Lancia, Mazda, Mini, \
     Nissan, Opel, Peugeot, Renault, Saab, Seat, Skoda, Subaru, Suzuki, Toyota, Volkswagen, Volvo",
);
const MODELS: Words = words(
    "2CV, 500, Accord, Astra, Beetle, Camry, Civic, Clio, Corolla, Fiesta, Focus, Golf, Impreza, Kadett, \
     Leaf, Logan, Mustang, Octavia, Panda, Passat, Polo, Prius, Swift, Twingo",
);
const TRANSMISSIONS: Words = words("Automatic, Continuously variable, Dual clutch, Manual");
const TYPES: Words = words(
    "Cabriolet, Compact car, Coupe, Estate, Minivan, Off-road vehicle, Pickup, Roadster, Saloon, Sports \
     car, Van",
);

fn car(generator: &mut Generator) -> Value {
    Value::object([
        ("type", generator.pick(TYPES).into()),
        ("fuel", generator.pick(FUELS).into()),
        ("transmission", generator.pick(TRANSMISSIONS).into()),
        ("brand", generator.pick(MAKERS).into()),
        ("model", generator.pick(MODELS).into()),
        ("year", super::time::year(generator).into()),
    ])
}
