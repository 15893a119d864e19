//! Numbers.

use crate::{
    arguments::{Arguments, Refusal},
    function::{Function, number, plain, text, with},
    generator::{Generator, HEX_DIGITS},
    parameter::{Kind, Parameter, default, required},
    value::Value,
};

pub(super) const FUNCTIONS: &[Function] = &[
    plain("boolean", Kind::Boolean, |generator| generator.boolean().into()),
    number("float32", |generator| {
        as_f32(generator.float(0.0, f32::MAX.into()))
    }),
    with("float32Range", RANGE, Kind::Number, |generator, arguments| {
        let (min, max) = (arguments.float(0)?, arguments.float(1)?);
        Ok(as_f32(generator.float(min, max)).into())
    }),
    number("float64", |generator| generator.float(0.0, f64::MAX)),
    with("float64Range", RANGE, Kind::Number, |generator, arguments| {
        let (min, max) = (arguments.float(0)?, arguments.float(1)?);
        Ok(generator.float(min, max).into())
    }),
    text("hexUint128", |generator| hexadecimal(generator, 32)),
    text("hexUint16", |generator| hexadecimal(generator, 4)),
    text("hexUint256", |generator| hexadecimal(generator, 64)),
    text("hexUint32", |generator| hexadecimal(generator, 8)),
    text("hexUint64", |generator| hexadecimal(generator, 16)),
    text("hexUint8", |generator| hexadecimal(generator, 2)),
    number("int16", |generator| {
        generator.integer(i16::MIN.into()..=i16::MAX.into()) as f64
    }),
    number("int32", |generator| {
        generator.integer(i32::MIN.into()..=i32::MAX.into()) as f64
    }),
    number("int64", |generator| generator.integer(i64::MIN..=i64::MAX) as f64),
    number("int8", |generator| {
        generator.integer(i8::MIN.into()..=i8::MAX.into()) as f64
    }),
    with("intRange", RANGE, Kind::Number, integer),
    with("number", OF_NUMBER, Kind::Number, integer),
    with("randomInt", INTEGERS, Kind::Number, |generator, arguments| {
        let integers = arguments.integers(0)?;
        arguments.not_empty(0, &integers)?;
        Ok(generator.one_of(&integers).into())
    }),
    with("randomUint", UNSIGNED, Kind::Number, |generator, arguments| {
        let integers = arguments.unsigneds(0)?;
        arguments.not_empty(0, &integers)?;
        Ok(generator.one_of(&integers).into())
    }),
    with("shuffleInts", INTEGERS, Kind::Numbers, |generator, arguments| {
        let mut integers = arguments.integers(0)?;
        generator.shuffle(&mut integers);
        Ok(Value::list(integers))
    }),
    number("uint16", |generator| {
        generator.integer(0..=u16::MAX.into()) as f64
    }),
    number("uint32", |generator| {
        generator.integer(0..=u32::MAX.into()) as f64
    }),
    number("uint64", |generator| generator.unsigned(0..=u64::MAX) as f64),
    number("uint8", |generator| generator.integer(0..=u8::MAX.into()) as f64),
    with("uintRange", OF_UNSIGNED, Kind::Number, |generator, arguments| {
        let (min, max) = (arguments.unsigned(0)?, arguments.unsigned(1)?);
        Ok(generator.unsigned(min.min(max)..=max.max(min)).into())
    }),
];

const RANGE: &[Parameter] = &[required("min", Kind::Number), required("max", Kind::Number)];
const OF_NUMBER: &[Parameter] = &[
    default("min", Kind::Number, "-2147483648"),
    default("max", Kind::Number, "2147483647"),
];
const OF_UNSIGNED: &[Parameter] = &[
    default("min", Kind::Number, "0"),
    default("max", Kind::Number, "4294967295"),
];
const INTEGERS: &[Parameter] = &[required("ints", Kind::Numbers)];
const UNSIGNED: &[Parameter] = &[required("uints", Kind::Numbers)];

/// An integer between two, whichever is larger, as in gofakeit.
fn integer(generator: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    let (min, max) = (arguments.integer(0)?, arguments.integer(1)?);
    Ok(generator.integer(min.min(max)..=max.max(min)).into())
}

/// The nearest number of 32 bits.
fn as_f32(number: f64) -> f64 {
    f64::from(number.clamp(f32::MIN.into(), f32::MAX.into()) as f32)
}

fn hexadecimal(generator: &mut Generator, n_digits: usize) -> String {
    format!("0x{}", generator.characters(HEX_DIGITS, n_digits))
}
