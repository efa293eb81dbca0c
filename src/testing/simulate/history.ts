/**
 * What happened in a run: requests and answers, writes to the store, deliveries of watch events, faults. In the order
 * in which it happened.
 *
 * 1. `hash` is the same if and only if the flow is: who asked for what, when, with which outcome, and who learned what
 *    when. Revisions count from the beginning of the run.
 * 2. `contents` is the hash of everything that was written, byte by byte.
 */
import { createHash, type Hash } from "node:crypto";
import type { KubeObject } from "#api";
import { type ObjectPath, objectPath } from "./object-path.ts";

export interface Call {
  readonly number: number;
  /** The user: `deployment-controller`, `node-1`. */
  readonly actor: string;
  /** The process in which it is. */
  readonly component: string;
  readonly method: string;
  readonly path: string;
  readonly about: ObjectPath;
  readonly query: URLSearchParams;
  readonly body: (() => unknown) | undefined;
  /** The number of things that had happened before. */
  readonly from: number;
  answer?: Answer;
}

export interface Answer {
  readonly status: number;
  readonly reason?: string | undefined;
  /** As of the caller's return. */
  readonly at: number;
  readonly object?: KubeObject | undefined;
}

/** A write to the store. */
export interface Commit {
  readonly revision: number;
  readonly key: string;
  /** Undefined: it was deleted. */
  readonly object: KubeObject | undefined;
  readonly previous: KubeObject | undefined;
  readonly atMs: number;
}

export interface HistoryOptions {
  readonly nowMs: () => number;
  /** The revision at the beginning. */
  readonly origin: number;
}

export class History {
  readonly lines: string[] = [];
  readonly calls: Call[] = [];
  readonly commits: Commit[] = [];
  readonly origin: number;
  onCommit: ((commit: Commit) => void) | undefined;
  onAnswer: ((call: Call) => void) | undefined;
  readonly #nowMs: () => number;
  /** What had happened before a revision was written. */
  readonly #written = new Map<number, number>();
  readonly #contents: Hash = createHash("sha256");
  #happened = 0;

  constructor({ nowMs, origin }: HistoryOptions) {
    this.#nowMs = nowMs;
    this.origin = origin;
  }

  /** How many things have happened. */
  get happened(): number {
    return this.#happened;
  }

  /** When a revision was written, as `from` and `at` of calls count. Undefined: before the run. */
  writtenAt(revision: number): number | undefined {
    return this.#written.get(revision);
  }

  get hash(): string {
    const hash = createHash("sha256");
    for (const line of this.lines) hash.update(line).update("\n");
    return hash.digest("hex");
  }

  get contents(): string {
    return this.#contents.copy().digest("hex");
  }

  /** A fault, or a step of the scenario. */
  note(text: string): void {
    this.#line("!", text);
  }

  asked(call: Omit<Call, "number" | "about" | "from" | "answer">): Call {
    const asked = { ...call, number: this.calls.length, about: objectPath(call.path), from: ++this.#happened };
    this.calls.push(asked);
    this.#line(">", `${call.actor} ${call.method} ${call.path}${watching(call.query)}`);
    return asked;
  }

  answered(call: Call, status: number, { reason, object }: Pick<Answer, "reason" | "object">): void {
    call.answer = { status, reason, object, at: ++this.#happened };
    const words = [status, reason, this.#since(revisionOf(object))].filter((word) => word !== undefined);
    this.#line("<", `${call.actor} ${call.method} ${call.path} ${words.join(" ")}`);
    this.onAnswer?.(call);
  }

  /** The caller will never get an answer. */
  lost(call: Call, why: string): void {
    this.#happened += 1;
    this.#line("x", `${call.actor} ${call.method} ${call.path} ${why}`);
  }

  committed(commit: Commit, bytes: Uint8Array | undefined): void {
    this.#written.set(commit.revision, ++this.#happened);
    this.commits.push(commit);
    this.#contents.update(commit.key).update(bytes ?? "");
    this.#line("=", `${this.#since(commit.revision)} ${commit.key}${commit.object === undefined ? " deleted" : ""}`);
    this.onCommit?.(commit);
  }

  delivered(actor: string, watch: number, type: string, object: KubeObject): void {
    const { namespace, name } = object.metadata ?? {};
    const key = [object.kind, namespace, name].filter((part) => part !== undefined).join("/");
    this.#line("~", `${actor} #${watch} ${type} ${key} ${this.#since(revisionOf(object)) ?? ""}`);
  }

  #since(revision: number | undefined): string | undefined {
    if (revision === undefined) return undefined;
    return revision <= this.origin ? "@0" : `@+${revision - this.origin}`;
  }

  #line(sign: string, text: string): void {
    this.lines.push(`${(this.#nowMs() / 1000).toFixed(3)} ${sign} ${text}`);
  }
}

export function revisionOf(object: KubeObject | undefined): number | undefined {
  const text = object?.metadata?.resourceVersion;
  return text === undefined || text === "" ? undefined : Number(text);
}

function watching(query: URLSearchParams): string {
  return query.get("watch") === "true" ? " watch" : "";
}
