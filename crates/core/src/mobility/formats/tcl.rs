//! Parser for the part of Tcl used in movement files of ns-2: words separated by blanks, quotes and braces, commands
//! that end with a line or a semicolon, comments, and lines continued by a backslash.

/// A command: its words, and the line in which it begins.
#[derive(Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// Words of the command. A text in quotes or braces is one word, without them.
    pub words: Vec<&'a str>,
    /// Line number, from 1.
    pub line: usize,
}

/// Reads the commands of a script, or of a quoted word that begins in this line.
///
/// # Errors
/// A text that cannot be parsed, with its line.
pub fn commands(text: &str, line: usize) -> Result<Vec<Command<'_>>, String> {
    let bytes = text.as_bytes();
    let (mut at, mut line, mut commands) = (0, line, vec![]);
    let mut command = Command { words: vec![], line };
    while at < bytes.len() {
        match bytes[at] {
            b'\n' | b';' => {
                if !command.words.is_empty() {
                    commands.push(std::mem::replace(&mut command, Command { words: vec![], line }));
                }
                line += usize::from(bytes[at] == b'\n');
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b'\\' if continuation(bytes, at).is_some() => {
                line += 1;
                at += continuation(bytes, at).unwrap_or(1);
            }
            b'#' if command.words.is_empty() => {
                let end = end_of_comment(bytes, at);
                line += text[at..end].matches('\n').count();
                at = end;
            }
            open @ (b'"' | b'{') => {
                let end = closing(bytes, at, open)
                    .ok_or_else(|| format!("line {line} has a `{}` without its end", open as char))?;
                command.begin(line);
                command.words.push(&text[at + 1..end]);
                line += text[at..end].matches('\n').count();
                at = end + 1;
                if bytes.get(at).is_some_and(|b| !b" \t\r\n;".contains(b)) {
                    return Err(format!("line {line} goes on right behind a quoted word"));
                }
            }
            _ => {
                let stops = |i: &usize| b" \t\r\n;".contains(&bytes[*i]) || continuation(bytes, *i).is_some();
                let end = (at..bytes.len()).find(stops).unwrap_or(bytes.len());
                command.begin(line);
                command.words.push(&text[at..end]);
                at = end;
            }
        }
    }
    if !command.words.is_empty() {
        commands.push(command);
    }
    Ok(commands)
}

impl Command<'_> {
    /// Begins a command at its first word.
    fn begin(&mut self, line: usize) {
        if self.words.is_empty() {
            self.line = line;
        }
    }
}

/// Length of a backslash and the line end behind it, which continue the line; for Unix and Windows line ends.
fn continuation(bytes: &[u8], at: usize) -> Option<usize> {
    match &bytes[at..] {
        [b'\\', b'\n', ..] => Some(2),
        [b'\\', b'\r', b'\n', ..] => Some(3),
        _ => None,
    }
}

/// End of a comment that begins here: end of its line, which a backslash continues as it does for commands.
fn end_of_comment(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < bytes.len() && bytes[at] != b'\n' {
        at += match bytes[at] {
            // An escaped backslash is no continuation.
            b'\\' => continuation(bytes, at).unwrap_or(2),
            _ => 1,
        };
    }
    at.min(bytes.len())
}

/// End of a quoted word that begins here. An escaped quote or brace does not end it.
fn closing(bytes: &[u8], start: usize, open: u8) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, start + 1);
    while at < bytes.len() {
        match (open, bytes[at]) {
            (_, b'\\') => at += 1,
            (b'"', b'"') => return Some(at),
            (b'{', b'}') if depth == 0 => return Some(at),
            (b'{', b'}') => depth -= 1,
            (b'{', b'{') => depth += 1,
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(usize, Vec<&str>)> {
        commands(text, 1).expect("it can be read").into_iter().map(|c| (c.line, c.words)).collect()
    }

    #[test]
    fn commands_end_with_lines_and_semicolons() {
        let text = "# a; b\n$a set X_ 1; $a set Y_ 2 ;# the base\n\n  # \"no end\n\
                    $s at 1 \"$a go; $b go\";\r\n$a set \\\n  Z_ {3 {4}}\n";
        let expected = [
            (2, vec!["$a", "set", "X_", "1"]),
            (2, vec!["$a", "set", "Y_", "2"]),
            (5, vec!["$s", "at", "1", "$a go; $b go"]),
            (6, vec!["$a", "set", "Z_", "3 {4}"]),
        ];
        assert_eq!(read(text), expected);
        assert_eq!(read(""), []);
        assert_eq!(read("a\"b c"), [(1, vec!["a\"b", "c"])]);
        assert_eq!(read("at \"\n\n\" x\ny"), [(1, vec!["at", "\n\n", "x"]), (4, vec!["y"])]);
    }

    #[test]
    fn backslash_continues_comments_and_commands() {
        for end in ["\n", "\r\n"] {
            let text =
                ["# off \\", "$a set X_ 1 \\", "too", "$b set X_ \\", "2", "# two \\\\", "$c set X_ 3", "# last \\"];
            let expected = [(4, vec!["$b", "set", "X_", "2"]), (7, vec!["$c", "set", "X_", "3"])];
            assert_eq!(read(&text.join(end)), expected, "{end:?}");
        }
    }

    #[test]
    fn escaped_quotes_and_braces_belong_to_the_word() {
        assert_eq!(read("at \"a \\\" b\" c"), [(1, vec!["at", "a \\\" b", "c"])]);
        assert_eq!(read("at {a \\} b} c"), [(1, vec!["at", "a \\} b", "c"])]);
    }

    #[test]
    fn unclosed_quotes_and_braces_are_rejected() {
        assert_eq!(commands("a\nb \"c\n", 1).expect_err("it has no end"), "line 2 has a `\"` without its end");
        assert_eq!(commands("a {b {c}\n", 3).expect_err("it has no end"), "line 3 has a `{` without its end");
        assert_eq!(commands("a \"b\"c\n", 1).expect_err("it goes on"), "line 1 goes on right behind a quoted word");
    }
}
