/** The options of the verbs, under the names of the API, and how they become a query. */

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the answer, repetitions included. Default: the client's. */
  readonly timeoutMs?: number;
  /** The work that this is part of, as #flows writes it. */
  readonly cause?: string | undefined;
}

export interface GetOptions extends CallOptions {
  readonly resourceVersion?: string;
}

export interface Selectors {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export interface ListOptions extends CallOptions, Selectors {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "Exact" | "NotOlderThan";
}

export interface WatchOptions extends CallOptions, Selectors {
  /** Where to go on. Default: the current objects first, then what changes. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan";
  /** Default: true. */
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  /** When the server ends the watch. */
  readonly timeoutSeconds?: number;
  /** Objects that come over the network are without managedFields: they are half of many an object, and mean something to the server alone. */
  readonly omitManagedFields?: boolean;
  /** Changes may come together, this much later: who is in no hurry is woken less often. A server that does not know this tells them at once. */
  readonly gatherMs?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Takes fields over from other managers. */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

type Parameter = string | number | boolean | undefined;

/** "?a=b&c=d" of what is set; "" if nothing is. */
export function queryOf(parameters: Readonly<Record<string, Parameter>>): string {
  const set = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  if (set.length === 0) return "";
  return `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`;
}

export function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions, force?: boolean): string {
  // Most writes say none of it.
  if (dryRun !== true && fieldManager === undefined && fieldValidation === undefined && force === undefined) return "";
  return queryOf({ dryRun: dryRun === true ? "All" : undefined, fieldManager, fieldValidation, force });
}
