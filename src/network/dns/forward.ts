/**
 * Forwards questions: stub domains to their servers, everything else upstream. Responses are cached for their TTL.
 *
 * 1. Concurrent equal questions are sent upstream once.
 * 2. If a server does not answer in time, the next one is asked, and the silent one is asked last for a while. If none
 *    answers, the client gets SERVFAIL.
 * 3. The cache is bounded: the least recently used response is dropped first.
 * 4. A cached or shared response repeats the question of each client as received, including upper and lower case.
 */
import { type Clock, childController, type Logger, type Random, TtlMap } from "#base";
import { CODES, HEADER_BYTES, type Question, TYPES } from "./message.ts";
import type { DnsRecord } from "./records.ts";
import { failure, type Resolution } from "./resolver.ts";
import { ask, type UpstreamAddress } from "./upstream.ts";
import { aged, type Lifetimes, lifetimesOf, recordsOf } from "./upstream-answer.ts";

export interface ForwarderOptions {
  readonly upstreams: readonly UpstreamAddress[];
  /** By domain, such as `example.org`. */
  readonly stubDomains?: Readonly<Record<string, readonly UpstreamAddress[]>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly timeoutMs?: number;
  readonly maxKept?: number;
  /** For tests. */
  readonly ask?: typeof ask;
}

interface Kept {
  readonly bytes: Buffer;
  readonly lifetimes: Lifetimes;
  readonly at: number;
}

const DEFAULT_TIMEOUT_MS = 2000;
const DEFAULT_MAX_KEPT = 10_000;
const MAX_KEPT_SECONDS = 3600;
const MAX_PENDING = 1000;
const AVOIDED_MS = 10_000;

export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #kept: TtlMap<string, Kept>;
  readonly #pending = new Map<string, Promise<Buffer | undefined>>();
  /** Servers that did not answer, and until when they are asked last. */
  readonly #avoided = new Map<UpstreamAddress, number>();
  readonly #closing = new AbortController();

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#kept = new TtlMap(options.maxKept ?? DEFAULT_MAX_KEPT, options.clock);
  }

  async forward(question: Question): Promise<Resolution> {
    const servers = this.#serversFor(question.name);
    if (servers.length === 0) return { answer: failure(CODES.refused) };
    const key = `${question.name} ${question.type} ${question.edns === "none" ? "" : "edns"}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      const bytes = aged(kept.bytes, kept.lifetimes, question.id, this.#ageOf(kept));
      question.bytes.copy(bytes, HEADER_BYTES);
      return { bytes };
    }
    const bytes = await this.#once(key, servers, question);
    if (bytes === undefined) return { answer: failure(CODES.failed) };
    const copy = Buffer.from(bytes);
    copy.writeUInt16BE(question.id, 0);
    // `ask` accepts only responses whose question differs in case at most, so the length is the same.
    question.bytes.copy(copy, HEADER_BYTES);
    return { bytes: copy };
  }

  /** The addresses and aliases of a name outside of the zone; undefined if no server answered. */
  async lookUp(name: string, type: string): Promise<DnsRecord[] | undefined> {
    const number = TYPES[type];
    if (number === undefined) return [];
    const resolution = await this.forward(questionOf(name, type, number));
    // A response that cannot be read contains nothing.
    return "bytes" in resolution ? (recordsOf(resolution.bytes) ?? []) : undefined;
  }

  close(): void {
    this.#closing.abort(new Error("the DNS server stops"));
  }

  #serversFor(name: string): readonly UpstreamAddress[] {
    const { stubDomains = {}, upstreams } = this.#options;
    for (let domain = name; domain !== ""; domain = domain.slice(domain.indexOf(".") + 1)) {
      // A domain may be called like a property of Object.prototype.
      if (Object.hasOwn(stubDomains, domain)) return stubDomains[domain] ?? [];
      if (!domain.includes(".")) break;
    }
    return upstreams;
  }

  #ageOf({ at }: Kept): number {
    return Math.floor((this.#options.clock.monotonic() - at) / 1000);
  }

  #once(key: string, servers: readonly UpstreamAddress[], question: Question): Promise<Buffer | undefined> {
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending;
    if (this.#pending.size >= MAX_PENDING) return Promise.resolve(undefined);
    const asked = this.#askAll(servers, question)
      .then((bytes) => {
        if (bytes !== undefined) this.#keep(key, bytes);
        return bytes;
      })
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, asked);
    return asked;
  }

  async #askAll(servers: readonly UpstreamAddress[], question: Question): Promise<Buffer | undefined> {
    const { clock, random, log, timeoutMs = DEFAULT_TIMEOUT_MS, ask: askOne = ask } = this.#options;
    for (const server of this.#inOrder(servers)) {
      using deadline = childController(this.#closing.signal);
      const timer = clock.timer(timeoutMs, () => deadline.abort(new Error("no response in time")));
      try {
        const answer = await askOne(server, messageOf(question, random.integer(0x10000)), deadline.signal);
        this.#avoided.delete(server);
        return answer;
      } catch (error) {
        if (this.#closing.signal.aborted) return undefined;
        this.#avoided.set(server, clock.monotonic() + AVOIDED_MS);
        log.debug("a DNS server did not answer", {
          server: `${server.host}:${server.port}`,
          name: question.name,
          error,
        });
      } finally {
        timer.cancel();
      }
    }
    return undefined;
  }

  #inOrder(servers: readonly UpstreamAddress[]): readonly UpstreamAddress[] {
    if (this.#avoided.size === 0) return servers;
    const now = this.#options.clock.monotonic();
    const isAvoided = (server: UpstreamAddress) => (this.#avoided.get(server) ?? 0) > now;
    return [...servers.filter((each) => !isAvoided(each)), ...servers.filter(isAvoided)];
  }

  #keep(key: string, bytes: Buffer): void {
    const lifetimes = lifetimesOf(bytes);
    const code = (bytes[3] ?? 0) & 0x0f;
    if (lifetimes === undefined || lifetimes.seconds === 0 || (code !== CODES.ok && code !== CODES.absent)) return;
    const kept = { bytes, lifetimes, at: this.#options.clock.monotonic() };
    this.#kept.set(key, kept, Math.min(lifetimes.seconds, MAX_KEPT_SECONDS) * 1000);
  }
}

/** The question with an id of our own, and with EDNS if the client uses it. */
function messageOf({ bytes, edns }: Question, id: number): Buffer {
  const header = Buffer.from([id >> 8, id & 0xff, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, edns === "none" ? 0 : 1]);
  const opt = edns === "none" ? [] : [Buffer.from([0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 0])];
  return Buffer.concat([header, bytes, ...opt]);
}

function questionOf(name: string, type: string, number: number): Question {
  const labels = name
    .split(".")
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, "latin1")]));
  const bytes = Buffer.concat([...labels, Buffer.from([0, number >> 8, number & 0xff, 0, 1])]);
  return {
    id: 0,
    name,
    type,
    classIsInternet: true,
    recursionDesired: true,
    bytes,
    udpBytes: undefined,
    edns: "none",
  };
}
