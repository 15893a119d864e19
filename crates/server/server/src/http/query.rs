//! Parameters of requests.

/// The parameters of a query, each at most once, all of them among `known`.
///
/// # Errors
/// The problem, for people.
pub(super) fn parameters<const N: usize>(
    query: &str,
    known: [&str; N],
) -> Result<[Option<String>; N], String> {
    let mut found = [const { None }; N];
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let Some(at) = known.iter().position(|known| *known == name) else {
            return Err(format!(
                "Unknown parameter {name}; expected {}.",
                known.join(", ")
            ));
        };
        if found[at].replace(value.into_owned()).is_some() {
            return Err(format!("The parameter {name} is there twice."));
        }
    }
    Ok(found)
}

/// The number of a parameter; `default` without one.
///
/// # Errors
/// The problem, for people.
pub(super) fn number(name: &str, value: Option<&String>) -> Result<Option<u64>, String> {
    let parsed = value.map(|value| value.parse());
    parsed
        .transpose()
        .map_err(|_| format!("The parameter {name} is not a whole number of at least 0."))
}

/// The number of items to list: `limit`, from 1 to `max`.
///
/// # Errors
/// The problem, for people.
pub(super) fn limit(value: Option<&String>, default: usize, max: usize) -> Result<usize, String> {
    let Some(limit) = number("limit", value)? else {
        return Ok(default);
    };
    match usize::try_from(limit) {
        Ok(limit) if (1..=max).contains(&limit) => Ok(limit),
        _ => Err(format!("The parameter limit is outside of 1 to {max}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_known_and_given_once() {
        let parse = |query| parameters(query, ["since", "limit"]);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(parse(""), Ok([None, None]));
        assert_eq!(parse("limit=5&since=a%20b"), Ok([some("a b"), some("5")]));
        for (query, expected) in [
            ("sinse=5", "Unknown parameter sinse; expected since, limit."),
            ("limit=5&limit=6", "The parameter limit is there twice."),
        ] {
            assert_eq!(parse(query).unwrap_err(), expected);
        }
    }

    #[test]
    fn limits_have_a_range() {
        let parse = |text: &str| limit(Some(&text.to_owned()), 7, 10);
        assert_eq!(limit(None, 7, 10), Ok(7));
        assert_eq!(parse("10"), Ok(10));
        for bad in ["0", "11", "-1", "x", ""] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
