//! The answers that count as successful: `http.expectedStatuses` and `http.setResponseCallback`.

use std::rc::Rc;

use rquickjs::{Class, Ctx, Exception, JsLifetime, Result, Value, class::Trace, function::Rest};

/// Ranges of statuses, both ends included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expected(Vec<(u16, u16)>);

impl Default for Expected {
    /// k6's: anything below 400 but interim answers.
    fn default() -> Self {
        Self(vec![(200, 399)])
    }
}

impl Expected {
    /// Whether a status is one of them.
    pub(super) fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|&(min, max)| (min..=max).contains(&status))
    }
}

/// The result of `http.expectedStatuses`.
#[derive(Trace, JsLifetime)]
#[rquickjs::class]
pub(super) struct ExpectedStatuses {
    #[qjs(skip_trace)]
    pub(super) statuses: Rc<Expected>,
}

#[rquickjs::methods]
impl ExpectedStatuses {}

/// `http.expectedStatuses(200, { min: 400, max: 404 })`.
pub(super) fn create<'js>(ctx: Ctx<'js>, statuses: Rest<Value<'js>>) -> Result<Class<'js, ExpectedStatuses>> {
    let range = |value: &Value<'js>| {
        let number = |value: Option<Value<'js>>| {
            value
                .and_then(|value| value.as_int())
                .and_then(|n| u16::try_from(n).ok())
        };
        if let Some(status) = number(Some(value.clone())) {
            return Some((status, status));
        }
        let object = value.as_object()?;
        Some((number(object.get("min").ok())?, number(object.get("max").ok())?))
    };
    let ranges = statuses.0.iter().map(|value| {
        range(value).ok_or_else(|| {
            let text = format!(
                "http.expectedStatuses() was given {}; expected statuses and ranges, for example (200, {{ min: 400, \
                 max: 404 }})",
                crate::inspect::inspect(value)
            );
            Exception::throw_type(&ctx, &text)
        })
    });
    let ranges = ranges.collect::<Result<Vec<_>>>()?;
    if ranges.is_empty() {
        let text = "http.expectedStatuses() needs a status, for example http.expectedStatuses(200)";
        return Err(Exception::throw_type(&ctx, text));
    }
    Class::instance(
        ctx.clone(),
        ExpectedStatuses {
            statuses: Rc::new(Expected(ranges)),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_ranges_are_included() {
        let expected = Expected(vec![(200, 204), (404, 404)]);
        let statuses = [0, 199, 200, 204, 205, 404];
        assert_eq!(
            statuses.map(|status| expected.contains(status)),
            [false, false, true, true, false, true]
        );
        assert!(Expected::default().contains(302) && !Expected::default().contains(400));
    }
}
