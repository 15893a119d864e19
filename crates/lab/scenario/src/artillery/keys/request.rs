//! The keys of requests, and of captures from answers.

use super::{AFTER_RESPONSE, BEFORE_REQUEST, HEADERS, NUMERIC};
use crate::document::{Key, Kind, Rule, Shape};

pub(super) const CAPTURES: Key = Key::new(
    "capture",
    Kind::OneOrMore(&CAPTURE),
    "Parts of the answer to save in variables.",
);
pub(super) const MATCHES: Key = Key::new(
    "match",
    Kind::OneOrMore(&MATCH),
    "Parts of the answer with their expected values.",
);

const NO_XPATH: Key = Key::refused(
    "xpath",
    "`xpath` is not supported, and in Artillery its package artillery-xml-capture cannot be installed with Node 22; \
     take the part with `selector` or `regexp`",
);
const SELECTOR: Key = Key::new(
    "selector",
    Kind::Text,
    "A CSS selector that finds the part in a page.",
);
const ATTRIBUTE: Key = Key::new(
    "attr",
    Kind::Text,
    "The attribute of the element. Default: its text.",
);
const INDEX: Key = Key::new(
    "index",
    Kind::Either(&[
        Kind::Whole(0, u32::MAX as u64),
        Kind::Pattern("^([0-9]+|last|random)$"),
    ]),
    "Which of several elements: an index from 0, last, or random.",
);
const JSON: Key = Key::new(
    "json",
    Kind::Text,
    "A JSONPath that finds the part, for example $.id.",
)
.differs("JSONPath is that of RFC 9535");
const REGEXP: Key = Key::new("regexp", Kind::Text, "A regular expression that finds the part.")
    .differs("regular expressions have no look-around");
const HEADER: Key = Key::new(
    "header",
    Kind::Text,
    "The name of the header field that is the part.",
);
const MULTIPLE: Key = Key::new(
    "multiple",
    Kind::Boolean,
    "Whether one of several parts is taken at random.",
);
const FLAGS: Key = Key::new(
    "flags",
    Kind::Text,
    "Flags of the regular expression, for example i.",
);
const GROUP: Key = Key::new(
    "group",
    Kind::Either(&[Kind::Whole(0, u32::MAX as u64), Kind::Text]),
    "The group of the regular expression that is the part.",
);
const ONE_SOURCE: &[Rule] = &[Rule::ExactlyOne(&["json", "regexp", "header", "selector"])];

pub(in super::super) static CAPTURE: Shape = Shape {
    name: "capture",
    about: "A part of an answer to save in a variable.",
    keys: &part_keys(
        Key::new("as", Kind::Text, "The name of the variable."),
        "Whether finding nothing is an error. Default: true.",
    ),
    rules: ONE_SOURCE,
};
pub(in super::super) static MATCH: Shape = Shape {
    name: "match",
    about: "A part of an answer with its expected value.",
    keys: &part_keys(
        Key::new("value", Kind::Any, "The expected value."),
        "Whether another value is an error. Must be true.",
    ),
    rules: ONE_SOURCE,
};

/// The keys of a capture or match, with its purpose and the meaning of `strict`.
const fn part_keys(purpose: Key, strict: &'static str) -> [Key; 12] {
    [
        JSON,
        REGEXP,
        HEADER,
        purpose.required(),
        Key::new("strict", Kind::Boolean, strict),
        MULTIPLE,
        FLAGS,
        GROUP,
        SELECTOR,
        ATTRIBUTE,
        INDEX,
        NO_XPATH,
    ]
}

