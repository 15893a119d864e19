//! The URL of the webhook.

use std::{borrow::Cow, fmt, str::FromStr};

use http::Uri;

/// An `http://` or `https://` URL with a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookUrl(Uri);

/// Why a text cannot be the URL of the webhook.
#[derive(Debug, thiserror::Error)]
#[error("{text:?} {reason}; expected something like https://app.example/presence")]
pub struct WebhookUrlError {
    /// The text without user, password and tokens.
    text: String,
    reason: &'static str,
}

impl WebhookUrl {
    pub(super) fn uri(&self) -> &Uri {
        &self.0
    }
}

impl FromStr for WebhookUrl {
    type Err = WebhookUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |reason| WebhookUrlError {
            text: plimsoll_redacted::url_with_query(text).into_owned(),
            reason,
        };
        if matches!(plimsoll_redacted::url(text), Cow::Owned(_)) {
            return Err(wrong(
                "has a user name, which is not sent; use --presence_webhook_secret for a secret",
            ));
        }
        let uri: Uri = text.parse().map_err(|_| wrong("is not a URL"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(wrong("does not begin with http:// or https://"));
        }
        if uri.host().is_none_or(str::is_empty) {
            return Err(wrong("has no host"));
        }
        Ok(Self(uri))
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plimsoll_redacted::url_with_query(&self.0.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let url = text.parse::<WebhookUrl>();
        let found = url.map(|url| url.to_string()).map_err(|error| error.to_string());
        let found = found.as_deref().map_err(|error| error.split(';').next().unwrap());
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_webhook_has_an_http_url() {
        check("http://localhost:3000/hook", Ok("http://localhost:3000/hook"));
        check("https://app.example/hook?a=1", Ok("https://app.example/hook?a=1"));
        check(
            "https://app.example/hook?token=s3cret",
            Ok("https://app.example/hook?token=***"),
        );
        check(
            "app.example/hook?token=s3cret",
            Err(r#""app.example/hook?token=***" is not a URL"#),
        );
        check("app.example/hook", Err(r#""app.example/hook" is not a URL"#));
        check("/hook", Err(r#""/hook" does not begin with http:// or https://"#));
        check(
            "ftp://a/",
            Err(r#""ftp://a/" does not begin with http:// or https://"#),
        );
        check(
            "https://me:pw@a/",
            Err(r#""https://***@a/" has a user name, which is not sent"#),
        );
    }
}
