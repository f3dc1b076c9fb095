//! CSV tables: a header of known columns, and rows of the same length. Only empty lines and those that begin with `#`
//! are skipped.

use super::foreign::{self, Wanted};
use super::report::{count, is_or_are, shortened};
use std::fmt;

/// Reason why a file cannot be read, and advice.
#[derive(Clone, Debug, PartialEq)]
pub struct Misread {
    /// Reason why the text cannot be read.
    pub why: String,
    /// Advice for the user.
    pub help: Option<String>,
}

impl From<String> for Misread {
    fn from(why: String) -> Misread {
        Misread { why, help: None }
    }
}

impl From<&str> for Misread {
    fn from(why: &str) -> Misread {
        why.to_owned().into()
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.help {
            Some(help) => write!(f, "{}; {help}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

/// A table with its header and rows.
#[derive(Debug)]
pub struct Csv<'a> {
    header: Vec<&'a str>,
    rows: Vec<Row<'a>>,
}

/// A row of a table.
#[derive(Debug)]
pub struct Row<'a> {
    text: &'a str,
    /// Line number, from 1.
    pub line: usize,
}

/// Non-empty lines with their numbers. Skips a byte order mark, as written by spreadsheets, and comments after `#`.
pub fn lines(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().zip(1..).map(|(line, number)| (line.trim(), number));
    lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'))
}

/// Fields of a line.
pub(super) fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|f| f.trim().trim_matches('"'))
}

impl<'a> Csv<'a> {
    /// Reads a text that has the columns needed for `wanted`, and possibly its optional ones.
    ///
    /// # Errors
    /// A mistake in the header, or a row of the wrong length.
    pub fn read(text: &'a str, wanted: Wanted) -> Result<Csv<'a>, Misread> {
        if let Some(foreign) = foreign::recognized(text, wanted) {
            return Err(foreign);
        }
        let mut lines = lines(text);
        let Some((first, number)) = lines.next() else { return Err("it is empty".into()) };
        let header: Vec<&str> = fields(first).collect();
        let (needed, others) = (wanted.needed(), wanted.others());
        let known = || {
            let all: Vec<&str> = needed.iter().chain(others).copied().collect();
            format!("its columns are {}", all.join(", "))
        };
        let unknown = || header.iter().filter(|h| !needed.contains(h) && !others.contains(h));
        let help = || unknown().find_map(|c| foreign::column(c, &header, wanted)).unwrap_or_else(known);
        if let Some(twice) = header.iter().enumerate().find(|(i, h)| header[..*i].contains(h)) {
            return Err(format!("line {number} has the column `{}` twice", shortened(twice.1)).into());
        }
        if let Some(missing) = needed.iter().find(|c| !header.contains(c)) {
            let why = format!("it has no column `{missing}`; its header is `{}`", shortened(first.trim()));
            return Err(Misread { why, help: Some(help()) });
        }
        if let Some(unknown) = unknown().next() {
            let why = format!("line {number} has a column `{}`, which is not known here", shortened(unknown));
            return Err(Misread { why, help: Some(help()) });
        }
        let rows: Vec<Row<'_>> = lines.map(|(text, line)| Row { text, line }).collect();
        for row in &rows {
            let own = row.text.split(',').count();
            if own != header.len() {
                let (own, there) = (count(own as u64, "field"), header.len());
                return Err(format!("line {} has {own}, and the header names {there}", row.line).into());
            }
        }
        if rows.is_empty() { Err("it has no rows below its header".into()) } else { Ok(Csv { header, rows }) }
    }

    /// Index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|h| *h == name)
    }

    /// Rows of the table.
    pub fn rows(&self) -> &[Row<'a>] {
        &self.rows
    }

