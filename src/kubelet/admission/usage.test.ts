/** However Pods come, change and go: what is kept by changes is what a count from scratch finds. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareQuantities, type core } from "#api";
import { Usage } from "./usage.ts";

const pod = fc.record({
  uid: fc.constantFrom("a", "b", "c", "d"),
  cpu: fc.constantFrom("0", "100m", "1", "1500m"),
  gpus: fc.constantFrom("0", "1", "2"),
  port: fc.constantFrom(0, 80, 81),
  ip: fc.constantFrom("", "0.0.0.0", "10.0.0.1", "10.0.0.2"),
  isSidecars: fc.boolean(),
});
type PodSpec = typeof pod extends fc.Arbitrary<infer T> ? T : never;
const step = fc.oneof(
  pod.map((each) => ({ set: each })),
  fc.constantFrom("a", "b", "c", "d").map((uid) => ({ remove: uid })),
);

function podOf({ uid, cpu, gpus, port, ip, isSidecars }: PodSpec): core.Pod {
  const ports = port === 0 ? [] : [{ containerPort: 1, hostPort: port, hostIP: ip }];
  const resources = { requests: { cpu, "example.com/gpu": gpus } };
  return {
    metadata: { uid },
    spec: {
      initContainers: [{ name: "s", restartPolicy: "Always", ports: isSidecars ? ports : [] }],
      containers: [{ name: "c", resources, ports: isSidecars ? [] : ports }],
    },
  };
}

describe("usage", () => {
  it("is the sum of the Pods that are there", () =>
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), pod, (steps, asked) => {
        const usage = new Usage();
        const pods = new Map<string, core.Pod>();
        for (const each of steps) {
          if ("set" in each) {
            pods.set(each.set.uid, podOf(each.set));
            usage.set(podOf(each.set));
          } else expect(usage.delete(each.remove)).toBe(pods.delete(each.remove));
        }
        const plain = Usage.of(pods.values());
        for (const resource of ["pods", "cpu", "example.com/gpu"])
          for (const uid of ["a", "none"])
            expect(compareQuantities(usage.without(uid, resource), plain.without(uid, resource))).toBe(0);
        expect(usage.hasPortsOf(podOf(asked))).toBe(plain.hasPortsOf(podOf(asked)));
      }),
    ));
});
