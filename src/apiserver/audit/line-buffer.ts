/**
 * Puts lines together as bytes, in a buffer that is used again and again: the log of a busy server is tens of megabytes a second.
 *
 * 1. It is written when the next line has no room, and grows for one that is larger than all of it. No line is split.
 */
import { TEXTS, timeText } from "./form.ts";
import { type BatchMessage, FILLED_LENGTH, SPELLED } from "./log-protocol.ts";

const NEWLINE = 10;
const TIME_LENGTH = timeText(0).length;

interface FormBytes {
  readonly texts: readonly Buffer[];
  /** Of all texts together. */
  readonly length: number;
}

export class LineBuffer {
  /** Uses the bytes before it resolves. */
  readonly #write: (bytes: Buffer) => Promise<void>;
  #bytes: Buffer;
  #length = 0;
  #forms: FormBytes[] = [];
  /** Many lines are of the same millisecond. */
  #timeMs = Number.NaN;
  #time = Buffer.alloc(0);

  constructor(size: number, write: (bytes: Buffer) => Promise<void>) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
    this.#write = write;
  }

  forget(): void {
    this.#forms = [];
  }

  /** Resolves when all lines are written. */
  async take({ numbers, texts, lines, forms }: BatchMessage): Promise<void> {
    for (const form of forms) this.#forms.push(bytesOf(form));
    const text = Buffer.from(texts.join(""), "latin1");
    let spelled = 0;
    let i = 0;
    while (i < numbers.length) {
      const number = numbers[i] ?? SPELLED;
      if (number === SPELLED) {
        const line = Buffer.from(`${lines[spelled++]}\n`);
        if (!this.#hasRoomFor(line.length)) await this.#makeRoomFor(line.length);
        this.#copy(line);
        i++;
        continue;
      }
      const form = this.#forms[number];
      if (form === undefined) throw new Error(`form ${number} was never told`);
      const length = form.length + at(numbers, i + 2) + at(numbers, i + 3) + at(numbers, i + 5) + 2 * TIME_LENGTH + 1;
      if (!this.#hasRoomFor(length)) await this.#makeRoomFor(length);
      this.#fill(form, text, numbers, i);
      i += FILLED_LENGTH;
    }
    await this.#flush();
  }

  #fill({ texts }: FormBytes, text: Buffer, numbers: Float64Array, i: number): void {
    const idAt = at(numbers, i + 1);
    const targetAt = idAt + at(numbers, i + 2);
    const nameAt = at(numbers, i + 4);
    this.#copy(texts[0]);
    this.#copyPart(text, idAt, targetAt);
    this.#copy(texts[1]);
    this.#copyPart(text, targetAt, targetAt + at(numbers, i + 3));
    this.#copy(texts[2]);
    this.#copyPart(text, nameAt, nameAt + at(numbers, i + 5));
    this.#copy(texts[3]);
    this.#copy(this.#timeOf(at(numbers, i + 6)));
    this.#copy(texts[4]);
    this.#copy(this.#timeOf(at(numbers, i + 7)));
    this.#copy(texts[5]);
    this.#bytes[this.#length++] = NEWLINE;
  }

  #copy(bytes: Buffer | undefined): void {
    if (bytes === undefined) return;
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** A few bytes: a loop is faster than a view. */
  #copyPart(from: Buffer, start: number, end: number): void {
    const to = this.#bytes;
    let length = this.#length;
    for (let i = start; i < end; i++) to[length++] = from[i] ?? 0;
    this.#length = length;
  }

  #timeOf(ms: number): Buffer {
    if (ms !== this.#timeMs) {
      this.#timeMs = ms;
      this.#time = Buffer.from(timeText(ms), "latin1");
    }
    return this.#time;
  }

  #hasRoomFor(length: number): boolean {
    return this.#length + length <= this.#bytes.length;
  }

  async #makeRoomFor(length: number): Promise<void> {
    await this.#flush();
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(length);
  }

  async #flush(): Promise<void> {
    const length = this.#length;
    this.#length = 0;
    if (length > 0) await this.#write(this.#bytes.subarray(0, length));
  }
}

function bytesOf(form: readonly string[]): FormBytes {
  if (form.length !== TEXTS) throw new Error(`a form has ${TEXTS} texts, and not ${form.length}`);
  const texts = form.map((text) => Buffer.from(text));
  return { texts, length: texts.reduce((sum, { length }) => sum + length, 0) };
}

function at(numbers: Float64Array, i: number): number {
  return numbers[i] ?? 0;
}