    /// Sorts one value per row by the numbers in this column, if the column exists: each number from 0 on must occur
    /// once.
    ///
    /// # Errors
    /// The mistake with its line.
    pub fn in_order<T>(&self, column: &str, all: Vec<T>) -> Result<Vec<T>, Misread> {
        let Some(place) = self.column(column) else { return Ok(all) };
        let mut lines: Vec<Option<usize>> = vec![None; all.len()];
        let mut numbers = Vec::with_capacity(all.len());
        let expected = || Some(format!("number them from 0 to {}, or leave the column `{column}` out", all.len() - 1));
        for row in &self.rows {
            let n: u64 = row.get(place).parse().map_err(|_| row.misses(column))?;
            let seat = usize::try_from(n).ok().and_then(|n| lines.get_mut(n));
            let why = match seat {
                Some(seat) => match seat.replace(row.line) {
                    None => {
                        numbers.push(n);
                        continue;
                    }
                    Some(line) => format!("lines {line} and {} have the same `{column}`, {n}", row.line),
                },
                None => {
                    let (is, rows) = (is_or_are(all.len() as u64), count(all.len() as u64, "row"));
                    format!("line {} has `{column}` {n}, and there {is} {rows}", row.line)
                }
            };
            return Err(Misread { why, help: expected() });
        }
        let mut numbered: Vec<(u64, T)> = numbers.into_iter().zip(all).collect();
        numbered.sort_by_key(|n| n.0);
        Ok(numbered.into_iter().map(|n| n.1).collect())
    }
}

impl<'a> Row<'a> {
    /// All fields of the row, without quotes.
    pub fn fields(&self) -> Vec<&'a str> {
        fields(self.text).collect()
    }

    /// Field in a column.
    pub fn get(&self, column: usize) -> &'a str {
        fields(self.text).nth(column).unwrap_or_default()
    }

    /// Message about a field that cannot be read.
    pub fn misses(&self, column: &str) -> Misread {
        format!("line {} has nothing that fits in column `{column}`", self.line).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Csv<'_>, Misread> {
        Csv::read(text, Wanted::Positions)
    }

    #[test]
    fn every_line_is_read_or_refused() {
        let csv = read("\u{feff}\"y_m\", x_m\r\n\n# a comment\n1, \"2\"\n3,4\n").expect("it is right");
        let of_x = csv.column("x_m").expect("there is one");
        let found: Vec<_> = csv.rows().iter().map(|r| (r.line, r.fields(), r.get(of_x))).collect();
        assert_eq!(found, [(4, vec!["1", "2"], "2"), (5, vec!["3", "4"], "4")]);
        assert_eq!(csv.column("node"), None);
        for (text, said) in [
            ("", "it is empty"),
            ("# x_m,y_m\n", "it is empty"),
            ("x_m,y_m\n", "it has no rows below its header"),
            ("x_m\n1\n", "it has no column `y_m`; its header is `x_m`; its columns are x_m, y_m, node, name"),
            ("x_m,y_m,x_m\n1,2,3\n", "line 1 has the column `x_m` twice"),
            (
                "\nx_m,y_m,label\n1,2,a\n",
                "line 2 has a column `label`, which is not known here; its columns are x_m, y_m, node, name",
            ),
            ("x_m,y_m\n1,2\n3\n", "line 3 has 1 field, and the header names 2"),
            ("x_m,y_m\n1,2,3\n", "line 2 has 3 fields, and the header names 2"),
        ] {
            assert_eq!(read(text).expect_err("it is wrong").to_string(), said, "{text}");
        }
    }

    #[test]
    fn rows_stand_in_the_order_of_their_numbers() {
        let order = |text: &str| {
            let csv = read(text)?;
            csv.in_order("node", csv.rows().iter().map(|r| r.get(1)).collect()).map(|all| all.join(" "))
        };
        assert_eq!(order("x_m,y_m\n1,a\n1,b\n"), Ok("a b".to_owned()));
        assert_eq!(order("node,x_m,y_m\n2,c,0\n0,a,0\n1,b,0\n"), Ok("a b c".to_owned()));
        for (text, said) in [
            ("node,x_m,y_m\n0,a,0\n0,b,0\n", "lines 2 and 3 have the same `node`, 0; "),
            ("node,x_m,y_m\n0,a,0\n2,b,0\n", "line 3 has `node` 2, and there are 2 rows; "),
            ("node,x_m,y_m\n0,a,0\n-1,b,0\n", "line 3 has nothing that fits in column `node`"),
        ] {
            let found = order(text).expect_err("it is wrong").to_string();
            assert!(found.starts_with(said), "{found}");
        }
    }
}
