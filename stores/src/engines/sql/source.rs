//! What servers of databases have beside tables: a place in the network, and sequences.

use snowmint_core::ErrorKind;

use crate::error::Error;
use crate::store::url::Url;

/// The engine and where it is, for sentences. Refused, without showing it, where a password could be in it.
pub(in crate::engines) fn server_name(engine: &str, url: &Url) -> Result<String, Error> {
    let place = url.place();
    let authority = place.split('/').next().unwrap_or_default();
    let port = authority.rsplit_once(']').map_or(authority, |(_, after)| after).split_once(':').map(|(_, port)| port);
    let is_number = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    if url.rest.contains("://") && port.is_none_or(is_number) {
        return Ok(format!("{engine} at {place}"));
    }
    let right = format!("its URL is {}://USER:PASSWORD@HOST:PORT/DATABASE", url.scheme);
    Err(Error::unavailable(engine, format_args!("{right}, where ? / # @ in a password are %3F %2F %23 %40")))
}

/// `UnsafeStore`: a sequence begins again.
pub(in crate::engines) fn cycles(source: &str, sequence: &str) -> Error {
    Error::told(
        ErrorKind::UnsafeStore,
        format!(
            "{source}: it has CYCLE, so its numbers repeat: ALTER SEQUENCE {sequence} NO CYCLE, or pass allow_unsafe=true"
        ),
    )
}

/// `Exhausted`: a source has no more numbers.
pub(in crate::engines) fn run_out(source: &str) -> Error {
    Error::told(ErrorKind::Exhausted, format!("{source} has no more numbers"))
}

/// The most numbers that a source is asked for at once.
const MOST: u64 = 100_000;

/// How many numbers to ask a sequence for: up to `count`, but not more than there is room for, as those that are taken
/// before the sequence says that it has run out would be lost. At least one: caches may hold more than the room shows.
pub(in crate::engines) fn within_room(count: u64, next: i64, increment: i64, min: i64, max: i64) -> i64 {
    let (next, increment) = (i128::from(next), i128::from(increment));
    let room = match increment {
        1.. => (i128::from(max) - next).div_euclid(increment) + 1,
        ..0 => (next - i128::from(min)).div_euclid(-increment) + 1,
        0 => 1,
    };
    let count = i128::from(count.min(MOST));
    i64::try_from(room.min(count).max(1)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_of_a_sequence_counts_both_ends() {
        assert_eq!(within_room(10, 1, 1, 1, 3), 3);
        assert_eq!(within_room(2, 1, 1, 1, 3), 2);
        assert_eq!(within_room(10, 4, 1, 1, 3), 1, "a cache may hold more");
        assert_eq!(within_room(10, 1, 5, 1, 11), 3);
        assert_eq!(within_room(10, -1, -2, -5, -1), 3);
        assert_eq!(within_room(10, i64::MAX, 1, 1, i64::MAX), 1);
        assert_eq!(within_room(0, i64::MIN, 1, i64::MIN, i64::MAX), 1);
        assert_eq!(within_room(u64::MAX, 1, 1, 1, i64::MAX), 100_000);
        assert_eq!(within_room(10, 1, 0, 1, 100), 1);
    }
}
