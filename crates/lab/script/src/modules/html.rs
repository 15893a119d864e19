//! `k6/html`: pages of servers, read with selectors.

use std::rc::Rc;

use rquickjs::{Class, Ctx, Exception, Function, Object, Result};

use self::{
    nodes::Nodes,
    page::{Page, PageReader, pieces},
};
use super::module::Module;
use crate::{arguments::Text, host::Host};

mod accessor;
mod accessors;
mod api;
mod capture;
mod criterion;
mod element;
mod form;
mod handed;
mod links;
mod matcher;
mod nodes;
mod page;
mod reference;
mod relations;
mod selection;
mod selector;
mod value;

pub use self::capture::PageSelector;
pub(super) use self::{
    form::{form, link},
    selection::Selection,
    selector::SelectorError,
};

pub(super) const MODULE: Module = Module {
    id: "k6/html",
    build,
    api: api::API,
};

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    exports.set("parseHTML", Function::new(ctx.clone(), parse_html)?)?;
    Ok(exports)
}

fn parse_html<'js>(ctx: Ctx<'js>, Text(text): Text) -> Result<Class<'js, Selection>> {
    parse(&ctx, &text, "")
}

/// Parses `text` as a page from `address`, which may be unknown and empty; malformed HTML is accepted. Other virtual users
/// run meanwhile.
///
/// # Errors
/// An exception when the page exceeds its [bounds](page::PageError), or when the script must end.
pub(super) fn parse<'js>(ctx: &Ctx<'js>, text: &str, address: &str) -> Result<Class<'js, Selection>> {
    let host = Host::of(ctx);
    let mut reader = PageReader::new();
    for piece in pieces(text) {
        host.take_turns(ctx)?;
        reader
            .read(piece)
            .map_err(|error| Exception::throw_range(ctx, &error.to_string()))?;
    }
    let document = reader.finish();
    let held = host
        .memory
        .hold(ctx, page::size_of(&document, text.len()), "pages")?;
    let page = Nodes::root(Rc::new(Page::new(document, address.to_owned(), held)));
    Class::instance(ctx.clone(), Selection::new(page))
}
