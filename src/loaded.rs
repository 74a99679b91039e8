//! Tools of a compiled catalog: found when it is loaded, read when they are first used.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use callgate_compiler::{CompiledSchema, CompiledTool, Finding, SchemaRole};
use callgate_vm::image::{BadImage, Image, Reader, Units, Writer};
use callgate_vm::limits::Limits;

use crate::catalog::Tool;
use crate::load_error::LoadError;
use crate::schema::Schema;

/// No unit: a schema that is not there or was not compiled.
pub(crate) const NO_UNIT: u32 = u32::MAX;

/// What the tools of one file share.
#[derive(Debug)]
pub(crate) struct LoadedFile {
    /// Its units, and its bytes.
    pub(crate) units: Units,
    /// By the number of the tool: where what is kept of it lies in the bytes.
    pub(crate) kept: Vec<Range<usize>>,
    pub(crate) limits: Arc<Limits>,
    /// Whether calls are judged by a lax reading.
    pub(crate) lax: bool,
}

/// A tool of a file.
#[derive(Clone, Debug)]
pub(crate) struct LoadedTool {
    file: Arc<LoadedFile>,
    number: usize,
    input: Unread,
    output: Unread,
    compiled: OnceLock<Option<CompiledTool>>,
}

/// A schema by the number of its unit.
#[derive(Clone, Debug)]
struct Unread {
    unit: u32,
    schema: OnceLock<Option<Schema>>,
}

impl LoadedTool {
    /// The tool of that number, whose calls are judged by the units of these numbers.
    pub(crate) fn new(file: &Arc<LoadedFile>, number: usize, [input, output]: [u32; 2]) -> LoadedTool {
        let unread = |unit| Unread { unit, schema: OnceLock::new() };
        LoadedTool {
            file: Arc::clone(file),
            number,
            input: unread(input),
            output: unread(output),
            compiled: OnceLock::new(),
        }
    }

    /// What judges its arguments or results; `None` if there is nothing, or it is not sound.
    #[inline]
    pub(crate) fn schema(&self, role: SchemaRole) -> Option<&Schema> {
        let Unread { unit, schema } = if role == SchemaRole::Input { &self.input } else { &self.output };
        let read = || {
            Some(Schema::new(
                Arc::clone(self.file.units.get(*unit).ok()?),
                Arc::clone(&self.file.limits),
                self.file.lax,
            ))
        };
        schema.get_or_init(read).as_ref()
    }

    /// The tool as it was compiled; `None` if that is not sound.
    pub(crate) fn compiled(&self, name: &str) -> Option<&CompiledTool> {
        self.compiled.get_or_init(|| self.read(name).ok()).as_ref()
    }

    /// Reads all that there is of it. Errors: it does not hold together.
    pub(crate) fn verify(&self, name: &str) -> Result<(), LoadError> {
        let mut units = [self.input.unit, self.output.unit].into_iter().filter(|unit| *unit != NO_UNIT);
        let sound = units.try_for_each(|unit| self.file.units.get(unit).map(|_| ()));
        let sound = sound.and_then(|()| self.read(name)).and_then(|compiled| self.agrees(&compiled));
        sound.map_err(|error| LoadError::invalid(format!("tool {name:?}: {error}")))
    }

    /// The units that judge are those of the schemas that are kept. A tool in quarantine has none to judge.
    fn agrees(&self, compiled: &CompiledTool) -> Result<(), BadImage> {
        let kept = [Some(&compiled.input), compiled.output.as_ref()];
        for (unit, kept) in [self.input.unit, self.output.unit].into_iter().zip(kept) {
            let judges = if unit == NO_UNIT { None } else { Some(*self.file.units.get(unit)?.digest()) };
            if judges.is_some() && judges != kept.map(|schema| schema.digest) {
                return Err(BadImage("another unit judges than that of its schema".to_owned()));
            }
        }
        Ok(())
    }

    fn read(&self, name: &str) -> Result<CompiledTool, BadImage> {
        let kept = self.file.kept.get(self.number).and_then(|kept| self.file.units.file().get(kept.clone()));
        let mut from = Reader::new(kept.ok_or_else(|| BadImage("it is not in the file".to_owned()))?);
        let definition = from.text()?.into();
        let input = self.read_schema(&mut from)?;
        let output = if from.bool()? { Some(self.read_schema(&mut from)?) } else { None };
        from.finish()?;
        Ok(CompiledTool { name: name.to_owned(), input, output, definition })
    }

    fn read_schema(&self, from: &mut Reader<'_>) -> Result<CompiledSchema, BadImage> {
        let (digest, unit) = (from.array()?, from.u32()?);
        let unit = if unit == NO_UNIT { None } else { Some(Arc::clone(self.file.units.get(unit)?)) };
        if unit.as_ref().is_some_and(|unit| *unit.digest() != digest) {
            return Err(BadImage("a schema has another digest than its unit".to_owned()));
        }
        let source = if from.bool()? { Some(from.text()?.into()) } else { None };
        let findings: Vec<Finding> = match from.bytes()? {
            [] => Vec::new(),
            json => serde_json::from_slice(json).map_err(|error| BadImage(format!("the findings: {error}")))?,
        };
        Ok(CompiledSchema { digest, source, unit, findings: findings.into() })
    }
}

/// Writes what is kept of a tool: what it is compared by, and compiled from.
pub(crate) fn write_kept(out: &mut Writer, tool: &Tool, image: &mut Image) {
    out.text(tool.definition());
    if let Some(input) = tool.compiled(SchemaRole::Input) {
        write_schema(out, input, image);
    }
    let output = tool.compiled(SchemaRole::Output);
    out.u8(output.is_some().into());
    if let Some(output) = output {
        write_schema(out, output, image);
    }
}

fn write_schema(out: &mut Writer, schema: &CompiledSchema, image: &mut Image) {
    out.raw(&schema.digest);
    out.u32(schema.unit.as_ref().map_or(NO_UNIT, |unit| image.add(unit)));
    out.u8(schema.source.is_some().into());
    if let Some(source) = &schema.source {
        out.text(source);
    }
    let findings: &[Finding] = &schema.findings;
    if findings.is_empty() {
        out.bytes(&[]);
    } else {
        // Text and numbers: there is nothing that JSON could not hold.
        out.bytes(&serde_json::to_vec(findings).unwrap_or_default());
    }
}
