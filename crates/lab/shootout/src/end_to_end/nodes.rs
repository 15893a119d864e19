//! Several servers of a cluster: which of them got what.

use plimsoll_clients::target::Target;
use serde_json::Value;

use super::{Dialect, Fault, Server, exchanging, execute, execute_to, options::broadcast, text};
use crate::Verdict;

/// Six clients on two servers, and ten broadcasts from clients of the first one. The servers do not know each other, so
/// everything is lost for listeners of the second one.
#[test]
fn each_server_has_an_account_of_its_own() {
    let (first, second) = (
        Server::start(Dialect::Json, Fault::None),
        Server::start(Dialect::Json, Fault::None),
    );
    let options = || {
        let mut options = broadcast(&first, 1, 4);
        options.common.nodes = vec![Target::parse(&second.url()).unwrap()];
        options
    };
    let run = execute(exchanging(options()));
    assert_eq!(run.verdict.as_ref().unwrap(), &Verdict::Faulty);
    assert_eq!(run.deliveries(), [60, 30, 0, 0, 0], "{}", run.stdout);
    let step = run.first_step();
    let counts = |node: &Value| {
        ["n_deliveries_expected", "n_deliveries", "n_lost"].map(|key| node[key].as_u64().unwrap())
    };
    let nodes: Vec<_> = step["nodes"].as_array().unwrap().iter().map(counts).collect();
    assert_eq!(nodes, [[30, 30, 0], [30, 0, 30]]);
    let json = run.json();
    assert_eq!(json["plimsoll"]["nodes"], serde_json::json!([second.url()]));
    // What is lost counts with the time that was waited for it.
    assert!(
        step["nodes"][1]["listener_us"]["min"].as_u64().unwrap() >= 1_000_000,
        "{step:#}"
    );
    let run = execute_to(text(), exchanging(options()));
    for (server, account) in [
        (&first, "30 of 30 delivered, 0 lost"),
        (&second, "0 of 30 delivered, 30 lost"),
    ] {
        let line = format!("    {}: {account}; listeners p50 ", server.url());
        assert!(run.stdout.contains(&line), "{line}\n{}", run.stdout);
    }
}
