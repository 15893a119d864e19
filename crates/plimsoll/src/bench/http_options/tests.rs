//! Tests of defaults, and of the messages about refused options.

use clap::Parser;

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
        (
            "-w http://h/",
            "ab's flag -w is not supported: the report is text or JSON",
        ),
        ("-i -m PUT http://h/", "cannot be used with"),
    ] {
        let error = options(arguments).unwrap_err();
        assert!(error.contains(words), "{arguments}: {error}");
    }
}
