//! Whether providers would take the tools of a catalog.

use callgate_compiler::{Options, Portability, Provider};

use crate::catalog::refused;
use crate::report::Refused;

/// Judges the tools of a catalog by the rules of providers: which of them would refuse which tool, where, for what, and
/// how the schema is rewritten. `docs/portability.md` lists the rules with their sources.
///
/// Tools that do not compile are judged like any other. Errors: the text is no catalog at all.
///
/// ```
/// use callgate::{Options, PROVIDERS, Provider, portability};
///
/// let tools = r#"[{"name": "roll", "inputSchema": {
///     "type": "object", "properties": {"sides": {"type": ["integer", "null"]}}
/// }}]"#;
/// let providers = [Provider::named("gemini").expect("one of PROVIDERS")];
/// let judged = portability(tools, &Options::default(), &providers)?;
/// let objection = &judged.objections[0];
/// assert_eq!((objection.pointer.as_str(), objection.rule), ("/properties/sides/type", "type_list"));
/// assert_eq!(objection.detail, r#"the type is a list: "integer", "null""#);
/// assert!(judged.refuses() && PROVIDERS.len() > providers.len());
/// # Ok::<(), callgate::Refused>(())
/// ```
pub fn portability(text: impl AsRef<[u8]>, options: &Options, providers: &[Provider]) -> Result<Portability, Refused> {
    callgate_compiler::portability(text.as_ref(), options, providers).map_err(refused)
}
