//! From YAML's events to a tree, within limits.

use std::{borrow::Cow, collections::BTreeMap};

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};

use super::{Entry, Mistake, Node, Place, Value, map, scalar};

/// The limits of a document, so that a small hostile file cannot take all memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Values, with aliases expanded.
    #[error(
        "the file has more than {} values with aliases expanded; split the file",
        Self::MOST_VALUES
    )]
    Values,
    /// Bytes of texts and keys, with aliases expanded.
    #[error(
        "its strings have more than {} bytes in total with aliases expanded; split the file",
        Self::MOST_BYTES
    )]
    Bytes,
    /// The nesting of lists and maps. Code that walks the tree may recurse.
    #[error("lists and maps are nested more than {} levels deep", Self::MOST_LEVELS)]
    Levels,
}

impl Limit {
    /// The limit of [`Self::Values`]. The largest hand-written files have some thousand.
    pub const MOST_VALUES: usize = 200_000;
    /// The limit of [`Self::Bytes`].
    pub const MOST_BYTES: usize = 16 << 20;
    /// The limit of [`Self::Levels`].
    pub const MOST_LEVELS: usize = 64;
}

/// Parses the only document in `text`. Tags that are not YAML's own, and mistakes that do not stop the parser, are
/// added to `tags` and `mistakes`.
pub(super) fn parse(
    text: &str,
    tags: &mut BTreeMap<Place, String>,
    mistakes: &mut Vec<Mistake>,
) -> Result<Node, Mistake> {
    let mut builder = Builder {
        tags,
        mistakes,
        frames: Vec::new(),
        anchors: BTreeMap::new(),
        n_values: 0,
        n_bytes: 0,
        root: None,
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| not_yaml(&error))?;
        builder.take(event, &span)?;
    }
    let start = Place {
        file: 0,
        line: 1,
        column: 1,
    };
    Ok(builder.root.unwrap_or(Node {
        place: start,
        value: Value::Null,
    }))
}

fn place(marker: &Marker) -> Place {
    Place {
        file: 0,
        line: marker.line(),
        column: marker.col() + 1,
    }
}

fn mistake(place: Place, problem: impl Into<String>) -> Mistake {
    Mistake {
        place,
        path: String::new(),
        problem: problem.into(),
    }
}

fn not_yaml(error: &ScanError) -> Mistake {
    let info = error.info();
    let advice = ADVICE.iter().find(|(words, _)| info.contains(words));
    let advice = advice.map_or_else(String::new, |(_, advice)| format!("; {advice}"));
    mistake(
        place(error.marker()),
        format!("this is not valid YAML or JSON: {info}{advice}"),
    )
}

/// What people can do about the parser's complaints, by words in them.
const ADVICE: [(&str, &str); 8] = [
    ("':' indicator", "is a ] or a } missing before this place?"),
    ("tab", "indent with spaces"),
    ("end of stream", "is a quote before this place not closed?"),
    (
        "multiline quoted scalar",
        "is a quote before this place not closed, or inside the text?",
    ),
    (
        "block mapping",
        "do all keys of this map begin in the same column?",
    ),
    ("flow mapping", "is a } or a comma missing before this place?"),
    ("flow sequence", "is a ] or a comma missing before this place?"),
    ("mapping values", "text with a colon and a space needs quotes"),
];

/// A list or a map whose end has not been read yet.
struct Frame {
    place: Place,
    /// The number of its anchor; 0 means none.
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        /// A key that waits for its value.
        key: Option<(String, Place)>,
    },
}

