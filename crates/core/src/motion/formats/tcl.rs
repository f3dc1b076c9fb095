//! Commands of a Tcl script, as far as movement files of ns-2 have them: words between blanks, quotes and braces, commands
//! that end with a line or a semicolon, comments, lines that go on behind a backslash.

/// A command: its words, and the line in which it begins.
#[derive(Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// The words. What stands in quotes or braces is one word, without them.
    pub words: Vec<&'a str>,
    /// The number of its line, from 1.
    pub line: usize,
}

/// Reads the commands of a script, or of a quoted word that begins in this line.
///
/// # Errors
/// Text that cannot be read, with its line.
pub fn commands(text: &str, line: usize) -> Result<Vec<Command<'_>>, String> {
    let bytes = text.as_bytes();
    let (mut at, mut line, mut found) = (0, line, vec![]);
    let mut command = Command { words: vec![], line };
    let continues = |at: usize| bytes[at] == b'\\' && matches!(bytes.get(at + 1), Some(b'\n'));
    while at < bytes.len() {
        match bytes[at] {
            b'\n' | b';' => {
                if !command.words.is_empty() {
                    found.push(std::mem::replace(&mut command, Command { words: vec![], line }));
                }
                line += usize::from(bytes[at] == b'\n');
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            _ if continues(at) => {
                line += 1;
                at += 2;
            }
            b'#' if command.words.is_empty() => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
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
                let stops = |i: &usize| b" \t\r\n;".contains(&bytes[*i]) || continues(*i);
                let end = (at..bytes.len()).find(stops).unwrap_or(bytes.len());
                command.begin(line);
                command.words.push(&text[at..end]);
                at = end;
            }
        }
    }
    if !command.words.is_empty() {
        found.push(command);
    }
    Ok(found)
}

impl Command<'_> {
    /// A command begins at its first word.
    fn begin(&mut self, line: usize) {
        if self.words.is_empty() {
            self.line = line;
        }
    }
}

/// End of a quoted word that begins here.
fn closing(bytes: &[u8], start: usize, open: u8) -> Option<usize> {
    let mut depth = 0_usize;
    for (i, &b) in bytes.iter().enumerate().skip(start + 1) {
        match (open, b) {
            (b'"', b'"') => return Some(i),
            (b'{', b'}') if depth == 0 => return Some(i),
            (b'{', b'}') => depth -= 1,
            (b'{', b'{') => depth += 1,
            _ => {}
        }
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
    fn quotes_and_braces_have_ends() {
        assert_eq!(commands("a\nb \"c\n", 1).expect_err("it has no end"), "line 2 has a `\"` without its end");
        assert_eq!(commands("a {b {c}\n", 3).expect_err("it has no end"), "line 3 has a `{` without its end");
        assert_eq!(commands("a \"b\"c\n", 1).expect_err("it goes on"), "line 1 goes on right behind a quoted word");
    }
}
