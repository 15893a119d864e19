//! What other programs tell, without other programs.

use tokio::runtime;

use super::*;
use crate::watch::{
    OpenPage, Report, Sampling, Target,
    figure::{self, Figure},
};

fn ledger() -> Ledger {
    Ledger::new([":80 on a", ":81 on a"].map(|name| (name.to_owned(), "port 80".to_owned())))
}

fn sighting(second: Option<u64>, at: f64, cpu: f64) -> Sighting {
    Sighting {
        target: 0,
        look: Some(Look {
            second,
            at,
            figures: vec![
                (figure::CPU_CORES.into(), Figure::Total(cpu)),
                (figure::RSS_BYTES.into(), Figure::Level(7.0)),
            ],
        }),
        ended: None,
        cpu: Duration::from_millis(3),
        n_missed: 0,
        n_left_out: 0,
    }
}

#[test]
fn what_is_told_becomes_a_record() {
    let ledger = ledger();
    for told in [
        sighting(None, -1.0, 5.0),
        sighting(Some(0), 1.0, 6.0),
        sighting(Some(1), 2.0, 6.5),
    ] {
        let text = serde_json::to_string(&told).unwrap();
        ledger.take(0, serde_json::from_str(&text).unwrap());
    }
    ledger.take(9, sighting(Some(1), 2.0, 6.5));
    let accounts: Vec<_> = ledger.accounts().collect();
    assert_eq!(
        accounts[0].record.series(figure::CPU_CORES, 1, 3),
        [Some(0.5), Some(0.5), None]
    );
    assert_eq!((ledger.n_seconds(0), ledger.n_seconds(1)), (2, 0));
    assert_eq!(accounts[1].record.n_readings(), 0);
    let latest: Vec<_> = ledger.latest().map(|(name, it)| (name, it.cores)).collect();
    assert_eq!(latest, [(":80 on a", Some(0.5)), (":81 on a", None)]);
    let ended = Ended {
        after: Duration::from_secs(2),
        reason: "gone".to_owned(),
    };
    let gone = Sighting {
        look: None,
        ended: Some(ended.clone()),
        ..sighting(None, 0.0, 0.0)
    };
    ledger.take(0, gone);
    ledger.close(1);
    assert_eq!(ledger.accounts().next().unwrap().ended, Some(ended));
    assert!(ledger.latest().all(|(_, latest)| latest.has_ended));
}

#[test]
fn a_run_orders_and_waits_for_those_elsewhere() {
    let (sender, mut orders) = mpsc::channel(MAX_REMOTE_ORDERS);
    let ledger = Arc::new(ledger());
    let told = Arc::clone(&ledger);
    let thread = std::thread::spawn(move || {
        let runtime = runtime::Builder::new_current_thread().build().unwrap();
        while let Some(order) = runtime.block_on(orders.recv()) {
            match order {
                RemoteOrder::Prepare(_) => told.take(0, sighting(None, 0.0, 1.0)),
                RemoteOrder::Start(_) => told.take(0, sighting(Some(0), 1.0, 2.0)),
                RemoteOrder::Finish(_) => told.take(0, sighting(Some(1), 2.0, 4.0)),
            }
        }
        told.notice("over".to_owned());
    });
    let sampling = Sampling::default();
    sampling.adopt(Remote::new(Arc::clone(&ledger), Some((sender, thread))));
    sampling.prepare();
    assert_eq!(sampling.so_far()[0].record.n_readings(), 1);
    sampling.start(Instant::now());
    let accounts = sampling.finish();
    assert_eq!(
        accounts[0].record.series(figure::CPU_CORES, 1, 2),
        [Some(1.0), Some(2.0)]
    );
    assert_eq!((accounts.len(), sampling.latest().count()), (2, 2));
    // The thread is let go, and waited for.
    drop(sampling);
    assert_eq!(ledger.notices(), ["over"]);
}

#[test]
fn what_is_here_is_told_elsewhere() {
    let own = std::process::id().to_string();
    let targets: Vec<Target> = [own.as_str(), "4194399", &own]
        .map(|it| it.parse().unwrap())
        .into();
    let (told, seen) = std::sync::mpsc::channel();
    let report: Report = Arc::new(move |sighting| drop(told.send(sighting)));
    let no_pages: OpenPage = Arc::new(|_| Err("no pages".to_owned()));
    let (sampling, found) = Sampling::attach_each(&targets, &no_pages, &report);
    drop(report);
    let words: Vec<_> = found
        .iter()
        .map(|found| found.as_ref().map_err(ToString::to_string))
        .collect();
    assert!(words[0].is_ok() && words[2].is_ok());
    assert!(
        words[1].as_ref().unwrap_err().contains("no process has the id"),
        "{words:?}"
    );
    sampling.prepare();
    sampling.start(Instant::now());
    let accounts = sampling.finish();
    let ledger = ledger();
    let mut n_told = [0; 3];
    for sighting in seen {
        n_told[sighting.target] += 1;
        if sighting.target == 0 {
            ledger.take(0, sighting);
        }
    }
    assert_eq!(n_told, [2, 0, 2], "the state before, and the last look");
    let copy = ledger.accounts().next().unwrap();
    for name in [figure::RSS_BYTES, figure::CPU_CORES] {
        assert_eq!(
            copy.record.series(name, 1, 1),
            accounts[0].record.series(name, 1, 1),
            "{name}"
        );
    }
}
