//! A command as it arrives: an array of bulk strings.

use std::ops::Range;

use redis_protocol::resp2::decode::decode_range;
use redis_protocol::resp2::types::RangeFrame;

/// The most words of a command.
const MOST_WORDS: usize = 1024;

/// Finds the words of the first command in the buffer, and tells its length; nothing, if there is more to come.
///
/// The array is read here, and each bulk string by the codec: it would read arrays in arrays, as deep as they go, where no
/// command has any.
pub fn read(buffer: &[u8], words: &mut Vec<Range<usize>>) -> Result<Option<usize>, &'static str> {
    words.clear();
    let Some((first, rest)) = buffer.split_first() else { return Ok(None) };
    if *first != b'*' {
        return Err(
            "a command is an array of bulk strings, as clients of Redis send them; inline commands are not taken",
        );
    }
    let Some(end) = rest.iter().take(16).position(|byte| *byte == b'\r') else {
        return if rest.len() < 16 { Ok(None) } else { Err("invalid multibulk length") };
    };
    let digits = rest.get(..end).and_then(|digits| std::str::from_utf8(digits).ok()).unwrap_or_default();
    let count: usize = digits
        .parse()
        .ok()
        .filter(|count| *count <= MOST_WORDS && !digits.starts_with('+'))
        .ok_or("invalid multibulk length")?;
    let mut at = end + 3;
    match buffer.get(at - 1) {
        None => return Ok(None),
        Some(b'\n') => {}
        Some(_) => return Err("invalid multibulk length"),
    }
    for _ in 0..count {
        match buffer.get(at) {
            None => return Ok(None),
            Some(b'$') => {}
            Some(_) => return Err("expected '$': the words of a command are bulk strings"),
        }
        match decode_range(&buffer[at..]) {
            Ok(Some((RangeFrame::BulkString((start, end)), length))) => {
                if buffer.get(at + end..at + end + 2) != Some(b"\r\n") {
                    return Err("a bulk string is longer than its length");
                }
                words.push(at + start..at + end);
                at += length;
            }
            Ok(None) => return Ok(None),
            Ok(Some(_)) | Err(_) => return Err("invalid bulk length"),
        }
    }
    Ok(Some(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Words<'a> = (Vec<&'a [u8]>, usize);

    fn words(text: &[u8]) -> Result<Option<Words<'_>>, &'static str> {
        let mut words = Vec::new();
        let length = read(text, &mut words)?;
        Ok(length.map(|length| (words.into_iter().map(|word| &text[word]).collect(), length)))
    }

    #[test]
    fn a_command_is_read_however_it_is_cut() {
        let text = b"*2\r\n$4\r\nINCR\r\n$3\r\na\r\n\r\n*1\r\n$4\r\nPING\r\n";
        for end in 0..23 {
            assert_eq!(words(&text[..end]), Ok(None), "{end} bytes");
        }
        assert_eq!(words(text), Ok(Some((vec![&b"INCR"[..], b"a\r\n"], 23))));
        assert_eq!(words(b"*0\r\nrest"), Ok(Some((vec![], 4))));
    }

    #[test]
    fn what_is_no_command_is_refused_at_once() {
        for bad in [
            &b"PING\r\n"[..],
            b"GET / HTTP/1.1\r\n",
            b"*-1\r\n",
            b"*+1\r\n",
            b"*x\r\n",
            b"*1025\r\n",
            b"*99999999999999999999\r\n",
            b"*1\r\r",
            b"*1\r\n*1\r\n",
            b"*1\r\n:5\r\n",
            b"*1\r\n$-1\r\n",
            b"*1\r\n$-7\r\n",
            b"*1\r\n$x\r\n",
            b"*1\r\n$1\r\nabc",
        ] {
            assert!(words(bad).is_err(), "{:?}", String::from_utf8_lossy(bad));
        }
    }
}
