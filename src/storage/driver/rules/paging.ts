/**
 * Lists in pages. Pure.
 *
 * 1. Entries are in the order of their creation, and a token names the last one that was seen: what is created between
 *    two pages is in a later one, and a token stays valid if its entry is deleted.
 */
import { GrpcError } from "#grpc";
import { invalid } from "./requests.ts";

export interface Page<T> {
  readonly entries: readonly T[];
  /** Empty: there are no more. */
  readonly nextToken: string;
}

export interface PageRequest {
  /** 0: all. */
  readonly maxEntries: number;
  readonly startingToken: string;
}

export function pageOf<T extends { readonly seq: number }>(all: Iterable<T>, request: PageRequest): Page<T> {
  const { maxEntries, startingToken } = request;
  if (maxEntries < 0) throw invalid("max_entries is negative");
  const after = seqOf(startingToken);
  const rest = [...all].filter(({ seq }) => seq > after).sort((a, b) => a.seq - b.seq);
  const entries = maxEntries === 0 ? rest : rest.slice(0, maxEntries);
  const hasMore = entries.length < rest.length;
  return { entries, nextToken: hasMore ? `after-${entries.at(-1)?.seq}` : "" };
}

function seqOf(token: string): number {
  if (token === "") return 0;
  const digits = /^after-(\d+)$/.exec(token)?.[1];
  if (digits === undefined)
    throw new GrpcError("ABORTED", `starting_token "${token}" is not from a list of this driver`);
  return Number(digits);
}
