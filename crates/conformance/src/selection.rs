//! Which cases of a suite are run.

use std::collections::HashSet;

use crate::{Case, CaseId, Pattern};

/// Which cases of a suite are run: those that `only` selects (all, when it is empty) and `except` does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Run these only.
    pub only: Vec<Pattern>,
    /// Leave these out.
    pub except: Vec<Pattern>,
}

/// A selection that cannot be meant.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchCase {
    /// A pattern that selects nothing.
    #[error("no case is called `{pattern}`; the nearest is {}", nearest.as_ref().map_or("none", CaseId::as_str))]
    Pattern {
        /// As it was typed.
        pattern: String,
        /// The id that looks most like it; none if the suite has no cases.
        nearest: Option<CaseId>,
    },
    /// All that was selected is left out again.
    #[error("no case is left: everything that is selected is left out again")]
    Nothing,
}

impl Selection {
    /// The cases that are run, in the order of `cases`.
    ///
    /// # Errors
    /// When a pattern is about no case, or none is left.
    pub fn of(&self, cases: Vec<Case>) -> Result<Vec<Case>, NoSuchCase> {
        let only = meant(&self.only, &cases)?;
        let except = meant(&self.except, &cases)?;
        let is_selected =
            |case: &Case| (self.only.is_empty() || only.contains(&case.id)) && !except.contains(&case.id);
        let selected: Vec<_> = cases.into_iter().filter(is_selected).collect();
        match selected.as_slice() {
            [] => Err(NoSuchCase::Nothing),
            _ => Ok(selected),
        }
    }
}

/// The ids of all cases that patterns mean: of a pattern that is an id, the case that has it and no other.
fn meant(patterns: &[Pattern], cases: &[Case]) -> Result<HashSet<CaseId>, NoSuchCase> {
    let mut meant = HashSet::new();
    for pattern in patterns {
        let is_id = |case: &Case| case.id.as_str() == pattern.as_str();
        let ids: Vec<_> = match cases.iter().find(|case| is_id(case)) {
            Some(case) => vec![case.id.clone()],
            None => {
                let selected = cases.iter().filter(|case| pattern.selects(case));
                selected.map(|case| case.id.clone()).collect()
            }
        };
        if ids.is_empty() {
            return Err(NoSuchCase::Pattern {
                pattern: pattern.to_string(),
                nearest: nearest(pattern.as_str(), cases),
            });
        }
        meant.extend(ids);
    }
    Ok(meant)
}

/// The id that looks most like `text`, as a whole or in one of its words.
fn nearest(text: &str, cases: &[Case]) -> Option<CaseId> {
    let likeness = |id: &CaseId| {
        let words = id.as_str().split('/').chain([id.as_str()]);
        let likenesses = words.map(|word| strsim::normalized_damerau_levenshtein(text, word));
        let n_alike = id.as_str().bytes().zip(text.bytes()).take_while(|(a, b)| a == b);
        // Of several that are as like, one that begins alike.
        (likenesses.fold(0.0, f64::max), n_alike.count())
    };
    let ids = cases.iter().map(|case| &case.id).rev();
    let nearest = ids.max_by(|a, b| {
        let ((a, a_beginning), (b, b_beginning)) = (likeness(a), likeness(b));
        a.total_cmp(&b).then(a_beginning.cmp(&b_beginning))
    });
    nearest.cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(only: &[&str], except: &[&str], expected: Result<&[&str], &str>) {
        check_of(&["1.1", "1.2", "2.1", "10.1"], only, except, expected);
    }

    fn check_of(ids: &[&'static str], only: &[&str], except: &[&str], expected: Result<&[&str], &str>) {
        let patterns = |texts: &[&str]| texts.iter().map(|text| Pattern::new(*text)).collect();
        let selection = Selection {
            only: patterns(only),
            except: patterns(except),
        };
        let case = |id: &&'static str| Case {
            id: CaseId::new(*id),
            title: "does what h.2.1 does".into(),
            clause: "clause".into(),
        };
        let found = selection.of(ids.iter().map(case).collect());
        let found = found
            .as_ref()
            .map(|cases| cases.iter().map(|case| case.id.as_str()).collect::<Vec<_>>())
            .map_err(ToString::to_string);
        assert_eq!(
            found.as_ref().map(Vec::as_slice).map_err(String::as_str),
            expected,
            "{only:?} {except:?}"
        );
    }

    #[test]
    fn patterns_select_and_leave_out() {
        check(&[], &[], Ok(&["1.1", "1.2", "2.1", "10.1"]));
        check(&["1.*", "2"], &["1.2"], Ok(&["1.1", "2.1"]));
        check(&[], &["1.*"], Ok(&["2.1", "10.1"]));
    }

    #[test]
    fn an_id_means_its_own_case_alone() {
        let lettered = &["h.2.1", "h.2.10", "h.2.2", "h.20.1", "x.h.2.1"];
        let all = Ok(&lettered[..]);
        let named = &["cable/order", "cable/order/late", "cable/order-of-all"];
        check_of(lettered, &["h.2.1"], &[], Ok(&["h.2.1"]));
        check_of(lettered, &[], &["h.2.1"], Ok(&lettered[1..]));
        check_of(lettered, &["h.2.10", "h.2.2"], &[], Ok(&["h.2.10", "h.2.2"]));
        check_of(lettered, &["h.20"], &[], Ok(&["h.20.1"]));
        check_of(lettered, &["h.2.*"], &[], Ok(&lettered[..3]));
        check_of(lettered, &["h.2.1*"], &[], Ok(&lettered[..2]));
        check_of(lettered, &["does what"], &[], all);
        check_of(named, &["cable/order"], &[], Ok(&named[..1]));
        check_of(named, &["order"], &[], Ok(named));
        check_of(named, &["cable/order/*"], &[], Ok(&named[1..2]));
    }

    #[test]
    fn a_pattern_without_cases_is_a_mistake() {
        check(
            &["10.2"],
            &[],
            Err("no case is called `10.2`; the nearest is 10.1"),
        );
        check(
            &["1.*"],
            &["3.*"],
            Err("no case is called `3.*`; the nearest is 1.1"),
        );
        check(
            &["1.*"],
            &["1"],
            Err("no case is left: everything that is selected is left out again"),
        );
    }
}
