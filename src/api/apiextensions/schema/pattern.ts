/** Patterns in definitions: RE2 syntax, matched in linear time. */
import { RE2JS, RE2JSException } from "re2js";

export interface Pattern {
  /** Whether the pattern matches anywhere in a text; false for an invalid pattern. */
  test(text: string): boolean;
  /** Why the pattern is invalid, in Go's words. */
  readonly fault?: string;
}

export function compilePattern(pattern: string): Pattern {
  try {
    const compiled = RE2JS.compile(pattern);
    return { test: (text) => compiled.test(text) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // Go prints the offending part even if it is empty.
    const fault = error.message.endsWith("`") ? error.message : `${error.message}: \`\``;
    return { test: () => false, fault };
  }
}
