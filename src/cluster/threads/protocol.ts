/** What the first thread and another serving thread tell each other, besides what the store's port carries. */
import type { MessagePort } from "node:worker_threads";
import type { ApiRequest } from "#apiserver";
import type { LogFields } from "#base";
import type { FlowRecord } from "#flows";
import type { ServingPki } from "../config/serving-pki.ts";

/** What a thread is started with: values that can be sent. */
export interface ThreadData {
  /** What is started: the module of that knows its type. */
  readonly server: object;
  /** The first thread's port: all listen on the same one. */
  readonly port: number;
  /** How many threads share the limits of the server. */
  readonly count: number;
  readonly startedMs: number;
  /** Records above it are not sent. */
  readonly verbosity: number;
  readonly store: MessagePort;
  readonly first: MessagePort;
}

export type ToThread =
  | { readonly type: "renew"; readonly pki: ServingPki }
  | { readonly type: "metrics"; readonly id: number }
  | { readonly type: "answer"; readonly id: number; readonly value?: unknown; readonly error?: string | undefined }
  | { readonly type: "stop" };

export type FromThread =
  | { readonly type: "serving" }
  | { readonly type: "failed"; readonly why: string }
  | { readonly type: "stopped" }
  | {
      readonly type: "log";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly v: number;
      readonly message: string;
      readonly fields: LogFields;
    }
  | { readonly type: "records"; readonly records: readonly FlowRecord[] }
  | { readonly type: "metrics"; readonly id: number; readonly text: string }
  | { readonly type: "audit"; readonly id: number; readonly lines: readonly Uint8Array[] }
  | { readonly type: "ask"; readonly id: number; readonly name: string; readonly value: unknown }
  | { readonly type: "request"; readonly request: ForwardedRequest; readonly port: MessagePort };

/** What the first thread sends of its answer; then it closes the port. The other end closes it when its client goes. */
export type ForwardedAnswer =
  | { readonly status: number; readonly headers: Readonly<Record<string, string | readonly string[]>> }
  | { readonly part: Uint8Array }
  | { readonly failed: string };

/** A request that the first thread answers in the place of another. */
export interface ForwardedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly remoteAddress: string | undefined;
  readonly certificate: ApiRequest["certificate"] | undefined;
  readonly body: Uint8Array;
}
