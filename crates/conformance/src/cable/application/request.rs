//! The parts that channels use of the request which opened the connection.

use url::Url;

use super::contract::Env;

/// A parameter of the URL's query.
pub(super) fn query(env: &Env, name: &str) -> Option<String> {
    let url = Url::parse(&env.url).ok()?;
    let (_, value) = url.query_pairs().find(|(key, _)| key == name)?;
    Some(value.into_owned())
}

/// A cookie, as it was sent (RFC 6265 §5.4: pairs with `; ` in between).
pub(super) fn cookie<'a>(env: &'a Env, name: &str) -> Option<&'a str> {
    let cookies = env.headers.get("cookie")?;
    cookies
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_request_says() {
        let env = Env {
            url: "http://localhost/cable?test=uid&uid=%C3%A9".to_owned(),
            headers: [("cookie".to_owned(), "a=1; username=john green; b".to_owned())].into(),
            ..Env::default()
        };
        assert_eq!(query(&env, "uid").as_deref(), Some("é"));
        assert_eq!(query(&env, "none"), None);
        assert_eq!(query(&Env::default(), "uid"), None);
        assert_eq!(cookie(&env, "username"), Some("john green"));
        assert_eq!(cookie(&env, "b"), None);
    }
}
