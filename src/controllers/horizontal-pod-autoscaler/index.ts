/**
 * HorizontalPodAutoscalers: scale their targets by metrics.
 *
 *     autoscalers --► key, and again every 15 s ──► scale of the target ──► metrics ──► decide ══► scale, status
 *
 * 1. An autoscaler is looked at when it is new or its spec has changed, and after each sync period; its own status
 *    makes no work.
 * 2. What it has recommended and done is remembered in memory only, see history.ts.
 * 3. Pods of one target may have one autoscaler only: two would pull in different directions.
 */
import {
  type autoscaling,
  equalJson,
  type Json,
  kinds,
  type LabelMatcher,
  LabelSelectorError,
  parseLabelSelector,
} from "#api";
import { podsByLabels } from "../pods/index.ts";
import { type Controller, changesOf, defineController } from "../runtime/index.ts";
import { type Decision, decide, needsMetrics, type Readings, targetFailed } from "./decide.ts";
import { firstHistory, type History } from "./history.ts";
import { autoscalerMetrics, outcomeOf, proposalOf } from "./metrics.ts";
import { MetricsClient } from "./metrics-client.ts";
import { planOf } from "./plan.ts";
import { AUTOSCALER_DEFAULTS, type AutoscalerSettings } from "./settings.ts";
import { type Scale, Targets } from "./target.ts";

export { type ExplainedMetric, type Explanation, explainAutoscaler } from "./explain.ts";
export { AUTOSCALER_DEFAULTS, type AutoscalerSettings } from "./settings.ts";

type Hpa = autoscaling.HorizontalPodAutoscaler;
type Readable = Extract<Readings, { ok: true }>;

/** How long each metric took to read. */
type TimedReadings =
  | Exclude<Readings, Readable>
  | (Omit<Readable, "readings"> & { readonly readings: readonly (Readable["readings"][number] & Timed)[] });

interface Timed {
  readonly tookMs: number;
}

interface Remembered {
  history?: History;
  /** The selector of its target, as of the last look. */
  selector?: LabelMatcher;
}

