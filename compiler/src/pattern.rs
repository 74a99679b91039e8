//! stub
pub use callgate_vm::pattern::Shape;
pub(crate) struct Translation { pub(crate) regex: String, pub(crate) backtracks: bool, pub(crate) shape: Option<Shape> }
#[allow(dead_code)]
pub(crate) enum PatternError { Syntax{at: usize, reason: &'static str}, Untranslatable{at: usize, reason: &'static str} }
pub(crate) fn translate(pattern: &str) -> Result<Translation, PatternError> { Ok(Translation{regex: pattern.to_owned(), backtracks: false, shape: None}) }
