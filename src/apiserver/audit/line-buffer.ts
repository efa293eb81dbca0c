/**
 * Puts lines together as bytes, in a buffer that is used again and again: the log of a busy server is tens of megabytes a second.
 *
 * 1. It is written when the next line has no room, and grows for one that is larger than all of it. No line is split.
 */

import { timeText } from "./line-template.ts";
import { type FormBytes, formBytes, type Layout, layOut } from "./form-bytes.ts";
import { type BatchMessage, FILLED_LENGTH, SPELLED } from "./log-protocol.ts";

/** Layouts that are kept, of all forms: then all are made anew. */
const MAX_LAYOUTS = 2_000;
/** Longer texts are rare, and each of a length of its own. */
const MAX_BLANKS = 1024;

export class LineBuffer {
  /** Uses the bytes before it resolves. */
  readonly #write: (bytes: Buffer) => Promise<void>;
  #bytes: Buffer;
  #view: DataView;
  #length = 0;
  #forms: FormBytes[] = [];
  #layouts = 0;
  /** Many lines are of the same millisecond. */
  #timeMs = Number.NaN;
  #time = Buffer.alloc(0);

  constructor(size: number, write: (bytes: Buffer) => Promise<void>) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
    this.#view = viewOf(this.#bytes);
    this.#write = write;
  }

  forget(): void {
    this.#forms = [];
    this.#layouts = 0;
  }

  /** Resolves when all lines are written. */
  async take({ numbers, length, text, lines, forms }: BatchMessage): Promise<void> {
    for (const form of forms) this.#forms.push(formBytes(form));
    const view = viewOf(text);
    let spelled = 0;
    for (let i = 0; i < length; ) {
      const number = numbers[i] ?? SPELLED;
      if (number === SPELLED) {
        const line = Buffer.from(`${lines[spelled++]}\n`);
        if (!this.#hasRoomFor(line.length)) await this.#makeRoomFor(line.length);
        this.#length += line.copy(this.#bytes, this.#length);
        i++;
        continue;
      }
      const form = this.#forms[number];
      if (form === undefined) throw new Error(`form ${number} was never told`);
      const layout = this.#layout(form, numbers[i + 2] ?? 0, numbers[i + 4] ?? 0);
      if (!this.#hasRoomFor(layout.bytes.length)) await this.#makeRoomFor(layout.bytes.length);
      this.#stamp(layout, numbers[i + 5] ?? 0, numbers[i + 6] ?? 0);
      this.#fill(layout, view, numbers[i + 1] ?? 0, numbers[i + 3] ?? 0);
      i += FILLED_LENGTH;
    }
    await this.#flush();
  }

  /** `called`: the length of the name; negative if the target has it, too. */
  #layout(form: FormBytes, idLength: number, called: number): Layout {
    const nameLength = Math.abs(called);
    const isNamed = called < 0;
    if (idLength + nameLength >= MAX_BLANKS) return layOut(form, idLength, nameLength, isNamed);
    const key = idLength * 2 * MAX_BLANKS + called;
    const known = form.layouts.get(key);
    if (known !== undefined) return known;
    if (this.#layouts++ >= MAX_LAYOUTS) {
      for (const each of this.#forms) each.layouts.clear();
      this.#layouts = 1;
    }
    const layout = layOut(form, idLength, nameLength, isNamed);
    form.layouts.set(key, layout);
    return layout;
  }

  /** Times stay in the layout: those of the next line are mostly the same. */
  #stamp(layout: Layout, receivedMs: number, atMs: number): void {
    const { bytes, received, happened } = layout;
    if (layout.receivedMs !== receivedMs) {
      layout.receivedMs = receivedMs;
      for (const at of received) bytes.set(this.#timeOf(receivedMs), at);
    }
    if (layout.atMs !== atMs) {
      layout.atMs = atMs;
      bytes.set(this.#timeOf(atMs), happened);
    }
  }

  #fill({ bytes, idLength, nameLength, ids, names }: Layout, text: DataView, idAt: number, nameAt: number): void {
    const start = this.#length;
    this.#bytes.set(bytes, start);
    for (const place of ids) this.#put(text, idAt, idLength, start + place);
    for (const place of names) this.#put(text, nameAt, nameLength, start + place);
    this.#length = start + bytes.length;
  }

  /** Some bytes: a loop is faster than a view of them, and four at a time faster than one by one. */
  #put(from: DataView, start: number, length: number, at: number): void {
    const to = this.#view;
    let i = 0;
    for (; i + 4 <= length; i += 4) to.setUint32(at + i, from.getUint32(start + i));
    for (; i < length; i++) to.setUint8(at + i, from.getUint8(start + i));
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
    if (length <= this.#bytes.length) return;
    this.#bytes = Buffer.allocUnsafeSlow(length);
    this.#view = viewOf(this.#bytes);
  }

  async #flush(): Promise<void> {
    const length = this.#length;
    this.#length = 0;
    if (length > 0) await this.#write(this.#bytes.subarray(0, length));
  }
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}
