//! Stored runs, references to runs, and invalid files.

use std::{
    sync::{Arc, Barrier},
    thread,
};

use expect_test::{Expect, expect};

use super::*;

/// A test's temporary folder, deleted on drop.
struct TestFolder(PathBuf);

impl TestFolder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("plimsoll-history-{}-{name}", std::process::id()));
        Self(folder)
    }

    fn database(&self) -> PathBuf {
        self.0.join(DATABASE)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// A run that began in this minute.
fn run(id: &str, minute: u32, tags: &[&str]) -> Run {
    Run {
        id: id.to_owned(),
        started_at: format!("2026-11-22T10:{minute:02}:00.000Z"),
        name: "chat.js".to_owned(),
        kind: "k6".to_owned(),
        command: "plimsoll run chat.js".to_owned(),
        duration_seconds: 20.5,
        vus_max: 100,
        verdict: "pass".to_owned(),
        doubtful: true,
        figures: "p95 12 ms".to_owned(),
        note: None,
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
    }
}

fn ids(runs: &[Run]) -> Vec<&str> {
    runs.iter().map(|run| run.id.as_str()).collect()
}

/// Three runs: the oldest and the newest are tagged.
fn three_runs(folder: &TestFolder) -> History {
    let mut history = History::open(&folder.0).unwrap();
    history.save(&run("01AA", 1, &["main"]), "first").unwrap();
    history.save(&run("01AB", 2, &[]), "second").unwrap();
    let other = Run {
        kind: "demo".to_owned(),
        name: "demo".to_owned(),
        verdict: "fail".to_owned(),
        ..run("02CC", 3, &["main", "fast"])
    };
    history.save(&other, "third").unwrap();
    history
}

#[test]
fn a_run_comes_back_as_it_was_saved() {
    let folder = TestFolder::new("round-trip");
    let saved = Run {
        note: Some("größer".to_owned()),
        ..run("01JD", 1, &["b", "a"])
    };
    let text = "{\"größe\": 1}".repeat(10_000);
    History::open(&folder.0).unwrap().save(&saved, &text).unwrap();
    let history = History::open_existing(&folder.0).unwrap().unwrap();
    let expected = Run {
        tags: vec!["a".to_owned(), "b".to_owned()],
        ..saved
    };
    assert_eq!(history.list(&Filter::default()).unwrap(), [expected]);
    assert_eq!(history.document("01JD").unwrap(), text);
    let size = fs::metadata(folder.database()).unwrap().len();
    assert!(size < text.len() as u64, "{size}");
}

#[test]
fn choices_are_what_there_is() {
    let folder = TestFolder::new("choices");
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let expected = Choices {
        n_runs: 3,
        kinds: texts(&["demo", "k6"]),
        verdicts: texts(&["fail", "pass"]),
        tags: texts(&["fast", "main"]),
    };
    assert_eq!(three_runs(&folder).choices().unwrap(), expected);
}

#[test]
fn reading_makes_no_database() {
    let folder = TestFolder::new("none");
    assert!(History::open_existing(&folder.0).unwrap().is_none());
    assert!(!folder.0.exists());
}

#[test]
fn what_cannot_be_looked_for_is_not_taken_for_none() {
    let folder = TestFolder::new("hidden");
    fs::create_dir(&folder.0).unwrap();
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    let error = History::open_existing(&file).unwrap_err().to_string();
    let expected = format!("cannot check whether {} exists: ", file.join(DATABASE).display());
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn runs_are_listed_newest_first() {
    let folder = TestFolder::new("list");
    let history = three_runs(&folder);
    let check = |filter: Filter, expected: &[&str]| {
        assert_eq!(ids(&history.list(&filter).unwrap()), expected, "{filter:?}");
    };
    let all = Filter::default;
    let text = |text: &str| Some(text.to_owned());
    check(all(), &["02CC", "01AB", "01AA"]);
    check(
        Filter {
            limit: Some(2),
            ..all()
        },
        &["02CC", "01AB"],
    );
    check(
        Filter {
            tag: text("main"),
            ..all()
        },
        &["02CC", "01AA"],
    );
    check(
        Filter {
            kind: text("k6"),
            ..all()
        },
        &["01AB", "01AA"],
    );
    check(
        Filter {
            verdict: text("fail"),
            ..all()
        },
        &["02CC"],
    );
    check(
        Filter {
            name: text("hat"),
            ..all()
        },
        &["01AB", "01AA"],
    );
    check(
        Filter {
            name: text("%"),
            ..all()
        },
        &[],
    );
    let second = || text("2026-11-22T10:02:00.000Z");
    check(
        Filter {
            since: second(),
            ..all()
        },
        &["02CC", "01AB"],
    );
    check(
        Filter {
            before: second(),
            ..all()
        },
        &["01AA"],
    );
    let fast = Filter {
        tag: text("fast"),
        kind: text("k6"),
        ..all()
    };
    check(fast, &[]);
}

#[test]
fn runs_are_found_by_what_people_call_them() {
    let folder = TestFolder::new("find");
    let mut history = three_runs(&folder);
    history.save(&run("02C", 0, &[]), "").unwrap();
    let check = |reference: &str, expected: Result<&[&str], &str>| {
        let found = history.find(reference);
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(ids(found), expected, "{reference}"),
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected),
            _ => panic!("{reference}: {found:?}"),
        }
    };
    check("latest", Ok(&["02CC"]));
    check("latest~2", Ok(&["01AA"]));
    check("01AA", Ok(&["01AA"]));
    check("01ab", Ok(&["01AB"]));
    check("02C", Ok(&["02C"]));
    check("02CC", Ok(&["02CC"]));
    check("main", Ok(&["02CC", "01AA"]));
    check(
        "01",
        Err("`01` matches several runs: 01AA, 01AB; write more of the id"),
    );
    for unknown in ["latest~4", "03", "", "%", "_1AA"] {
        let error = history.find(unknown).unwrap_err();
        assert!(
            matches!(error, HistoryError::Unknown { .. }),
            "{unknown}: {error}"
        );
    }
}

