/**
 * Parses files of environment variables that one container of a Pod writes for others: `NAME='value'` on each line.
 * Pure.
 *
 * 1. Text in single quotes is taken literally and may span lines; a value without quotes ends with its line.
 * 2. Empty lines and lines that begin with # are ignored.
 */

export class EnvFileError extends Error {
  override readonly name = "EnvFileError";
}

/** Throws EnvFileError with the number of the line. */
export function parseEnvFile(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (let at = 0, line = 1; at < text.length; ) {
    const end = endOfLine(text, at);
    const start = text.slice(at, end);
    if (/^\s*(#.*)?$/.test(start)) {
      at = end + 1;
      line++;
      continue;
    }
    const match = /^\s*([^\s=']+)=('?)/.exec(start);
    if (match === null) throw new EnvFileError(`line ${line} is no NAME='value'`);
    const [whole, name = "", quote] = match;
    const from = at + whole.length;
    if (quote === "") {
      found.set(name, text.slice(from, end).trimEnd());
      at = end + 1;
      line++;
      continue;
    }
    const close = text.indexOf("'", from);
    if (close < 0) throw new EnvFileError(`line ${line}: the quote is not closed`);
    const next = endOfLine(text, close);
    if (!/^\s*(#.*)?$/.test(text.slice(close + 1, next))) {
      throw new EnvFileError(`line ${line}: nothing but a comment may follow the quote`);
    }
    const value = text.slice(from, close);
    found.set(name, value);
    line += value.split("\n").length;
    at = next + 1;
  }
  return found;
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at < 0 ? text.length : at;
}
