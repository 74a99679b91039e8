//! A catalog as bytes: compiled once, loaded wherever it is needed.
//!
//! ```text
//! header     "callgate" │ version of the file │ version of the instructions │ length of the body
//! body       sections: id │ length │ bytes, ids ascending
//!              1 options    how it was compiled, the limits by name
//!              2 patterns   ┐ each once: `callgate_vm::image`
//!              3 units      ┘
//!              4 tools      name, numbers of the unit for arguments and its counterpart, of those for results
//!              5 schemas    each tool's definition, and its schemas: digest, units, compact source, findings
//!              6 report     as JSON
//!              7 source     the text that it was compiled from, where it is kept
//! checksum   of header and body
//! ```
//!
//! Little-endian, and the same catalog gives the same bytes. Sections whose id has [`OPTIONAL`] set are passed over where
//! they are not known, so that more can be kept without another version.
//!
//! Loading compiles nothing, but for the patterns whose engines cannot be written. Everything is verified before it is
//! used: the checksum tells what was damaged, and what was made to harm is an error as well, or a catalog that keeps
//! within its limits. Tools are read one by one, each when it is first used.

use std::ops::Range;
use std::sync::Arc;

use callgate_compiler::{
    Draft, EmptyArguments, FORMAT_VERSION, NullForOptional, Options, Policy, UnknownParameters, rebuild_pattern,
};
use callgate_vm::image::{Image, Reader, Units, Writer, checksum};
use callgate_vm::limits::Limits;

use crate::catalog::{Catalog, Tool};
use crate::load_error::{LoadError, LoadErrorKind};
use crate::loaded::{LoadedFile, LoadedTool, NO_UNIT, UnitNumbers, write_kept};
use crate::report::Report;
use crate::schema::Schema;

/// How a compiled catalog begins, as no catalog's text does.
const MAGIC: [u8; 8] = *b"callgate";

/// The version of what this module writes around units.
const FILE_VERSION: u32 = 2;

/// Magic, two versions, length.
const HEADER_BYTES: usize = 8 + 4 + 4 + 8;

/// The checksum, behind all else.
const TRAILER_BYTES: usize = 8;

const OPTIONS: u32 = 1;
const PATTERNS: u32 = 2;
const UNITS: u32 = 3;
const TOOLS: u32 = 4;
const SCHEMAS: u32 = 5;
const REPORT: u32 = 6;
const SOURCE: u32 = OPTIONAL | 7;

/// The sections that every file has, in their order.
const REQUIRED: [u32; 6] = [OPTIONS, PATTERNS, UNITS, TOOLS, SCHEMAS, REPORT];

/// Set in the id of a section that a reader may pass over.
const OPTIONAL: u32 = 1 << 31;

impl Catalog {
    /// The catalog as bytes, for [`load`](Self::load): units, tools, limits, and what was found. Position-independent,
    /// little-endian, and the same for the same catalog.
    ///
    /// Cost: one pass over the units. Allocates the bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.written(None)
    }

    /// As [`to_bytes`](Self::to_bytes), and keeps the text that the catalog was compiled from, for those who show where in it
    /// something was found ([`source_of`](Self::source_of)).
    pub fn to_bytes_with_source(&self, text: &[u8]) -> Vec<u8> {
        self.written(Some(text))
    }

    fn written(&self, source: Option<&[u8]>) -> Vec<u8> {
        let mut image = Image::new();
        let (mut tools, mut schemas) = (Writer::new(), Writer::new());
        tools.count(self.tools().len());
        schemas.count(self.tools().len());
        for tool in self.tools() {
            tools.text(tool.name());
            for schema in [tool.input(), tool.output()] {
                let mut units = schema.into_iter().flat_map(Schema::units);
                for unit in [units.next(), units.next()] {
                    tools.u32(unit.map_or(NO_UNIT, |unit| image.add(unit)));
                }
            }
            schemas.sized(|out| write_kept(out, tool, &mut image));
        }
        let mut body = Writer::new();
        section(&mut body, OPTIONS, |out| write_options(out, self.options()));
        section(&mut body, PATTERNS, |out| image.write_patterns(out));
        section(&mut body, UNITS, |out| image.write_units(out));
        section(&mut body, TOOLS, |out| out.raw(tools.as_bytes()));
        section(&mut body, SCHEMAS, |out| out.raw(schemas.as_bytes()));
        // Text and numbers: there is nothing that JSON could not hold.
        section(&mut body, REPORT, |out| out.raw(&serde_json::to_vec(self.report()).unwrap_or_default()));
        if let Some(text) = source {
            section(&mut body, SOURCE, |out| out.raw(text));
        }
        framed(body.as_bytes())
    }

    /// The text that a compiled catalog was compiled from, where it is kept. Errors: as [`load`](Self::load), as far as the
    /// bytes' frame goes.
    pub fn source_of(bytes: &[u8]) -> Result<Option<&[u8]>, LoadError> {
        let (_, source) = sections(bytes, body(bytes)?)?;
        Ok(source.map(|source| &bytes[source]))
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
        let ([options, patterns, units, tools, schemas, report], _) = sections(&bytes, body(&bytes)?)?;
        let options = read_options(&bytes[options])?;
        let limits = match limits {
            Some(limits) => limits.clone(),
            None => within_defaults(options.limits.clone())?,
        };
        let tools = read_tools(&bytes[tools])?;
        let kept = read_kept(&bytes, schemas)?;
        let report = read_report(&bytes[report])?;
        let units = Units::find(bytes, patterns, units, &mut rebuild_pattern)?;
        let known = |unit: &u32| *unit == NO_UNIT || (*unit as usize) < units.len();
        if kept.len() != tools.len() || !tools.iter().all(|(_, units)| units.as_flattened().iter().all(known)) {
            return Err(LoadError::invalid("a tool names what is not there"));
        }
        let (options, limits) = (Arc::new(options), Arc::new(limits));
        let file = Arc::new(LoadedFile { units, kept, options: Arc::clone(&options), limits: Arc::clone(&limits) });
        let tools = tools.into_iter().enumerate().map(|(number, (name, units))| {
            Tool::loaded(name, LoadedTool::new(&file, number, units), Arc::clone(&options))
        });
        let catalog = Catalog::of_loaded(tools, Arc::clone(&options), limits, report);
        catalog.ok_or_else(|| LoadError::invalid("two tools have one name"))
    }
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

