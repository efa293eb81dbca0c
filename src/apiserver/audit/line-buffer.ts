/** Makes lines of batches, and hands them to a writer some at a time. No line is split. */
import { MemoMap } from "#base";
import { LineLayout } from "./line-layout.ts";
import { type BatchMessage, ENTRY_LENGTH, WHOLE_LINE } from "./log-protocol.ts";

interface KnownTemplate {
  readonly texts: readonly string[];
  /** By the lengths of the values. */
  readonly layouts: MemoMap<number, LineLayout>;
}

/** Of one template. */
const MAX_LAYOUTS = 64;
/** More letters than an id has. */
const ID_LENGTHS = 4_096;

export class LineBuffer {
  readonly #write: (bytes: Buffer) => Promise<void>;
  readonly #size: number;
  #templates: KnownTemplate[] = [];
  #bytes: Buffer;
  #used = 0;

  /** `size`: how many bytes a write has at most, unless one line is longer. */
  constructor(size: number, write: (bytes: Buffer) => Promise<void>) {
    this.#size = size;
    this.#bytes = Buffer.alloc(size);
    this.#write = write;
  }

  forget(): void {
    this.#templates = [];
  }

  /** Resolves when all lines are written. */
  async take({ numbers, length, text, lines, templates }: BatchMessage): Promise<void> {
    for (const texts of templates) this.#templates.push({ texts, layouts: new MemoMap(MAX_LAYOUTS) });
    let line = 0;
    let textAt = 0;
    for (let at = 0; at < length; ) {
      if (numbers[at] === WHOLE_LINE) {
        const bytes = Buffer.from(`${lines[line++]}\n`);
        if (!this.#fits(bytes.length)) await this.#makeRoom(bytes.length);
        this.#used += bytes.copy(this.#bytes, this.#used);
        at++;
        continue;
      }
      const [id, name] = [numbers[at + 3] ?? 0, numbers[at + 4] ?? 0];
      const layout = this.#layout(numbers[at] ?? 0, id, name, numbers[at + 5] === 1);
      const { size } = layout;
      if (!this.#fits(size)) await this.#makeRoom(size);
      layout.setTimes(numbers[at + 1] ?? 0, numbers[at + 2] ?? 0);
      layout.write(this.#bytes, this.#used, text, textAt);
      this.#used += size;
      textAt += id + name;
      at += ENTRY_LENGTH;
    }
    await this.#flush();
  }

  #layout(number: number, id: number, name: number, nameInUri: boolean): LineLayout {
    const template = this.#templates[number];
    if (template === undefined) throw new Error(`there is no template ${number}`);
    const { texts, layouts } = template;
    const key = (name * ID_LENGTHS + id) * 2 + Number(nameInUri);
    return layouts.getOrMake(key, () => new LineLayout(texts, { id, name, nameInUri }));
  }

  #fits(length: number): boolean {
    return this.#used + length <= this.#bytes.length;
  }

  async #makeRoom(length: number): Promise<void> {
    await this.#flush();
    if (length > this.#bytes.length) this.#bytes = Buffer.alloc(length);
  }

  async #flush(): Promise<void> {
    const bytes = this.#bytes.subarray(0, this.#used);
    this.#used = 0;
    if (bytes.length > 0) await this.#write(bytes);
    if (this.#bytes.length > this.#size) this.#bytes = Buffer.alloc(this.#size);
  }
}
