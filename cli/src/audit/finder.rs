//! The calls of a row, found in one pass over its text.
//!
//! ```text
//! {"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]}
//! └ level 1       └ level 3            └ what is called: read by the object around it
//! ```
//!
//! Reading rows object by object takes longer than judging their calls: what lies five levels deep is read five times. The
//! finder goes through a row once and looks at each object when it ends. It knows the same forms as [`super::rows`], and answers
//! only for rows that are plain: what is no JSON, has a member twice, names with escapes, very many calls, or calls in another order
//! than they are searched for is read there, which decides, and words what is wrong. A test holds both side by side.

use super::rows::{LEVELS_MAX, unless_null};
use super::scan;

/// Inside what is called nothing is searched.
const CALLED: usize = LEVELS_MAX + 1;

/// Calls that are kept of one row. One that has more is read by others, who keep none.
pub const CALLS_MAX: usize = 4_096;

/// A call as it stands in the row, each part as JSON text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded<'r> {
    pub name: Option<&'r str>,
    pub arguments: Option<&'r str>,
}

/// What was found in a row. The memory is used again for the next one.
#[derive(Debug, Default)]
pub struct Finder<'r> {
    text: &'r str,
    calls: Vec<Recorded<'r>>,
    catalog_key: Option<&'r str>,
    has_tools: bool,
}

impl<'r> Finder<'r> {
    /// Finds the calls of a row. Answers whether they are all of its calls: if not, others must read it.
    pub fn find(&mut self, text: &'r str) -> bool {
        self.calls.clear();
        (self.text, self.catalog_key, self.has_tools) = (text, None, false);
        let end = self.search(scan::skip_space(text.as_bytes(), 0), 0);
        end.is_some_and(|end| scan::skip_space(text.as_bytes(), end) == text.len())
    }

    /// The calls, in the order in which they are searched for.
    pub fn calls(&self) -> &[Recorded<'r>] {
        &self.calls
    }

    /// The JSON text of what names the row's catalog.
    pub fn catalog_key(&self) -> Option<&'r str> {
        self.catalog_key
    }

    /// Whether the row comes with tools of its own.
    pub fn has_tools(&self) -> bool {
        self.has_tools
    }

    /// Searches the value at `at`. Answers where it ends.
    fn search(&mut self, at: usize, level: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        match bytes.get(at)? {
            b'{' if level < LEVELS_MAX => {
                let from = self.calls.len();
                let mut object = Object::default();
                let end = self.object(&mut object, at, level + 1)?;
                if let Some(call) = object.call().ok()? {
                    self.calls.truncate(from);
                    if self.calls.len() == CALLS_MAX {
                        return None;
                    }
                    self.calls.push(call);
                }
                if level == 0 {
                    self.catalog_key = object.catalog_key;
                    self.has_tools = unless_null(object.tools).is_some();
                }
                Some(end)
            }
            b'[' if level < LEVELS_MAX => self.elements(at, level + 1),
            _ => scan::value_end(bytes, at),
        }
    }

    fn elements(&mut self, open: usize, level: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = scan::skip_space(bytes, open + 1);
        if bytes.get(at)? == &b']' {
            return Some(at + 1);
        }
        loop {
            let end = self.search(at, level)?;
            at = scan::skip_space(bytes, end);
            match bytes.get(at)? {
                b',' => at = scan::skip_space(bytes, at + 1),
                b']' => return Some(at + 1),
                _ => return None,
            }
        }
    }

    /// Reads the object at `open`, and finds the calls inside. Answers where it ends.
    fn object(&mut self, object: &mut Object<'r>, open: usize, level: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = scan::skip_space(bytes, open + 1);
        if bytes.get(at)? == &b'}' {
            return Some(at + 1);
        }
        loop {
            let name = scan::plain_name(self.text, at)?;
            let value = scan::after_colon(bytes, at + name.len() + 2)?;
            let end = self.member(object, name, value, level)?;
            at = scan::skip_space(bytes, end);
            match bytes.get(at)? {
                b',' => at = scan::skip_space(bytes, at + 1),
                b'}' => return Some(at + 1),
                _ => return None,
            }
        }
    }

    /// Reads a member, whose value is at `at`. Answers where it ends.
    fn member(&mut self, object: &mut Object<'r>, name: &str, at: usize, level: usize) -> Option<usize> {
        let member = match name {
            "name" => &mut object.name,
            "arguments" => &mut object.arguments,
            "arguments_raw" => &mut object.arguments_raw,
            "input" => &mut object.input,
            "args" => &mut object.args,
            "type" => &mut object.kind,
            "method" => &mut object.method,
            "catalog_key" => &mut object.catalog_key,
            "tools" => &mut object.tools,
            "params" => return self.called(&mut object.params, at, level),
            "function" => return self.called(&mut object.function, at, level),
            "functionCall" | "function_call" => return self.called(&mut object.function_call, at, level),
            // What may hold calls, numbered in the order in which it is searched.
            "message" => return self.holder(object, 0, at, level),
            "choices" => return self.holder(object, 1, at, level),
            "content" => return self.holder(object, 2, at, level),
            "parts" => return self.holder(object, 3, at, level),
            "candidates" => return self.holder(object, 4, at, level),
            "output" => return self.holder(object, 5, at, level),
            "tool_calls" => return self.holder(object, 6, at, level),
            _ => return scan::value_end(self.text.as_bytes(), at),
        };
        let end = scan::value_end(self.text.as_bytes(), at)?;
        member.replace(self.text.get(at..end)?).is_none().then_some(end)
    }

    /// Reads what may say what is called.
    fn called(&mut self, called: &mut Option<Called<'r>>, at: usize, level: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let (read, end) = if bytes.get(at)? == &b'{' && level < CALLED {
            let mut inner = Object::default();
            let end = self.object(&mut inner, at, CALLED)?;
            let Object { name, arguments, args, .. } = inner;
            (Called::Object { name, arguments, args }, end)
        } else {
            let end = scan::value_end(bytes, at)?;
            (if self.text.get(at..end)? == "null" { Called::Null } else { Called::Other }, end)
        };
        called.replace(read).is_none().then_some(end)
    }

    /// Searches what may hold calls, which has that number.
    fn holder(&mut self, object: &mut Object<'r>, holder: usize, at: usize, level: usize) -> Option<usize> {
        if object.holders & 1 << holder != 0 {
            return None;
        }
        object.holders |= 1 << holder;
        let from = self.calls.len();
        let end = self.search(at, level)?;
        if self.calls.len() > from {
            if holder < object.searched {
                // It would be searched before others that stand before it in the row.
                return None;
            }
            object.searched = holder;
        }
        Some(end)
    }
}