/// Makes nodes of events.
struct Builder<'a> {
    tags: &'a mut BTreeMap<Place, String>,
    mistakes: &'a mut Vec<Mistake>,
    frames: Vec<Frame>,
    anchors: BTreeMap<usize, Node>,
    /// Values so far, copies included.
    n_values: usize,
    /// Bytes of texts so far, copies included.
    n_bytes: usize,
    root: Option<Node>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Mistake> {
        let place = place(&span.start);
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                let problem = "a second document begins here, but a file has only one; remove everything from `---` \
                    on";
                Err(mistake(place, problem))
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.charge(1, text.len(), place)?;
                let value = self.scalar(text, style, tag.as_deref(), place);
                self.complete(Node { place, value }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.open(place, anchor, tag.as_deref(), Content::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                let content = Content::Map {
                    entries: Vec::new(),
                    key: None,
                };
                self.open(place, anchor, tag.as_deref(), content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err(mistake(place, "an alias refers to a value that contains it"));
                };
                self.charge_copy(&node, place)?;
                self.check_levels(levels(&node), place)?;
                self.complete(node, 0)
            }
            _ => Ok(()),
        }
    }

    fn open(
        &mut self,
        place: Place,
        anchor: usize,
        tag: Option<&Tag>,
        content: Content,
    ) -> Result<(), Mistake> {
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            self.tags.insert(place, tag.suffix().to_owned());
        }
        self.charge(1, 0, place)?;
        self.check_levels(1, place)?;
        self.frames.push(Frame {
            place,
            anchor,
            content,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Mistake> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let place = frame.place;
        let value = match frame.content {
            Content::List(items) => Value::List(items),
            Content::Map { entries, .. } => Value::Map(map::settle(entries, self.mistakes)),
        };
        self.complete(Node { place, value }, frame.anchor)
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>, place: Place) -> Value {
        let is_plain = match tag {
            None => style == ScalarStyle::Plain && !self.awaits_key(),
            Some(tag) => match tag.core_suffix() {
                Some("null" | "bool" | "int" | "float") => true,
                Some("str") => false,
                _ => {
                    self.tags.insert(place, tag.suffix().to_owned());
                    false
                }
            },
        };
        if is_plain {
            scalar::plain(&text)
        } else {
            Value::Text(text.into_owned())
        }
    }

    /// Whether the next node is a key.
    fn awaits_key(&self) -> bool {
        let open = self.frames.last().map(|frame| &frame.content);
        matches!(open, Some(Content::Map { key: None, .. }))
    }

    /// Adds a complete node to the open list or map.
    fn complete(&mut self, node: Node, anchor: usize) -> Result<(), Mistake> {
        if anchor != 0 {
            self.charge_copy(&node, node.place)?;
            self.anchors.insert(anchor, node.clone());
        }
        match self.frames.last_mut().map(|frame| &mut frame.content) {
            None => self.root = Some(node),
            Some(Content::List(items)) => items.push(node),
            Some(Content::Map { entries, key }) => match (key.take(), node.value) {
                (Some((key, place)), value) => entries.push(Entry {
                    key,
                    place,
                    node: Node { value, ..node },
                }),
                (None, Value::Text(text)) => *key = Some((text, node.place)),
                // Only an alias can be one of these and a key.
                (None, Value::Number(number)) => *key = Some((number.to_string(), node.place)),
                (None, Value::Boolean(boolean)) => *key = Some((boolean.to_string(), node.place)),
                (None, Value::Null | Value::List(_) | Value::Map(_)) => {
                    return Err(mistake(node.place, "a key has to be a string"));
                }
            },
        }
        Ok(())
    }

    /// Checks that `n_more` levels fit into the nesting limit.
    fn check_levels(&self, n_more: usize, place: Place) -> Result<(), Mistake> {
        if self.frames.len() + n_more > Limit::MOST_LEVELS {
            Err(mistake(place, Limit::Levels.to_string()))
        } else {
            Ok(())
        }
    }

    fn charge(&mut self, n_values: usize, n_bytes: usize, place: Place) -> Result<(), Mistake> {
        self.n_values += n_values;
        self.n_bytes += n_bytes;
        let limit = match (self.n_values, self.n_bytes) {
            (n_values, _) if n_values > Limit::MOST_VALUES => Limit::Values,
            (_, n_bytes) if n_bytes > Limit::MOST_BYTES => Limit::Bytes,
            _ => return Ok(()),
        };
        Err(mistake(place, limit.to_string()))
    }

    fn charge_copy(&mut self, node: &Node, place: Place) -> Result<(), Mistake> {
        let (n_values, n_bytes) = extent(node);
        self.charge(n_values, n_bytes, place)
    }
}

/// The lists and maps within each other, the node itself included.
fn levels(node: &Node) -> usize {
    let deepest = match &node.value {
        Value::List(items) => items.iter().map(levels).max(),
        Value::Map(entries) => entries.iter().map(|entry| levels(&entry.node)).max(),
        _ => return 0,
    };
    1 + deepest.unwrap_or(0)
}

/// The values and the bytes of texts in a node.
fn extent(node: &Node) -> (usize, usize) {
    let add = |(values, bytes), (more_values, more_bytes)| (values + more_values, bytes + more_bytes);
    match &node.value {
        Value::Text(text) => (1, text.len()),
        Value::List(items) => items.iter().map(extent).fold((1, 0), add),
        Value::Map(entries) => entries
            .iter()
            .map(|entry| add((1, entry.key.len()), extent(&entry.node)))
            .fold((1, 0), add),
        _ => (1, 0),
    }
}
