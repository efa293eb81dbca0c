/**
 * The latest requests within a number of bytes, each as a row of numbers: what is kept of every request should be small, and no work for the collector.
 *
 * 1. Most of what is said of a request was said of others right before it (who, which verb, by what rules): a row has the number of a likeness.
 * 2. Chunks go as a whole, the oldest first, and are used again. Each has its own likenesses, so that whatever callers make up goes with it.
 * 3. What belongs to a row lies side by side: between two requests a server looks at so much else that each place costs more than what is done there.
 * 4. Names are kept as letters: a string that outlives its request is copied by the next collections, which costs more than all else here.
 */
import { type RequestAbout, RequestFacts } from "./request-facts.ts";

const MAX_CHUNK_ROWS = 2048;
/** How many chunks the limit is divided into: as a part of all that is kept, this little goes at once. */
const CHUNKS = 16;
/** Of a row's own, about: numbers, letters, references to its strings, stamps. */
const ROW_BYTES = 170;
const LIKENESS_BYTES = 120;

const NUMBERS = 8;
const TEXTS = 3;
/** On average: where a chunk has no more room for them, the names that follow are kept as they are. */
const LETTERS = 32;
/** On average: where a chunk has no more room for them, the rows that follow have none. */
const STAMPS = 12;
/** Those of late that are looked at, a power of two: another with the same place takes it. */
const RECENT = 64;

/** What requests have in common. */
class Likeness {
  /** Where it is known, and by which number. */
  chunk: Chunk | undefined = undefined;
  code = 0;
  readonly verb: string;
  readonly apiGroup: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly user: string;
  readonly userAgent: string;
  readonly status: number;
  readonly change: RequestFacts["change"];
  readonly authorization: string | undefined;
  readonly reason: string | undefined;
  readonly mutated: readonly string[] | undefined;
  readonly validated: readonly string[] | undefined;
  readonly refusedBy: string | undefined;

  constructor(facts: RequestFacts) {
    const { verb, apiGroup, resource, subresource } = facts.about;
    this.verb = verb;
    this.apiGroup = apiGroup;
    this.resource = resource;
    this.subresource = subresource;
    this.namespace = facts.namespace;
    this.user = facts.user;
    this.userAgent = facts.userAgent;
    this.status = facts.status;
    this.change = facts.change;
    this.authorization = facts.authorization;
    this.reason = facts.reason;
    this.mutated = facts.mutated;
    this.validated = facts.validated;
    this.refusedBy = facts.refusedBy;
  }

  isOf(facts: RequestFacts): boolean {
    const { about } = facts;
    return (
      this.status === facts.status &&
      this.user === facts.user &&
      this.verb === about.verb &&
      this.resource === about.resource &&
      this.namespace === facts.namespace &&
      this.userAgent === facts.userAgent &&
      this.change === facts.change &&
      this.authorization === facts.authorization &&
      this.mutated === facts.mutated &&
      this.validated === facts.validated &&
      this.apiGroup === about.apiGroup &&
      this.subresource === about.subresource &&
      this.reason === facts.reason &&
      this.refusedBy === facts.refusedBy
    );
  }

  get about(): RequestAbout {
    const { verb, apiGroup, resource, subresource } = this;
    return { verb, apiGroup, resource, subresource };
  }

  get bytes(): number {
    const { namespace, user, userAgent, authorization = "", reason = "" } = this;
    return LIKENESS_BYTES + namespace.length + user.length + userAgent.length + authorization.length + reason.length;
  }
}

class Chunk {
  rows = 0;
  bytes = 0;
  stamped = 0;
  lettered = 0;
  readonly numbers: Float64Array;
  readonly letters: Uint8Array;
  /** Name where it is not in letters, uid, cause. */
  readonly texts: (string | undefined)[];
  readonly stamps: Int32Array;
  readonly likenesses: Likeness[] = [];
  /** Few have any. */
  readonly calls = new Map<number, RequestFacts["calls"]>();

  constructor(rows: number) {
    this.numbers = new Float64Array(rows * NUMBERS);
    this.letters = new Uint8Array(rows * LETTERS);
    this.stamps = new Int32Array(rows * STAMPS);
    this.texts = new Array<string | undefined>(rows * TEXTS).fill(undefined);
  }

  clear(): void {
    this.rows = 0;
    this.bytes = 0;
    this.stamped = 0;
    this.lettered = 0;
    this.calls.clear();
    for (const likeness of this.likenesses) if (likeness.chunk === this) likeness.chunk = undefined;
    this.likenesses.length = 0;
  }

