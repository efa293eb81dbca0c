/**
 * Events that wait to be handed to the thread that writes them.
 *
 * 1. What forms are filled in with is held as numbers and bytes: thousands of events that wait would otherwise be moved at every collection of garbage.
 * 2. An entry is a form that is filled in, of one line or of two, or a line that is spelled out.
 */
import type { Blanks, Form } from "./form.ts";
import { type BatchMessage, FILLED_LENGTH, type Memory, SPELLED } from "./log-protocol.ts";

const NUMBERS = 8 * 1024;
const TEXT_BYTES = 128 * 1024;
const SAID_LENGTH = 8 * 1024;

export class Gathered {
  #numbers: Memory["numbers"];
  #length = 0;
  #text: Buffer<SharedArrayBuffer>;
  #textLength = 0;
  /** Of which there are no bytes yet. */
  #said = "";
  readonly #lines: string[] = [];
  readonly #forms: (readonly string[])[] = [];
  readonly #book: FormBook;
  events = 0;

  /** `memory`: of an earlier batch. */
  constructor(book: FormBook, memory?: Memory) {
    this.#book = book;
    this.#numbers = memory?.numbers ?? numbersFor(NUMBERS);
    this.#text = Buffer.from(memory?.text.buffer ?? new SharedArrayBuffer(TEXT_BYTES));
  }

  message(): BatchMessage {
    this.#note();
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
    this.#say(id);
    this.#say(name);
    const numbers = this.#roomFor(FILLED_LENGTH);
    const i = this.#length;
    numbers[i] = this.#placeOf(form);
    numbers[i + 1] = id.length;
    numbers[i + 2] = isNamed ? -name.length : name.length;
    numbers[i + 3] = receivedMs;
    numbers[i + 4] = atMs;
    this.#length = i + FILLED_LENGTH;
  }

  /** Texts become bytes some hundred at a time: to do that costs as much for all of them as for one. */
  #say(text: string): void {
    this.#said += text;
    if (this.#said.length >= SAID_LENGTH) this.#note();
  }

  #note(): void {
    const end = this.#textLength + this.#said.length;
    if (end > this.#text.length) this.#moreText(end);
    this.#text.write(this.#said, this.#textLength, "latin1");
    this.#textLength = end;
    this.#said = "";
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
