/**
 * Forms as bytes, with room for what they are filled in with.
 *
 * 1. Lines of the same form whose blanks are as long are the same but for what is in these: such a Layout is copied whole, and filled in.
 */
import { TEXTS, timeText } from "./line-template.ts";

const TIME_BYTES = timeText(0).length;
const NEWLINE = 10;

export interface FormBytes {
  readonly texts: readonly Buffer[];
  /** By the lengths of blanks. */
  readonly layouts: Map<number, Layout>;
}

export interface Layout {
  readonly bytes: Buffer;
  readonly idLength: number;
  readonly nameLength: number;
  /** Where id and name stand, line by line: the name also in the target, if that has it. */
  readonly ids: readonly number[];
  readonly names: readonly number[];
  /** Where the time of arrival stands. Also as that of its stage, if another line follows. */
  readonly received: readonly number[];
  /** Where the time of the last line's stage stands. */
  readonly happened: number;
  /** As they are written in it. */
  receivedMs: number;
  atMs: number;
}

export function formBytes(form: readonly string[]): FormBytes {
  if (form.length === 0 || form.length % TEXTS !== 0)
    throw new Error(`a form has ${TEXTS} texts for each line, and not ${form.length}`);
  return { texts: form.map((text) => Buffer.from(text)), layouts: new Map() };
}

/** `isNamed`: the target has the name, too. */
export function layOut({ texts }: FormBytes, idLength: number, nameLength: number, isNamed: boolean): Layout {
  const lines = texts.length / TEXTS;
  const inTarget = isNamed ? nameLength : 0;
  const blanks = idLength + inTarget + nameLength + 2 * TIME_BYTES + 1;
  const bytes = Buffer.alloc(lines * blanks + texts.reduce((sum, { length }) => sum + length, 0));
  const ids: number[] = [];
  const names: number[] = [];
  const times: number[] = [];
  let at = 0;
  for (const [i, text] of texts.entries()) {
    at += text.copy(bytes, at);
    const blank = i % TEXTS;
    if (blank === 0) ids.push(at);
    else if (blank === 2 || (blank === 1 && isNamed)) names.push(at);
    else if (blank === 3 || blank === 4) times.push(at);
    at += [idLength, inTarget, nameLength, TIME_BYTES, TIME_BYTES, 1][blank] ?? 0;
    if (blank === TEXTS - 1) bytes[at - 1] = NEWLINE;
  }
  return {
    bytes,
    idLength,
    nameLength,
    ids,
    names,
    received: times.slice(0, -1),
    happened: times.at(-1) ?? 0,
    receivedMs: Number.NaN,
    atMs: Number.NaN,
  };
}
