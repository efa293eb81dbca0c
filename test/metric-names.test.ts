/**
 * Metrics of webhooks, policies, admission, authentication, authorization and conversion have the types, labels and
 * stabilities of Kubernetes' own. The list of those is not part of this project.
 */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { MetricsRegistry, VirtualClock } from "#base";
import { admissionMetrics } from "../src/apiserver/admission/index.ts";
import { addressMetrics, portMetrics } from "../src/apiserver/allocate/allocator-metrics.ts";
import { authenticationMetrics } from "../src/apiserver/authn/metrics.ts";
import { countDecisions, measured } from "../src/apiserver/authz/metrics.ts";
import { NO_OPINION } from "../src/apiserver/authz/verdict.ts";
import { webhookMetrics } from "../src/apiserver/authz/webhook/metrics.ts";
import { conversionMetrics } from "../src/apiserver/custom-resources/metrics.ts";
import { impersonationMetrics } from "../src/apiserver/impersonation/impersonation-metrics.ts";

const REFERENCE = new URL("../../shared/reference/", import.meta.url);

interface Family {
  readonly labels: readonly string[];
  readonly stability: string;
}

/** `name  [Type ]{a,b} LEVEL` */
function referenceIn(file: string): Map<string, Family> {
  const lines = readFileSync(new URL(file, REFERENCE), "utf8").split("\n");
  const found = lines.flatMap((line) => {
    const match = /^(\w+)\s+(?:\w+ )?\{([^}]*)\} ?(\w*)$/.exec(line);
    if (match === null) return [];
    const [, name = "", labels = "", stability = ""] = match;
    const own = labels.split(",").filter((label) => label !== "" && label !== "le");
    return [[name, { labels: own.sort(), stability }] as const];
  });
  return new Map(found);
}

/** What the registries declare, read from the options that reach them. */
function declared(): Map<string, Family> {
  const families = new Map<string, Family>();
  class Spy extends MetricsRegistry {
    override counter<const L extends readonly string[] = []>(options: Parameters<MetricsRegistry["counter"]>[0]) {
      note(options);
      return super.counter<L>(options as never);
    }
    override gauge<const L extends readonly string[] = []>(options: Parameters<MetricsRegistry["gauge"]>[0]) {
      note(options);
      return super.gauge<L>(options as never);
    }
    override histogram<const L extends readonly string[] = []>(options: Parameters<MetricsRegistry["histogram"]>[0]) {
      note(options);
      return super.histogram<L>(options as never);
    }
  }
  const note = ({ name, labels = [], stability }: Parameters<MetricsRegistry["counter"]>[0]) =>
    families.set(name, { labels: [...labels].sort(), stability: stability ?? "" });
  const [registry, clock] = [new Spy(), new VirtualClock()];
  admissionMetrics(registry, clock);
  authenticationMetrics(registry, clock);
  webhookMetrics(registry, clock);
  countDecisions(registry);
  measured(() => NO_OPINION, registry, clock);
  conversionMetrics(registry, clock);
  impersonationMetrics(registry, clock);
  addressMetrics(registry, clock, { ranges: () => [], taken: () => [] });
  portMetrics(registry, { first: 1, last: 2 }, () => 0);
  registry.describeItself();
  return families;
}

describe.skipIf(!existsSync(REFERENCE))("metrics compared with the reference", () => {
  it.each(["metrics-names.txt", "stable-metrics.txt"])("agree with %s where it has them", (file) => {
    const ours = declared();
    const compared = [...referenceIn(file)].filter(([name]) => ours.has(name));
    expect(compared.length).toBeGreaterThan(file === "stable-metrics.txt" ? 5 : 25);
    for (const [name, family] of compared) expect([name, ours.get(name)]).toEqual([name, family]);
  });
});
