/** Verbosities for parts of a program: a pattern with a number, where the first pattern that matches decides. */

export interface VerbosityPattern {
  /** `*` and `?` stand for any characters and for one. */
  readonly pattern: string;
  readonly verbosity: number;
}

export function verbosityFor(name: string, patterns: readonly VerbosityPattern[]): number | undefined {
  if (name === "") return undefined;
  return patterns.find(({ pattern }) => matches(name, pattern))?.verbosity;
}

function matches(name: string, pattern: string): boolean {
  if (!/[*?]/.test(pattern)) return name === pattern;
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "s").test(name);
}