pub(in super::super) static REQUEST: Shape = Shape {
    name: "request",
    about: "A request over HTTP.",
    keys: &[
        Key::new(
            "url",
            Kind::Scalar,
            "The URL: a path below the target, or a whole URL.",
        )
        .required(),
        Key::new("name", Kind::Text, "The name of the endpoint in metrics."),
        HEADERS,
        Key::new(
            "qs",
            Kind::Table(&Kind::Any),
            "Parameters that are added to the URL, by name.",
        ),
        Key::new("cookie", Kind::Table(&Kind::Scalar), "Cookies, by name."),
        Key::new("json", Kind::Any, "The body, as JSON."),
        Key::new("body", Kind::Scalar, "The body, as text."),
        Key::new("form", Kind::Table(&Kind::Any), "The body, as a form."),
        Key::new(
            "formData",
            Kind::Table(&FORM_FIELD),
            "The body, as a form in several parts, which may be files.",
        ),
        Key::new(
            "auth",
            Kind::Map(&CREDENTIALS),
            "Credentials of basic authentication.",
        ),
        Key::new(
            "followRedirect",
            Kind::Boolean,
            "Whether redirects are followed. Default: true.",
        ),
        Key::new(
            "gzip",
            Kind::Boolean,
            "Whether to ask for compressed responses. Default: true.",
        ),
        Key::idle(
            "timeout",
            "has no effect, as in Artillery; write config.http.timeout",
        ),
        Key::idle("decompress", "has no effect, as in Artillery; write gzip"),
        Key::new(
            "http2",
            Kind::Boolean,
            "Whether HTTP/2 is offered to a server over TLS. Default: false.",
        ),
        Key::new(
            "maxRedirects",
            Kind::Whole(1, 1_000),
            "The most redirects that are followed. Default: 10.",
        ),
        Key::new(
            "allowGetBody",
            Kind::Boolean,
            "Whether a GET may have a body. Without it, one that has fails the user. Default: false.",
        ),
        Key::idle(
            "responseType",
            "has no effect, as in Artillery: captures read JSON and texts as they come",
        ),
        CAPTURES,
        MATCHES,
        Key::new(
            "expect",
            Kind::OneOrMore(&EXPECTATION),
            "Expectations of the response. The run continues when they are not met.",
        ),
        Key::new(
            "ifTrue",
            Kind::Text,
            "A condition or function; when it is false, the request is skipped.",
        ),
        Key::new(
            "probability",
            Kind::Either(&[Kind::Number(0.0, 100.0), NUMERIC]),
            "The probability of the request, in percent.",
        ),
        BEFORE_REQUEST,
        AFTER_RESPONSE,
        Key::new(
            "setContentLengthHeader",
            Kind::Any,
            "Has no effect: the length is always sent.",
        )
        .differs("has no effect: the length is always sent"),
    ],
    rules: &[
        Rule::AtMostOne(&["json", "body"]),
        Rule::AtMostOne(&["json", "form"]),
        Rule::AtMostOne(&["body", "form"]),
        Rule::AtMostOne(&["json", "formData"]),
        Rule::AtMostOne(&["body", "formData"]),
        Rule::AtMostOne(&["form", "formData"]),
    ],
};

static FORM_FIELD: Kind = Kind::Either(&[Kind::Scalar, Kind::List(&Kind::Any), Kind::Map(&FIELD)]);

pub(in super::super) static FIELD: Shape = Shape {
    name: "field",
    about: "A part of a form.",
    keys: &[
        Key::new("value", Kind::Any, "A value."),
        Key::new(
            "fromFile",
            Kind::Text,
            "The path of a file, relative to this file.",
        )
        .differs("the name of the file does not set the content type"),
        Key::new("contentType", Kind::Scalar, "Its content type."),
    ],
    rules: &[Rule::ExactlyOne(&["value", "fromFile"])],
};

pub(in super::super) static CREDENTIALS: Shape = Shape {
    name: "credentials",
    about: "Credentials of basic authentication.",
    keys: &[
        Key::new("user", Kind::Scalar, "The name.").required(),
        Key::new("pass", Kind::Scalar, "The password.").required(),
    ],
    rules: &[],
};

const JMESPATH: &str = "A JMESPath expression whose result must be true, for example length(items) > `0`.";
/// Artillery's library orders texts and null, too, which the language forbids.
const ORDER: &str = "`<` and `>` are for numbers only; an invalid expression is a mistake, and a function that \
                     gets a wrong type counts as failed";

pub(in super::super) static EXPECTATION: Shape = Shape {
    name: "expectation",
    about: "Expectations of a response.",
    keys: &[
        Key::new(
            "statusCode",
            Kind::Any,
            "The expected status, or a list of statuses.",
        ),
        Key::new(
            "notStatusCode",
            Kind::Any,
            "A status that the response must not have, or a list of them.",
        ),
        Key::new(
            "contentType",
            Kind::Scalar,
            "The expected content type; json for all kinds of JSON.",
        ),
        Key::new(
            "hasProperty",
            Kind::Scalar,
            "A property that the JSON must have, for example user.id.",
        ),
        Key::new(
            "notHasProperty",
            Kind::Scalar,
            "A property that the JSON must not have.",
        ),
        Key::new("equals", Kind::Any, "Values that must be equal."),
        Key::new("hasHeader", Kind::Scalar, "The name of a header field."),
        Key::new(
            "headerEquals",
            Kind::List(&Kind::Scalar),
            "The name and the value of a header field.",
        ),
        Key::new(
            "matchesRegexp",
            Kind::Text,
            "A regular expression that the body must match.",
        ),
        Key::new(
            "cdnHit",
            Kind::Boolean,
            "Whether a cache in front of the server has the response: CloudFlare, CloudFront, Fastly, Vercel.",
        ),
        Key::new("jmespath", Kind::Text, JMESPATH).differs(ORDER),
        Key::new("jpath", Kind::Text, JMESPATH).differs(ORDER),
        Key::ignored(
            "description",
            "has no effect: expectations are counted by their kind",
        ),
    ],
    rules: &[],
};
