/** One parser under fuzz: its valid inputs, and the classes of errors that it declares. Any other is a finding. */

export interface Target {
  readonly seeds: readonly Buffer[];
  readonly errors: readonly (new (...args: never[]) => Error)[];
  /** False or undefined: refused. */
  readonly read: (bytes: Buffer) => unknown;
  /** How many mutated inputs `npm test` tries. Default: 2,000. */
  readonly inputs?: number;
}

export type Targets = Readonly<Record<string, Target>>;

export const texts = (...all: readonly string[]) => all.map((text) => Buffer.from(text));
export const hex = (...all: readonly string[]) => all.map((text) => Buffer.from(text, "hex"));

/** Something that must hold for every input that is accepted. */
export function ensure(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/**
 * Runs what handles events of sockets. What it throws there does not reach its caller: it would end the process, so it
 * is thrown from here.
 */
export async function withEvents<T>(run: () => Promise<T>): Promise<T> {
  const thrown: unknown[] = [];
  process.setUncaughtExceptionCaptureCallback((error) => thrown.push(error));
  try {
    return await run();
  } finally {
    process.setUncaughtExceptionCaptureCallback(null);
    // It is the cause of what failed afterwards.
    if (thrown.length > 0) await Promise.reject(thrown[0]);
  }
}
