/** Keys only narrow: a Pod that an event's keys leave out would be skipped by the hint. */
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { type Random, seededRandom } from "#base";
import { PodInfos, ResourceNames } from "../../snapshot/index.ts";
import { pod } from "../../testing/index.ts";
import { ALL_DEVICE_FEATURES } from "./device-features.ts";
import { type Claim, claimKeys } from "./pod-claims.ts";
import { wakesOf } from "./wakes.ts";

const NAMES = ["a", "b", "c"];

function claim(random: Random, name: string): Claim {
  const status = random.next() < 0.5 ? { allocation: { devices: { results: [] } } } : {};
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "p", controller: true };
  const metadata = { name, namespace: "default", uid: name, ...(random.next() < 0.5 && { ownerReferences: [owner] }) };
  return { metadata, spec: {}, status } as Claim;
}

function randomPod(random: Random): core.Pod {
  const entries = NAMES.filter(() => random.next() < 0.5).map((name) => ({
    name,
    ...(random.next() < 0.5 ? { resourceClaimName: name } : { resourceClaimTemplateName: "t" }),
  }));
  const made = entries.filter(() => random.next() < 0.7);
  const statuses = made.map(({ name }) => ({ name, resourceClaimName: random.pick(NAMES) }));
  const plain = pod("p", { spec: { resourceClaims: entries } });
  return { ...plain, metadata: { ...plain.metadata, uid: "p" }, status: { resourceClaimStatuses: statuses } };
}

describe("the keys of ResourceClaim events", () => {
  it("leave out no Pod that the hint would queue, in 2,000 random cases", () => {
    const random = seededRandom(7);
    const infos = new PodInfos(new ResourceNames());
    const counts = { queued: 0, leftOut: 0 };
    for (let round = 0; round < 2_000; round++) {
      const known = new Map(
        NAMES.filter(() => random.next() < 0.8).map((name) => [`default/${name}`, claim(random, name)]),
      );
      const [wake] = wakesOf((key) => known.get(key), ALL_DEVICE_FEATURES).filter(
        ({ resource }) => resource === "ResourceClaim",
      );
      const now = random.pick([...known.values(), claim(random, "d")]);
      const old = random.next() < 0.3 ? undefined : claim(random, now.metadata.name ?? "");
      const event = { resource: "ResourceClaim", action: old === undefined ? "add" : "update", old, new: now } as const;
      const waiting = randomPod(random);
      const keys = wake?.keys?.(event);
      const isLeftOut = keys !== undefined && !claimKeys(waiting).some((key) => keys.includes(key));
      const answer = wake?.hint?.(infos.of(waiting), event);
      if (answer === "queue") counts.queued += 1;
      if (isLeftOut) counts.leftOut += 1;
      expect([isLeftOut, answer]).not.toEqual([true, "queue"]);
    }
    expect(Math.min(counts.queued, counts.leftOut)).toBeGreaterThan(100);
  });
});
