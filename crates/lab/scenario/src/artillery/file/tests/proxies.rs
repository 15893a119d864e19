//! Proxies of WebSockets.

use super::*;

fn file(websocket: &str, connect: &str) -> String {
    format!(
        "config: {{target: 'ws://h', ws: {websocket}}}\nscenarios:\n- engine: ws\n  flow:\n  - connect: {connect}\n"
    )
}

#[test]
fn proxies_of_websockets_are_read() {
    let check = |websocket: &str, connect: &str, common: Option<&str>, own: Option<&str>| {
        let test = read_with(&file(websocket, connect), |it| {
            it.system.insert("PROXY".to_owned(), "http://p:3128".to_owned());
        });
        let test = test.unwrap();
        let shown = |connect: &crate::artillery::flow::Connect| {
            let proxy = connect.proxy.as_ref();
            proxy.map(|it| format!("{it} {}", it.authorization().unwrap_or_default()))
        };
        let connect = test.program.scenarios[0].flow.connect.as_ref();
        assert_eq!(shown(&test.program.opening.common).as_deref(), common);
        assert_eq!(connect.and_then(shown).as_deref(), own);
    };
    check("{}", "ws://h/a", None, None);
    check(
        "{proxy: {url: 'http://p:3128'}}",
        "ws://h/a",
        Some("p:3128 "),
        None,
    );
    check(
        "{proxy: {url: '{{ $env.PROXY }}'}}",
        "ws://h/a",
        Some("p:3128 "),
        None,
    );
    check(
        "{}",
        "{proxy: {url: 'http://u:p@p:3128'}}",
        None,
        Some("p:3128 Basic dTpw"),
    );
    check(
        "{proxy: {url: 'http://u:p@p', auth: 'v:q:r'}}",
        "{target: 'ws://h/b'}",
        Some("p:80 Basic djpxOnI="),
        None,
    );
}

#[test]
fn mistakes_in_proxies_hide_credentials() {
    let check = |websocket: &str, expected: &Expect| check_error(&file(websocket, "ws://h"), expected);
    check(
        "{proxy: {}}",
        &expect![[
            r#"test.yml:1:40: config.ws.proxy: `url` is missing: expected the URL of a proxy, for example http://gateway.example:3128"#
        ]],
    );
    check(
        "{proxy: 'http://p:3128'}",
        &expect![[
            r#"test.yml:1:40: config.ws.proxy: expected a map, for example { url: http://gateway.example:3128 }"#
        ]],
    );
    check(
        "{proxy: {url: 'u:secret@p:3128'}}",
        &expect![[
            r#"test.yml:1:46: config.ws.proxy.url: expected the URL of a proxy, for example http://gateway.example:3128"#
        ]],
    );
    check(
        "{proxy: {url: 'socks5://u:secret@p:3128'}}",
        &expect![[
            r#"test.yml:1:46: config.ws.proxy.url: "socks5://***@p:3128": proxies with the scheme socks5 are not supported; expected an HTTP proxy such as http://127.0.0.1:3128"#
        ]],
    );
    check(
        "{proxy: {url: 'http://p', auth: secret}}",
        &expect![[r#"test.yml:1:64: config.ws.proxy.auth: expected user:password"#]],
    );
    check(
        "{proxy: {url: 'http://p', headers: {a: b}}}",
        &expect![[
            r#"test.yml:1:67: config.ws.proxy.headers: header fields for a proxy are not supported; credentials go into `url` or `auth`"#
        ]],
    );
}

#[test]
fn a_proxy_is_part_of_the_figures() {
    let test = read_text(&file("{proxy: {url: 'http://u:secret@p'}}", "ws://h")).unwrap();
    expect![[r#"test.yml:1:46: config.ws.proxy.url: connections go through this proxy, so its time is part of all figures"#]].assert_eq(&test.warnings().join("\n"));
}