export function horizontalPodAutoscaler(given: Partial<AutoscalerSettings> = {}): Controller {
  const settings = { ...AUTOSCALER_DEFAULTS, ...given };
  const { syncPeriodMs, workers } = settings;
  return defineController({
    name: "horizontal-pod-autoscaler-controller",
    account: "horizontal-pod-autoscaler",
    reportsAs: "horizontal-pod-autoscaler",
    concurrency: workers,
    bind({ cache, client, clock, log, families }) {
      const counts = families(autoscalerMetrics);
      const autoscalers = cache(kinds.HorizontalPodAutoscaler);
      const select = podsByLabels(cache(kinds.Pod));
      const targets = new Targets(client, clock);
      const metrics = new MetricsClient({ client, targets });
      const remembered = new Map<string, Remembered>();

      const read = async (hpa: Hpa, key: string, scale: Scale, signal: AbortSignal): Promise<TimedReadings> => {
        const { namespace = "" } = hpa.metadata;
        const selector = selectorOf(scale.status?.selector ?? "");
        if (!selector.ok) return selector;
        const of = remembered.get(key);
        if (of !== undefined) of.selector = selector.matcher;
        const pods = select(namespace, selector.matcher);
        const rivals = [...remembered].filter(
          ([other, { selector: its }]) =>
            other.startsWith(`${namespace}/`) &&
            its !== undefined &&
            pods.some(({ metadata }) => its.matches(metadata.labels)),
        );
        if (rivals.length > 1)
          return ambiguous(
            scale.status?.selector ?? "",
            rivals.map(([other]) => other),
          );
        const wanted = hpa.spec.metrics ?? [];
        const readings = await Promise.all(
          wanted.map(async (metric) => {
            const startMs = clock.monotonic();
            const reading = await metrics.read(metric, namespace, selector.matcher, signal);
            return { ...reading, tookMs: clock.monotonic() - startMs };
          }),
        );
        return { ok: true, pods, readings };
      };

      /** Counts what was decided, and from what. */
      const count = (
        hpa: Hpa,
        current: number,
        read: TimedReadings | undefined,
        decision: Decision,
        tookMs: number,
      ) => {
        const { action, error } = outcomeOf(decision, current);
        counts.reconciliations.labels(action, error).inc();
        counts.seconds.labels(action, error).observe(tookMs / 1000);
        for (const [at, evaluated] of (decision.evaluated ?? []).entries()) {
          const { action, error } = proposalOf(evaluated, current);
          const labels = [action, error, hpa.spec.metrics?.[at]?.type ?? ""] as const;
          counts.computations.labels(...labels).inc();
          const reading = read?.ok === true ? read.readings[at] : undefined;
          if (reading !== undefined) counts.computationSeconds.labels(...labels).observe(reading.tookMs / 1000);
        }
      };

      return {
        sources: [
          changesOf(
            kinds.HorizontalPodAutoscaler,
            ({ type, object, old }) => type !== "updated" || !isSameSpec(object, old),
          ),
        ],
        async reconcile(key, now, signal) {
          const hpa = autoscalers.get(key);
          if (hpa === undefined) {
            remembered.delete(key);
            return undefined;
          }
          const startMs = clock.monotonic();
          const memory = remembered.get(key) ?? {};
          remembered.set(key, memory);
          const { namespace = "" } = hpa.metadata;
          const target = await targets.find(namespace, hpa.spec.scaleTargetRef, signal);
          if (!target.ok) {
            const failed = { ...targetFailed(hpa, target.error, now), error: target.error };
            count(hpa, 0, undefined, { ...failed, history: firstHistory(0, now) }, clock.monotonic() - startMs);
            return planOf(hpa, failed, undefined, syncPeriodMs);
          }
          const { spec, status } = target.value.scale;
          const scale = { specReplicas: spec?.replicas ?? 0, statusReplicas: status?.replicas ?? 0 };
          const found = needsMetrics(hpa, scale, settings)
            ? await read(hpa, key, target.value.scale, signal)
            : undefined;
          const decision = decide({ hpa, scale, read: found, history: memory.history, settings, now });
          memory.history = decision.history;
          count(hpa, scale.specReplicas, found, decision, clock.monotonic() - startMs);
          if (decision.error !== undefined)
            log.info("failed to compute desired number of replicas based on listed metrics", {
              key,
              error: decision.error,
            });
          return planOf(hpa, decision, target.value, syncPeriodMs, ({ history }) => {
            memory.history = history;
          });
        },
      };
    },
  });
}

function isSameSpec(a: Hpa, b: Hpa): boolean {
  return equalJson(a.spec as unknown as Json, b.spec as unknown as Json);
}

type Unusable = Extract<Readings, { ok: false }>;

function selectorOf(text: string): { readonly ok: true; readonly matcher: LabelMatcher } | Unusable {
  if (text === "") {
    const event = { type: "Warning", reason: "SelectorRequired", note: "selector is required" } as const;
    return { ok: false, reason: "InvalidSelector", message: "the HPA target's scale is missing a selector", event };
  }
  try {
    return { ok: true, matcher: parseLabelSelector(text) };
  } catch (error) {
    if (!(error instanceof LabelSelectorError)) throw error;
    const message = `couldn't convert selector into a corresponding internal selector object: ${error.message}`;
    return unusable("InvalidSelector", message);
  }
}

function ambiguous(selector: string, keys: readonly string[]): Unusable {
  const shown = keys
    .map((key) => key.split("/"))
    .map(([namespace, name]) => `{${name} ${namespace}}`)
    .sort();
  return unusable(
    "AmbiguousSelector",
    `pods by selector ${selector} are controlled by multiple HPAs: [${shown.join(" ")}]`,
  );
}

function unusable(reason: string, message: string): Unusable {
  return { ok: false, reason, message, event: { type: "Warning", reason, note: message } };
}
