//! Lines and packets, and the settings of the server.

use super::*;
use crate::samples;

fn server(argument: Option<&str>, env: &[(&str, &str)]) -> Result<Server, OutputError> {
    let env = |name: &str| {
        let found = env.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    StatsD::read(argument, Settings(&env)).map(Server::new)
}

#[test]
fn samples_are_lines() {
    let batch = samples::batch(&[
        ("reqs", 2.0, &[("method", "GET"), ("url", "u"), ("empty", "")]),
        ("wait", 1.25, &[("name", "a,b|c")]),
        ("vus", 7.0, &[]),
        ("failed", 1.0, &[]),
        ("failed", 0.0, &[("check", "is 200: ok")]),
    ]);
    let lines = |env: &[(&str, &str)]| server(None, env).unwrap().packets(&batch).join("\n--\n");
    assert_eq!(
        lines(&[]),
        "k6.reqs:2|c\nk6.wait:1.250000|ms\nk6.vus:7|g\nk6.failed:1|c\nk6.check.is 200_ ok.fail:1|c"
    );
    let tagged = [
        ("K6_STATSD_ENABLE_TAGS", "true"),
        ("K6_STATSD_NAMESPACE", "load."),
        ("K6_STATSD_TAG_BLOCKLIST", "method"),
    ];
    assert_eq!(
        lines(&tagged),
        "load.reqs:2|c|#url:u\nload.wait:1.250000|ms|#name:a_b_c\nload.vus:7|g\nload.failed:1|c\n\
         load.check.is 200_ ok.fail:1|c|#check:is 200: ok"
    );
    let own = [("PLIMSOLL_STATSD_TAGS", "team:a,zone:b")];
    assert!(lines(&own).starts_with("k6.reqs:2|c|#team:a,zone:b\nk6.wait:1.250000|ms|#team:a,zone:b\n"));
    let both = [own[0], ("K6_STATSD_ENABLE_TAGS", "true")];
    assert!(lines(&both).starts_with("k6.reqs:2|c|#team:a,zone:b,method:GET\n"));
}

#[test]
fn packets_have_whole_lines_and_a_limit() {
    let many: Vec<samples::Measured<'_>> = vec![("reqs", 1.0, &[]); 500];
    let packets = server(None, &[]).unwrap().packets(&samples::batch(&many));
    assert!(
        packets
            .iter()
            .all(|packet| packet.len() <= PACKET_BYTES && !packet.ends_with('\n'))
    );
    assert_eq!(packets.iter().flat_map(|packet| packet.lines()).count(), 500);
    assert!(packets.len() > 3);
}

#[tokio::test]
async fn a_server_gets_them() {
    let receiver = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = receiver.local_addr().unwrap().to_string();
    let mut server = server(Some(&address), &[]).unwrap();
    assert_eq!(server.take(&samples::batch(&[("reqs", 2.0, &[])])).await, Ok(1));
    let mut packet = [0; 64];
    let n_bytes = receiver.recv(&mut packet).await.unwrap();
    assert_eq!(&packet[..n_bytes], b"k6.reqs:2|c");
}

#[test]
fn an_address_needs_a_port() {
    for (argument, env) in [
        (Some("localhost"), &[][..]),
        (Some(":8125"), &[]),
        (None, &[("K6_STATSD_ADDR", "localhost:http")]),
    ] {
        let error = server(argument, env).err().unwrap().to_string();
        assert!(
            error.contains("expected a host and a port, for example `localhost:8125`"),
            "{error}"
        );
    }
}
