//! A report as one file: a page that shows a run, or several side by side, and works offline.
//!
//! The page consists of the build output of `web/`, and of the runs as JSON. This crate decides and decodes; the page
//! only displays. The page's policy forbids the browser to load anything or to run any other script, so that text from
//! a test cannot do harm.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

use crate::{Summary, comparison::Comparison};

mod curve;
mod data;
mod escape;
mod size;

use self::data::PageData;
pub use self::escape::{in_script, in_text};

/// The output of `npm run build` in `web/`.
pub const SCRIPT: &str = include_str!("../assets/report.js");
/// The style of all pages.
pub const STYLE: &str = include_str!("../assets/report.css");

/// The mark of the page, as a browser's tab shows it.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32' fill='none' \
    stroke='%230a5fa8' stroke-width='3.5'%3E%3Ccircle cx='16' cy='16' r='9.5'/%3E%3Cpath d='M1.5 16h29'/%3E%3C/svg%3E";

/// A page of these runs, in their order: all of one run, or several beside each other. `comparisons` are the statistical
/// results for each side but the first, with the labels of all runs. Less than 3 MB.
pub fn page(summaries: &[&Summary], comparisons: &[Comparison]) -> String {
    report(None, summaries, comparisons)
}

/// A page that is served among others: with a link to the list of runs, whose URL is `list`.
pub fn listed_page(list: &str, summaries: &[&Summary], comparisons: &[Comparison]) -> String {
    report(Some(list), summaries, comparisons)
}

fn report(list: Option<&str>, summaries: &[&Summary], comparisons: &[Comparison]) -> String {
    let data = PageData::of(summaries, comparisons);
    let (title, sentence) = (data.title(), data.sentence());
    self_contained(list, "data", &title, &sentence, &data.into_json())
}

/// A page of other data that the script can show: `json` goes into the element `id`, where the script looks for it. The
/// sentence is shown if scripts are disabled.
pub fn file(id: &str, title: &str, sentence: &str, json: &str) -> String {
    self_contained(None, id, title, sentence, json)
}

/// The same as a page that is served among others: with a link to the list of runs, which is at the URL `list`.
pub fn listed_file(list: &str, id: &str, title: &str, sentence: &str, json: &str) -> String {
    self_contained(Some(list), id, title, sentence, json)
}

fn self_contained(list: Option<&str>, id: &str, title: &str, sentence: &str, json: &str) -> String {
    let (title, sentence, json) = (in_text(title), in_text(sentence), in_script(json));
    let (script_hash, style_hash) = (hash(SCRIPT), hash(STYLE));
    let policy = format!(
        "default-src 'none'; script-src {script_hash}; style-src {style_hash}; img-src data:; base-uri 'none'; \
         form-action 'none'"
    );
    let head = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <title>{title}</title>\n\
         <meta name=\"description\" content=\"{sentence}\">\n\
         <style>{STYLE}</style>"
    );
    let body = format!(
        "<noscript><h1>{sentence}</h1><p>The charts of this report need JavaScript.</p></noscript>\n\
         <script type=\"application/json\" id=\"{id}\">{json}</script>\n\
         <script>{SCRIPT}</script>"
    );
    document(&head, list, &body)
}

/// The data of one run for the page, as JSON on one line, for pages that show the run in progress.
pub fn data(summary: &Summary) -> String {
    PageData::of(&[summary], &[]).into_json()
}

/// A served page: `page.js` beside it is [`SCRIPT`], and `page.css` is [`STYLE`]. `about` is the HTML element that
/// tells the script what to show; its foreign parts must be escaped by [`in_text`] or [`in_script`].
pub fn served(name: &str, about: &str) -> String {
    let name = in_text(name);
    let head = format!(
        "<title>{name} · Plimsoll</title>\n\
         <link rel=\"stylesheet\" href=\"page.css\">"
    );
    let body = format!(
        "{about}\n\
         <noscript><p>This page needs JavaScript.</p></noscript>\n\
         <script src=\"page.js\"></script>"
    );
    document(&head, None, &body)
}

/// The common part of all pages, around elements of their own. The script links to `list`, if there is one.
fn document(head: &str, list: Option<&str>, body: &str) -> String {
    let list = list.map_or_else(String::new, |url| format!(" data-list=\"{}\"", in_text(url)));
    format!(
        "<!doctype html>\n\
         <html lang=\"en\">\n\
         <head>\n\
         <meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         {head}\n\
         <link rel=\"icon\" href=\"{ICON}\">\n\
         </head>\n\
         <body{list}>\n\
         {body}\n\
         </body>\n\
         </html>\n"
    )
}

/// What a policy calls the text of an element that it lets pass.
fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests;
