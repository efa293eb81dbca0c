/**
 * The bytes of a template's line, with room for its values. Lines of one template whose values have the same lengths
 * differ in these alone: the bytes are copied whole, and the values written over them.
 */
import { timeText } from "./line-template.ts";

const TIME_LENGTH = timeText(0).length;
const NEWLINE = 0x0a;

/** The lengths of the values. */
export interface ValueLengths {
  readonly id: number;
  readonly name: number;
  readonly nameInUri: boolean;
}

export class LineLayout {
  readonly #lengths: ValueLengths;
  readonly #bytes: Buffer;
  readonly #idAt: number;
  readonly #nameInUriAt: number;
  readonly #nameAt: number;
  readonly #receivedAt: number;
  readonly #happenedAt: number;
  /** The times that stand in the bytes. */
  #receivedMs = Number.NaN;
  #atMs = Number.NaN;

  /** `texts`: see `LineTemplate`. */
  constructor(texts: readonly string[], lengths: ValueLengths) {
    const { id, name, nameInUri } = lengths;
    const room = [id, nameInUri ? name : 0, name, TIME_LENGTH, TIME_LENGTH, 1];
    const parts = texts.flatMap((text, i) => [Buffer.from(text), Buffer.alloc(room[i] ?? 0, NEWLINE)]);
    const [idAt = 0, nameInUriAt = 0, nameAt = 0, receivedAt = 0, happenedAt = 0] = texts.map((_, i) =>
      parts.slice(0, 2 * i + 1).reduce((sum, { length }) => sum + length, 0),
    );
    this.#lengths = lengths;
    this.#bytes = Buffer.concat(parts);
    this.#idAt = idAt;
    this.#nameInUriAt = nameInUriAt;
    this.#nameAt = nameAt;
    this.#receivedAt = receivedAt;
    this.#happenedAt = happenedAt;
  }

  get size(): number {
    return this.#bytes.length;
  }

  /** Most lines have the times of the line before. */
  setTimes(receivedMs: number, atMs: number): void {
    if (receivedMs !== this.#receivedMs) this.#bytes.write(timeText(receivedMs), this.#receivedAt, "latin1");
    if (atMs !== this.#atMs) this.#bytes.write(timeText(atMs), this.#happenedAt, "latin1");
    this.#receivedMs = receivedMs;
    this.#atMs = atMs;
  }

  /** Writes the line. `text` has the id, and the name after it. */
  write(target: Buffer, start: number, text: Uint8Array, textAt: number): void {
    const { id, name, nameInUri } = this.#lengths;
    target.set(this.#bytes, start);
    copy(text, textAt, id, target, start + this.#idAt);
    copy(text, textAt + id, name, target, start + this.#nameAt);
    if (nameInUri) copy(text, textAt + id, name, target, start + this.#nameInUriAt);
  }
}

function copy(from: Uint8Array, start: number, length: number, to: Buffer, at: number): void {
  for (let i = 0; i < length; i++) to[at + i] = from[start + i] ?? 0;
}
