/**
 * Resolves questions: from the cluster's own zone, or by forwarding them to stub domains and upstream servers.
 *
 * 1. Names of the zone are never forwarded, whether they exist or not.
 * 2. An alias to a name outside of the zone is followed, so that the client gets the addresses with it.
 */
import type { Random } from "#base";
import type { Forwarder } from "./forward.ts";
import { type Answer, CODES, type Question } from "./message.ts";
import type { DnsRecord } from "./records.ts";
import type { Zone } from "./zone.ts";

export const TTL_SECONDS = 30;
const MAX_ALIASES = 8;

/** `bytes`: the response of another server. */
export type Resolution = { readonly answer: Answer } | { readonly bytes: Buffer };

export interface ResolverOptions {
  readonly zone: Zone;
  readonly forwarder: Forwarder;
  readonly random: Random;
}

export class Resolver {
  readonly #options: ResolverOptions;

  constructor(options: ResolverOptions) {
    this.#options = options;
  }

  /** Synchronous if the zone has the answer; a promise if the question is forwarded. */
  resolve(question: Question): Resolution | Promise<Resolution> {
    const { zone, forwarder } = this.#options;
    const { name, type } = question;
    if (!question.classIsInternet) return { answer: failure(CODES.refused) };
    if (!zone.contains(name) && !zone.knows(name)) return forwarder.forward(question);
    const found = zone.find(name, type);
    if (found.kind !== "records") {
      const code = found.kind === "absent" ? CODES.absent : CODES.ok;
      return { answer: { code, authoritative: true, records: [], zone: zone.name, ttlSeconds: TTL_SECONDS } };
    }
    const last = found.records[0];
    if (last?.type === "CNAME" && type !== "CNAME" && type !== "ANY")
      return this.#follow(found.records, last.target, type);
    return { answer: this.#found(found.records) };
  }

  async #follow(aliases: readonly DnsRecord[], target: string, type: string): Promise<Resolution> {
    const { zone, forwarder } = this.#options;
    const records = [...aliases];
    let name = target;
    for (let turn = 0; turn < MAX_ALIASES; turn++) {
      if (!zone.contains(name)) {
        const more = await forwarder.lookUp(name, type);
        // A failure makes the client retry; an alias without addresses would look like a complete answer.
        if (more === undefined) return { answer: failure(CODES.failed) };
        return {
          answer: { code: CODES.ok, authoritative: true, records: [...records, ...more], ttlSeconds: TTL_SECONDS },
        };
      }
      const found = zone.find(name, type);
      if (found.kind !== "records") break;
      records.push(...found.records);
      const [next] = found.records;
      if (next?.type !== "CNAME") break;
      name = next.target;
    }
    return { answer: this.#found(records) };
  }

  /** Several records are rotated, so that clients spread over them. */
  #found(records: readonly DnsRecord[]): Answer {
    const rotated = records.length > 1 && records[0]?.type !== "CNAME" ? this.#rotated(records) : records;
    return {
      code: CODES.ok,
      authoritative: true,
      records: rotated,
      additional: this.#addressesOf(rotated),
      ttlSeconds: TTL_SECONDS,
    };
  }

  #rotated(records: readonly DnsRecord[]): readonly DnsRecord[] {
    const by = Math.floor(this.#options.random.next() * records.length);
    return [...records.slice(by), ...records.slice(0, by)];
  }

  /** The addresses of SRV targets, which the client needs next. */
  #addressesOf(records: readonly DnsRecord[]): DnsRecord[] {
    const targets = new Set(records.flatMap((record) => (record.type === "SRV" ? [record.target] : [])));
    return [...targets].flatMap((target) =>
      ["A", "AAAA"].flatMap((type) => {
        const found = this.#options.zone.find(target, type);
        return found.kind === "records" ? found.records : [];
      }),
    );
  }
}

export function failure(code: Answer["code"]): Answer {
  return { code, authoritative: false, records: [], ttlSeconds: 0 };
}
