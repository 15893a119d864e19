//! Sampling this process, its children, and invented pages.

use std::{
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use super::*;
use crate::watch::{Fetch, Page, Place, figure};

/// There are no pages in these tests.
fn no_pages() -> OpenPage {
    Arc::new(|_| Err("no pages".to_owned()))
}

/// A page with the text of this function; `Err` if it is unavailable.
fn page(body: impl Fn() -> Result<String, String> + Send + Sync + Clone + 'static) -> OpenPage {
    struct Body<F>(F);
    impl<F: Fn() -> Result<String, String>> Fetch for Body<F> {
        fn fetch(&mut self) -> Result<Vec<u8>, String> {
            (self.0)().map(String::into_bytes)
        }
    }
    Arc::new(move |_| Ok(Box::new(Body(body.clone()))))
}

fn page_target() -> Target {
    Target::from(Place::Metrics(Page {
        url: "http://h:9/metrics".to_owned(),
        wanted: Vec::new(),
    }))
}

fn sleeper() -> Child {
    Command::new("cat").stdin(Stdio::piped()).spawn().unwrap()
}

#[test]
fn one_account_for_each_target_in_order() {
    let own = std::process::id().to_string();
    let targets: Vec<Target> = [format!("me={own}"), own.clone(), own.clone()]
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
    let sampling = Sampling::attach(&targets, &no_pages()).unwrap();
    sampling.prepare();
    sampling.start(Instant::now());
    let accounts = sampling.finish();
    let names: Vec<_> = accounts.iter().map(|account| account.name.clone()).collect();
    assert_eq!(names, sampling.names().collect::<Vec<_>>());
    assert_eq!(names[0], "me");
    assert_eq!(names[2], format!("{} (process {own})", names[1]), "two of a name");
    for account in &accounts {
        assert_eq!(account.what, format!("process {own}"));
        assert_eq!(account.ended, None);
        assert!(account.record.base(figure::RSS_BYTES).unwrap() > 100_000.0);
        assert_eq!(account.record.series(figure::RSS_BYTES, 1, 1).len(), 1);
        for slow in [figure::PSS_BYTES, figure::SOCKETS] {
            assert!(account.record.base(slow).is_some() && account.record.series(slow, 1, 1)[0].is_some());
        }
        assert!(account.record.growth(figure::CPU_CORES).unwrap().0 > 0.0);
        assert!(account.cpu > Duration::ZERO);
    }
}

#[test]
fn a_target_that_dies_leaves_what_it_did_until_then() {
    let mut child = sleeper();
    let pid = child.id();
    let target = Target::from(Place::Process(pid));
    let sampling = Sampling::attach(&[target], &no_pages()).unwrap();
    sampling.prepare();
    sampling.start(Instant::now());
    drop(child.stdin.take());
    child.wait().unwrap();
    let account = sampling.finish().remove(0);
    assert_eq!(account.ended.unwrap().reason, format!("process {pid} is gone"));
    assert!(account.record.base(figure::RSS_BYTES).is_some());
}

#[test]
fn a_run_that_never_begins_has_an_empty_account() {
    let target = Target::from(Place::Process(std::process::id()));
    let sampling = Sampling::attach(&[target], &no_pages()).unwrap();
    let account = sampling.finish().remove(0);
    assert_eq!((account.record.n_readings(), account.record.last_at()), (0, None));
}

#[test]
fn what_is_not_there_is_said_before_the_run() {
    let dead = {
        let mut child = sleeper();
        drop(child.stdin.take());
        child.wait().unwrap();
        child.id()
    };
    let many = vec![Target::from(Place::Port(1)); MAX_TARGETS + 1];
    for (targets, words) in [
        (
            vec![Target::from(Place::Process(dead))],
            format!("--watch process {dead}: no process has the id {dead}"),
        ),
        (
            many,
            format!(
                "{} targets are too many; a report has room for {MAX_TARGETS}",
                MAX_TARGETS + 1
            ),
        ),
        (
            vec![page_target()],
            "--watch metrics http://h:9/metrics: no metrics from http://h:9/metrics: no pages".to_owned(),
        ),
    ] {
        let error = Sampling::attach(&targets, &no_pages()).unwrap_err().to_string();
        assert!(error.contains(&words), "{error}");
    }
}

#[test]
fn a_page_is_read_before_and_after() {
    let n_looks = Arc::new(Mutex::new(0));
    let open = page(move || {
        let mut n_looks = n_looks.lock().unwrap();
        *n_looks += 10;
        Ok(format!("# TYPE jobs counter\njobs {n_looks}\nbusy {n_looks}\n"))
    });
    let sampling = Sampling::attach(&[page_target()], &open).unwrap();
    sampling.prepare();
    sampling.start(Instant::now());
    let account = sampling.finish().remove(0);
    assert_eq!(account.name, "h:9");
    // Found with 10, prepared with 20, finished with 30.
    assert_eq!(account.record.base("busy"), Some(20.0));
    assert_eq!(account.record.growth("rate(jobs)").unwrap().0, 10.0);
    assert_eq!((account.n_missed, account.ended), (0, None));
}

#[test]
fn a_page_that_is_missing_once_at_the_end_has_not_ended() {
    let is_there = Arc::new(Mutex::new(true));
    let body = {
        let is_there = Arc::clone(&is_there);
        move || {
            if *is_there.lock().unwrap() {
                Ok("a 1\n".to_owned())
            } else {
                Err("connection refused".to_owned())
            }
        }
    };
    let sampling = Sampling::attach(&[page_target()], &page(body)).unwrap();
    sampling.prepare();
    sampling.start(Instant::now());
    *is_there.lock().unwrap() = false;
    let account = sampling.finish().remove(0);
    assert_eq!((account.n_missed, account.ended), (1, None));
}
