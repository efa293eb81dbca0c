/**
 * What many lines of the log have in common: all of a line but the id of its request, its target, the name of its object and two times.
 *
 * 1. Such lines have the same Form, so whoever writes them elsewhere can say it once, and later by a number.
 */

/** How many texts a form has: one before each blank, and one after the last. */
export const TEXTS = 6;

export class Form {
  /** What stands before the id, the target, the name, the time of arrival, the time of the stage; and what ends the line. */
  readonly texts: readonly string[];
  /** Where a sink has noted it: see `batch-log.ts`. */
  book: object | undefined;
  place = 0;

  constructor(...texts: [string, string, string, string, string, string]) {
    this.texts = texts;
  }
}

/** What all events of a request fill in. Nothing of it has to be escaped, and every letter is a byte. */
export interface Blanks {
  readonly id: string;
  readonly target: string;
  readonly receivedMs: number;
  /** Where a sink has the texts already. */
  batch: object | undefined;
  at: number;
}

export function filled({ texts }: Form, { id, target, receivedMs }: Blanks, name: string, atMs: number): string {
  const [start, stage, about, after, happened, end] = texts;
  return `${start}${id}${stage}${target}${about}${name}${after}${timeText(receivedMs)}${happened}${timeText(atMs)}${end}`;
}

export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
