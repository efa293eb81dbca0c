/** Flow records in order, each once; the oldest are dropped. And which of them are shown. */
import { type Diagram, diagramOf, type FlowRecord, type ObjectName, type RequestRecord, trace } from "#flows";

const MOST = 20_000;
/** Without a filter, only the newest are drawn. */
const NEWEST = 3000;

/** A line of `GET /k8ts/flows?follow=true`: a record, or the mark from which on records are live. */
export type FlowLine = FlowRecord | { readonly type: "live"; readonly recorder: string };

export class FlowRecords {
  #all: FlowRecord[] = [];
  /** Received before their recorder is known. */
  #waiting: FlowRecord[] | undefined;
  #recorder: string | undefined;
  readonly #seen = new Set<number>();

  /** A stream starts: until it is live, it is unknown whether it continues the known records. */
  begin(): void {
    this.#waiting = [];
  }

  /** Whether the records have changed. */
  add(lines: readonly FlowLine[]): boolean {
    let changed = false;
    for (const line of lines) {
      if (line.type === "live") changed = this.#live(line.recorder) || changed;
      else if (this.#waiting !== undefined) this.#waiting.push(line);
      else changed = this.#take(line) || changed;
    }
    if (this.#all.length > MOST * 1.2) {
      for (const { seq } of this.#all.slice(0, -MOST)) this.#seen.delete(seq);
      this.#all = this.#all.slice(-MOST);
    }
    return changed;
  }

  /** Where to resume after an interruption, in the server's format. */
  get last(): string | undefined {
    const seq = this.all.at(-1)?.seq;
    return seq === undefined || this.#recorder === undefined ? undefined : `${this.#recorder}-${seq}`;
  }

  #live(recorder: string): boolean {
    if (this.#recorder !== recorder) {
      this.#all = [];
      this.#seen.clear();
    }
    this.#recorder = recorder;
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const record of waiting) this.#take(record);
    return true;
  }

  #take(record: FlowRecord): boolean {
    if (this.#seen.has(record.seq)) return false;
    this.#seen.add(record.seq);
    this.#all.push(record);
    return true;
  }

  /** Sorted by number. */
  get all(): readonly FlowRecord[] {
    for (let at = 1; at < this.#all.length; at++) {
      if ((this.#all[at - 1]?.seq ?? 0) > (this.#all[at]?.seq ?? 0)) {
        this.#all.sort((a, b) => a.seq - b.seq);
        break;
      }
    }
    return this.#all;
  }
}

export interface FlowQuestion {
  readonly object?: ObjectName | undefined;
  readonly only: readonly string[];
  readonly fold: boolean;
  /** Also background noise: Leases, Events, node heartbeats, reads. */
  readonly background: boolean;
}

const BACKGROUND = new Set(["coordination.k8s.io/leases", "events", "events.k8s.io/events"]);

function isBackground(record: FlowRecord): boolean {
  if (record.type === "work") return false;
  if (BACKGROUND.has(record.resource)) return true;
  if (record.type === "delivery") return false;
  const isHeartbeat = record.resource === "nodes" && record.subresource === "status";
  return isHeartbeat || (record.written === undefined && record.status < 400);
}

export function flowDiagram(all: readonly FlowRecord[], { object, only, fold, background }: FlowQuestion): Diagram {
  const loud = background || object !== undefined ? all : all.filter((record) => !isBackground(record));
  const taken = object === undefined ? loud.slice(-NEWEST) : loud;
  const { records } = trace(taken, object === undefined ? {} : { object });
  return diagramOf(records, { fold, nodesApart: true, ...(only.length > 0 && { only }) });
}

/** Requests without a recorded cause: where flows start, newest first, one for each object. */
export function beginnings(all: readonly FlowRecord[], most = 60): RequestRecord[] {
  const found = new Map<string, RequestRecord>();
  for (let at = all.length - 1; at >= 0 && found.size < most; at--) {
    const record = all[at];
    if (record?.type !== "request" || record.cause !== undefined || record.written === undefined) continue;
    if (record.user.startsWith("system:") && !record.user.startsWith("system:serviceaccount:")) continue;
    if (isBackground(record)) continue;
    const key = `${record.resource} ${record.namespace} ${record.name}`;
    if (!found.has(key)) found.set(key, record);
  }
  return [...found.values()];
}