  /** Whether there is room for it, and nothing but ASCII in it. */
  spells(name: string): boolean {
    const { letters, lettered } = this;
    if (lettered + name.length > letters.length) return false;
    for (let at = 0; at < name.length; at++) {
      const letter = name.charCodeAt(at);
      if (letter > 0x7f) return false;
      letters[lettered + at] = letter;
    }
    this.lettered = lettered + name.length;
    return true;
  }
}

export class RequestLog {
  readonly #limitBytes: number;
  readonly #chunkRows: number;
  readonly #chunks: Chunk[] = [];
  readonly #recent = new Array<Likeness | undefined>(RECENT).fill(undefined);
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
    const { numbers, texts } = chunk;
    const row = chunk.rows++;
    const n = row * NUMBERS;
    numbers[n] = facts.seq;
    numbers[n + 1] = facts.at;
    numbers[n + 2] = facts.tookMs;
    numbers[n + 3] = facts.revision;
    numbers[n + 4] = facts.writtenAt;
    numbers[n + 5] = chunk.stamped;
    numbers[n + 6] = this.#likenessCode(chunk, facts);
    numbers[n + 7] = chunk.lettered;
    const { name, uid, cause, stamps, calls } = facts;
    const t = row * TEXTS;
    let bytes = ROW_BYTES;
    if (chunk.spells(name)) texts[t] = undefined;
    else {
      texts[t] = name;
      bytes += name.length;
    }
    texts[t + 1] = uid;
    texts[t + 2] = cause;
    // The first says how many belong to which list.
    if (stamps !== undefined && stamps.length > 0 && chunk.stamped + stamps.length < chunk.stamps.length) {
      chunk.stamps[chunk.stamped++] = facts.split;
      for (let at = 0; at < stamps.length; at++) chunk.stamps[chunk.stamped++] = stamps[at] ?? 0;
    }
    if (cause !== undefined) bytes += cause.length;
    if (calls !== undefined) {
      chunk.calls.set(row, calls);
      bytes += 120 * calls.length;
    }
    chunk.bytes += bytes;
  }

  *[Symbol.iterator](): Generator<RequestFacts> {
    for (const chunk of this.#chunks) for (let row = 0; row < chunk.rows; row++) yield factsAt(chunk, row);
  }

  #likenessCode(chunk: Chunk, facts: RequestFacts): number {
    const { user, about } = facts;
    // Users of one kind, such as nodes, mostly differ at their end.
    const end = user.charCodeAt(user.length - 1) | 0;
    const place = (end + user.length * 7 + about.verb.length * 11 + about.resource.length * 5) & (RECENT - 1);
    let likeness = this.#recent[place];
    if (likeness === undefined || !likeness.isOf(facts)) {
      likeness = new Likeness(facts);
      this.#recent[place] = likeness;
    }
    if (likeness.chunk !== chunk) {
      likeness.chunk = chunk;
      likeness.code = chunk.likenesses.push(likeness) - 1;
      chunk.bytes += likeness.bytes;
    }
    return likeness.code;
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
  const { numbers, texts } = chunk;
  const number = (column: number) => numbers[row * NUMBERS + column] ?? 0;
  const likeness = chunk.likenesses[number(6)];
  const facts = new RequestFacts();
  facts.seq = number(0);
  facts.at = number(1);
  facts.tookMs = number(2);
  facts.revision = number(3);
  facts.writtenAt = number(4);
  if (likeness !== undefined) {
    facts.about = likeness.about;
    facts.namespace = likeness.namespace;
    facts.user = likeness.user;
    facts.userAgent = likeness.userAgent;
    facts.status = likeness.status;
    facts.change = likeness.change;
    facts.authorization = likeness.authorization;
    facts.reason = likeness.reason;
    facts.mutated = likeness.mutated;
    facts.validated = likeness.validated;
    facts.refusedBy = likeness.refusedBy;
  }
  const ended = row + 1 < chunk.rows ? numbers[(row + 1) * NUMBERS + 7] : chunk.lettered;
  facts.name = texts[row * TEXTS] ?? String.fromCharCode(...chunk.letters.subarray(number(7), ended));
  facts.uid = texts[row * TEXTS + 1] ?? "";
  facts.cause = texts[row * TEXTS + 2];
  facts.calls = chunk.calls.get(row);
  const from = number(5);
  const to = row + 1 < chunk.rows ? (numbers[(row + 1) * NUMBERS + 5] ?? from) : chunk.stamped;
  if (to > from) {
    facts.split = chunk.stamps[from] ?? 0;
    facts.stamps = [...chunk.stamps.subarray(from + 1, to)];
  }
  return facts;
}
