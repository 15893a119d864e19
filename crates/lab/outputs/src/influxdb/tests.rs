//! Points, and the settings of the database.

use super::{config::InfluxDb, line::Lines};
use crate::{OutputError, samples, settings::Settings};

fn read(argument: Option<&str>, env: &[(&str, &str)]) -> Result<InfluxDb, OutputError> {
    let env = |name: &str| {
        let found = env.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    InfluxDb::read(argument, Settings(&env))
}

fn lines(argument: &str) -> (String, u64) {
    let batch = samples::batch(&[
        (
            "reqs",
            2.0,
            &[("method", "GET"), ("url", "http://a/?b=\"c\""), ("empty", "")],
        ),
        (
            "wait",
            1.25,
            &[("a b,c=d", "e f\\"), ("vu", "7"), ("iter", "x"), ("ok", "True")],
        ),
        ("vus", f64::INFINITY, &[]),
        ("failed", 0.0, &[]),
    ]);
    let config = read(Some(argument), &[]).unwrap();
    Lines::new(config.fields, config.precision).of(&batch)
}

#[test]
fn samples_are_points() {
    let expected = "\
reqs,method=GET url=\"http://a/?b=\\\"c\\\"\",value=2 1795290543000000000
wait,a\\ b\\,c\\=d=e\\ f\\ ,ok=True iter=\"x\",vu=\"7\",value=1.25 1795290544000000000
failed value=0 1795290546000000000
";
    assert_eq!(lines("http://localhost:8086/k6"), (expected.to_owned(), 3));
    let typed = "http://localhost:8086/k6?precision=s&tagsAsFields=vu:int,ok:bool&tagsAsFields=iter:float";
    let (text, _) = lines(typed);
    let second = text.lines().nth(1).unwrap();
    assert_eq!(
        second,
        "wait,a\\ b\\,c\\=d=e\\ f\\  iter=\"x\",ok=true,vu=7i,value=1.25 1795290544"
    );
}

#[test]
fn the_argument_is_above_the_variables() {
    let variables: &[(&str, &str)] = &[
        ("K6_INFLUXDB_ADDR", "http://b:1/"),
        ("K6_INFLUXDB_DB", "tests"),
        ("K6_INFLUXDB_USERNAME", "me"),
        ("K6_INFLUXDB_RETENTION", "a week"),
        ("K6_INFLUXDB_PRECISION", "ms"),
    ];
    for (argument, env, place, write) in [
        (
            None,
            &[][..],
            "http://localhost:8086, k6",
            "http://localhost:8086/write?db=k6&precision=ns",
        ),
        (
            None,
            variables,
            "http://b:1, tests",
            "http://b:1/write?db=tests&precision=ms&rp=a%20week",
        ),
        (
            Some("http://you:secret@a:2/my%20db?precision=u&consistency=any"),
            variables,
            "http://a:2, my db",
            "http://a:2/write?db=my%20db&precision=u&rp=a%20week&consistency=any",
        ),
    ] {
        let config = read(argument, env).unwrap();
        assert_eq!(
            (config.place.as_str(), config.write.to_string().as_str()),
            (place, write)
        );
        assert_eq!(
            config.headers.contains_key("authorization"),
            argument.is_some() || !env.is_empty()
        );
    }
}

#[test]
fn mistakes_are_named_without_secrets() {
    for (argument, env, expected) in [
        (
            Some("localhost:8086"),
            &[][..],
            "expected the URL of a server and a database",
        ),
        (
            Some("udp://localhost:8089"),
            &[],
            "points over UDP are not supported",
        ),
        (Some("http://me:secret@a/k6?no=1"), &[], "it has no `no`"),
        (
            None,
            &[("K6_INFLUXDB_PRECISION", "h")],
            "expected `ns`, `u`, `ms` or `s`",
        ),
        (
            None,
            &[("K6_INFLUXDB_TAGS_AS_FIELDS", "vu:text")],
            "expected a list of tags",
        ),
        (
            None,
            &[("K6_INFLUXDB_ADDR", "b:1")],
            "expected the URL of a server",
        ),
        (
            None,
            &[("K6_INFLUXDB_PROXY", "http://p")],
            "proxies of the database are not supported",
        ),
    ] {
        let error = read(argument, env).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
}
