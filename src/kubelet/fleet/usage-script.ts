/**
 * What containers of a whole fleet use, from a file: the first rule that names a container's Pod decides.
 *
 *     rules:
 *       - namespace: default            # any, if absent
 *         selector: app=web             # labels of Pods; any, if absent
 *         container: main               # any, if absent
 *         cpu: 0s=80m,2m=400m,10m=80m   # since the script began; see curve.ts
 *         memory: 50%
 *         shared: true                  # the amounts are those of all running Pods of the rule together
 *         every: 24h                    # then again from the beginning
 *       - selector: app=db
 *         replay: recorded.csv          # columns seconds,cpu,memory: a recording; its first line is the beginning
 *
 * 1. A rule that says nothing about CPU or memory leaves it to the Pod's annotations, else to its requests.
 */
import { parse } from "yaml";
import { durationMs, type LabelMatcher, parseLabelSelector, parseQuantity, scaledValue } from "#api";
import { amountAt, CURVE_FORM, type Curve, isOrdered, parseAmount, parseCurve, type Step } from "./curve.ts";
import type { SimulatedUsage, UsageQuestion, UsageSource } from "./usage.ts";

/** A sentence about what is wrong in the file. */
export class UsageScriptError extends Error {}

export interface UsageRule {
  readonly namespace: string | undefined;
  readonly labels: LabelMatcher;
  readonly container: string | undefined;
  readonly cpu: Curve | undefined;
  readonly memory: Curve | undefined;
  readonly isShared: boolean;
  readonly everyMs: number | undefined;
}

const FIELDS = ["namespace", "selector", "container", "cpu", "memory", "shared", "every", "replay"];
/** The Pods of a rule are not counted more often. */
const COUNT_MS = 1_000;

/** `read`: the text of a file that a rule names. */
export function parseUsageScript(text: string, read: (file: string) => string): readonly UsageRule[] {
  const { rules, ...others } = objectOf(parse(text), "the file");
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw new UsageScriptError(`unknown field ${JSON.stringify(unknown)}`);
  if (!Array.isArray(rules)) throw new UsageScriptError("rules: a list of rules is required");
  return rules.map((rule: unknown, at) => {
    try {
      return ruleOf(objectOf(rule, "a rule"), read);
    } catch (error) {
      throw new UsageScriptError(`rules[${at}]: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  });
}

function ruleOf(rule: Readonly<Record<string, unknown>>, read: (file: string) => string): UsageRule {
  const unknown = Object.keys(rule).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) throw new UsageScriptError(`unknown field ${JSON.stringify(unknown)}`);
  const text = (field: string) => {
    const value = rule[field];
    if (value === undefined || typeof value === "string") return value;
    if (typeof value === "number") return String(value);
    throw new UsageScriptError(`${field}: it must be a string`);
  };
  const curve = (field: string) => {
    const value = text(field);
    return value === undefined ? undefined : checkedCurve(field, value);
  };
  const [replay, every] = [text("replay"), text("every")];
  if (replay !== undefined && (rule.cpu !== undefined || rule.memory !== undefined))
    throw new UsageScriptError("replay: a rule has either a recording, or cpu and memory");
  if (rule.shared !== undefined && typeof rule.shared !== "boolean")
    throw new UsageScriptError("shared: it must be true or false");
  const everyMs = every === undefined ? undefined : durationMs(every);
  if (everyMs !== undefined && !(everyMs > 0)) throw new UsageScriptError("every: it must be longer than nothing");
  return {
    namespace: text("namespace"),
    labels: parseLabelSelector(text("selector") ?? ""),
    container: text("container"),
    ...(replay === undefined ? { cpu: curve("cpu"), memory: curve("memory") } : parseRecording(replay, read(replay))),
    isShared: rule.shared === true,
    everyMs,
  };
}

function checkedCurve(field: string, text: string): Curve {
  try {
    const curve = parseCurve(text);
    if (curve !== undefined) return curve;
  } catch {
    // reported below
  }
  throw new UsageScriptError(`${field}: ${JSON.stringify(text)} is not ${CURVE_FORM}`);
}

function parseRecording(file: string, text: string): Pick<UsageRule, "cpu" | "memory"> {
  const [head = "", ...lines] = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const columns = head.split(",").map((name) => name.trim());
  const [time, cpu, memory] = ["seconds", "cpu", "memory"].map((name) => columns.indexOf(name));
  if (time === undefined || time === -1 || (cpu === -1 && memory === -1))
    throw new UsageScriptError(`${file}: its first line must name the columns seconds, and cpu or memory`);
  const rows = lines.map((line) => line.split(",").map((cell) => cell.trim()));
  const begin = Number(rows[0]?.[time] ?? 0);
  const column = (at = -1): Curve | undefined => {
    if (at === -1) return undefined;
    const steps = rows.map((row, line): Step => {
      try {
        const fromMs = (Number(row[time]) - begin) * 1000;
        if (Number.isFinite(fromMs)) return { fromMs, amount: parseAmount(row[at] ?? "") };
      } catch {
        // reported below
      }
      throw new UsageScriptError(`${file}:${line + 2}: ${JSON.stringify(row.join(","))} is not a time with amounts`);
    });
    if (!isOrdered(steps)) throw new UsageScriptError(`${file}: its lines must be in order of time, without negatives`);
    return steps;
  };
  return { cpu: column(cpu), memory: column(memory) };
}

function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new UsageScriptError(`${what} must be a mapping`);
}

/** `beganMs`: when the times of the rules begin. `rules` are asked for each time: the file may change. */
export function scriptedUsage(rules: () => readonly UsageRule[], beganMs: number): UsageSource {
  const counts = new WeakMap<UsageRule, { readonly atMs: number; readonly pods: number }>();
  const sharing = (rule: UsageRule, { now, running }: UsageQuestion) => {
    const known = counts.get(rule);
    if (known !== undefined && Math.abs(now - known.atMs) < COUNT_MS) return known.pods;
    let pods = 0;
    for (const pod of running()) if (isAbout(rule, pod.metadata)) pods++;
    counts.set(rule, { atMs: now, pods });
    return pods;
  };
  return (question): Partial<SimulatedUsage> => {
    const { pod, container, now, requests } = question;
    const rule = rules().find(
      (each) => isAbout(each, pod.metadata) && (each.container === undefined || each.container === container),
    );
    if (rule === undefined) return {};
    const sinceMs = Math.max(0, now - beganMs);
    const atMs = rule.everyMs === undefined ? sinceMs : sinceMs % rule.everyMs;
    const by = rule.isShared ? Math.max(1, sharing(rule, question)) : 1;
    const of = (curve: Curve, requested: string | undefined) =>
      amountAt(curve, atMs, requested === undefined ? 0 : Number(scaledValue(parseQuantity(requested), -3))) / by;
    return {
      ...(rule.cpu !== undefined && { cpuMilli: of(rule.cpu, requests.cpu) }),
      ...(rule.memory !== undefined && { memoryBytes: Math.round(of(rule.memory, requests.memory) / 1000) }),
    };
  };
}

function isAbout({ namespace, labels }: UsageRule, metadata: UsageQuestion["pod"]["metadata"]): boolean {
  return (namespace === undefined || namespace === metadata.namespace) && labels.matches(metadata.labels);
}
