//! `k6/metrics`: the metrics that a script makes itself.

use plimsoll_load::metrics::{Contains, RegisterError, TrendId};
use rquickjs::{
    Class, Coerced, Ctx, Exception, FromJs as _, JsLifetime, Object, Result, Value, class::Trace,
    function::Opt,
};

use super::{
    k6::is_truthy,
    module::{Module, same},
};
use crate::{
    host::{Host, Stage},
    members::{class_members, members},
    metrics::Custom,
    tags,
};

pub(super) const MODULE: Module = Module {
    id: "k6/metrics",
    build,
    api: &[
        same("Counter"),
        same("Gauge"),
        same("Rate"),
        same("Trend"),
        same("Counter.add"),
        same("Counter.name"),
    ],
};

/// The constructor that was called.
#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
    Rate,
    Trend,
}

/// The result of a constructor.
#[derive(Trace, JsLifetime)]
#[rquickjs::class]
struct Metric {
    name: String,
    #[qjs(skip_trace)]
    id: Custom,
}

class_members![Metric:
    method c"add" => add,
    getter c"name" => name,
];

impl Metric {
    fn name(&self) -> String {
        self.name.clone()
    }

    /// Adds a sample; returns false when the value is not a number.
    fn add<'js>(&self, ctx: Ctx<'js>, value: Opt<Value<'js>>, tags: Opt<Value<'js>>) -> Result<bool> {
        let host = Host::of(&ctx);
        let mut recorder = host.recorder(&ctx, "adding to a metric")?;
        let number = value.0.as_ref().map_or(Ok(None), |value| number(&ctx, value))?;
        let Some(number) = number else {
            return self.refuse(&ctx, &host, value.0);
        };
        let mut check = None;
        if let Some(tags) = tags.0.filter(|tags| !tags.is_null() && !tags.is_undefined()) {
            let mut tags = tags::read(&ctx, &tags, "the tags of add()")?;
            recorder = recorder.with_tags(tags::pairs(&tags));
            check = tags.remove("check");
        }
        match self.id {
            // As in k6, a sample of `checks` with the tag of a check is an answer to that check.
            Custom::Rate(_) if self.name == "checks" && check.is_some() => {
                recorder.check_named(&host.group(), &check.unwrap_or_default(), number != 0.0);
            }
            Custom::Counter(id) => recorder.add(id, number),
            Custom::Gauge(id) => recorder.set(id, number),
            Custom::Rate(id) => recorder.rate(id, number != 0.0),
            Custom::Trend(id) => recorder.record_number(id, number),
        }
        Ok(true)
    }
}

impl Metric {
    fn refuse(&self, ctx: &Ctx<'_>, host: &Host, value: Option<Value<'_>>) -> Result<bool> {
        let found = value.map_or("nothing".to_owned(), |value| crate::inspect::inspect(&value));
        let text = format!("the metric `{}` was given {found}; expected a number", self.name);
        if host.program.option("throw") == Some(&serde_json::Value::Bool(true)) {
            return Err(Exception::throw_type(ctx, &text));
        }
        tracing::warn!("{text}");
        Ok(false)
    }
}

/// The value as a number; a value that is 0 as a number and true as a condition is 1, as in k6.
fn number<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Option<f64>> {
    if value.is_null() || value.is_undefined() {
        return Ok(None);
    }
    let number = match Coerced::<f64>::from_js(ctx, value.clone())?.0 {
        0.0 if is_truthy(value) => 1.0,
        number => number,
    };
    Ok(Some(number).filter(|number| !number.is_nan()))
}

/// The id of a trend that a script made; `None` when the value is something else.
pub(super) fn trend(value: &Value<'_>) -> Option<TrendId> {
    match Class::<Metric>::from_value(value).ok()?.borrow().id {
        Custom::Trend(id) => Some(id),
        Custom::Counter(_) | Custom::Gauge(_) | Custom::Rate(_) => None,
    }
}

fn build<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let exports = Object::new(ctx.clone())?;
    members![
        constructor c"Counter" => counter,
        constructor c"Gauge" => gauge,
        constructor c"Rate" => rate,
        constructor c"Trend" => trend_metric,
    ]
    .define(&exports)?;
    Ok(exports)
}

/// Defines the constructors.
macro_rules! constructors {
    ($($name:ident => $kind:ident),*) => {$(
        fn $name<'js>(
            ctx: Ctx<'js>,
            name: Opt<Value<'js>>,
            is_time: Opt<Value<'js>>,
        ) -> Result<Class<'js, Metric>> {
            create(&ctx, Kind::$kind, name.0, is_time.0.as_ref().is_some_and(is_truthy))
        }
    )*};
}

constructors!(counter => Counter, gauge => Gauge, rate => Rate, trend_metric => Trend);

fn create<'js>(
    ctx: &Ctx<'js>,
    kind: Kind,
    name: Option<Value<'js>>,
    is_time: bool,
) -> Result<Class<'js, Metric>> {
    let host = Host::of(ctx);
    if host.stage() != Stage::Init {
        let text = "metrics must be created in the init context, outside of functions";
        return Err(Exception::throw_message(ctx, text));
    }
    let name = name
        .and_then(Value::into_string)
        .map(|name| name.to_string())
        .transpose()?;
    let name = name.ok_or_else(|| {
        Exception::throw_type(ctx, "a metric needs a name, for example new Trend('rtt', true)")
    })?;
    let contains = if is_time {
        Contains::Time
    } else {
        Contains::Default
    };
    let register =
        |metrics: &mut plimsoll_load::metrics::Registry| -> std::result::Result<Custom, RegisterError> {
            Ok(match kind {
                Kind::Counter => Custom::Counter(metrics.counter(&name, contains)?),
                Kind::Gauge => Custom::Gauge(metrics.gauge(&name, contains)?),
                Kind::Rate => Custom::Rate(metrics.rate(&name)?),
                Kind::Trend => Custom::Trend(metrics.trend_of(&name, contains)?),
            })
        };
    let id = host
        .program
        .custom_metric(&name, register)
        .map_err(|text| Exception::throw_message(ctx, &text))?;
    Class::instance(ctx.clone(), Metric { name, id })
}
