//! One request as a file has it.

use std::{borrow::Cow, sync::Arc, time::Duration};

use plimsoll_clients::http::{FormPart, Method, multipart};
use serde_json::Value;

use super::{Endpoint, Expectation, Files};
use crate::artillery::{
    condition::Condition,
    failure::Failure,
    flow::Wanted,
    processor::FunctionName,
    template::{JsonTemplate, Template},
    variables::{Variables, text_of},
};

/// What all requests have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    /// The prefix of a URL that begins with `/`.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) cookies: Vec<(String, Template)>,
    /// The time limit of a request, including redirects.
    pub(crate) timeout: Duration,
    /// The greatest satisfactory response time, if an Apdex score was requested.
    pub(crate) apdex: Option<Duration>,
    /// Whether a user fails with an expectation that is not met.
    pub(crate) fails_unexpected: bool,
    /// Whether that failure has the name of the request, if it has one, and not the URL.
    pub(crate) names_unexpected: bool,
    /// Whether the parts of requests are timed, too.
    pub(crate) times_parts: bool,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) name: Option<Template>,
    pub(crate) url: Template,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) query: Vec<(String, JsonTemplate)>,
    pub(crate) cookies: Vec<(String, Template)>,
    /// User and password.
    pub(crate) credentials: Option<(Template, Template)>,
    pub(crate) body: Body,
    pub(crate) follows_redirects: bool,
    /// The most redirects that are followed, if the file sets it.
    pub(crate) max_redirects: Option<u32>,
    /// Whether the server may choose HTTP/2.
    pub(crate) offers_http2: bool,
    /// Whether it may have a body although it is a GET.
    pub(crate) allows_get_body: bool,
    /// Whether answers may be compressed.
    pub(crate) accepts_codings: bool,
    pub(crate) wanted: Wanted,
    pub(crate) expectations: Vec<Expectation>,
    /// The name for its figures, if requested.
    pub(crate) endpoint: Option<Endpoint>,
    /// It is sent only if this holds.
    pub(crate) guard: Option<Guard>,
    /// The probability with which it is sent, 0 to 1.
    pub(crate) probability: Option<f64>,
    /// Its own time limit, if any.
    pub(crate) timeout: Option<Duration>,
    pub(crate) hooks: RequestHooks,
    /// The request as written, for functions. Null if there are none.
    pub(crate) written: Value,
}

impl Request {
    /// Whether Artillery's client refuses it for its body.
    pub(crate) fn is_forbidden(&self) -> bool {
        let has_body = !matches!(self.body, Body::Nothing);
        let may_have = match self.method {
            Method::GET => self.allows_get_body,
            Method::HEAD => false,
            _ => true,
        };
        has_body && !may_have
    }
}

/// Whether a request is sent.
#[derive(Clone, Debug)]
pub(crate) enum Guard {
    Condition(Condition),
    Function(FunctionName),
}

/// Functions around a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestHooks {
    /// Functions that may change it.
    pub(crate) before: Vec<FunctionName>,
    /// Functions that get the answer.
    pub(crate) after: Vec<FunctionName>,
    /// Functions that are told that there is no answer.
    pub(crate) on_error: Vec<FunctionName>,
}

impl RequestHooks {
    pub(crate) fn are_there(&self) -> bool {
        ![&self.before, &self.after, &self.on_error]
            .into_iter()
            .all(Vec::is_empty)
    }
}

/// What is sent with a request.
#[derive(Clone, Debug, Default)]
pub(crate) enum Body {
    #[default]
    Nothing,
    Text(Template),
    Json(JsonTemplate),
    /// As sent by HTML forms.
    Form(Vec<(String, JsonTemplate)>),
    /// As sent by HTML forms with files.
    Multipart(Vec<Field>),
}

/// A part of a form with files.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) content: Content,
    /// Its media type, if the file sets it.
    pub(crate) content_type: Option<Template>,
}

/// What is in such a part.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Value(JsonTemplate),
    /// A file, read before the run, with the last part of its path.
    File {
        name: String,
        bytes: Arc<[u8]>,
    },
    /// A file whose path depends on the user.
    Named {
        path: Template,
        files: Arc<Files>,
    },
}

impl Request {
    /// Whether chance has this user send it.
    pub(crate) fn is_due(&self) -> bool {
        self.probability
            .is_none_or(|probability| fastrand::f64() < probability)
    }
}

impl Body {
    /// The bytes for one user, and their media type if it follows from the kind.
    pub(crate) fn for_user(
        &self,
        variables: &Variables,
    ) -> Result<(Vec<u8>, Option<Cow<'static, str>>), Failure> {
        Ok(match self {
            Self::Nothing => (Vec::new(), None),
            Self::Text(template) => (template.render(variables).into_owned().into_bytes(), None),
            Self::Json(template) => {
                let value: Value = template.value(variables);
                (value.to_string().into_bytes(), Some("application/json".into()))
            }
            Self::Form(fields) => {
                let mut form = form_urlencoded::Serializer::new(String::new());
                for (name, value) in fields {
                    form.append_pair(name, &as_in_forms(&value.value(variables)));
                }
                (
                    form.finish().into_bytes(),
                    Some("application/x-www-form-urlencoded".into()),
                )
            }
            Self::Multipart(fields) => {
                let (content_type, body) = in_parts(fields, variables)?;
                (body, Some(content_type.into()))
            }
        })
    }
}

/// The text of a value in a form: lists as JavaScript writes them, with commas.
fn as_in_forms(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(as_in_forms).collect::<Vec<_>>().join(","),
        value => text_of(value),
    }
}

/// Artillery's type of files; unlike there, the name of a file does not decide.
const FILE_TYPE: &str = "application/octet-stream";

/// A part of a form for one user.
struct Rendered<'a> {
    field: &'a Field,
    content_type: Option<Cow<'a, str>>,
    filename: Option<Cow<'a, str>>,
    data: Cow<'a, [u8]>,
}

impl<'a> Rendered<'a> {
    fn new(field: &'a Field, variables: &Variables) -> Result<Self, Failure> {
        let (filename, data) = match &field.content {
            Content::Value(value) => (None, text_of(&value.value(variables)).into_bytes().into()),
            Content::File { name, bytes } => (Some(name.into()), Cow::Borrowed(&**bytes)),
            Content::Named { path, files } => {
                let (name, bytes) = files.get(&path.render(variables))?;
                (Some(name.into()), bytes.to_vec().into())
            }
        };
        Ok(Self {
            field,
            content_type: field.content_type.as_ref().map(|it| it.render(variables)),
            filename,
            data,
        })
    }
}

/// The type of a form with files, with its boundary, and the body.
fn in_parts(fields: &[Field], variables: &Variables) -> Result<(String, Vec<u8>), Failure> {
    let rendered = fields.iter().map(|field| Rendered::new(field, variables));
    let rendered: Vec<_> = rendered.collect::<Result<_, _>>()?;
    Ok(multipart(rendered.iter().map(|part| {
        let default_type = part.filename.as_ref().map(|_| FILE_TYPE);
        FormPart {
            name: &part.field.name,
            filename: part.filename.as_deref(),
            content_type: part.content_type.as_deref().or(default_type),
            data: &part.data,
        }
    })))
}
