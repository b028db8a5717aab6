//! Memory for the numbers of a request.

use snowmint_core::Error;

/// Returns an empty list with memory for `count` items. Call this before numbers are taken, so that none is lost.
///
/// # Errors
/// `Exhausted` with a time to retry, if the system has no memory for them: a request must not end the process.
///
/// # Examples
/// ```
/// use snowmint_stores::host::reserve;
/// assert!(reserve::<u64>(1000)?.capacity() >= 1000);
/// assert!(reserve::<u64>(u64::MAX).is_err());
/// # Ok::<(), snowmint_core::Error>(())
/// ```
pub fn reserve<T>(count: u64) -> Result<Vec<T>, Error> {
    let mut list = Vec::new();
    let reserved = usize::try_from(count).is_ok_and(|count| list.try_reserve_exact(count).is_ok());
    if reserved { Ok(list) } else { Err(Error::no_memory(count)) }
}

#[cfg(test)]
mod tests {
    use snowmint_core::ErrorKind;

    use super::*;

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        // More than the address space of 64-bit machines.
        for count in [1 << 60, u64::MAX] {
            let error = reserve::<u64>(count).expect_err("no machine has it");
            assert_eq!((error.kind(), error.retry_after_ms()), (ErrorKind::Exhausted, Some(1000)));
            assert!(error.to_string().starts_with(&format!("there is no memory for {count} numbers now")), "{error}");
        }
        assert_eq!(reserve::<u64>(0).map(|list| list.capacity()), Ok(0));
    }
}
