/** Flow records as they come, each once, in their order; the oldest make room. And what of them is shown. */
import { type Diagram, diagramOf, type FlowRecord, type ObjectName, type RequestRecord, trace } from "#flows";

const MOST = 20_000;
/** Of everything at once, only the newest are drawn: more, nobody can follow. */
const NEWEST = 3000;

export class FlowRecords {
  #all: FlowRecord[] = [];
  readonly #seen = new Set<number>();

  /** Whether something new was among them. */
  add(records: readonly FlowRecord[]): boolean {
    // The last line of an answer is no record: it says how many there were.
    const fresh = records.filter((record) => typeof record.seq === "number" && !this.#seen.has(record.seq));
    for (const record of fresh) {
      this.#seen.add(record.seq);
      this.#all.push(record);
    }
    if (this.#all.length > MOST * 1.2) {
      for (const { seq } of this.#all.slice(0, -MOST)) this.#seen.delete(seq);
      this.#all = this.#all.slice(-MOST);
    }
    return fresh.length > 0;
  }

  /** By their numbers, whatever order they came in. */
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
  /** Also what goes on all the time: Leases, Events, what nodes report of themselves, questions that change nothing. */
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
  return diagramOf(records, { fold, ...(only.length > 0 && { only }) });
}

/** What somebody asked for without being led to it by anything: where flows begin, newest first, one for each object. */
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