#[test]
fn the_latest_are_counted_among_the_kinds_that_are_asked_for() {
    let folder = TestFolder::new("kinds");
    let mut history = History::open(&folder.0).unwrap();
    for (id, kind, tags) in [
        ("01", "k6", &["main"][..]),
        ("02", "line", &["main", "searches"]),
        ("03", "bench", &[]),
        ("04", "line", &[]),
    ] {
        let run = Run {
            kind: kind.to_owned(),
            ..run(id, 0, tags)
        };
        history.save(&run, "").unwrap();
    }
    let check = |reference: &str, kinds: Kinds<'_>, expected: Option<&[&str]>| {
        let found = history.find_among(reference, kinds);
        assert_eq!(
            found.ok().as_deref().map(ids).as_deref(),
            expected,
            "{reference} {kinds:?}"
        );
    };
    let (searches, others) = (Kinds::Only("line"), Kinds::Except("line"));
    check("latest", Kinds::All, Some(&["04"]));
    check("latest", others, Some(&["03"]));
    check("latest~1", others, Some(&["01"]));
    check("latest~2", others, None);
    check("latest~1", searches, Some(&["02"]));
    check("latest~2", searches, None);
    check("main", others, Some(&["01"]));
    check("main", searches, Some(&["02"]));
    check("searches", others, Some(&["02"]));
    check("04", others, Some(&["04"]));
}

#[test]
fn tags_notes_and_runs_can_be_changed() {
    let folder = TestFolder::new("change");
    let mut history = three_runs(&folder);
    let text = |text: &str| text.to_owned();
    let (new, main) = ([text("new"), text("new")], [text("main"), text("gone")]);
    history.tag("01AA", &new, &main).unwrap();
    history.note("01AA", "after the change").unwrap();
    let [found] = history.find("new").unwrap().try_into().unwrap();
    assert_eq!(
        (found.tags, found.note.as_deref()),
        (vec![text("new")], Some("after the change"))
    );
    history.note("01AA", "").unwrap();
    assert_eq!(history.find("new").unwrap()[0].note, None);
    history.remove(&[text("01AA"), text("02CC")]).unwrap();
    assert_eq!(ids(&history.list(&Filter::default()).unwrap()), ["01AB"]);
    assert!(history.document("01AA").is_err());
    assert!(history.find("fast").is_err());
    // A tag of a missing run would reappear with the next run of this id.
    assert!(history.tag("01AA", &new, &[]).is_err());
}

#[test]
fn an_id_is_never_taken_twice() {
    let folder = TestFolder::new("twice");
    let mut history = three_runs(&folder);
    assert!(history.save(&run("01AA", 9, &[]), "other").is_err());
    assert_eq!(history.document("01AA").unwrap(), "first");
}

