//! The parts of a run that several instances make together.

use plimsoll_load::{executor::Executor, segment::Split, vu::Lifecycle as _};
use tokio::task::LocalSet;

use super::*;

/// When the users of a plan arrive, since the start of the run.
fn arrivals(plan: &plimsoll_load::plan::Plan) -> Vec<Duration> {
    let scenarios = plan
        .scenarios
        .iter()
        .flat_map(|scenario| match &scenario.executor {
            Executor::ConstantArrivalRate(open) | Executor::RampingArrivalRate(open) => {
                let starts = (0..open.arrivals.n_total()).filter_map(|at| open.arrivals.start(at));
                starts.map(|start| scenario.start_time + start).collect()
            }
            _ => Vec::new(),
        });
    scenarios.collect()
}

#[test]
fn the_parts_of_all_instances_are_the_arrivals_of_one() {
    let text = "config:\n  target: ws://h\n  mode: poisson\n  phases: [{duration: 20, arrivalRate: 7}, {pause: 3}, \
                {duration: 5, arrivalRate: 1, rampTo: 30, mode: uniform}, {duration: 3, arrivalCount: 11}, \
                {duration: 9, arrivalRate: 3}]\nscenarios:\n- {engine: ws, flow: [{think: 1}]}\n";
    let whole = arrivals(&read_text(text).unwrap().plan().unwrap());
    for n in [1, 2, 3, 7] {
        // Each instance reads the file itself.
        let parts = (0..n).map(|at| {
            read_text(text)
                .unwrap()
                .plan()
                .unwrap()
                .segment(&Split::equal(n, at))
        });
        let mut all: Vec<_> = parts.flat_map(|part| arrivals(&part)).collect();
        all.sort_unstable();
        assert_eq!(all, whole, "{n}");
    }
    let other = read_with(text, |surroundings| surroundings.seed = 8).unwrap();
    assert_ne!(arrivals(&other.plan().unwrap()), whole);
}

#[test]
fn what_only_one_instance_can_do_is_told() {
    let check = |config: &str, flow: &str, expected: &[&str]| {
        let text = format!("config:\n  target: http://h\n{config}\nscenarios:\n- flow: [{flow}]\n");
        let obstacles = read_text(&text).unwrap().obstacles();
        assert_eq!(obstacles.len(), expected.len(), "{obstacles:?}");
        for (obstacle, expected) in obstacles.iter().zip(expected) {
            assert!(obstacle.starts_with(expected), "{obstacle}");
        }
    };
    let phase = |phase: &str| format!("  phases: [{{duration: 5, arrivalRate: 1}}, {phase}]");
    let table = "\n  payload: {path: users.csv, fields: [name, age], order: sequence}";
    check(&phase("{duration: 5, users: 2}"), "{think: 1}", &[]);
    check(&(phase("{pause: 1}") + table), "{think: 1}", &[]);
    check(
        &phase("{duration: 5, arrivalRate: 1, maxVusers: 3}"),
        "{think: 1}",
        &["config.phases[1]: `maxVusers` limits the active users of all machines"],
    );
    check(
        &(phase("{duration: 5, users: 2}") + table),
        "{think: 1}",
        &["config.payload: the `order` sequence is that of arrivals"],
    );
    check(
        &phase("{pause: 1}"),
        "{post: {url: /, formData: {a: {fromFile: '{{ x }}'}}}}",
        &["test.yml:5:51: scenarios[0].flow[0].post.formData.a.fromFile: the path depends on the user"],
    );
}

/// The users of one of several instances.
fn part(test: &Test) -> crate::artillery::Users {
    test.part_of_users(&test.plan().unwrap())
}

#[tokio::test]
async fn the_variables_of_before_reach_all_instances() {
    let text = "config: {target: 'ws://h', variables: {room: a}}\nbefore: {flow: [{loop: [{think: 0}], count: 2, loopValue: token}]}\n\
                scenarios:\n- {engine: ws, flow: [{send: '{{ room }}'}]}\n";
    let (one, other) = (read_text(text).unwrap(), read_text(text).unwrap());
    let recorder = || Recorder::new(MetricSet::new(Arc::new(one.registry.clone())));
    let (mut before, mut elsewhere) = (part(&one).stages, part(&other).stages);
    assert_eq!(before.shared(), None);
    let set_up = before.setup(recorder(), RunHandle::new());
    LocalSet::new().run_until(set_up).await.unwrap();
    let data = before.shared().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&data).unwrap(),
        json!({ "token": 1 })
    );
    elsewhere.share(data);
    let variables = other.program.variables_for(&other.program.scenarios[0], None);
    assert_eq!(variables.get("token"), Some(&json!(1)));
    assert_eq!(before.outcome().unwrap(), r#"{"peak":0,"n_following":0}"#);
    elsewhere.add_outcome(r#"{"peak":2,"n_following":3}"#).unwrap();
    let counted = part(&other).activity;
    assert_eq!((counted.peak(), counted.n_following()), (0, 0));
    assert!(elsewhere.add_outcome("{}").is_err());
}
