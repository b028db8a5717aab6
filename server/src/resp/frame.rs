//! Reads a command: an array of bulk strings, or the line `PING`.

use std::ops::Range;

use super::MAX_COMMAND_BYTES;

/// The limit of words in a command.
const MAX_WORDS: usize = 1024;
/// The limit of digits in a length.
const MAX_DIGITS: usize = 15;
/// The only command that may also arrive as a plain line.
const PING: &[u8] = b"PING";
/// The error of a command above the limit.
pub const TOO_LONG: &str = "the command is longer than 64 kB";

/// Finds the words of the first command in the buffer. Returns the command's length in bytes, or `None` if it is not complete.
///
/// A general parser would read nested arrays of any depth, and wait for all bytes that a length announces.
///
/// # Errors
/// The message for a client that breaks the protocol.
pub fn read(buffer: &[u8], words: &mut Vec<Range<usize>>) -> Result<Option<usize>, &'static str> {
    words.clear();
    let Some(first) = buffer.first() else { return Ok(None) };
    if *first != b'*' {
        return inline(buffer, words);
    }
    let Some((count, mut at)) = number(buffer, 0, "invalid multibulk length")? else { return Ok(None) };
    if count > MAX_WORDS {
        return Err("invalid multibulk length");
    }
    for _ in 0..count {
        match buffer.get(at) {
            None => return Ok(None),
            Some(b'$') => {}
            Some(_) => return Err("expected '$': the words of a command are bulk strings"),
        }
        let Some((length, start)) = number(buffer, at, "invalid bulk length")? else { return Ok(None) };
        // Refuses at the length, before the bytes arrive.
        if length > MAX_COMMAND_BYTES - start.min(MAX_COMMAND_BYTES) {
            return Err(TOO_LONG);
        }
        let end = start + length;
        match buffer.get(end..end + 2) {
            None => return Ok(None),
            Some(b"\r\n") => {}
            Some(_) => return Err("a bulk string is longer than its length"),
        }
        words.push(start..end);
        at = end + 2;
    }
    Ok(Some(at))
}

/// Reads the number after the letter at a place. Returns it with the end of its line, or `None` if the line is not complete.
fn number(buffer: &[u8], at: usize, wrong: &'static str) -> Result<Option<(usize, usize)>, &'static str> {
    let rest = buffer.get(at + 1..).unwrap_or_default();
    let Some(length) = rest.iter().take(MAX_DIGITS + 1).position(|byte| *byte == b'\r') else {
        return if rest.len() <= MAX_DIGITS { Ok(None) } else { Err(wrong) };
    };
    let digits = rest.get(..length).filter(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit));
    let number = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok()).ok_or(wrong)?;
    match rest.get(length + 1) {
        None => Ok(None),
        Some(b'\n') => Ok(Some((number, at + length + 3))),
        Some(_) => Err(wrong),
    }
}

/// Reads a plain line, which must be `PING`, as health checks send it. Web pages could send other lines to this port.
fn inline(buffer: &[u8], words: &mut Vec<Range<usize>>) -> Result<Option<usize>, &'static str> {
    let refused = "send a command as an array of bulk strings, as Redis clients do: only PING may be a plain line";
    let start = buffer.iter().take_while(|byte| **byte == b'\r' || **byte == b'\n').count();
    let rest = &buffer[start..];
    let Some(name) = rest.get(..PING.len()) else {
        let begun = PING.get(..rest.len()).is_some_and(|begun| rest.eq_ignore_ascii_case(begun));
        return match start {
            _ if !begun => Err(refused),
            // Skips empty lines.
            1.. if rest.is_empty() => Ok(Some(start)),
            _ => Ok(None),
        };
    };
    if !name.eq_ignore_ascii_case(PING) {
        return if name.starts_with(b"*") { Ok(Some(start)) } else { Err(refused) };
    }
    match &rest[PING.len()..] {
        [] | [b'\r'] => Ok(None),
        [b'\n', ..] | [b'\r', b'\n', ..] => {
            words.push(start..start + PING.len());
            let line = if rest[PING.len()] == b'\r' { 2 } else { 1 };
            Ok(Some(start + PING.len() + line))
        }
        _ => Err(refused),
    }
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
    fn a_command_in_pieces_is_read_once_complete() {
        let text = b"*2\r\n$4\r\nINCR\r\n$3\r\na\r\n\r\n*1\r\n$4\r\nPING\r\n";
        for end in 0..23 {
            assert_eq!(words(&text[..end]), Ok(None), "{end} bytes");
        }
        assert_eq!(words(text), Ok(Some((vec![&b"INCR"[..], b"a\r\n"], 23))));
        assert_eq!(words(b"*0\r\nrest"), Ok(Some((vec![], 4))));
    }

    #[test]
    fn ping_may_be_a_plain_line() {
        for (text, length) in [(&b"PING\r\n"[..], 6), (b"ping\n*1", 5), (b"\r\nPING\r\n", 8)] {
            let (found, end) = words(text).expect("a command").expect("whole");
            assert!(found.len() == 1 && found[0].eq_ignore_ascii_case(b"PING") && end == length, "{text:?}");
        }
        for begun in [&b"P"[..], b"PING", b"PING\r", b"\r\nPI"] {
            assert_eq!(words(begun), Ok(None), "{begun:?}");
        }
        assert_eq!(words(b"\r\n"), Ok(Some((vec![], 2))));
        assert_eq!(words(b"\r\n*1\r\n$4\r\n"), Ok(Some((vec![], 2))));
    }

    #[test]
    fn malformed_commands_are_refused_at_once() {
        for bad in [
            &b"GET / HTTP/1.1\r\n"[..],
            b"PINGS\r\n",
            b"PING a\r\n",
            b"\r\nGET / HTTP/1.1\r\n",
            b"INCR a\r\n",
            b"*1\r\n$65537\r\n",
            b"*1\r\n$9999999999999999\r\n",
            b"*1\r\n$+1\r\na\r\n",
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
