// The README's guard as a Rust program without crates: a stand-in for peers that are written in Rust.

use std::io::{self, Read, Write};
use std::process::ExitCode;

const DENY: &[u8] = b"{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"not here\"}}\n";

/// JSON text and the place up to which it was read; every method returns None where the text is no JSON.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.text.get(self.at..self.at + 4)?).ok()?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    fn string(&mut self) -> Option<String> {
        self.take(b'"')?;
        let mut bytes = Vec::new();
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(bytes).ok(),
                b'\\' => {
                    let escape = *self.text.get(self.at)?;
                    self.at += 1;
                    let plain = match escape {
                        b'"' | b'\\' | b'/' => escape as u32,
                        b'b' => 8,
                        b'f' => 12,
                        b'n' => 10,
                        b'r' => 13,
                        b't' => 9,
                        b'u' => match self.hex()? {
                            high @ 0xD800..=0xDBFF => {
                                if self.text.get(self.at..self.at + 2)? != b"\\u" {
                                    return None;
                                }
                                self.at += 2;
                                0x10000 + ((high - 0xD800) << 10) + self.hex()?.checked_sub(0xDC00)?
                            }
                            unit => unit,
                        },
                        _ => return None,
                    };
                    let mut buffer = [0; 4];
                    bytes.extend(char::from_u32(plain)?.encode_utf8(&mut buffer).bytes());
                }
                _ => bytes.push(byte),
            }
        }
    }

    /// Read an object, and let `member` read the value of each of its keys.
    fn object(&mut self, member: &mut dyn FnMut(&mut Self, &str) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.peek()? == b'}' {
            return self.take(b'}');
        }
        loop {
            let key = self.string()?;
            self.take(b':')?;
            member(self, &key)?;
            if self.peek()? == b'}' {
                return self.take(b'}');
            }
            self.take(b',')?;
        }
    }

    fn skip(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'{' => self.object(&mut |scanner, _| scanner.skip()),
            b'[' => {
                self.take(b'[')?;
                if self.peek()? == b']' {
                    return self.take(b']');
                }
                loop {
                    self.skip()?;
                    if self.peek()? == b']' {
                        return self.take(b']');
                    }
                    self.take(b',')?;
                }
            }
            _ => {
                let start = self.at;
                while matches!(self.text.get(self.at), Some(b'a'..=b'z' | b'0'..=b'9' | b'E' | b'+' | b'-' | b'.')) {
                    self.at += 1;
                }
                (self.at > start).then_some(())
            }
        }
    }
}

/// The tool's name and its command.
fn read_call(payload: &[u8]) -> Option<(String, String)> {
    let (mut tool, mut command) = (String::new(), String::new());
    let mut scanner = Scanner { text: payload, at: 0 };
    scanner.object(&mut |scanner, key| match key {
        "tool_name" => scanner.string().map(|name| tool = name),
        "tool_input" => scanner.object(&mut |scanner, key| match key {
            "command" => scanner.string().map(|text| command = text),
            _ => scanner.skip(),
        }),
        _ => scanner.skip(),
    })?;
    Some((tool, command))
}

fn main() -> ExitCode {
    let mut payload = Vec::new();
    let call = io::stdin().read_to_end(&mut payload).ok().and_then(|_| read_call(&payload));
    match call {
        None => {
            eprintln!("guard: stdin has no JSON of a tool call");
            ExitCode::FAILURE
        }
        Some((tool, command)) => {
            if tool == "Bash" && command.contains("rm -rf") {
                let _ = io::stdout().write_all(DENY);
            }
            ExitCode::SUCCESS
        }
    }
}
