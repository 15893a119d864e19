//! The methods of a selection: jQuery's methods that k6 has.

use rquickjs::{Array, Coerced, Ctx, Function, IntoJs as _, Object, Result, Value, function::Opt};

use super::{
    super::{
        criterion::Criterion,
        element::Element,
        form,
        handed::Handed,
        nodes::{Nodes, Relation},
        value,
    },
    Selection,
};
use crate::host::Host;

impl Selection {
    fn criterion<'js>(&self, ctx: &Ctx<'js>, value: &Value<'js>, method: &str) -> Result<Criterion<'js>> {
        Criterion::read(ctx, &self.nodes.page, value, method)
    }

    /// The nodes that relate to these, those of them that `filter` chooses.
    fn related<'js>(
        &self,
        ctx: &Ctx<'js>,
        relation: Relation,
        filter: Opt<Value<'js>>,
        method: &str,
    ) -> Result<Self> {
        self.related_until(ctx, relation, Opt(None), filter, method)
    }

    /// Like [`Self::related`], but stops before the first node that `until` selects.
    fn related_until<'js>(
        &self,
        ctx: &Ctx<'js>,
        relation: Relation,
        until: Opt<Value<'js>>,
        filter: Opt<Value<'js>>,
        method: &str,
    ) -> Result<Self> {
        let page = &self.nodes.page;
        let until = Criterion::read_optional(ctx, page, until.0.as_ref(), method)?;
        let filter = Criterion::read_optional(ctx, page, filter.0.as_ref(), method)?;
        let mut found = Vec::new();
        for node in self.nodes.iter() {
            Host::of(ctx).take_turns(ctx)?;
            for (index, id) in relation.of(node).into_iter().enumerate() {
                if let Some(until) = &until
                    && until.holds(ctx, page, index, id)?
                {
                    break;
                }
                found.push(id);
            }
        }
        let mut related = self.nodes.then(found);
        if let Some(filter) = filter {
            related.ids = filter.choose(ctx, &related, true)?.into();
        }
        Ok(Self::new(related))
    }

    fn unary(&self, position: Option<usize>) -> Self {
        let id = position.and_then(|position| self.nodes.ids.get(position));
        Self::new(self.nodes.then(id.copied()))
    }

    /// Each node on its own.
    fn each_alone(&self) -> impl Iterator<Item = Self> {
        self.nodes.ids.iter().map(|&id| Self::new(self.nodes.then([id])))
    }

    fn elements(&self) -> impl Iterator<Item = Handed> {
        let ids = self.nodes.ids.iter();
        ids.map(|&id| Handed(Element::new(&self.nodes.page, id)))
    }
}

/// Reading.
#[rquickjs::methods(rename_all = "camelCase")]
impl Selection {
    fn size(&self) -> usize {
        self.nodes.ids.len()
    }

    fn text(&self) -> String {
        self.nodes.iter().map(|node| node.text().to_string()).collect()
    }

    /// The content of the first node; an empty text without nodes.
    fn html(&self) -> String {
        let html = self.nodes.first().and_then(|node| node.try_inner_html());
        html.unwrap_or_default().to_string()
    }

