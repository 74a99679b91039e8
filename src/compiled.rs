//! A catalog as bytes: compiled once, loaded wherever it is needed.
//!
//! ```text
//! header     "callgate" │ version of the file │ version of the instructions │ length of the body
//! body       sections: id │ length │ bytes, ids ascending
//!              1 options    their fingerprint, the limits by name
//!              2 patterns   ┐ each once: `callgate_vm::image`
//!              3 units      ┘
//!              4 tools      name, number of the unit for arguments, number of the unit for results
//!              5 findings   as JSON; entries that were refused; positions
//! checksum   of header and body
//! ```
//!
//! Little-endian, and the same catalog gives the same bytes. Sections whose id has [`OPTIONAL`] set are passed over where
//! they are not known, so that more can be kept without another version.
//!
//! Loading compiles nothing, but for the patterns whose engines cannot be written. Everything is verified before it is
//! used: the checksum tells what was damaged, and what was made to harm is an error as well, or a catalog that keeps
//! within its limits. Units are read one by one, each when its tool is first used.

use std::ops::Range;
use std::sync::Arc;

use callgate_compiler::{FORMAT_VERSION, Finding, rebuild_pattern};
use callgate_vm::image::{Image, Reader, Units, Writer, checksum};
use callgate_vm::limits::Limits;

use crate::catalog::{Catalog, LoadedTool, Positions};
use crate::load_error::{LoadError, LoadErrorKind};

/// How a compiled catalog begins, as no catalog's text does.
const MAGIC: [u8; 8] = *b"callgate";

/// The version of what this module writes around units.
const FILE_VERSION: u32 = 1;

/// Magic, two versions, length.
const HEADER_BYTES: usize = 8 + 4 + 4 + 8;

/// The checksum, behind all else.
const TRAILER_BYTES: usize = 8;

const OPTIONS: u32 = 1;
const PATTERNS: u32 = 2;
const UNITS: u32 = 3;
const TOOLS: u32 = 4;
const FINDINGS: u32 = 5;

/// The sections that every file has, in their order.
const REQUIRED: [u32; 5] = [OPTIONS, PATTERNS, UNITS, TOOLS, FINDINGS];

/// Set in the id of a section that a reader may pass over.
const OPTIONAL: u32 = 1 << 31;

/// No unit: a schema that is not there or was not compiled.
const NO_UNIT: u32 = u32::MAX;

