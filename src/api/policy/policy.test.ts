import { describe, expect, it } from "vitest";
import { faults, object, at as part } from "../apps/testing/builders.ts";
import { create } from "../apps/testing/run-rules.ts";
import { at } from "../machinery/errors/field-error.ts";
import { StatusError, toStatus } from "../machinery/errors/status.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import type { Pod } from "../types/core-v1.ts";
import type { Condition } from "../types/meta-v1.ts";
import type { PodDisruptionBudget as Budget } from "../types/policy-v1.ts";
import {
  evictionNameFault,
  isOutsideBudgets,
  mayGoUnready,
  PodDisruptionBudget,
  spendBudget,
  validateConditions,
} from "./index.ts";

function budget(status: Budget["status"] = {}, spec: Budget["spec"] = {}): Budget {
  return { metadata: { name: "b", generation: 1 }, spec, status: { observedGeneration: 1, ...status } };
}

describe("PodDisruptionBudget", () => {
  it.each<{ spec: JsonObject; want: readonly string[] }>([
    { spec: {}, want: [] },
    { spec: { maxUnavailable: "50%" }, want: [] },
    {
      spec: { maxUnavailable: "200%" },
      want: ['spec.maxUnavailable: Invalid value: "200%": must not be greater than 100%'],
    },
    {
      spec: { minAvailable: 1, maxUnavailable: 1 },
      want: [
        'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
      ],
    },
  ])("$spec", ({ spec, want }) => {
    expect(faults(create(PodDisruptionBudget, object("policy/v1", "PodDisruptionBudget", { spec })))).toEqual(want);
  });

  it("cannot be put without saying which version is replaced", () => {
    expect(PodDisruptionBudget.update?.allowUnconditional).toBe(false);
  });
});

describe("conditions", () => {
  const good: Condition = {
    type: "Ready",
    status: "True",
    lastTransitionTime: "2026-01-01T00:00:00Z",
    reason: "Fine",
    message: "",
  };
  it.each<{ name: string; given: Condition[]; want: readonly string[] }>([
    { name: "nothing", given: [good], want: [] },
    { name: "twice the same", given: [good, good], want: ["c[1].type: FieldValueDuplicate"] },
    {
      name: "empty ones",
      given: [{ type: "", status: "", lastTransitionTime: "", reason: "", message: "" }],
      want: [
        "c[0].type: FieldValueInvalid",
        "c[0].type: FieldValueInvalid",
        "c[0].status: FieldValueNotSupported",
        "c[0].lastTransitionTime: FieldValueRequired",
        "c[0].reason: FieldValueRequired",
      ],
    },
    {
      name: "a reason in words",
      given: [{ ...good, reason: "not so fine" }],
      want: ["c[0].reason: FieldValueInvalid"],
    },
  ])("$name", ({ given, want }) => {
    expect(validateConditions(given, at("c")).map(({ field, type }) => `${field}: ${type}`)).toEqual(want);
  });
});

describe("Eviction", () => {
  const now = "2026-01-01T00:00:00Z";

  it("speaks of the pod that the request names", () => {
    expect(evictionNameFault({ metadata: { name: "p" } }, "p")).toBeUndefined();
    expect(evictionNameFault({ metadata: { name: "q" } }, "p")?.message).toBe(
      "name in URL does not match name in Eviction object",
    );
  });

  it("takes from the budget, and says so when nothing is left", () => {
    expect(spendBudget(budget({ disruptionsAllowed: 2, disruptedPods: { a: now } }), "p", now)).toEqual({
      observedGeneration: 1,
      disruptionsAllowed: 1,
      disruptedPods: { a: now, p: now },
    });
    expect(spendBudget(budget({ disruptionsAllowed: 1 }), "p", now)).toEqual({
      observedGeneration: 1,
      disruptionsAllowed: 0,
      disruptedPods: { p: now },
      conditions: [
        {
          type: "DisruptionAllowed",
          status: "False",
          observedGeneration: 1,
          lastTransitionTime: now,
          reason: "InsufficientPods",
          message: "",
        },
      ],
    });
  });

  const syncFailed = {
    type: "DisruptionAllowed",
    status: "False",
    lastTransitionTime: now,
    reason: "SyncFailed",
    message: "no scale",
  };
  it.each([
    {
      name: "one that is not up to date",
      given: budget({ observedGeneration: 0 }),
      code: 429,
      cause: "The disruption budget b is still being processed by the server.",
    },
    {
      name: "a spent one",
      given: budget({ desiredHealthy: 2, currentHealthy: 2 }),
      code: 429,
      cause: "The disruption budget b needs 2 healthy pods and has 2 currently",
    },
    {
      name: "one that its controller could not work out",
      given: budget({ conditions: [syncFailed] }),
      code: 429,
      cause: "The disruption budget b does not allow evicting pods currently because it failed sync: no scale",
    },
    { name: "a negative one", given: budget({ disruptionsAllowed: -1 }), code: 403, cause: undefined },
  ])("gets nothing from $name", ({ given, code, cause }) => {
    const refusal = spendBudget(given, "p", now);
    expect(refusal).toBeInstanceOf(StatusError);
    const status = toStatus(refusal);
    expect(status.code).toBe(code);
    expect(part(status, "details.causes.0.message")).toBe(cause);
  });

  it.each<{ name: string; pod: Pod; outside: boolean }>([
    { name: "waits", pod: { metadata: {}, status: { phase: "Pending" } }, outside: true },
    { name: "is done", pod: { metadata: {}, status: { phase: "Succeeded" } }, outside: true },
    { name: "is going", pod: { metadata: { deletionTimestamp: now }, status: { phase: "Running" } }, outside: true },
    { name: "runs", pod: { metadata: {}, status: { phase: "Running" } }, outside: false },
  ])("asks no budget about a pod that $name: $outside", ({ pod, outside }) => {
    expect(isOutsideBudgets(pod)).toBe(outside);
  });

  it.each<{ name: string; ready: boolean; given: Budget; want: boolean }>([
    { name: "a ready pod", ready: true, given: budget({}, { unhealthyPodEvictionPolicy: "AlwaysAllow" }), want: false },
    {
      name: "an unready pod, always",
      ready: false,
      given: budget({}, { unhealthyPodEvictionPolicy: "AlwaysAllow" }),
      want: true,
    },
    {
      name: "an unready pod of a healthy set",
      ready: false,
      given: budget({ currentHealthy: 2, desiredHealthy: 2 }),
      want: true,
    },
    {
      name: "an unready pod of a disrupted set",
      ready: false,
      given: budget({ currentHealthy: 1, desiredHealthy: 2 }),
      want: false,
    },
  ])("lets go of $name: $want", ({ ready, given, want }) => {
    const pod = { metadata: {}, status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] } };
    expect(mayGoUnready(pod, given)).toBe(want);
  });
});
