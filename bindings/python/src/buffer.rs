//! Writes IDs into a Python buffer.
#![allow(unsafe_code)]

use std::ops::Range;

use pyo3::buffer::{ElementType, PyUntypedBuffer};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use snowmint_core::Run;

const ITEM_BYTES: usize = size_of::<u64>();

/// A writable, C-contiguous buffer of 64-bit integers, such as `array('Q')` or `array('q')`, filled from its start.
pub(crate) struct Ids {
    pub(crate) is_signed: bool,
    buffer: PyUntypedBuffer,
    filled: usize,
}

impl Ids {
    pub(crate) fn len(&self) -> usize {
        self.buffer.item_count()
    }

    /// Appends the IDs of a run, and drops IDs for which the buffer has no room.
    pub(crate) fn append(&mut self, attached: Python<'_>, mut run: Run<'_>) {
        self.append_by(attached, |chunk| run.write(chunk));
    }

    /// Appends consecutive numbers, and drops those for which the buffer has no room.
    pub(crate) fn append_range(&mut self, attached: Python<'_>, mut numbers: Range<u64>) {
        self.append_by(attached, |chunk| {
            let written = chunk.iter_mut().zip(&mut numbers).map(|(place, number)| *place = number);
            written.count()
        });
    }

    /// Appends the numbers that `write` puts into a chunk, until it puts none.
    fn append_by(&mut self, _attached: Python<'_>, mut write: impl FnMut(&mut [u64]) -> usize) {
        // Through an array on the stack: Python code may use the same memory, at any alignment, so it cannot be a
        // slice.
        let mut chunk = [0u64; 512];
        loop {
            let room = chunk.len().min(self.len() - self.filled);
            let count = write(&mut chunk[..room]);
            if count == 0 {
                return;
            }
            // SAFETY: `extract` saw a contiguous, writable block of `len` items of 8 bytes. Its owner does not move it
            // while `self.buffer` lives. At least `count` items are not filled yet, and bytes need no alignment.
            unsafe {
                let place = self.buffer.buf_ptr().cast::<u8>().add(self.filled * ITEM_BYTES);
                place.copy_from_nonoverlapping(chunk.as_ptr().cast(), count * ITEM_BYTES);
            }
            self.filled += count;
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Ids {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // A memoryview knows the strides even if the owner, such as ctypes, leaves them out.
        let view = PyMemoryView::from(&obj)?;
        let buffer = PyUntypedBuffer::get(&view)?;
        let format = buffer.format();
        let foreign = if cfg!(target_endian = "little") { b">!".as_slice() } else { b"<" };
        let native = format.to_bytes().first().is_none_or(|order| !foreign.contains(order));
        let is_signed = match ElementType::from_format(format) {
            ElementType::UnsignedInteger { bytes: ITEM_BYTES } => Some(false),
            ElementType::SignedInteger { bytes: ITEM_BYTES } => Some(true),
            _ => None,
        };
        let Some(is_signed) = is_signed.filter(|_| native && buffer.item_size() == ITEM_BYTES) else {
            let format = format.to_string_lossy();
            return Err(PyTypeError::new_err(format!("a buffer of 64-bit integers is needed, not of {format}")));
        };
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("a writable and C-contiguous buffer is needed"));
        }
        Ok(Self { is_signed, buffer, filled: 0 })
    }
}
