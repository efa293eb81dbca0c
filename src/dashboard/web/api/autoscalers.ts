/**
 * The figures of autoscalers while the page is open: their status says only what is now.
 *
 * 1. A point for each look of the page at an object that is shown, at most one in 5 s; in bounded memory.
 */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { autoscaling } from "#api";
import { metricsOf } from "../model/autoscaler.ts";
import type { Point } from "../model/history.ts";
import type { Page } from "../page.ts";

const EVERY_MS = 5_000;
const POINTS = 240;
/** The least recently shown makes room. */
const AUTOSCALERS = 50;

interface Kept {
  atMs: number;
  readonly metrics: Map<string, Point[]>;
  readonly replicas: Point[];
}

export class AutoscalerFigures {
  readonly #kept = new Map<string, Kept>();

  /** Takes a point if it is time for one. */
  take(uid: string, hpa: autoscaling.HorizontalPodAutoscaler, atMs: number): Kept {
    const kept = this.#kept.get(uid) ?? { atMs: 0, metrics: new Map<string, Point[]>(), replicas: [] };
    this.#kept.delete(uid);
    this.#kept.set(uid, kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= AUTOSCALERS) break;
      this.#kept.delete(oldest);
    }
    if (atMs - kept.atMs < EVERY_MS) return kept;
    kept.atMs = atMs;
    push(kept.replicas, { atMs, value: hpa.status?.currentReplicas ?? 0 });
    for (const { title, current } of metricsOf(hpa)) {
      const points = kept.metrics.get(title) ?? [];
      kept.metrics.set(title, points);
      if (current !== undefined) push(points, { atMs, value: current });
    }
    return kept;
  }
}

function push(points: Point[], point: Point): void {
  if (points.push(point) > POINTS) points.shift();
}

export const AutoscalersContext = createContext<AutoscalerFigures | undefined>(undefined);

/** Of this moment and those before. */
export function useFigures(uid: string, hpa: autoscaling.HorizontalPodAutoscaler, page: Page): Kept {
  const figures = useContext(AutoscalersContext);
  if (figures === undefined) throw new Error("a view outside of the page");
  // The page's time draws the view each second: a point for each interval, also while the object does not change.
  return figures.take(uid, hpa, page.now.value);
}
