//! stub
/// stub
pub fn is_valid(_: &str) -> bool { true }
