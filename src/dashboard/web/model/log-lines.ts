/** The last lines of a log; the oldest are dropped, colours are removed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how colours are written
const COLOURS = /\u001b\[[\d;]*[A-Za-z]/g;

export class LogLines {
  readonly #most: number;
  #lines: string[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  add(lines: readonly string[]): void {
    for (const line of lines) this.#lines.push(line.replaceAll(COLOURS, ""));
    // Not with every line: dropping lines copies the rest.
    if (this.#lines.length > this.#most * 1.2) this.#lines = this.#lines.slice(-this.#most);
  }

  matching(search: string): readonly string[] {
    const last = this.#lines.length > this.#most ? this.#lines.slice(-this.#most) : this.#lines;
    const wanted = search.trim().toLowerCase();
    return wanted === "" ? last : last.filter((line) => line.toLowerCase().includes(wanted));
  }
}
