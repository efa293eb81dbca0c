/**
 * Patterns that users supply: RE2's syntax, matched in linear time, whatever they are.
 */
import { RE2JS, RE2JSException } from "re2js";

export interface Pattern {
  /** Whether it is found anywhere in a text; never, if it is no regular expression. */
  test(text: string): boolean;
  /** Why it is none, in Go's words. */
  readonly fault?: string;
}

export function compilePattern(pattern: string): Pattern {
  try {
    const compiled = RE2JS.compile(pattern);
    return { test: (text) => compiled.test(text) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // Go shows what is wrong even if that is nothing.
    const fault = error.message.endsWith("`") ? error.message : `${error.message}: \`\``;
    return { test: () => false, fault };
  }
}
