//! Text where a mail address is wanted: the grammar of [`crate::format`], and what is wrong in words.

use super::problem::Problem;
use crate::format::Format;

/// Looks at the address. Errors: the first thing that is wrong with it.
pub(crate) fn check(text: &str) -> Result<(), Problem> {
    let (local, domain) = text.rsplit_once('@').ok_or(Problem::EmailNoAt)?;
    if local.is_empty() {
        return Err(Problem::EmailNoLocal);
    }
    if domain.is_empty() {
        return Err(Problem::EmailNoDomain);
    }
    if Format::IdnEmail.check(text) {
        return if domain.contains('.') || domain.starts_with('[') { Ok(()) } else { Err(Problem::EmailNoPeriod) };
    }
    Err(if is_local(local) { Problem::EmailDomain } else { Problem::EmailLocal })
}

/// Whether the part before the sign is sound in itself.
fn is_local(text: &str) -> bool {
    let special = |c: char| c.is_whitespace() || c.is_control() || "()<>[]:;,@\\\"".contains(c);
    !text.contains(special) && text.split('.').all(|atom| !atom.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let table = [
            ("a@b.co", Ok(())),
            ("abc", Err(Problem::EmailNoAt)),
            ("@b.co", Err(Problem::EmailNoLocal)),
            ("a@", Err(Problem::EmailNoDomain)),
            ("a@b", Err(Problem::EmailNoPeriod)),
            ("a b@c.co", Err(Problem::EmailLocal)),
            ("a@b c.co", Err(Problem::EmailDomain)),
        ];
        for (text, expected) in table {
            assert_eq!(check(text), expected, "{text:?}");
        }
    }
}
