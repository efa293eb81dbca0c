/**
 * The latest requests within a number of bytes, each as a row of numbers: what is kept of every request should be small, and no work for the collector.
 *
 * 1. Words are said again and again (users, verbs, namespaces): a chunk has each once, and rows have their numbers.
 * 2. Chunks go as a whole, the oldest first, and are used again. Each has its own words, so that whatever callers make up goes with it.
 */
import { type RequestAbout, RequestFacts } from "./request-facts.ts";

const MAX_CHUNK_ROWS = 2048;
/** How many chunks the limit is divided into: as a part of all that is kept, this little goes at once. */
const CHUNKS = 16;
/** Of a row's own, about: numbers, words' numbers, references to its strings, stamps. */
const ROW_BYTES = 180;
const WORD_BYTES = 64;

const NUMBERS = 6;
/** On average: where a chunk has no more room for them, the rows that follow have none. */
const STAMPS = 12;
const WORDS = 11;

type Word = string | readonly string[] | RequestAbout | undefined;

class Chunk {
  rows = 0;
  bytes = 0;
  readonly numbers: Float64Array;
  readonly codes: Uint16Array;
  readonly names: string[];
  readonly uids: string[];
  readonly causes: (string | undefined)[];
  readonly stamps: Int32Array;
  stamped = 0;
  /** Few have any. */
  readonly calls = new Map<number, RequestFacts["calls"]>();
  readonly #words: Word[] = [];
  readonly #codeOf = new Map<Word, number>();
  /** The row before has mostly the same. */
  readonly #lastWords: Word[] = [];
  readonly #lastCodes = new Uint16Array(WORDS);

  constructor(rows: number) {
    this.numbers = new Float64Array(rows * NUMBERS);
    this.codes = new Uint16Array(rows * WORDS);
    this.stamps = new Int32Array(rows * STAMPS);
    this.names = new Array<string>(rows).fill("");
    this.uids = new Array<string>(rows).fill("");
    this.causes = new Array<string | undefined>(rows).fill(undefined);
    this.clear();
  }

  clear(): void {
    this.rows = 0;
    this.bytes = 0;
    this.stamped = 0;
    this.calls.clear();
    this.#words.length = 0;
    this.#codeOf.clear();
    this.#learn("");
    for (let column = 0; column < WORDS; column++) this.#lastWords[column] = "";
    this.#lastCodes.fill(0);
  }

  code(column: number, word: Word): number {
    if (this.#lastWords[column] === word) return this.#lastCodes[column] ?? 0;
    const code = this.#codeOf.get(word) ?? this.#learn(word);
    this.#lastWords[column] = word;
    this.#lastCodes[column] = code;
    return code;
  }

  word(code: number | undefined): Word {
    return this.#words[code ?? 0];
  }

  #learn(word: Word): number {
    const code = this.#words.push(word) - 1;
    this.#codeOf.set(word, code);
    this.bytes += WORD_BYTES + (typeof word === "string" ? word.length : 0);
    return code;
  }
}

