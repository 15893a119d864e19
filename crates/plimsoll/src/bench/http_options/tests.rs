//! Tests of defaults, and of the messages about refused options.

use clap::Parser;
use plimsoll_clients::tls::TlsVersion;
use plimsoll_shootout::http::Detail;

use super::*;

#[derive(Debug, Parser)]
struct CommandLine {
    #[command(flatten)]
    http: HttpArgs,
}

fn options(arguments: &str) -> Result<HttpOptions, String> {
    let words = ["ab"].into_iter().chain(arguments.split_whitespace());
    let args = CommandLine::try_parse_from(words).map_err(|error| error.to_string())?;
    HttpOptions::try_from(&args.http).map_err(|error| error.to_string())
}

#[test]
fn limits_and_places_are_abs_unless_the_model_is_open() {
    let check = |arguments: &str, n_requests: Option<u64>, seconds: Option<u64>, concurrency: usize| {
        let options = options(&format!("{arguments} http://h/")).unwrap();
        assert_eq!(
            (
                options.extent.n_requests,
                options.extent.duration,
                options.concurrency
            ),
            (n_requests, seconds.map(Duration::from_secs), concurrency),
            "{arguments}"
        );
    };
    check("", Some(1), None, 1);
    check("-n 9 -c 3", Some(9), None, 3);
    check("-t 10", Some(50_000), Some(10), 1);
    check("-t 10 -n 70000", Some(70_000), Some(10), 1);
    check("-n 70000 -t 10", Some(50_000), Some(10), 1);
    check("-c 3 -n 5 -t 10", Some(50_000), Some(10), 3);
    check("--duration 1m -c 5", None, Some(60), 5);
    check("--rate 5 --duration 1m", None, Some(60), 100);
    check("--rate 5 -n 10", Some(10), None, 10);
    check("-kc 2 -n2", Some(2), None, 2);
}

#[test]
fn urls_are_abs() {
    let check = |url: &str, expected: &str| {
        assert_eq!(options(url).unwrap().request.url.as_str(), expected);
    };
    check("localhost:3000/x", "http://localhost:3000/x");
    check("http://[::1]:1", "http://[::1]:1/");
    check("-A a:b:c https://h/", "https://a:b%3Ac@h/");
}

#[test]
fn urls_of_no_use_are_named_without_secrets() {
    let check = |url: &str, expected: &str| {
        let error = options(url).unwrap_err();
        assert!(error.contains(expected) && !error.contains("s3cret"), "{error}");
    };
    check("http://h:99999/?token=s3cret", r#""http://h:99999/?token=***""#);
    check("http://kay:s3cret@h:x/", r#""http://***@h:x/""#);
    check("ws://h/?jid=s3cret&author=kay", r#""ws://h/?jid=***&author=kay""#);
}

#[test]
fn the_users_headers_win() {
    let headers = |arguments: &str| {
        let request = options(&format!("{arguments} http://h/")).unwrap().request;
        let fields = request.headers.iter();
        fields
            .map(|(name, value)| format!("{name}: {value}"))
            .collect::<Vec<_>>()
            .join("|")
    };
    assert_eq!(headers(""), "Connection: close|Accept: */*");
    assert_eq!(headers("-k"), "Connection: keep-alive|Accept: */*");
    assert_eq!(headers("--http2"), "Connection: keep-alive|Accept: */*");
    assert_eq!(
        headers("-H accept:text/html"),
        "Connection: close|accept: text/html"
    );
}

#[test]
fn ways_and_forms_are_abs() {
    let all = options(
        "-X p:8080 -P u:p -b 4096 -v 4 -I -Z ECDHE-RSA-AES128-GCM-SHA256:TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 \
         -f json -f TLS1.2 http://h/",
    )
    .unwrap();
    let proxy = all.proxy.unwrap();
    assert_eq!(
        (proxy.to_string().as_str(), proxy.authorization()),
        ("p:8080", Some("Basic dTpw"))
    );
    assert_eq!(
        (all.buffer_bytes, all.transcript),
        (Some(4096), Some(Detail::Statuses))
    );
    assert!(all.tls.hides_server_name);
    assert_eq!(
        (all.tls.versions.min, all.tls.versions.max),
        (TlsVersion::Tls12, TlsVersion::Tls12)
    );
    assert_eq!(
        all.tls.cipher_suites.unwrap(),
        [
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
        ]
    );
    for (level, expected) in [
        ("1", None),
        ("2", Some(Detail::Heads)),
        ("3", Some(Detail::Statuses)),
    ] {
        assert_eq!(
            options(&format!("-v {level} http://h/")).unwrap().transcript,
            expected
        );
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for (arguments, words) in [
        ("-n 5 -c 10 http://h/", "-c 10 is more than -n 5"),
        ("-c 2 http://h/", "-c 2 is more than -n 1"),
        (
            "--http2 -n 9 -c 2 --streams 3 http://h/",
            "--streams 3 is more than -c 2",
        ),
        ("--streams 2 http://h/", "--http2"),
        ("-t 0 http://h/", "-t is zero"),
        ("--duration 0s http://h/", "--duration is zero"),
        ("-s 0 http://h/", "-s is zero"),
        ("--duration 9999999h http://h/", "longer than a year"),
        ("-m G(T http://h/", "-m \"G(T\" is not a method"),
        ("ftp://h/", "the scheme ftp is not supported"),
        ("http:///path", "it has no host"),
        ("/path", "it has no host"),
        ("-n -1 http://h/", "expected a number of at least 1"),
        ("-c -1 -n 9 http://h/", "expected a number of at least 1"),
        ("-t -1 http://h/", "\"-1\" is not a number of seconds"),
        ("-s -1 http://h/", "\"-1\" is not a number of seconds"),
        ("--duration -1s http://h/", "\"-1s\" is not a duration"),
        ("--rate -5/m http://h/", "\"-5/m\" is not a rate"),
        ("-W 2 http://h/", "ab's flag -W is not supported: use --workers"),
        ("-R 5 http://h/", "ab's flag -R is not supported: use --warm-up"),
        ("-Q http://h/", "ab's flag -Q is not supported: use -q"),
        (
            "-f TLS1.1 http://h/",
            "TLS1.1 is not supported because it was withdrawn",
        ),
        (
            "-f SSL3 http://h/",
            "SSL3 is not supported because it was withdrawn",
        ),
        ("-f xml http://h/", "expected text or json, or a version of TLS"),
        ("-Z HIGH http://h/", "the cipher suite \"HIGH\" is not supported"),
        ("-E no/such http://h/", "-E: cannot read no/such: No such file"),
        (
            "-X socks5://h:1 http://h/",
            "proxies with the scheme socks5 are not supported",
        ),
        ("-P u:p http://h/", "--proxy"),
        ("-X h:1 -P u http://h/", "it has no colon"),
        ("-b 0 http://h/", "0 is not in 1.."),
        ("-i -m PUT http://h/", "cannot be used with"),
    ] {
        let error = options(arguments).unwrap_err();
        assert!(error.contains(words), "{arguments}: {error}");
    }
}
