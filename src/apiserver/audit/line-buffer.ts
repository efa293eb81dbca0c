/** Makes lines of batches, and hands them to a writer some at a time. No line is split. */
import { type BatchMessage, eventOf } from "./log-protocol.ts";

export class LineBuffer {
  readonly #size: number;
  readonly #write: (bytes: Buffer) => Promise<void>;
  #templates: (readonly string[])[] = [];
  #text = "";

  /** `size`: how many characters a write has at most, unless one line is longer. */
  constructor(size: number, write: (bytes: Buffer) => Promise<void>) {
    this.#size = size;
    this.#write = write;
  }

  forget(): void {
    this.#templates = [];
  }

  /** Resolves when all lines are written. */
  async take({ entries, templates }: BatchMessage): Promise<void> {
    this.#templates.push(...templates);
    for (let start = 0, end = 0; start < entries.length; start = end + 1) {
      end = entries.indexOf("\n", start);
      const line = eventOf(entries.slice(start, end), this.#templates);
      if (this.#text.length + line.length >= this.#size) await this.#flush();
      this.#text += `${line}\n`;
    }
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const text = this.#text;
    this.#text = "";
    if (text !== "") await this.#write(Buffer.from(text));
  }
}
