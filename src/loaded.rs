//! Tools of a compiled catalog: found when it is loaded, read when they are first used.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use callgate_compiler::{
    CompiledSchema, CompiledTool, Finding, Options, SchemaRole, counterpart_digest, left_out_digest,
};
use callgate_vm::image::{BadImage, Image, Reader, Units, Writer};
use callgate_vm::limits::Limits;
use callgate_vm::unit::Unit;

use crate::catalog::Tool;
use crate::load_error::LoadError;
use crate::schema::Schema;

/// No unit: a schema that is not there or was not compiled.
pub(crate) const NO_UNIT: u32 = u32::MAX;

/// The numbers of a schema's unit and of its counterpart; [`NO_UNIT`] where there is none.
pub(crate) type UnitNumbers = [u32; 2];

/// What the tools of one file share.
#[derive(Debug)]
pub(crate) struct LoadedFile {
    /// Its units, and its bytes.
    pub(crate) units: Units,
    /// By the number of the tool: where what is kept of it lies in the bytes.
    pub(crate) kept: Vec<Range<usize>>,
    /// How it was compiled.
    pub(crate) options: Arc<Options>,
    pub(crate) limits: Arc<Limits>,
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

/// A schema by the numbers of its unit and its counterpart.
#[derive(Clone, Debug)]
struct Unread {
    units: UnitNumbers,
    schema: OnceLock<Option<Schema>>,
}

impl LoadedTool {
    /// The tool of that number, whose calls are judged by the units of these numbers.
    pub(crate) fn new(file: &Arc<LoadedFile>, number: usize, [input, output]: [UnitNumbers; 2]) -> LoadedTool {
        let unread = |units| Unread { units, schema: OnceLock::new() };
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
        let unread = if role == SchemaRole::Input { &self.input } else { &self.output };
        unread.schema.get_or_init(|| self.read_judge(unread.units, role).ok()).as_ref()
    }

    fn read_judge(&self, units: UnitNumbers, role: SchemaRole) -> Result<Schema, BadImage> {
        let LoadedFile { options, limits, .. } = &*self.file;
        let [unit, counterpart] = units;
        let unit = self.file.units.get(unit)?;
        Ok(Schema::of(unit, self.unit(counterpart)?, limits, options, role))
    }

    /// The unit of that number, if it is one.
    fn unit(&self, number: u32) -> Result<Option<&Arc<Unit>>, BadImage> {
        if number == NO_UNIT { Ok(None) } else { self.file.units.get(number).map(Some) }
    }

    /// The tool as it was compiled; `None` if that is not sound.
    pub(crate) fn compiled(&self, name: &str) -> Option<&CompiledTool> {
        self.compiled.get_or_init(|| self.read(name).ok()).as_ref()
    }

    /// Reads all that there is of it. Errors: it does not hold together.
    pub(crate) fn verify(&self, name: &str) -> Result<(), LoadError> {
        let mut units = self.input.units.into_iter().chain(self.output.units);
        let sound = units.try_for_each(|unit| self.unit(unit).map(|_| ()));
        let sound = sound.and_then(|()| self.read(name)).and_then(|compiled| self.agrees(&compiled));
        sound.map_err(|error| LoadError::invalid(format!("tool {name:?}: {error}")))
    }

    /// The units that judge are those of the schemas that are kept. A tool in quarantine has none to judge.
    fn agrees(&self, compiled: &CompiledTool) -> Result<(), BadImage> {
        let kept = [Some(&compiled.input), compiled.output.as_ref()];
        for ([unit, counterpart], kept) in [self.input.units, self.output.units].into_iter().zip(kept) {
            let kept = [kept.and_then(|kept| kept.unit.as_ref()), kept.and_then(|kept| kept.counterpart.as_ref())];
            let digests = |units: [Option<&Arc<Unit>>; 2]| units.map(|unit| unit.map(|unit| *unit.digest()));
            let judging = digests([self.unit(unit)?, self.unit(counterpart)?]);
            // A tool in quarantine has none.
            if judging != [None, None] && judging != digests(kept) {
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
        let digest = from.array()?;
        let (unit, counterpart) = (self.unit(from.u32()?)?.cloned(), self.unit(from.u32()?)?.cloned());
        let is_of = |unit: &Option<Arc<Unit>>, digest| unit.as_ref().is_none_or(|unit| *unit.digest() == digest);
        let is_counterpart =
            is_of(&counterpart, counterpart_digest(&digest)) || is_of(&counterpart, left_out_digest(&digest));
        if !is_of(&unit, digest) || !is_counterpart {
            return Err(BadImage("a schema has another digest than its unit".to_owned()));
        }
        let source = if from.bool()? { Some(from.text()?.into()) } else { None };
        let findings: Vec<Finding> = match from.bytes()? {
            [] => Vec::new(),
            json => serde_json::from_slice(json).map_err(|error| BadImage(format!("the findings: {error}")))?,
        };
        Ok(CompiledSchema { digest, source, unit, counterpart, findings: findings.into() })
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
    for unit in [&schema.unit, &schema.counterpart] {
        out.u32(unit.as_ref().map_or(NO_UNIT, |unit| image.add(unit)));
    }
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
