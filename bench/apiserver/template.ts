/** A text in which `{i}` stands for a number: taken apart once, so that each request costs no search. */
export class Template {
  readonly #parts: readonly string[];

  constructor(text: string) {
    this.#parts = text.split("{i}");
  }

  /** The same text for all numbers. */
  get constant(): boolean {
    return this.#parts.length === 1;
  }

  at(i: number): string {
    return this.#parts.length === 1 ? (this.#parts[0] ?? "") : this.#parts.join(String(i));
  }
}