/// The members of an object that can make it a call, each as JSON text.
#[derive(Default)]
struct Object<'r> {
    name: Option<&'r str>,
    arguments: Option<&'r str>,
    arguments_raw: Option<&'r str>,
    input: Option<&'r str>,
    args: Option<&'r str>,
    kind: Option<&'r str>,
    method: Option<&'r str>,
    catalog_key: Option<&'r str>,
    tools: Option<&'r str>,
    params: Option<Called<'r>>,
    function: Option<Called<'r>>,
    function_call: Option<Called<'r>>,
    /// What it has that may hold calls: a bit each, by its number.
    holders: u32,
    /// The number of the last of them in which calls were found.
    searched: usize,
}

/// The value of a member that may say what is called.
enum Called<'r> {
    Object { name: Option<&'r str>, arguments: Option<&'r str>, args: Option<&'r str> },
    Null,
    Other,
}

/// Others must read the row.
struct Doubt;

impl<'r> Object<'r> {
    /// The call that the object is, if it is one.
    fn call(&self) -> Result<Option<Recorded<'r>>, Doubt> {
        let call = |name, arguments| Ok(Some(Recorded { name, arguments }));
        if is_text(self.method, "\"tools/call\"")? {
            return match self.params {
                Some(Called::Object { name, arguments, .. }) => call(name, arguments),
                Some(Called::Null) | None => call(None, None),
                Some(Called::Other) => Err(Doubt),
            };
        }
        if is_text(self.kind, "\"tool_use\"")? {
            return call(self.name, self.input);
        }
        if let Some(Called::Object { name, arguments, args }) = self.function_call {
            return call(name, args.or(arguments));
        }
        if let Some(Called::Object { name, arguments, .. }) = self.function {
            // Without arguments it is the definition of a tool.
            return Ok(arguments.map(|arguments| Recorded { name, arguments: Some(arguments) }));
        }
        let arguments = self.arguments_raw.or(self.arguments);
        let is_plain = unless_null(self.name).is_some() && arguments.is_some();
        if is_plain || is_text(self.kind, "\"function_call\"")? { call(self.name, arguments) } else { Ok(None) }
    }
}

/// Whether the value is that string, in its quotes. Errors: it has escapes.
fn is_text(value: Option<&str>, quoted: &str) -> Result<bool, Doubt> {
    match value {
        Some(value) if value == quoted => Ok(true),
        Some(value) if value.contains('\\') => Err(Doubt),
        _ => Ok(false),
    }
}
