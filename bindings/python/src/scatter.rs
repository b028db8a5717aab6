//! Scatter: reversible permutations of IDs.

use pyo3::prelude::*;
use snowmint_core::scatter;

use crate::convert::Int;
use crate::error::Failure;

/// Moves the last `digits` decimal digits behind the first one.
#[pyfunction]
pub(crate) fn rotate_digits(id: Int, digits: Int) -> Result<u64, Failure> {
    Ok(scatter::rotate_digits(id.0.id()?, digits.0.count())?)
}

/// The inverse of `rotate_digits`.
#[pyfunction]
pub(crate) fn unrotate_digits(id: Int, digits: Int) -> Result<u64, Failure> {
    Ok(scatter::unrotate_digits(id.0.id()?, digits.0.count())?)
}

/// Reverses the low 63 bits, so that the lowest bit becomes the highest; its own inverse.
#[pyfunction]
pub(crate) fn reverse_bits(id: Int) -> Result<u64, Failure> {
    Ok(scatter::reverse_bits(id.0.id()?)?)
}

/// Puts one of 2**bits shard numbers on top, made of the low bits and a hash of the others.
#[pyfunction]
pub(crate) fn shard_high(id: Int, bits: Int) -> Result<u64, Failure> {
    Ok(scatter::shard_high(id.0.id()?, bits.0.count())?)
}

/// The inverse of `shard_high`.
#[pyfunction]
pub(crate) fn unshard_high(id: Int, bits: Int) -> Result<u64, Failure> {
    Ok(scatter::unshard_high(id.0.id()?, bits.0.count())?)
}