#[test]
fn processes_may_begin_and_write_at_once() {
    const N_WRITERS: u32 = 8;
    const N_RUNS: u32 = 10;
    let folder = TestFolder::new("at-once");
    let start = Arc::new(Barrier::new(N_WRITERS as usize));
    let writers: Vec<_> = (0..N_WRITERS)
        .map(|writer| {
            let (path, start) = (folder.0.clone(), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                // Each has a connection of its own, as processes have.
                for number in 0..N_RUNS {
                    let mut history = History::open(&path).unwrap();
                    history
                        .save(&run(&format!("{writer}-{number}"), number, &["x"]), "text")
                        .unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let history = History::open(&folder.0).unwrap();
    assert_eq!(
        history.list(&Filter::default()).unwrap().len(),
        (N_WRITERS * N_RUNS) as usize
    );
}

#[test]
fn verdicts_of_earlier_versions_are_told_in_the_present_words() {
    let folder = TestFolder::new("words");
    let mut history = History::open(&folder.0).unwrap();
    let cases = [
        ("k6", "passed", false, "pass"),
        ("k6", "passed", true, "doubtful"),
        ("k6", "crossed", true, "fail"),
        ("bench", "lost", false, "fail"),
        ("artillery", "failures", false, "fail"),
        ("demo", "interrupted", false, "incomplete"),
        ("k6", "aborted", false, "incomplete"),
        ("line", "interrupted", false, "incomplete"),
        ("line", "found", false, "pass"),
        ("line", "max", false, "pass"),
        ("line", "degraded", false, "fail"),
        ("line", "nothing_holds", false, "fail"),
        ("line", "generator", true, "inconclusive"),
        ("line", "inconclusive", false, "inconclusive"),
    ];
    for (number, (kind, verdict, doubtful, _)) in (0..).zip(cases) {
        let old = Run {
            kind: kind.to_owned(),
            verdict: verdict.to_owned(),
            doubtful,
            ..run(&number.to_string(), number, &[])
        };
        history.save(&old, "").unwrap();
    }
    drop(history);
    let file = Connection::open(folder.database()).unwrap();
    file.execute_batch("ALTER TABLE runs RENAME COLUMN doubtful TO saturated; PRAGMA user_version = 1")
        .unwrap();
    drop(file);
    let history = History::open(&folder.0).unwrap();
    for (number, (.., expected)) in cases.iter().enumerate() {
        let found = history.find(&number.to_string()).unwrap();
        assert_eq!(found[0].verdict, *expected, "{number}");
    }
}

#[track_caller]
fn refuses(folder: &TestFolder, expected: &Expect) {
    let before = fs::read(folder.database()).unwrap();
    let error = History::open(&folder.0).unwrap_err().to_string();
    expected.assert_eq(&error.replace(&folder.0.display().to_string(), "DIR"));
    // A file that cannot be read stays unchanged.
    assert_eq!(fs::read(folder.database()).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let folder = TestFolder::new("no-database");
    fs::create_dir_all(&folder.0).unwrap();
    fs::write(
        folder.database(),
        "these are my notes, not a database\n".repeat(100),
    )
    .unwrap();
    refuses(
        &folder,
        &expect![
            "DIR/runs.db is damaged or is not a Plimsoll history (file is not a database); move it away, and the \
             next run starts a new one"
        ],
    );
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let folder = TestFolder::new("another");
    fs::create_dir_all(&folder.0).unwrap();
    let other = Connection::open(folder.database()).unwrap();
    other
        .execute_batch("CREATE TABLE bookmarks (url TEXT); PRAGMA user_version = 1")
        .unwrap();
    drop(other);
    refuses(
        &folder,
        &expect![
            "DIR/runs.db is damaged or is not a Plimsoll history (it is the database of another program); move it \
             away, and the next run starts a new one"
        ],
    );
}

#[test]
fn a_newer_format_is_left_alone() {
    let folder = TestFolder::new("newer");
    let history = three_runs(&folder);
    history
        .connection
        .pragma_update(None, "user_version", schema::VERSION + 1)
        .unwrap();
    drop(history);
    refuses(
        &folder,
        &expect![
            "DIR/runs.db was written by a newer version of Plimsoll: its format is 4, and this version knows formats up to 3; run the newer version, or keep the runs of this one in another folder"
        ],
    );
}

#[test]
fn a_damaged_text_is_told() {
    let folder = TestFolder::new("damaged");
    let history = three_runs(&folder);
    let cut = "UPDATE documents SET deflated = substr(deflated, 1, 9)";
    history.connection.execute(cut, []).unwrap();
    let error = history.document("01AA").unwrap_err();
    assert!(matches!(error, HistoryError::Damaged { .. }), "{error}");
}

#[test]
fn damaged_pages_are_told() {
    let folder = TestFolder::new("pages");
    drop(three_runs(&folder));
    let mut bytes = fs::read(folder.database()).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(folder.database(), bytes).unwrap();
    let told = History::open(&folder.0).and_then(|history| history.list(&Filter::default()));
    let error = told.unwrap_err();
    assert!(matches!(error, HistoryError::Damaged { .. }), "{error}");
}

#[test]
fn a_folder_that_cannot_be_is_told() {
    let folder = TestFolder::new("folder");
    fs::create_dir_all(&folder.0).unwrap();
    fs::write(folder.0.join("file"), "").unwrap();
    let error = History::open(&folder.0.join("file/below")).unwrap_err();
    assert!(matches!(error, HistoryError::Folder { .. }), "{error}");
}
