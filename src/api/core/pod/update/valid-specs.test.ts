import { describe, expect, it } from "vitest";
import { at } from "../../../machinery/errors/field-error.ts";
import type { Pod } from "../../../types/core-v1.ts";
import { validatePodCreate, validatePodUpdate } from "./update.ts";

const spec = () => ({
  restartPolicy: "Always",
  dnsPolicy: "ClusterFirst",
  terminationGracePeriodSeconds: 30,
  containers: [
    {
      ...{ name: "c", image: "i", imagePullPolicy: "Always" },
      ...{ terminationMessagePolicy: "File", terminationMessagePath: "/x" },
    },
  ],
});
const pod = (of: object, annotations: Record<string, string> = {}): Pod =>
  ({ metadata: { name: "p", namespace: "default", annotations }, spec: of }) as unknown as Pod;

const rows: { name: string; before?: Record<string, string>; after: Record<string, string> }[] = [
  { name: "a note", after: { note: "n" } },
  { name: "a deletion cost that is no number", after: { "controller.kubernetes.io/pod-deletion-cost": "much" } },
  {
    name: "one that was none before",
    before: { "controller.kubernetes.io/pod-deletion-cost": "much" },
    after: { "controller.kubernetes.io/pod-deletion-cost": "more" },
  },
  { name: "a mirror", after: { "kubernetes.io/config.mirror": "x" } },
  { name: "no mirror any more", before: { "kubernetes.io/config.mirror": "x" }, after: {} },
  { name: "AppArmor of no container", after: { "container.apparmor.security.beta.kubernetes.io/d": "unconfined" } },
  { name: "seccomp of another word", after: { "seccomp.security.alpha.kubernetes.io/pod": "word" } },
];

describe("a spec that is known to be valid", () => {
  it.each(rows)("$name: the faults are those of one that is not known", ({ before, after }) => {
    const known = spec();
    expect(validatePodCreate(pod(known), at())).toEqual([]);
    const faults = validatePodUpdate(pod(known, after), pod(known, before), at());
    expect(faults).toEqual(validatePodUpdate(pod(spec(), after), pod(spec(), before), at()));
  });

  it("is one spec: a change of it is validated", () => {
    const known = spec();
    validatePodCreate(pod(known), at());
    const changed = { ...known, restartPolicy: "Sometimes" };
    expect(validatePodUpdate(pod(changed), pod(known), at())).not.toEqual([]);
  });

  it("was valid: a faulty one is not remembered", () => {
    const faulty = { ...spec(), restartPolicy: "Sometimes" };
    const faults = validatePodCreate(pod(faulty), at());
    expect(faults).not.toEqual([]);
    expect(validatePodUpdate(pod(faulty, { note: "n" }), pod(faulty), at())).toEqual(faults);
  });
});
