//! Keys of records and counters as subjects of a bucket, and back.
//!
//! A slash of a key becomes a dot, which separates the tokens of a subject, so that one wildcard finds the records of a
//! directory. Bytes that cannot be in a key of a KV bucket become `=XX`.

use std::fmt::Write as _;

/// Returns the part of a subject for a key: `leases/orders/5` becomes `leases.orders.5`.
pub(super) fn of(key: &str) -> String {
    let mut subject = String::with_capacity(key.len());
    for byte in key.bytes() {
        match byte {
            b'/' => subject.push('.'),
            byte if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' => subject.push(char::from(byte)),
            // Writing to a string cannot fail.
            byte => drop(write!(subject, "={byte:02X}")),
        }
    }
    subject
}

/// Returns the part of a key for one token of a subject. `None` for a token that no key has.
pub(super) fn part(token: &str) -> Option<String> {
    let (first, others) = token.split_once('=').map_or((token, None), |(first, others)| (first, Some(others)));
    let mut part = first.to_owned();
    for other in others.into_iter().flat_map(|others| others.split('=')) {
        let (digits, plain) = other.split_at_checked(2)?;
        part.push(char::from(u8::from_str_radix(digits, 16).ok().filter(u8::is_ascii)?));
        part.push_str(plain);
    }
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_a_separate_subject() {
        for (key, subject) in [
            ("leases/orders/5", "leases.orders.5"),
            ("a.b/%2F_", "a=2Eb.=252F_"),
            ("layouts/@", "layouts.=40"),
            ("A-z_9", "A-z_9"),
        ] {
            assert_eq!(of(key), subject);
            let last = key.rsplit('/').next();
            assert_eq!(part(subject.rsplit('.').next().expect("a token")).as_deref(), last);
        }
        assert_eq!((part("a="), part("a=4"), part("=FF")), (None, None, None));
    }
}
