/** The options of the verbs, by their names in the API, and the query that they become. */

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** The deadline, retries included. Default: the client's. */
  readonly timeoutMs?: number;
  /** The cause of this request for the flow recorder (CAUSE_HEADER). */
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
  /** The revision to continue from. Default: all current objects first, then changes. */
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: "NotOlderThan";
  /** Default: true. */
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  /** After this time the server ends the watch. */
  readonly timeoutSeconds?: number;
  /** Drops managedFields of objects that come over the network: half of many objects, and of use only to the server. */
  readonly omitManagedFields?: boolean;
  /**
   * The server may batch changes for this time, so that an idle process wakes less often. Servers without this option
   * do not batch.
   */
  readonly gatherMs?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation?: "Strict" | "Warn" | "Ignore";
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Takes over fields from other managers. */
  readonly force?: boolean;
}

export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

type Parameter = string | number | boolean | undefined;

/** `?a=b&c=d`, of the options that are set; empty if none is. */
export function queryOf(parameters: Readonly<Record<string, Parameter>>): string {
  const set = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  if (set.length === 0) return "";
  return `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`;
}

export function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions, force?: boolean): string {
  // Most writes have no options.
  if (dryRun !== true && fieldManager === undefined && fieldValidation === undefined && force === undefined) return "";
  return queryOf({ dryRun: dryRun === true ? "All" : undefined, fieldManager, fieldValidation, force });
}
