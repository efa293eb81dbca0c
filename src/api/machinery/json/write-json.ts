/**
 * JSON text of values that may hold bigints, which JSON.stringify refuses.
 *
 * 1. The common path is JSON.stringify alone. Only a value that it refuses is written with a replacer.
 */

declare global {
  /** What TypeScript does not know yet. */
  interface JSON {
    rawJSON(text: string): object;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** As JSON.stringify, and every integer with all of its digits. */
export function writeJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, writeExactly, indent);
  }
}

/** A replacer for JSON.stringify. */
export function writeExactly(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? JSON.rawJSON(String(value)) : value;
}
