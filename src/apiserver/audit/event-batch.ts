/**
 * Events that wait to be handed to the thread that writes them.
 *
 * 1. What forms are filled in with is held as numbers and bytes: thousands of events that wait would otherwise be moved at every collection of garbage.
 * 2. An entry is a form that is filled in, of one line or of two, or a line that is spelled out.
 */
import type { Blanks, Form } from "./line-template.ts";
import type { RequestIds } from "./ids.ts";
import { type BatchMessage, FILLED_LENGTH, type Memory, SPELLED } from "./log-protocol.ts";

const NUMBERS = 8 * 1024;
const TEXT_BYTES = 128 * 1024;

export class Gathered {
  #numbers: Memory["numbers"];
  #length = 0;
  #text: Buffer<SharedArrayBuffer>;
  #textLength = 0;
  readonly #lines: string[] = [];
  readonly #forms: (readonly string[])[] = [];
  readonly #book: FormBook;
  readonly #ids: RequestIds | undefined;
  /** Which of their letters are in the text, and where. */
  #round = 0;
  #lettersAt = 0;
  events = 0;

  /** `ids`: where most ids come from. `memory`: of an earlier batch. */
  constructor(book: FormBook, ids?: RequestIds, memory?: Memory) {
    this.#book = book;
    this.#ids = ids;
    this.#numbers = memory?.numbers ?? numbersFor(NUMBERS);
    this.#text = Buffer.from(memory?.text.buffer ?? new SharedArrayBuffer(TEXT_BYTES));
  }

  message(): BatchMessage {
    const { buffer } = this.#text;
    return {
      numbers: this.#numbers,
      length: this.#length,
      text: new Uint8Array(buffer),
      lines: this.#lines,
      forms: this.#forms,
    };
  }

  spell(line: string): void {
    this.#lines.push(line);
    this.#roomFor(1)[this.#length++] = SPELLED;
  }

  fill(form: Form, blanks: Blanks, name: string, atMs: number): void {
    const { id, isNamed, receivedMs } = blanks;
    const idAt = this.#idAt(id);
    const nameAt = this.#say(name);
    const numbers = this.#roomFor(FILLED_LENGTH);
    const i = this.#length;
    numbers[i] = this.#placeOf(form);
    numbers[i + 1] = idAt;
    numbers[i + 2] = id.length;
    numbers[i + 3] = nameAt;
    numbers[i + 4] = isNamed ? -name.length : name.length;
    numbers[i + 5] = receivedMs;
    numbers[i + 6] = atMs;
    this.#length = i + FILLED_LENGTH;
  }

  /** Most ids have just been made, with others: these are copied all at once. */
  #idAt(id: string): number {
    const ids = this.#ids;
    const place = ids?.placeOf(id) ?? -1;
    if (ids === undefined || place < 0) return this.#say(id);
    if (this.#round !== ids.rounds) {
      this.#round = ids.rounds;
      this.#lettersAt = this.#roomForText(ids.letters.length);
      this.#text.set(ids.letters, this.#lettersAt);
    }
    return this.#lettersAt + place;
  }

  /** Where it is in the text. One letter after the other: they are few, and what waits to become bytes later is found in no cache any more. */
  #say(letters: string): number {
    const at = this.#roomForText(letters.length);
    const text = this.#text;
    for (let i = 0; i < letters.length; i++) text[at + i] = letters.charCodeAt(i);
    return at;
  }

  #roomForText(length: number): number {
    const at = this.#textLength;
    this.#textLength += length;
    if (this.#textLength > this.#text.length) this.#moreText(this.#textLength);
    return at;
  }

  #moreText(least: number): void {
    const larger = Buffer.from(new SharedArrayBuffer(Math.max(2 * this.#text.length, least)));
    this.#text.copy(larger);
    this.#text = larger;
  }

  #placeOf(form: Form): number {
    const { book } = this.#book;
    if (form.book === book) return form.place;
    form.book = book;
    form.place = this.#book.known++;
    this.#forms.push(form.texts);
    return form.place;
  }

  #roomFor(count: number): Float64Array {
    if (this.#length + count > this.#numbers.length) {
      const larger = numbersFor(this.#numbers.length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    return this.#numbers;
  }
}

function numbersFor(count: number): Memory["numbers"] {
  return new Float64Array(new SharedArrayBuffer(count * Float64Array.BYTES_PER_ELEMENT));
}

/** The forms that the thread knows. */
export class FormBook {
  /** Stands for it in forms. */
  readonly book = {};
  known = 0;
}
