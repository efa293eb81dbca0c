/** DNS messages (RFC 1035, 6891): types and numbers. `question.ts` reads, `answer.ts` writes. */
import { table } from "#base";
import type { DnsRecord } from "./records.ts";

export const HEADER_BYTES = 12;
export const EDNS_BYTES = 11;
/** The record type of EDNS. */
export const OPT = 41;
/** The limit for clients without EDNS. */
export const PLAIN_UDP_BYTES = 512;

export const TYPES: Readonly<Record<string, number>> = table({
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  ANY: 255,
});

export const CODES = { ok: 0, malformed: 1, failed: 2, absent: 3, notImplemented: 4, refused: 5 } as const;
export type ResponseCode = (typeof CODES)[keyof typeof CODES];

export interface Question {
  readonly id: number;
  /** In lower case, without the trailing dot. */
  readonly name: string;
  readonly type: string;
  readonly classIsInternet: boolean;
  readonly recursionDesired: boolean;
  /** The question section as received. */
  readonly bytes: Buffer;
  /** Undefined without EDNS. */
  readonly udpBytes: number | undefined;
  readonly edns: "none" | "known" | "unknownVersion";
}

export interface Answer {
  readonly code: ResponseCode;
  readonly authoritative: boolean;
  readonly records: readonly DnsRecord[];
  readonly additional?: readonly DnsRecord[];
  /** The zone whose SOA record goes with a negative answer: it says how long that may be cached. */
  readonly zone?: string;
  readonly ttlSeconds: number;
}
