/**
 * What many lines of the log have in common: a whole line but for the request's id, the object's name and two times.
 *
 * The batch log tells its thread each template once and refers to it by number from then on. With templates a request
 * and its two lines cost 7 µs of processor time, without 33 (both threads, `bench -- audit`, 2026-11-18).
 * event.test.ts compares both.
 */

export class LineTemplate {
  /**
   * What stands before the id, the name in the URI, the name in objectRef, the time of arrival, the time of the stage;
   * and the end.
   */
  readonly texts: readonly string[];
  /** The batch log's number for it, valid in the numbering that assigned it: see `TemplateNumbers`. */
  numbering: object | undefined;
  number = 0;

  constructor(...texts: readonly string[]) {
    this.texts = texts;
  }
}

/** What a line of a request adds to its template. No part needs escaping, and every letter is one byte. */
export interface LineValues {
  readonly id: string;
  /** The URI ends with the object's name. */
  readonly nameInUri: boolean;
  readonly receivedMs: number;
}

export function lineFrom(
  texts: readonly string[],
  { id, nameInUri, receivedMs }: LineValues,
  name: string,
  atMs: number,
): string {
  const [start, uri, reference, received, happened, end] = texts;
  const about = `${uri}${nameInUri ? name : ""}${reference}${name}`;
  return `${start}${id}${about}${received}${timeText(receivedMs)}${happened}${timeText(atMs)}${end}`;
}

export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
