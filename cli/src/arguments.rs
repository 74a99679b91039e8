//! The arguments of a call, as a command line gives them.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use callgate::Limits;

use crate::catalog_file::{is_stdin, read_up_to};

/// Where the text of the arguments is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallArguments {
    /// On the command line; not necessarily UTF-8, and then rejected as any text that is not JSON.
    Text(Vec<u8>),
    /// In a file; `-` is stdin.
    File(PathBuf),
}

impl CallArguments {
    /// Reads `ARGS`: JSON text, `@FILE`, or `-` for stdin. Errors: `@` without a name, or with one that is not UTF-8.
    pub fn parse(text: OsString) -> Result<CallArguments, String> {
        if text == "-" {
            return Ok(CallArguments::File("-".into()));
        }
        match text.as_encoded_bytes().strip_prefix(b"@") {
            None => Ok(CallArguments::Text(text.into_encoded_bytes())),
            Some(b"") => Err("a file's name must follow the @".to_owned()),
            Some(path) => match std::str::from_utf8(path) {
                Ok(path) => Ok(CallArguments::File(path.into())),
                Err(_) => Err("the file's name is not UTF-8".to_owned()),
            },
        }
    }

    /// Whether they come from stdin.
    pub fn is_stdin(&self) -> bool {
        matches!(self, CallArguments::File(path) if is_stdin(path))
    }

    /// The text; of a file no more than shows that it exceeds `call_bytes_max`. Errors: it cannot be read.
    pub fn read(&self, limits: &Limits) -> Result<Vec<u8>> {
        match self {
            CallArguments::Text(text) => Ok(text.clone()),
            CallArguments::File(path) => read_up_to(path, limits.call_bytes_max.saturating_add(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_sources() {
        let parse = |text: &str| CallArguments::parse(text.into());
        assert_eq!(parse("{}"), Ok(CallArguments::Text(b"{}".to_vec())));
        assert_eq!(parse("@a.json"), Ok(CallArguments::File("a.json".into())));
        assert_eq!(parse("-"), Ok(CallArguments::File("-".into())));
        assert_eq!(parse("@"), Err("a file's name must follow the @".to_owned()));
    }
}