impl Catalog {
    /// The catalog as bytes, for [`load`](Self::load): units, tools, limits, and what was found. Position-independent,
    /// little-endian, and the same for the same catalog.
    ///
    /// Cost: one pass over the units. Allocates the bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut image = Image::new();
        let mut tools = Writer::new();
        tools.count(self.tools().len());
        for tool in self.tools() {
            tools.text(tool.name());
            for schema in [tool.input(), tool.output()] {
                tools.u32(schema.map_or(NO_UNIT, |schema| image.add(schema.unit())));
            }
        }
        let mut body = Writer::new();
        section(&mut body, OPTIONS, |out| write_options(out, self));
        section(&mut body, PATTERNS, |out| image.write_patterns(out));
        section(&mut body, UNITS, |out| image.write_units(out));
        section(&mut body, TOOLS, |out| out.raw(tools.as_bytes()));
        section(&mut body, FINDINGS, |out| write_findings(out, self));
        framed(body.as_bytes())
    }

    /// Whether the bytes begin as a compiled catalog does; a catalog's text never does.
    pub fn is_compiled(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// Loads what [`to_bytes`](Self::to_bytes) wrote, wherever the bytes come from.
    ///
    /// What frames the units is verified now; each unit when its tool is first used, for of many tools few are called. A tool
    /// whose unit is not sound, which takes a file made to harm, is [`Outcome::NotCompiled`](crate::Outcome::NotCompiled);
    /// [`verify`](Self::verify) reads all units at once.
    ///
    /// Calls keep within the limits that the catalog was compiled with. Errors: the bytes are no compiled catalog, are of
    /// another version, damaged or not sound; or a limit of calls is above its default, for whoever made the file does
    /// not decide what may be spent here ([`load_with_limits`](Self::load_with_limits) is for that).
    /// Cost: one pass over the bytes, but for patterns that must be built; a vector is taken as it is.
    pub fn load(bytes: impl Into<Vec<u8>>) -> Result<Catalog, LoadError> {
        Self::load_from(bytes.into(), None)
    }

    /// As [`load`](Self::load), with these limits of calls in place of those that the catalog was compiled with.
    pub fn load_with_limits(bytes: impl Into<Vec<u8>>, limits: &Limits) -> Result<Catalog, LoadError> {
        Self::load_from(bytes.into(), Some(limits))
    }

    fn load_from(bytes: Vec<u8>, limits: Option<&Limits>) -> Result<Catalog, LoadError> {
        let [options, patterns, units, tools, findings] = sections(&bytes, body(&bytes)?)?;
        let (fingerprint, own_limits) = read_options(&bytes[options])?;
        let limits = match limits {
            Some(limits) => limits.clone(),
            None => within_defaults(own_limits)?,
        };
        let fingerprint = fingerprint.to_owned();
        let tools = read_tools(&bytes[tools])?;
        let found = read_findings(&bytes[findings])?;
        let units = Arc::new(Units::find(bytes, patterns, units, &mut rebuild_pattern)?);
        let numbers = tools.iter().flat_map(|tool| [tool.input, tool.output]).flatten();
        if let Some(number) = numbers.max().filter(|number| *number as usize >= units.len()) {
            return Err(LoadError::invalid(format!("there is no unit {number}")));
        }
        let mut catalog = Catalog::of_units(tools, &units, limits, &fingerprint).ok_or_else(two_names)?;
        catalog.set_findings(found.findings, found.refused_entries, found.positions);
        Ok(catalog)
    }
}

fn two_names() -> LoadError {
    LoadError::invalid("two tools have one name")
}

// --- the frame and sections ------------------------------------------------------------------------------------------

fn framed(body: &[u8]) -> Vec<u8> {
    let mut out = Writer::new();
    out.raw(&MAGIC);
    out.u32(FILE_VERSION);
    out.u32(FORMAT_VERSION);
    out.u64(body.len() as u64);
    out.raw(body);
    out.u64(checksum(out.as_bytes()));
    out.into_bytes()
}

/// What stands between header and checksum. Errors: there is no header, one of another version, or one of other bytes.
fn body(bytes: &[u8]) -> Result<Range<usize>, LoadError> {
    let damaged = |detail: &str| LoadError::new(LoadErrorKind::Damaged, detail);
    if !Catalog::is_compiled(bytes) {
        return Err(LoadError::new(LoadErrorKind::NotCompiled, "it does not start as one"));
    }
    let (header, rest) = bytes.split_at_checked(HEADER_BYTES).ok_or_else(|| damaged("it ends inside its header"))?;
    let mut from = Reader::new(&header[MAGIC.len()..]);
    let (file, format) = (from.u32()?, from.u32()?);
    if (file, format) != (FILE_VERSION, FORMAT_VERSION) {
        let ours = format!("{FILE_VERSION}.{FORMAT_VERSION}");
        let detail = format!("it is of version {file}.{format}, and {ours} is read; compile its source again");
        return Err(LoadError::new(LoadErrorKind::Version, detail));
    }
    let len = from.u64()?;
    if len.checked_add(TRAILER_BYTES as u64) != Some(rest.len() as u64) {
        return Err(damaged(&format!("it should have {len} bytes behind its header, and {TRAILER_BYTES} more")));
    }
    let (summed, sum) = bytes.split_at(bytes.len() - TRAILER_BYTES);
    if Reader::new(sum).u64()? != checksum(summed) {
        return Err(damaged("its checksum is not that of its bytes"));
    }
    Ok(HEADER_BYTES..summed.len())
}

fn section(body: &mut Writer, id: u32, write: impl FnOnce(&mut Writer)) {
    let mut out = Writer::new();
    write(&mut out);
    body.u32(id);
    body.u64(out.as_bytes().len() as u64);
    body.raw(out.as_bytes());
}