export class RequestLog {
  readonly #limitBytes: number;
  readonly #chunkRows: number;
  readonly #chunks: Chunk[] = [];
  #last: Chunk | undefined;
  /** Of all chunks but the last. */
  #bytes = 0;
  dropped = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
    this.#chunkRows = Math.max(1, Math.min(MAX_CHUNK_ROWS, Math.floor(limitBytes / ROW_BYTES / CHUNKS)));
  }

  /** Copies what it is given. */
  push(facts: RequestFacts): void {
    const chunk = this.#room();
    const { numbers, codes } = chunk;
    const row = chunk.rows++;
    const n = row * NUMBERS;
    numbers[n] = facts.seq;
    numbers[n + 1] = facts.at;
    numbers[n + 2] = facts.tookMs;
    numbers[n + 3] = facts.revision;
    numbers[n + 4] = facts.writtenAt;
    numbers[n + 5] = chunk.stamped;
    const w = row * WORDS;
    codes[w] = facts.status;
    codes[w + 1] = chunk.code(1, facts.about);
    codes[w + 2] = chunk.code(2, facts.namespace);
    codes[w + 3] = chunk.code(3, facts.user);
    codes[w + 4] = chunk.code(4, facts.userAgent);
    codes[w + 5] = chunk.code(5, facts.authorization);
    codes[w + 6] = chunk.code(6, facts.reason);
    codes[w + 7] = chunk.code(7, facts.mutated);
    codes[w + 8] = chunk.code(8, facts.validated);
    codes[w + 9] = chunk.code(9, facts.refusedBy);
    codes[w + 10] = chunk.code(10, facts.change);
    chunk.names[row] = facts.name;
    chunk.uids[row] = facts.uid;
    chunk.causes[row] = facts.cause;
    const { stamps } = facts;
    // The first says how many belong to which list.
    if (stamps !== undefined && stamps.length > 0 && chunk.stamped + stamps.length < chunk.stamps.length) {
      chunk.stamps[chunk.stamped++] = facts.split;
      for (let at = 0; at < stamps.length; at++) chunk.stamps[chunk.stamped++] = stamps[at] ?? 0;
    }
    if (facts.calls !== undefined) chunk.calls.set(row, facts.calls);
    chunk.bytes += ROW_BYTES + facts.name.length + (facts.cause?.length ?? 0) + 120 * (facts.calls?.length ?? 0);
  }

  *[Symbol.iterator](): Generator<RequestFacts> {
    for (const chunk of this.#chunks) for (let row = 0; row < chunk.rows; row++) yield factsAt(chunk, row);
  }

  #room(): Chunk {
    const last = this.#last;
    if (last !== undefined && last.rows < this.#chunkRows && last.bytes < this.#limitBytes / 4) return last;
    this.#bytes += last?.bytes ?? 0;
    let free: Chunk | undefined;
    while (this.#bytes + this.#chunkRows * ROW_BYTES > this.#limitBytes && this.#chunks.length > 1) {
      free = this.#chunks.shift();
      this.#bytes -= free?.bytes ?? 0;
      this.dropped += free?.rows ?? 0;
    }
    free?.clear();
    const chunk = free ?? new Chunk(this.#chunkRows);
    this.#chunks.push(chunk);
    this.#last = chunk;
    return chunk;
  }
}

function factsAt(chunk: Chunk, row: number): RequestFacts {
  const { numbers, codes } = chunk;
  const facts = new RequestFacts();
  const number = (column: number) => numbers[row * NUMBERS + column] ?? 0;
  const word = (column: number) => chunk.word(codes[row * WORDS + column]);
  const text = (column: number) => String(word(column));
  const list = (column: number) => word(column) as readonly string[] | undefined;
  facts.seq = number(0);
  facts.at = number(1);
  facts.tookMs = number(2);
  facts.revision = number(3);
  facts.writtenAt = number(4);
  facts.status = codes[row * WORDS] ?? 0;
  facts.about = word(1) as RequestAbout;
  facts.namespace = text(2);
  facts.user = text(3);
  facts.userAgent = text(4);
  facts.authorization = word(5) as string | undefined;
  facts.reason = word(6) as string | undefined;
  facts.mutated = list(7);
  facts.validated = list(8);
  facts.refusedBy = word(9) as string | undefined;
  facts.change = word(10) as RequestFacts["change"];
  facts.name = chunk.names[row] ?? "";
  facts.uid = chunk.uids[row] ?? "";
  facts.cause = chunk.causes[row];
  facts.calls = chunk.calls.get(row);
  const from = number(5);
  const to = row + 1 < chunk.rows ? (numbers[(row + 1) * NUMBERS + 5] ?? from) : chunk.stamped;
  if (to > from) {
    facts.split = chunk.stamps[from] ?? 0;
    facts.stamps = [...chunk.stamps.subarray(from + 1, to)];
  }
  return facts;
}