    fn attr<'js>(
        &self,
        name: Coerced<String>,
        default: Opt<Value<'js>>,
        ctx: Ctx<'js>,
    ) -> Result<Value<'js>> {
        let value = self.nodes.first().and_then(|node| node.attr(&name));
        match value {
            Some(value) => value.as_ref().into_js(&ctx),
            None => Ok(default.0.unwrap_or_else(|| Value::new_undefined(ctx))),
        }
    }

    fn val<'js>(&self, ctx: Ctx<'js>) -> Result<Value<'js>> {
        match self.nodes.first().and_then(value::of_control) {
            Some(value) => value.into_js(&ctx),
            None => Ok(Value::new_undefined(ctx)),
        }
    }

    /// One `data-` attribute of the first node, or all of them in an object.
    fn data<'js>(&self, ctx: Ctx<'js>, name: Opt<Coerced<String>>) -> Result<Value<'js>> {
        let Some(node) = self.nodes.first() else {
            return Ok(Value::new_undefined(ctx));
        };
        if let Some(name) = name.0 {
            return match node.attr(&value::data_attribute(&name)) {
                Some(text) => value::of_data(&ctx, &text),
                None => Ok(Value::new_undefined(ctx)),
            };
        }
        let all = Object::new(ctx.clone())?;
        for attribute in node.attrs() {
            if let Some(name) = value::data_name(&attribute.name.local) {
                all.set(name, value::of_data(&ctx, &attribute.value)?)?;
            }
        }
        Ok(all.into_value())
    }

    /// The element at `index`, where -1 is the last; all of them without an index.
    fn get<'js>(&self, ctx: Ctx<'js>, index: Opt<i32>) -> Result<Value<'js>> {
        match index.0 {
            None => self.elements().collect::<Vec<_>>().into_js(&ctx),
            Some(index) => {
                let position = self.nodes.position(index);
                position
                    .and_then(|position| self.elements().nth(position))
                    .into_js(&ctx)
            }
        }
    }

    fn to_array(&self) -> Vec<Selection> {
        self.each_alone().collect()
    }

    /// The index of the first node among its siblings, or among the nodes that a selector matches in the page; or the
    /// index of another node in this selection. -1 when it is not there.
    fn index<'js>(&self, ctx: Ctx<'js>, what: Opt<Value<'js>>) -> Result<i32> {
        let Some(first) = self.nodes.first() else {
            return Ok(-1);
        };
        let position = match Criterion::read_optional(&ctx, &self.nodes.page, what.0.as_ref(), "index")? {
            None => Some(Relation::PrevAll.of(first).len()),
            Some(Criterion::Selector(matcher)) => {
                let page = Nodes::root(self.nodes.page.clone());
                page.find(&matcher).ids.iter().position(|&id| id == first.id)
            }
            Some(other) => {
                let chosen = other.choose(&ctx, &self.nodes, true)?;
                self.nodes.ids.iter().position(|id| chosen.first() == Some(id))
            }
        };
        Ok(position
            .and_then(|position| i32::try_from(position).ok())
            .unwrap_or(-1))
    }

    fn is<'js>(&self, ctx: Ctx<'js>, what: Value<'js>) -> Result<bool> {
        let chosen = self
            .criterion(&ctx, &what, "is")?
            .choose(&ctx, &self.nodes, true)?;
        Ok(!chosen.is_empty())
    }

    fn each<'js>(&self, ctx: Ctx<'js>, handler: Function<'js>) -> Result<Selection> {
        for (index, element) in self.elements().enumerate() {
            Host::of(&ctx).take_turns(&ctx)?;
            handler.call::<_, Value<'js>>((index, element))?;
        }
        Ok(self.clone())
    }

    fn map<'js>(&self, ctx: Ctx<'js>, mapper: Function<'js>) -> Result<Array<'js>> {
        let results = Array::new(ctx.clone())?;
        for (index, selection) in self.each_alone().enumerate() {
            Host::of(&ctx).take_turns(&ctx)?;
            results.set(index, mapper.call::<_, Value<'js>>((index, selection))?)?;
        }
        Ok(results)
    }

    fn serialize(&self) -> String {
        url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form::flat(form::fields(&self.nodes)))
            .finish()
    }

    fn serialize_array<'js>(&self, ctx: Ctx<'js>) -> Result<Array<'js>> {
        let fields = Array::new(ctx.clone())?;
        for (index, (name, value)) in form::fields(&self.nodes).into_iter().enumerate() {
            let field = Object::new(ctx.clone())?;
            field.set("name", name)?;
            field.set("value", value.into_js(&ctx)?)?;
            fields.set(index, field)?;
        }
        Ok(fields)
    }

    fn serialize_object<'js>(&self, ctx: Ctx<'js>) -> Result<Object<'js>> {
        let fields = Object::new(ctx.clone())?;
        for (name, value) in form::fields(&self.nodes) {
            fields.set(name, value.into_js(&ctx)?)?;
        }
        Ok(fields)
    }

    fn find<'js>(&self, ctx: Ctx<'js>, what: Value<'js>) -> Result<Selection> {
        let criterion = self.criterion(&ctx, &what, "find")?;
        criterion.within(&ctx, &self.nodes).map(Self::new)
    }

    /// The first of what [`Self::find`] finds.
    fn single<'js>(&self, ctx: Ctx<'js>, what: Value<'js>) -> Result<Selection> {
        let found = self.criterion(&ctx, &what, "single")?.within(&ctx, &self.nodes)?;
        Ok(Self::new(self.nodes.then(found.ids.first().copied())))
    }

    fn filter<'js>(&self, ctx: Ctx<'js>, what: Value<'js>) -> Result<Selection> {
        let chosen = self
            .criterion(&ctx, &what, "filter")?
            .choose(&ctx, &self.nodes, true)?;
        Ok(Self::new(self.nodes.then(chosen)))
    }

    fn not<'js>(&self, ctx: Ctx<'js>, what: Value<'js>) -> Result<Selection> {
        let chosen = self
            .criterion(&ctx, &what, "not")?
            .choose(&ctx, &self.nodes, false)?;
        Ok(Self::new(self.nodes.then(chosen)))
    }

    fn has<'js>(&self, ctx: Ctx<'js>, what: Value<'js>) -> Result<Selection> {
        let criterion = self.criterion(&ctx, &what, "has")?;
        let mut chosen = Vec::new();
        for &id in self.nodes.ids.iter() {
            if criterion.is_within(&ctx, &self.nodes, id)? {
                chosen.push(id);
            }
        }
        Ok(Self::new(self.nodes.then(chosen)))
    }

    /// These and those that a selector matches in the page, or others of the page.
    fn add<'js>(&self, ctx: Ctx<'js>, what: Value<'js>) -> Result<Selection> {
        let criterion = self.criterion(&ctx, &what, "add")?;
        let added = criterion.within(&ctx, &Nodes::root(self.nodes.page.clone()))?;
        let all = self.nodes.ids.iter().chain(added.ids.iter());
        Ok(Self::new(self.nodes.then(all.copied())))
    }

    fn closest<'js>(&self, ctx: Ctx<'js>, what: Value<'js>) -> Result<Selection> {
        let criterion = self.criterion(&ctx, &what, "closest")?;
        let mut found = Vec::new();
        for node in self.nodes.iter() {
            let line = [node.id].into_iter().chain(Relation::Parents.of(node));
            for (index, id) in line.enumerate() {
                if criterion.holds(&ctx, &self.nodes.page, index, id)? {
                    found.push(id);
                    break;
                }
            }
        }
        Ok(Self::new(self.nodes.then(found)))
    }

    fn children<'js>(&self, ctx: Ctx<'js>, filter: Opt<Value<'js>>) -> Result<Selection> {
        self.related(&ctx, Relation::Children, filter, "children")
    }

    fn contents<'js>(&self, ctx: Ctx<'js>) -> Result<Selection> {
        self.related(&ctx, Relation::Contents, Opt(None), "contents")
    }

    fn parent<'js>(&self, ctx: Ctx<'js>, filter: Opt<Value<'js>>) -> Result<Selection> {
        self.related(&ctx, Relation::Parent, filter, "parent")
    }

    fn parents<'js>(&self, ctx: Ctx<'js>, filter: Opt<Value<'js>>) -> Result<Selection> {
        self.related(&ctx, Relation::Parents, filter, "parents")
    }

    fn parents_until<'js>(
        &self,
        ctx: Ctx<'js>,
        until: Opt<Value<'js>>,
        filter: Opt<Value<'js>>,
    ) -> Result<Selection> {
        self.related_until(&ctx, Relation::Parents, until, filter, "parentsUntil")
    }

    fn next<'js>(&self, ctx: Ctx<'js>, filter: Opt<Value<'js>>) -> Result<Selection> {
        self.related(&ctx, Relation::Next, filter, "next")
    }

    fn next_all<'js>(&self, ctx: Ctx<'js>, filter: Opt<Value<'js>>) -> Result<Selection> {
        self.related(&ctx, Relation::NextAll, filter, "nextAll")
    }

    fn next_until<'js>(
        &self,
        ctx: Ctx<'js>,
        until: Opt<Value<'js>>,
        filter: Opt<Value<'js>>,
    ) -> Result<Selection> {
        self.related_until(&ctx, Relation::NextAll, until, filter, "nextUntil")
    }

    fn prev<'js>(&self, ctx: Ctx<'js>, filter: Opt<Value<'js>>) -> Result<Selection> {
        self.related(&ctx, Relation::Prev, filter, "prev")
    }

    fn prev_all<'js>(&self, ctx: Ctx<'js>, filter: Opt<Value<'js>>) -> Result<Selection> {
        self.related(&ctx, Relation::PrevAll, filter, "prevAll")
    }

    fn prev_until<'js>(
        &self,
        ctx: Ctx<'js>,
        until: Opt<Value<'js>>,
        filter: Opt<Value<'js>>,
    ) -> Result<Selection> {
        self.related_until(&ctx, Relation::PrevAll, until, filter, "prevUntil")
    }

    fn siblings<'js>(&self, ctx: Ctx<'js>, filter: Opt<Value<'js>>) -> Result<Selection> {
        self.related(&ctx, Relation::Siblings, filter, "siblings")
    }

    fn eq(&self, index: i32) -> Selection {
        self.unary(self.nodes.position(index))
    }

    fn first(&self) -> Selection {
        self.unary(Some(0))
    }

    fn last(&self) -> Selection {
        self.unary(self.nodes.ids.len().checked_sub(1))
    }

    /// The nodes from `start` to before `end`, where -1 is the last.
    fn slice(&self, start: i32, end: Opt<i32>) -> Selection {
        let len = self.nodes.ids.len();
        let bound = |index: i32| {
            let distance = index.unsigned_abs() as usize;
            if index < 0 {
                len.saturating_sub(distance)
            } else {
                distance.min(len)
            }
        };
        let range = bound(start)..end.0.map_or(len, bound);
        let ids = self.nodes.ids.get(range).unwrap_or_default();
        Self::new(self.nodes.then(ids.iter().copied()))
    }

    /// The selection from which this one was made.
    fn end(&self) -> Selection {
        Self::new(self.nodes.back())
    }
}
