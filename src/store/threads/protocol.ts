/** The messages between the thread of a store and the threads that use it. */
import type { StoreError, StoreErrorCode } from "../model/errors.ts";
import type { CallOptions, ListOptions, ReadOptions, Revision } from "../model/store.ts";
import type { Packed } from "./packed.ts";

/** What one turn of a using thread asks. */
export interface Questions {
  readonly writes?: Packed | undefined;
  readonly calls?: readonly Call[] | undefined;
  /** Everything up to the newest revision shall be delivered, also if nothing changes. */
  readonly progress?: boolean | undefined;
  /** How many more messages with changes have been read. */
  readonly read?: number | undefined;
}

export type Call = { readonly id: number } & (
  | { readonly type: "get"; readonly key: string; readonly options: ReadOptions | undefined }
  | { readonly type: "list"; readonly prefix: string; readonly options: ListOptions }
  | { readonly type: "count"; readonly prefix: string; readonly options: ReadOptions | undefined }
  | { readonly type: "revision"; readonly options: ReadOptions | undefined }
  | { readonly type: "compact"; readonly revision: Revision; readonly options: CallOptions | undefined }
  | { readonly type: "sizeBytes" }
  /** Changes that the using thread has not, or no longer. */
  | { readonly type: "changes"; readonly prefix: string; readonly after: Revision }
);

/** What one turn of the store's thread answers. */
export interface Answers {
  /** Changes of the whole store, in order; none is missing after those of the message before, unless `skips`. */
  readonly changes?: readonly Packed[] | undefined;
  /** All changes up to here have been delivered. Absent: nothing is new. */
  readonly through?: Revision | undefined;
  /** Changes were left out, because the thread did not keep up. */
  readonly skips?: boolean | undefined;
  /** Writes that were done: an id and a revision in turn. */
  readonly done?: readonly number[] | undefined;
  readonly replies?: readonly Reply[] | undefined;
}

export type Reply = { readonly id: number } & (
  | { readonly error: PlainError }
  /** A refused write, or the answer of `get`: at most one entry. */
  | { readonly entry: Packed }
  | { readonly page: readonly Packed[]; readonly revision: Revision; readonly more: boolean }
  | { readonly number: number }
  | { readonly slice: readonly Packed[]; readonly through: Revision }
);

/** The first message of the store's thread: the changes that it sends are those after `revision`. */
export interface Welcome {
  readonly revision: Revision;
  readonly newest: SharedArrayBuffer;
  /** Others write to the backend, too: only it knows the newest revision. */
  readonly isShared: boolean;
  readonly hasSize: boolean;
}

/** An error as a value that can be sent. */
export interface PlainError {
  readonly message: string;
  /** Of a StoreError. */
  readonly code?: StoreErrorCode | undefined;
  readonly maybeApplied?: boolean | undefined;
  readonly compactRevision?: Revision | undefined;
}

export function plainError(error: unknown): PlainError {
  const { message } = error as Error;
  const { code, maybeApplied, compactRevision } = error as Partial<StoreError>;
  return { message, code, maybeApplied, compactRevision };
}