type Required = [Range<usize>; REQUIRED.len()];

/// Where the sections lie that every file has, and the source. Errors: one is missing, stands twice, or is not known and may
/// not be passed over.
fn sections(file: &[u8], body: Range<usize>) -> Result<(Required, Option<Range<usize>>), LoadError> {
    let (mut found, mut source) = ([const { None }; REQUIRED.len()], None);
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
            None if id == SOURCE => source = Some(end - len..end),
            None if id & OPTIONAL != 0 => {}
            None => return Err(LoadError::invalid(format!("section {id} is not known"))),
        }
        last = id;
    }
    if found.contains(&None) {
        return Err(LoadError::invalid("a section is missing"));
    }
    Ok((found.map(Option::unwrap_or_default), source))
}

// --- options ------------------------------------------------------------------------------------------------------

/// Numbers of what becomes of unknown parameters.
const UNKNOWN: [UnknownParameters; 3] =
    [UnknownParameters::Ignore, UnknownParameters::Report, UnknownParameters::Forbid];

/// Numbers of the policies.
const POLICIES: [Policy; 3] = [Policy::Flag, Policy::Quarantine, Policy::Strict];

/// Writes all but the documents and the shape, which the text is read by and calls are not.
fn write_options(out: &mut Writer, options: &Options) {
    // An option that is added does not compile until it is written.
    let Options {
        draft,
        assert_formats,
        lax,
        unknown_parameters,
        empty_arguments,
        null_for_optional,
        documents: _,
        shape: _,
        policy,
        limits,
        peephole,
        fusion,
    } = options;
    out.text(draft.name());
    for choice in [assert_formats, lax, peephole, fusion] {
        out.u8((*choice).into());
    }
    out.u8(UNKNOWN.iter().position(|choice| choice == unknown_parameters).unwrap_or(0) as u8);
    out.u8((*empty_arguments == EmptyArguments::AsObject).into());
    out.u8((*null_for_optional == NullForOptional::AsAbsent).into());
    out.u8(POLICIES.iter().position(|choice| choice == policy).unwrap_or(0) as u8);
    out.count(Limits::names().count());
    for (name, value) in Limits::names().zip(limits.values()) {
        out.text(name);
        out.u64(value);
    }
}

/// The options, but for the documents that references reached and the shape.
fn read_options(bytes: &[u8]) -> Result<Options, LoadError> {
    let mut from = Reader::new(bytes);
    let draft = from.text()?;
    let draft = Draft::from_name(draft).ok_or_else(|| LoadError::invalid(format!("there is no draft {draft:?}")))?;
    let (assert_formats, lax, peephole, fusion) = (from.bool()?, from.bool()?, from.bool()?, from.bool()?);
    let unknown_parameters = UNKNOWN.get(usize::from(from.u8()?)).copied();
    let unknown_parameters =
        unknown_parameters.ok_or_else(|| LoadError::invalid("there is no such choice for unknown parameters"))?;
    let empty_arguments = if from.bool()? { EmptyArguments::AsObject } else { EmptyArguments::Reject };
    let null_for_optional = if from.bool()? { NullForOptional::AsAbsent } else { NullForOptional::Reject };
    let policy = POLICIES.get(usize::from(from.u8()?)).copied();
    let policy = policy.ok_or_else(|| LoadError::invalid("there is no such policy"))?;
    let mut limits = Limits::default();
    for _ in 0..from.count(12)? {
        let (name, value) = (from.text()?, from.u64()?);
        limits.set(name, value).map_err(|error| LoadError::invalid(format!("limit {name:?}: {error}")))?;
    }
    from.finish()?;
    Ok(Options {
        draft,
        assert_formats,
        lax,
        unknown_parameters,
        empty_arguments,
        null_for_optional,
        documents: Arc::default(),
        shape: None,
        policy,
        limits,
        peephole,
        fusion,
    })
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

/// Names of tools, and the numbers of their units: for arguments and for results, each with its counterpart.
fn read_tools(bytes: &[u8]) -> Result<Vec<(String, [UnitNumbers; 2])>, LoadError> {
    let mut from = Reader::new(bytes);
    let tools = from.list(20, |from| {
        let name = from.text()?.to_owned();
        Ok((name, [[from.u32()?, from.u32()?], [from.u32()?, from.u32()?]]))
    })?;
    from.finish()?;
    Ok(tools)
}

/// Where what is kept of each tool lies.
fn read_kept(file: &[u8], section: Range<usize>) -> Result<Vec<Range<usize>>, LoadError> {
    let mut from = Reader::new(&file[section.clone()]);
    let kept = from.list(4, |from| {
        let len = from.bytes()?.len();
        let end = section.end - from.rest().len();
        Ok(end - len..end)
    })?;
    from.finish()?;
    Ok(kept)
}

fn read_report(json: &[u8]) -> Result<Report, LoadError> {
    let report: Report =
        serde_json::from_slice(json).map_err(|error| LoadError::invalid(format!("the report: {error}")))?;
    if report.adds_up() { Ok(report) } else { Err(LoadError::invalid("the report does not add up")) }
}
