/**
 * What many lines of the log have in common: all of a line but the id of its request, the name of its object, which its target may have as well, and two times.
 *
 * 1. Such lines have the same Form, so whoever writes them elsewhere can say it once, and later by a number.
 * 2. The two lines of a request that was answered at once are one form, too.
 */

/** How many texts a line has: one before each blank, and one after the last. */
export const TEXTS = 6;

export class Form {
  /**
   * What stands before the id, the name in the target, the name, the time of arrival, the time of the stage; and what ends the line. As many for the next line, if
   * there is one.
   */
  readonly texts: readonly string[];
  /** Where a sink has noted it: see `batch-log.ts`. */
  book: object | undefined;
  place = 0;

  constructor(...texts: readonly string[]) {
    this.texts = texts;
  }

  /** Both lines: the other one, which tells that the request has come, and then this one. They are filled in alike, but for the time of their stage. */
  after(received: Form): Form {
    return new Form(...received.texts, ...this.texts);
  }
}

/** What all events of a request fill in. Nothing of it has to be escaped, and every letter is a byte. */
export interface Blanks {
  readonly id: string;
  /** The target has the name, too. */
  readonly isNamed: boolean;
  readonly receivedMs: number;
}

/** Of a form for one line. */
export function filled({ texts }: Form, { id, isNamed, receivedMs }: Blanks, name: string, atMs: number): string {
  const [start, target, about, after, happened, end] = texts;
  const called = `${target}${isNamed ? name : ""}${about}${name}`;
  return `${start}${id}${called}${after}${timeText(receivedMs)}${happened}${timeText(atMs)}${end}`;
}

export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