/// Where the sections that every file has lie in it. Errors: one is missing, stands twice, or is not known and may not be
/// passed over.
fn sections(file: &[u8], body: Range<usize>) -> Result<[Range<usize>; REQUIRED.len()], LoadError> {
    let mut found = [const { None }; REQUIRED.len()];
    let mut from = Reader::new(&file[body.clone()]);
    let mut last = 0;
    while !from.rest().is_empty() {
        let (id, len) = (from.u32()?, usize::try_from(from.u64()?).unwrap_or(usize::MAX));
        from.raw(len)?;
        if id <= last {
            return Err(LoadError::invalid(format!("section {id} stands behind section {last}")));
        }
        let end = body.end - from.rest().len();
        match REQUIRED.iter().position(|known| *known == id) {
            Some(at) => found[at] = Some(end - len..end),
            None if id & OPTIONAL != 0 => {}
            None => return Err(LoadError::invalid(format!("section {id} is not known"))),
        }
        last = id;
    }
    if found.contains(&None) {
        return Err(LoadError::invalid("a section is missing"));
    }
    Ok(found.map(Option::unwrap_or_default))
}

// --- options ------------------------------------------------------------------------------------------------------

fn write_options(out: &mut Writer, catalog: &Catalog) {
    out.text(catalog.fingerprint());
    out.count(Limits::names().count());
    for (name, value) in Limits::names().zip(catalog.limits().values()) {
        out.text(name);
        out.u64(value);
    }
}

fn read_options(bytes: &[u8]) -> Result<(&str, Limits), LoadError> {
    let mut from = Reader::new(bytes);
    let fingerprint = from.text()?;
    let mut limits = Limits::default();
    for _ in 0..from.count(12)? {
        let (name, value) = (from.text()?, from.u64()?);
        limits.set(name, value).map_err(|error| LoadError::invalid(format!("limit {name:?}: {error}")))?;
    }
    from.finish()?;
    Ok((fingerprint, limits))
}

/// The limits, if calls may spend no more under them than they may by default.
fn within_defaults(limits: Limits) -> Result<Limits, LoadError> {
    match limits.beyond_in_calls(&Limits::default()) {
        None => Ok(limits),
        Some((name, value, default)) => {
            let detail = format!("{name} is {value}, above {default}; whoever loads it may set limits of their own");
            Err(LoadError::new(LoadErrorKind::Limit, detail))
        }
    }
}

// --- tools --------------------------------------------------------------------------------------------------------

fn read_tools(bytes: &[u8]) -> Result<Vec<LoadedTool>, LoadError> {
    let mut from = Reader::new(bytes);
    let tools = from.list(12, |from| {
        let name = from.text()?.to_owned();
        let [input, output] = [from.u32()?, from.u32()?].map(|number| Some(number).filter(|unit| *unit != NO_UNIT));
        Ok(LoadedTool { name, input, output })
    })?;
    from.finish()?;
    Ok(tools)
}

// --- findings -----------------------------------------------------------------------------------------------------

fn write_findings(out: &mut Writer, catalog: &Catalog) {
    // Text and numbers: there is nothing that JSON could not hold.
    let findings = serde_json::to_vec(catalog.findings()).unwrap_or_default();
    out.bytes(&findings);
    out.u64(catalog.refused_entries() as u64);
    let positions = catalog.positions();
    out.count(positions.len());
    for (at, line, column) in positions {
        for number in [at, line, column] {
            out.u64(*number as u64);
        }
    }
}

struct Found {
    findings: Vec<Finding>,
    refused_entries: usize,
    positions: Positions,
}

fn read_findings(bytes: &[u8]) -> Result<Found, LoadError> {
    let mut from = Reader::new(bytes);
    let findings =
        serde_json::from_slice(from.bytes()?).map_err(|error| LoadError::invalid(format!("the findings: {error}")))?;
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let refused_entries = number(from.u64()?);
    let positions = from.list(24, |from| Ok((number(from.u64()?), number(from.u64()?), number(from.u64()?))))?;
    from.finish()?;
    Ok(Found { findings, refused_entries, positions })
}
