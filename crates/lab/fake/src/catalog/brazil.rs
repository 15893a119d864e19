//! Numbers and places of Brazil, as in newer versions of xk6-faker.

use super::address::code_and_name;
use crate::{
    arguments::{Arguments, Refusal},
    check_digit::brazilian,
    function::{Function, text, with, word},
    generator::{CAPITAL_LETTERS, DIGITS, Generator},
    parameter::{Kind, Parameter, default},
    value::Value,
    words::{Words, words},
};

pub(super) const FUNCTIONS: &[Function] = &[
    word("brCity", CITIES),
    with("brCnpj", OF_CNPJ, Kind::Text, cnpj),
    with("brCpf", &[FORMATTED], Kind::Text, cpf),
    with("brPhoneNumber", OF_PHONE, Kind::Text, phone),
    text("brRg", |generator| generator.digits(9)),
    with("brSearchTerm", OF_SEARCH, Kind::Text, search_term),
    text("brState", |generator| {
        code_and_name(generator, STATES).1.to_owned()
    }),
    text("brStateAbbr", |generator| {
        code_and_name(generator, STATES).0.to_owned()
    }),
    text("brZipCode", |generator| {
        generator.filled("#####-###", '#', DIGITS)
    }),
];

const FORMATTED: Parameter = default("formatted", Kind::Boolean, "true");
const OF_CNPJ: &[Parameter] = &[FORMATTED, default("alphanumeric", Kind::Boolean, "false")];
const OF_PHONE: &[Parameter] = &[default("mobile", Kind::Boolean, "true")];
const OF_SEARCH: &[Parameter] = &[default("mode", Kind::Text, "random")];

const CITIES: Words = words(
    "Aracaju, Bauru, Belém, Blumenau, Brasília, Campinas, Cuiabá, Curitiba, Florianópolis, Fortaleza, \
     Goiânia, Itabuna, João Pessoa, Londrina, Maceió, Manaus, Natal, Niterói, Olinda, Palmas, Porto Alegre, \
     Recife, Salvador, Santos, São Luís, São Paulo, Sorocaba, Teresina, Uberlândia, Vitória",
);
/// All states with their codes.
const STATES: Words = words(
    "AC Acre, AL Alagoas, AP Amapá, AM Amazonas, BA Bahia, CE Ceará, DF Distrito Federal, ES Espírito \
     Santo, GO Goiás, MA Maranhão, MT Mato Grosso, MS Mato Grosso do Sul, MG Minas Gerais, PA Pará, PB \
     Paraíba, PR Paraná, PE Pernambuco, PI Piauí, RJ Rio de Janeiro, RN Rio Grande do Norte, RS Rio Grande \
     do Sul, RO Rondônia, RR Roraima, SC Santa Catarina, SP São Paulo, SE Sergipe, TO Tocantins",
);
/// Area codes of large cities.
const AREAS: Words = words("11, 19, 21, 27, 31, 41, 48, 51, 61, 62, 65, 71, 79, 81, 83, 85, 91, 92, 98");
const GOODS: Words = words(
    "abajur, aquário, bicicleta, bolsa, cadeira, caderno, caneca, chaleira, chinelo, cobertor, \
     guarda-chuva, lanterna, mala, mesa, panela, relógio, sapato, tapete, teclado, violão",
);
const QUALITIES: Words = words(
    "amarelo, azul, barato, branco, de madeira, de viagem, grande, infantil, leve, novo, pequeno, preto, \
     usado, verde",
);

/// The number of a person: eleven digits, the last two of which check the others.
fn cpf(generator: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    let is_formatted = arguments.boolean(0)?;
    let mut number = generator.digits(9);
    number.push(brazilian(&number, 11));
    number.push(brazilian(&number, 11));
    Ok(formatted(&number, is_formatted, "###.###.###-##").into())
}

/// The number of a company: fourteen digits, since 2026 also letters, the last two of which check the others.
fn cnpj(generator: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    let (is_formatted, has_letters) = (arguments.boolean(0)?, arguments.boolean(1)?);
    let mut number = if has_letters {
        let begin = generator.characters(CAPITAL_LETTERS, 1);
        begin + &generator.characters("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 11)
    } else {
        generator.digits(12)
    };
    number.push(brazilian(&number, 9));
    number.push(brazilian(&number, 9));
    Ok(formatted(&number, is_formatted, "##.###.###/####-##").into())
}

fn formatted(number: &str, is_formatted: bool, pattern: &str) -> String {
    if !is_formatted {
        return number.to_owned();
    }
    let mut digits = number.chars();
    let fill = |mark| {
        if mark == '#' {
            digits.next().unwrap_or(mark)
        } else {
            mark
        }
    };
    pattern.chars().map(fill).collect()
}

fn phone(generator: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    let pattern = if arguments.boolean(0)? {
        "9####-####"
    } else {
        "3###-####"
    };
    let number = generator.filled(pattern, '#', DIGITS);
    Ok(format!("({}) {number}", generator.pick(AREAS)).into())
}

/// What a customer of a shop looks for.
fn search_term(generator: &mut Generator, arguments: &Arguments<'_>) -> Result<Value, Refusal> {
    let is_compound = match arguments.text(0, 100)? {
        "simple" => false,
        "compound" => true,
        "random" => generator.boolean(),
        other => return Err(arguments.wrong(0, other, "random, simple or compound")),
    };
    let goods = generator.pick(GOODS);
    if !is_compound {
        return Ok(goods.into());
    }
    Ok(format!("{goods} {}", generator.pick(QUALITIES)).into())
}
