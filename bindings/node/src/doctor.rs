//! Examines the place of a generator over slots, or with a vouched node, for `npx snowmint doctor`.

use napi::Task;
use napi::bindgen_prelude::{AsyncTask, Either, Env, Result};
use napi_derive::napi;
use snowmint::{Error, doctor};
use snowmint_inspect::render::Format;

use crate::lease::{Claiming, Terms, guarded};
use crate::refusal;

/// The findings.
#[napi(object, object_from_js = false)]
#[derive(Debug)]
pub struct Examined {
    /// The lines.
    pub text: String,
    /// Whether nothing must be mended.
    pub is_well: bool,
}

/// Examines what a generator would do here: a promise of the findings, or of the refusal of the terms, "CODE ms sentence".
#[napi(catch_unwind)]
pub fn examine(terms: Terms, json: bool, bold: bool) -> AsyncTask<Examining> {
    AsyncTask::new(Examining(Claiming::of(terms), Format::of(json, bold)))
}

/// Examines on a thread of the pool.
#[derive(Debug)]
pub struct Examining(Claiming, Format);

impl Examining {
    fn examine(&mut self) -> core::result::Result<Examined, Error> {
        let Self(claiming, format) = self;
        let (options, environment) = claiming.take()?;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let is_well = doctor::examine(options, environment, &mut text, *format).unwrap_or_default();
        Ok(Examined { text, is_well })
    }
}

impl Task for Examining {
    type Output = core::result::Result<Examined, Error>;
    type JsValue = Either<Examined, String>;

    fn compute(&mut self) -> Result<Self::Output> {
        guarded(|| self.examine())
    }

    fn resolve(&mut self, _env: Env, output: Self::Output) -> Result<Self::JsValue> {
        Ok(match output {
            Ok(examined) => Either::A(examined),
            Err(error) => Either::B(refusal(&error)),
        })
    }
}
