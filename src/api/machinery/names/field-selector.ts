/** Field selectors: `status.phase=Running,spec.nodeName!=n1`. Values may contain `\\`, `\,` and `\=`. */

export interface FieldTerm {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

export interface FieldMatcher {
  /** Empty: everything matches. */
  readonly terms: readonly FieldTerm[];
  matches(read: (field: string) => string): boolean;
  toString(): string;
}

export class FieldSelectorError extends Error {
  override readonly name = "FieldSelectorError";
}

export function parseFieldSelector(text: string): FieldMatcher {
  const terms = splitTerms(text).filter((term) => term !== "");
  return fieldMatcherOf(terms.map((term) => parseTerm(term, text)));
}

export function fieldMatcherOf(terms: readonly FieldTerm[]): FieldMatcher {
  const sorted = [...terms].sort((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0));
  return {
    terms: sorted,
    matches: (read) => sorted.every(({ field, operator, value }) => (read(field) === value) === (operator === "=")),
    toString: () =>
      sorted.map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`).join(","),
  };
}

/** The exact value that the selector requires of a field, if it does. */
export function exactValue(matcher: FieldMatcher, field: string): string | undefined {
  return matcher.terms.find((term) => term.field === field && term.operator === "=")?.value;
}

export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, "\\$&");
}

function splitTerms(text: string): readonly string[] {
  if (text === "") return [];
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === ",") {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function parseTerm(term: string, whole: string): FieldTerm {
  const split = splitTerm(term);
  if (split === undefined) throw new FieldSelectorError(`invalid selector: '${whole}'; can't understand '${term}'`);
  return split;
}

/** Splits at the first operator that is not escaped. */
function splitTerm(term: string): FieldTerm | undefined {
  for (let i = 0; i < term.length; i++) {
    if (term[i] === "\\") {
      i++;
      continue;
    }
    for (const operator of ["!=", "==", "="] as const) {
      if (!term.startsWith(operator, i)) continue;
      const value = unescapeValue(term.slice(i + operator.length));
      return { field: term.slice(0, i), operator: operator === "!=" ? "!=" : "=", value };
    }
  }
  return undefined;
}

function unescapeValue(value: string): string {
  if (!/[\\,=]/.test(value)) return value;
  let plain = "";
  for (let i = 0; i < value.length; i++) {
    const char = value.charAt(i);
    if (char === "\\") {
      const next = value.charAt(++i);
      if (!/[\\,=]/.test(next))
        throw new FieldSelectorError(`invalid field selector: invalid escape sequence: \\${next}`);
      plain += next;
    } else if (char === "," || char === "=") {
      throw new FieldSelectorError(`invalid field selector: unescaped character in value: ${char}`);
    } else {
      plain += char;
    }
  }
  return plain;
}
