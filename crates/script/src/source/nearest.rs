//! What was probably meant, for errors.

/// Below this likeness (Jaro-Winkler, 0 to 1) a suggestion would rather mislead; `htpp` and `http` have 0.93.
const LIKE_ENOUGH: f64 = 0.85;

/// The candidate that is most like `name`.
pub(crate) fn nearest<T: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = T>) -> Option<T> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate.as_ref()), candidate))
        .filter(|(likeness, _)| *likeness > LIKE_ENOUGH)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, candidate)| candidate)
}
