//! "Did you mean": the known name that a wrong one is closest to.

/// The candidate with the fewest edits, if those are few for the length of the name.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // One edit in three letters; more, and the guess is likelier wrong than right.
    let most_edits = (name.chars().count() / 3).max(1);
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(n_edits, _)| *n_edits <= most_edits)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_edits_make_a_suggestion_and_many_do_not() {
        let check = |name, expected| {
            let known = ["server.host", "server.port", "rpc.host", "ws.paths"];
            assert_eq!(nearest(name, known.into_iter()), expected, "{name}");
        };
        check("server.prot", Some("server.port"));
        check("sever.port", Some("server.port"));
        check("ws.path", Some("ws.paths"));
        check("rpc.hots", Some("rpc.host"));
        check("rpc.concurrency", None);
        check("x", None);
        check("", None);
    }
}
