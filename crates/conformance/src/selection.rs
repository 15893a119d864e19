//! The selection of cases of a suite.

use std::{cmp::Reverse, collections::HashSet, iter};

use crate::{Case, CaseId, Pattern};

/// The selection of cases of a suite: the cases that `only` selects (all, when it is empty) and `except` does not.
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
    #[error("there is no case `{pattern}`{}", nearest.as_ref().map_or_else(String::new, |it| format!("; the nearest \
        is {it}")))]
    Pattern {
        /// The pattern as typed.
        pattern: String,
        /// A similar pattern that selects cases, if there is one: an id, the beginning of ids, or a word of them.
        nearest: Option<String>,
    },
    /// `except` removes all selected cases.
    #[error("no case is left: --except removes all selected cases")]
    Nothing,
}

impl Selection {
    /// The selected cases, in the order of `cases`.
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
                let selected = cases.iter().filter(|case| pattern.selects(&case.id));
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

/// The id, beginning of ids or word of them that `text` was probably to be. Of several that are as like, one that begins
/// alike.
fn nearest(text: &str, cases: &[Case]) -> Option<String> {
    let mut known: Vec<_> = cases.iter().flat_map(|case| names(case.id.as_str())).collect();
    let n_alike = |name: &&str| name.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
    known.sort_by_key(|name| Reverse(n_alike(name)));
    plimsoll_load::nearest::nearest(text, known).map(str::to_owned)
}

/// The names that select an id: the id, its first parts, and its words.
fn names(id: &str) -> impl Iterator<Item = &str> {
    let first_parts = id.match_indices(['.', '/']).map(|(at, _)| &id[..at]);
    iter::once(id).chain(first_parts).chain(id.split('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clause;

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
            title: "does what h.2.1 and order do".into(),
            clause: Clause::must("clause"),
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
        let named = &["cable/order", "cable/order/late", "cable/order-of-all"];
        check_of(lettered, &["h.2.1"], &[], Ok(&["h.2.1"]));
        check_of(lettered, &[], &["h.2.1"], Ok(&lettered[1..]));
        check_of(lettered, &["h.2.10", "h.2.2"], &[], Ok(&["h.2.10", "h.2.2"]));
        check_of(lettered, &["h.20"], &[], Ok(&["h.20.1"]));
        check_of(lettered, &["h.2.*"], &[], Ok(&lettered[..3]));
        check_of(lettered, &["h.2.1*"], &[], Ok(&lettered[..2]));
        check_of(lettered, &["does what"], &[], Err("there is no case `does what`"));
        check_of(lettered, &[], &["order"], Err("there is no case `order`"));
        check_of(named, &["cable/order"], &[], Ok(&named[..1]));
        check_of(named, &["order"], &[], Ok(named));
        check_of(named, &["cable/order/*"], &[], Ok(&named[1..2]));
    }

    #[test]
    fn a_pattern_without_cases_is_a_mistake() {
        check(
            &["10.2"],
            &[],
            Err("there is no case `10.2`; the nearest is 10.1"),
        );
        check(&["1.*"], &["3.*"], Err("there is no case `3.*`"));
        check(&["zzz"], &[], Err("there is no case `zzz`"));
        check(&["z"], &[], Err("there is no case `z`"));
        check(&[""], &[], Err("there is no case ``"));
        let named = &["cable/streams/two", "cable/order/last-words"];
        let nearest = |pattern, expected| check_of(named, &[pattern], &[], Err(expected));
        nearest(
            "cable/strems",
            "there is no case `cable/strems`; the nearest is cable/streams",
        );
        nearest(
            "lats-words",
            "there is no case `lats-words`; the nearest is last-words",
        );
        nearest("history", "there is no case `history`");
        check(
            &["1.*"],
            &["1"],
            Err("no case is left: --except removes all selected cases"),
        );
    }
}
