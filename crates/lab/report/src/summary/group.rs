//! Groups and their checks, as the tree that a script made.

use super::CheckResult;

/// A group, its checks, and the groups inside it; all in the order in which they appeared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group<'a> {
    /// Its own name; empty for the root.
    pub name: &'a str,
    /// The names from the root to it, each with `::` before it; empty for the root.
    pub path: &'a str,
    /// The groups inside it.
    pub groups: Vec<Self>,
    /// The checks in it that are in no group inside it.
    pub checks: Vec<&'a CheckResult>,
}

/// Stands before every name in a path. k6 refuses it in names.
pub(crate) const SEPARATOR: &str = "::";

impl<'a> Group<'a> {
    /// The tree of these paths, and of those of the checks.
    pub(super) fn tree(paths: &'a [String], checks: &'a [CheckResult]) -> Self {
        let mut root = Self::default();
        for path in paths {
            root.descend(path);
        }
        for check in checks {
            root.descend(&check.group).checks.push(check);
        }
        root
    }

    /// The group at `path`. It and its parents are created if they are missing.
    fn descend(&mut self, path: &'a str) -> &mut Self {
        let mut group = self;
        let mut end = 0;
        for name in path.split(SEPARATOR).skip(1) {
            end += SEPARATOR.len() + name.len();
            let known = group.groups.iter().position(|inner| inner.name == name);
            let at = known.unwrap_or_else(|| {
                group.groups.push(Self {
                    name,
                    path: &path[..end],
                    ..Self::default()
                });
                group.groups.len() - 1
            });
            group = &mut group.groups[at];
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(paths: &[&str], checks: &[(&str, &str)], expected: &Expect) {
        let paths: Vec<_> = paths.iter().map(|&path| path.to_owned()).collect();
        let checks: Vec<_> = checks
            .iter()
            .map(|&(group, name)| CheckResult {
                group: group.to_owned(),
                name: name.to_owned(),
                passes: 1,
                fails: 0,
            })
            .collect();
        expected.assert_eq(&outline(&Group::tree(&paths, &checks), 0));
    }

    fn outline(group: &Group<'_>, depth: usize) -> String {
        let indent = "  ".repeat(depth);
        let checks = group
            .checks
            .iter()
            .map(|check| format!("{indent}- {}\n", check.name));
        let inner = group.groups.iter().map(|inner| {
            format!(
                "{indent}{} ({})\n{}",
                inner.name,
                inner.path,
                outline(inner, depth + 1)
            )
        });
        checks.chain(inner).collect()
    }

    #[test]
    fn paths_become_a_tree_in_the_order_of_appearance() {
        check(
            &["::setup", "::b::inner", "::b"],
            &[
                ("", "root"),
                ("::b", "one"),
                ("::a::b::c", "deep"),
                ("::b", "two"),
                ("::b::inner", "three"),
            ],
            &expect![[r#"
                - root
                setup (::setup)
                b (::b)
                  - one
                  - two
                  inner (::b::inner)
                    - three
                a (::a)
                  b (::a::b)
                    c (::a::b::c)
                      - deep
            "#]],
        );
    }

    #[test]
    fn a_run_without_groups_is_its_root() {
        check(&[], &[("", "one")], &expect![["- one\n"]]);
        check(&[], &[], &expect![[""]]);
    }
}
