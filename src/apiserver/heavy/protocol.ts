/**
 * What the serving thread and the thread of heavy writes send each other.
 *
 *     serving thread ──► Job ──► thread ──► Asked (what only the serving thread can do) ──► Reply … ──► Ended
 *                    ──► DecodeJob ──► thread ──► Ended
 *
 * Everything is plain data. Bytes are copied: 3 MB take a millisecond, and after the first transfer of memory in a
 * process V8 compiles all code that works on bytes with more checks (ADR 0014).
 */
import type { ObjectMeta, StatusDetails, StatusReason } from "#api";
import type { Revision, StoreErrorCode } from "#store";
import type { Format } from "../encode/negotiate.ts";
import type { WholeResponse } from "../http/exchange.ts";
import type { UserInfo } from "../identity/user.ts";
import type { BodyForm } from "../rest/body-form.ts";
import type { Pieces } from "./pieces.ts";

export type HeavyVerb = "create" | "update" | "patch";

/** What a thread is started with. */
export interface HeavySetUp {
  /** The feature gates that are on. */
  readonly gates: readonly string[];
  /** False: kinds refuse privileged Pods. */
  readonly allowPrivileged: boolean;
  readonly garbageCollection: boolean | undefined;
}

/** An object as it is stored. */
export interface StoredValue {
  readonly key: string;
  readonly revision: Revision;
  readonly value: Uint8Array;
  /** Its value has to be written again, whether it changes or not. */
  readonly isOutdated: boolean;
}

/** A definition of custom resources: sent before the first job that needs it, and again when it has changed. */
export interface Defined {
  readonly type: "define";
  readonly definition: string;
}

export interface Job {
  readonly type: "job";
  readonly id: number;
  readonly verb: HeavyVerb;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly user: UserInfo;
  readonly userAgent: string | undefined;
  readonly query: string;
  readonly contentType: string | undefined;
  readonly format: Format;
  readonly body: Uint8Array;
  readonly current: StoredValue | undefined;
  readonly nowMs: number;
  /** Of the object, if it is created. */
  readonly uid: string;
  /** What the serving thread wants to be asked; the rest is answered in the thread. */
  readonly asks: Asks;
}

export interface Asks {
  readonly received: boolean;
  readonly guard: boolean;
  readonly allocate: boolean;
}

/** A body to be decoded. It needs nothing of the cluster. */
export interface DecodeJob {
  readonly type: "decode";
  readonly id: number;
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
  readonly cbor: boolean;
  readonly form: BodyForm;
}

/** What a job needs the serving thread for. Each has one reply. */
export type Question =
  | { readonly do: "received"; readonly object: Pieces }
  | { readonly do: "admit"; readonly phase: "mutate" | "validate"; readonly write: AskedWrite }
  | { readonly do: "guard"; readonly write: AskedWrite }
  | { readonly do: "mayCreate" }
  | { readonly do: "allocate"; readonly write: AskedWrite }
  | { readonly do: "keep" | "giveBack" }
  | { readonly do: "release"; readonly object: Pieces }
  | {
      readonly do: "store";
      readonly key: string;
      /** Undefined: the object is deleted. */
      readonly value: Uint8Array | undefined;
      /** The value as an object, so that the serving thread need not parse it at a time. */
      readonly form: Pieces | undefined;
      readonly metadata: ObjectMeta;
      /** Undefined: the object is created. */
      readonly expected: Revision | undefined;
    };

/** An object that is written, and the one that is there. */
export interface AskedWrite {
  /** Only the head of the object, and of the one that is there, is sent: see `head.ts`. */
  readonly isHead: boolean;
  readonly object: Pieces;
  readonly dryRun: boolean;
  /** The revision of the object that is there. */
  readonly oldRevision: Revision | undefined;
  /** Sent once for each revision. */
  readonly old: Pieces | undefined;
}

export interface Asked {
  readonly type: "asked";
  readonly id: number;
  readonly question: Question;
}

export type Answer =
  | { readonly is: "done" }
  /** Admission looks at more than the head of the object. */
  | { readonly is: "whole" }
  /** Admission or an allocator has changed the object. */
  | { readonly is: "changed"; readonly object: Pieces }
  /** The name of an object that a dry run would create is taken. */
  | { readonly is: "taken"; readonly suffix: string }
  | { readonly is: "written"; readonly revision: Revision }
  | { readonly is: "outrun"; readonly current: StoredValue | undefined }
  | { readonly is: "failed"; readonly failure: Failure };

export interface Reply {
  readonly type: "reply";
  readonly id: number;
  readonly answer: Answer;
}

export interface Warned {
  readonly type: "warned";
  readonly id: number;
  readonly message: string;
}

/** Of a write. */
export interface Written {
  readonly status: number;
  readonly headers: WholeResponse["headers"];
  readonly body: Uint8Array;
}

export interface DecodedPieces {
  readonly decoded: Pieces;
  readonly warnings: readonly string[];
}

export interface Ended {
  readonly type: "ended";
  readonly id: number;
  readonly outcome: Written | DecodedPieces | { readonly failure: Failure };
}

/** An error on its way to the other thread. */
export interface Failure {
  readonly message: string;
  readonly stack: string | undefined;
  /** Of a StatusError. */
  readonly status?: {
    readonly reason: StatusReason;
    readonly code: number;
    readonly details?: StatusDetails | undefined;
  };
  /** There was no stack left. */
  readonly tooDeep?: boolean;
  /** An error of the store. */
  readonly store?: { readonly code: StoreErrorCode; readonly maybeApplied: boolean };
  /** The serving thread's own error, by number: it has come back. */
  readonly known?: number | undefined;
}

export type ToThread = Defined | Job | DecodeJob | Reply;
export type FromThread = Asked | Warned | Ended;
