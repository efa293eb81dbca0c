/** Values of a configuration file, checked while they are read. Errors name the place. */
export type Fields = Readonly<Record<string, unknown>>;

/** Refuses fields that are not `known`. */
export function fieldsOf(value: unknown, what: string, known?: readonly string[]): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${what} must be a mapping`);
  const unknown = known && Object.keys(value).find((field) => !known.includes(field));
  if (unknown !== undefined) throw new Error(`${what} has no field ${JSON.stringify(unknown)} here`);
  return value as Fields;
}

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Error(`${what} must be a list`);
  return value;
}

export function textOf(value: unknown, what: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" || typeof value === "number") return String(value);
  throw new Error(`${what} must be a string`);
}

export function within<T>(place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Error(`${place}: ${(error as Error).message}`, { cause: error });
  }
}
