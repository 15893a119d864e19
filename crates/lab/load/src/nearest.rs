//! "Did you mean": the known name closest to a wrong one.

/// The longest name that is compared. Comparing takes memory and time for the product of both lengths.
const MAX_CHARS: usize = 200;

/// The candidate with the fewest edits (letters added, omitted, replaced or swapped), if those are few for the length
/// of the name. If there are several, the first one.
pub fn nearest<T: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = T>) -> Option<T> {
    // One edit in three letters; more, and the guess is likelier wrong than right.
    let n_chars = name.chars().count();
    let most_edits = (n_chars / 3).max(1);
    let is_comparable = |candidate: &T| {
        n_chars <= MAX_CHARS && candidate.as_ref().chars().count().abs_diff(n_chars) <= most_edits
    };
    candidates
        .into_iter()
        .filter(is_comparable)
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate.as_ref()), candidate))
        // With as many edits as letters the names have nothing in common.
        .filter(|(n_edits, candidate)| {
            *n_edits <= most_edits && *n_edits < n_chars.max(candidate.as_ref().chars().count())
        })
        .min_by_key(|(n_edits, _)| *n_edits)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_edits_make_a_suggestion_and_many_do_not() {
        let check = |name, expected| {
            let known = ["server.host", "server.port", "rpc.host", "ws.paths"];
            assert_eq!(nearest(name, known), expected, "{name}");
        };
        check("server.prot", Some("server.port"));
        check("sever.port", Some("server.port"));
        check("ws.path", Some("ws.paths"));
        check("rpc.hots", Some("rpc.host"));
        check("rpc.concurrency", None);
        check("x", None);
        check("", None);
        assert_eq!(nearest("x", ["y", "xy"]), Some("xy"));
        assert_eq!(nearest("x", ["y"]), None);
    }
}
