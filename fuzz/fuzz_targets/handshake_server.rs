//! Request heads: nothing in them may panic, or add lines to the answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_websocket::deflate::{Direction, Preferences, WindowBits};
use plimsoll_websocket::handshake::server::{Request, Upgrade};

fuzz_target!(|head: &[u8]| {
    let Ok(Some((request, len))) = Request::parse(head) else {
        return;
    };
    assert!(
        Request::parse(&head[..len - 1]).is_ok_and(|parsed| parsed.is_none()),
        "the head ends where it says"
    );
    let _ = (
        request.path(),
        request.query(),
        request.is_upgrade(),
        request.header("Cookie"),
    );
    let upgrade = match Upgrade::from_request(&request) {
        Ok(upgrade) => upgrade,
        Err(e) => {
            assert!((400..=505).contains(&e.response().0));
            return;
        }
    };
    let takeover = Direction {
        context_takeover: true,
        window: WindowBits::MIN,
    };
    for preferences in [
        Preferences::default(),
        Preferences {
            server: takeover,
            client: takeover,
        },
    ] {
        let deflate = upgrade.negotiate(&preferences);
        for protocol in upgrade.protocols().map(Some).chain([None]) {
            let response = upgrade.response(protocol, deflate.as_ref(), &[]);
            let n_lines = 4 + usize::from(protocol.is_some()) + usize::from(deflate.is_some());
            assert_eq!(
                response.windows(2).filter(|end| end == b"\r\n").count(),
                n_lines + 1
            );
            assert!(response.ends_with(b"\r\n\r\n"));
        }
    }
});
