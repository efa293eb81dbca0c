/** The titles of tests, as pages name them. */

/** Titles stand in a file as literals: of a test, or of a row in its table. */
export function literals(source: string): ReadonlySet<string> {
  const found = source.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g);
  return new Set([...found].map(([, quoted, template]) => (quoted ?? template ?? "").replace(/\\(.)/g, "$1")));
}

export interface NamedTest {
  /** From the root of the project. Empty: the text names no test. */
  readonly file: string;
  readonly title: string;
}

/** The test at the end of a line or cell: [x.test.ts](../src/x.test.ts): ``its title`` */
export function namedTest(text: string): NamedTest {
  const [, file = "", title = ""] = /\(\.\.\/([^)]+)\): ``(.+)``(?: \|)?$/.exec(text) ?? [];
  return { file, title };
}
