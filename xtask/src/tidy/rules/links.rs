//! Relative links of Markdown pages lead to a file or a folder, and to a heading where they name one; and the index of
//! documents has a link to each.

use std::{collections::BTreeSet, path::Path};

use super::{
    super::tree::{is_page, normal, prose},
    Finding, Source,
};

/// The page that lists all pages of its folder.
const INDEX: &str = "docs/README.md";

/// Each dead link of a page. Links to other hosts are not looked at.
pub(super) fn no_dead_links(source: &Source<'_>) -> Vec<Finding> {
    if !is_page(source.path) {
        return Vec::new();
    }
    let links =
        prose(source.text).flat_map(|(number, line)| targets(line).map(move |target| (number, target)));
    links
        .filter_map(|(number, target)| Some((number, problem(source, target)?)))
        .collect()
}

/// Each page below `docs/` that the index leaves out.
pub(super) fn index_is_complete(source: &Source<'_>) -> Vec<Finding> {
    let index = Path::new(INDEX);
    let (true, Some(folder)) = (source.path == index, index.parent()) else {
        return Vec::new();
    };
    let links = prose(source.text).flat_map(|(_, line)| targets(line));
    let linked: BTreeSet<_> = links
        .filter_map(|target| normal(&folder.join(target.split('#').next()?)))
        .collect();
    let missing = source
        .tree
        .pages()
        .filter(|page| page.starts_with(folder) && *page != index && !linked.contains(*page));
    missing
        .map(|page| (1, format!("lists every document, but not `{}`", page.display())))
        .collect()
}

/// The targets of a line's links: `b.md#c` of `[a](b.md#c)`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ']).next())
}

/// What is wrong with a target.
fn problem(source: &Source<'_>, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (target, None),
    };
    let file = match path {
        "" => source.path.to_owned(),
        _ => source.path.parent()?.join(path),
    };
    if !source.tree.has(&file) {
        return Some(format!("the link `{target}` leads to no file of the repository"));
    }
    let is_known = source
        .tree
        .headings(&file)?
        .iter()
        .any(|heading| anchor_of(heading) == anchor.unwrap_or_default());
    let is_dead = anchor.is_some() && !is_known;
    is_dead.then(|| format!("the link `{target}` names a heading that the page does not have"))
}

/// How forges name a heading in links: lower case, hyphens for spaces, no punctuation.
fn anchor_of(heading: &str) -> String {
    let kept = heading.chars().filter_map(|character| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ => character.is_alphanumeric().then_some(character),
    });
    kept.flat_map(char::to_lowercase).collect()
}
