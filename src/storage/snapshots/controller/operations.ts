/**
 * How long operations on snapshots take from end to end, under upstream's names.
 *
 * 1. An operation begins when the controller first sees the object in need of it, and ends when the object shows it.
 * 2. A deletion that succeeds cancels what was still going on.
 */
import type { MetricsRegistry } from "#base";

const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600];

export interface Operated {
  readonly key: string;
  readonly uid: string;
  readonly driver: string | undefined;
  readonly isGiven: boolean;
  readonly isCreated: boolean;
  readonly isReady: boolean;
  readonly isDeleted: boolean;
}

export interface Operations {
  seen(object: Operated, now: number): void;
  gone(key: string, now: number): void;
}

export interface OperationMetrics {
  /** `word`: Snapshot, or GroupSnapshot. */
  of(word: "Snapshot" | "GroupSnapshot"): Operations;
}

/** For processes without metrics. */
export const uncounted: OperationMetrics = { of: () => ({ seen: () => {}, gone: () => {} }) };

interface Begun {
  readonly sinceMs: number;
  driver: string;
  readonly type: string;
}

export function operationMetrics(registry: MetricsRegistry): OperationMetrics {
  const took = registry.histogram({
    name: "snapshot_controller_operation_total_seconds",
    help: "Seconds that an operation took from end to end.",
    labels: ["driver_name", "operation_name", "snapshot_type", "operation_status"],
    buckets: BUCKETS,
    stability: "ALPHA",
  });
  const inFlight = registry
    .gauge({ name: "snapshot_controller_operations_in_flight", help: "Operations under way.", stability: "ALPHA" })
    .labels();
  const begun = new Map<string, Begun>();
  const end = (id: string, name: string, status: "success" | "cancel", now: number) => {
    const operation = begun.get(id);
    if (operation === undefined) return;
    begun.delete(id);
    const { driver, type, sinceMs } = operation;
    took.labels(driver, name, type, status).observe((now - sinceMs) / 1000);
  };
  return {
    of: (word) => {
      const [create, ready, remove] = [`Create${word}`, `Create${word}AndReady`, `Delete${word}`];
      const uids = new Map<string, string>();
      return {
        seen({ key, uid, driver = "unknown", isGiven, isCreated, isReady, isDeleted }, now) {
          uids.set(key, uid);
          const type = isGiven ? "pre-provisioned" : "dynamic";
          const begin = (name: string) => {
            const id = `${name}/${uid}`;
            const known = begun.get(id);
            if (known === undefined) begun.set(id, { sinceMs: now, driver, type });
            else if (driver !== "unknown") known.driver = driver;
          };
          if (isDeleted) begin(remove);
          else {
            if (isCreated) end(`${create}/${uid}`, create, "success", now);
            else begin(create);
            if (isReady) end(`${ready}/${uid}`, ready, "success", now);
            else begin(ready);
          }
          inFlight.set(begun.size);
        },
        gone(key, now) {
          const uid = uids.get(key);
          uids.delete(key);
          if (uid === undefined) return;
          end(`${remove}/${uid}`, remove, "success", now);
          for (const name of [create, ready]) end(`${name}/${uid}`, name, "cancel", now);
          inFlight.set(begun.size);
        },
      };
    },
  };
}
