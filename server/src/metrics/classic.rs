//! The text format of Prometheus before `OpenMetrics`.

use std::fmt::Write as _;

/// The media type of the format.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Converts a text of `OpenMetrics`. There a counter's family lacks the suffix of its samples, an info is a type, and lines
/// with units and the end are no comments.
pub fn classic(text: &str) -> String {
    let mut classic = String::with_capacity(text.len());
    let mut help = "";
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        // Writing to a string cannot fail.
        let _ = match [words.next(), words.next(), words.next(), words.next()] {
            [Some("#"), Some("EOF" | "UNIT"), ..] => Ok(()),
            // The type comes next, and says how the family is named.
            [Some("#"), Some("HELP"), _, Some(sentence)] => {
                help = sentence;
                Ok(())
            }
            [Some("#"), Some("TYPE"), Some(name), Some(kind)] => {
                let (suffix, kind) = match kind {
                    "counter" => ("_total", kind),
                    "info" => ("_info", "gauge"),
                    "unknown" => ("", "untyped"),
                    _ => ("", kind),
                };
                writeln!(classic, "# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {kind}")
            }
            _ => writeln!(classic, "{line}"),
        };
    }
    classic
}

#[cfg(test)]
mod tests {
    use super::classic;

    #[test]
    fn families_have_the_names_of_their_samples() {
        let open = "# HELP a Things.\n# TYPE a counter\na_total 1\n# HELP b The build.\n# TYPE b info\nb_info{v=\"1\"} 1\n\
                    # HELP c_seconds Time.\n# TYPE c_seconds histogram\n# UNIT c_seconds seconds\nc_seconds_sum 0.0\n# EOF\n";
        let wanted = "# HELP a_total Things.\n# TYPE a_total counter\na_total 1\n# HELP b_info The build.\n\
                      # TYPE b_info gauge\nb_info{v=\"1\"} 1\n# HELP c_seconds Time.\n# TYPE c_seconds histogram\n\
                      c_seconds_sum 0.0\n";
        assert_eq!(classic(open), wanted);
    }
}
