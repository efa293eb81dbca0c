/** Events that wait to be handed to the thread that writes them, and templates that the thread does not know. */
import type { LineTemplate, LineValues } from "./line-template.ts";
import { type BatchMessage, ENTRY_LENGTH, WHOLE_LINE } from "./log-protocol.ts";

const NUMBERS = 8 * 1024;
const TEXT_BYTES = 64 * 1024;

export class EventBatch {
  readonly #numbering: TemplateNumbers;
  readonly #templates: (readonly string[])[] = [];
  readonly #lines: string[] = [];
  #numbers = new Float64Array(NUMBERS);
  #length = 0;
  #text = Buffer.allocUnsafeSlow(TEXT_BYTES);
  #textLength = 0;
  #events = 0;

  constructor(numbering: TemplateNumbers) {
    this.#numbering = numbering;
  }

  get events(): number {
    return this.#events;
  }

  get message(): BatchMessage {
    return {
      numbers: this.#numbers,
      length: this.#length,
      text: this.#text,
      lines: this.#lines,
      templates: this.#templates,
    };
  }

  addLine(line: string): void {
    this.#events++;
    this.#lines.push(line);
    this.#reserve(1, 0);
    this.#numbers[this.#length++] = WHOLE_LINE;
  }

  add(template: LineTemplate, { id, nameInUri, receivedMs }: LineValues, name: string, atMs: number): void {
    this.#events++;
    this.#reserve(ENTRY_LENGTH, id.length + name.length);
    const numbers = this.#numbers;
    let at = this.#length;
    numbers[at++] = this.#numberOf(template);
    numbers[at++] = receivedMs;
    numbers[at++] = atMs;
    numbers[at++] = id.length;
    numbers[at++] = name.length;
    numbers[at++] = nameInUri ? 1 : 0;
    this.#length = at;
    this.#write(id);
    this.#write(name);
  }

  /** Letter by letter: a call of Buffer costs more than the few letters. */
  #write(letters: string): void {
    const text = this.#text;
    const start = this.#textLength;
    for (let i = 0; i < letters.length; i++) text[start + i] = letters.charCodeAt(i);
    this.#textLength = start + letters.length;
  }

  #reserve(numbers: number, bytes: number): void {
    if (this.#length + numbers > this.#numbers.length) {
      const larger = new Float64Array(2 * this.#numbers.length);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    if (this.#textLength + bytes > this.#text.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (this.#text.length + bytes));
      this.#text.copy(larger);
      this.#text = larger;
    }
  }

  #numberOf(template: LineTemplate): number {
    if (template.numbering === this.#numbering) return template.number;
    template.numbering = this.#numbering;
    template.number = this.#numbering.assigned++;
    this.#templates.push(template.texts);
    return template.number;
  }
}

/** The numbers of the templates that the thread knows. */
export class TemplateNumbers {
  assigned = 0;
}
