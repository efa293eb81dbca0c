/**
 * Coordinated leader election: candidates name a Lease and their versions, and this decides who holds it. It runs
 * beside the API server, as in Kubernetes, behind the gate CoordinatedLeaderElection.
 *
 *     LeaseCandidates, Leases --► key of the Lease ──► planElection ══► pingTime of candidates; holder of the Lease
 */
import { kinds, optional } from "#api";
import { objectKey } from "#client";
import { changesOf, defineController, keysFrom } from "../runtime/index.ts";
import type { LeaseCandidate } from "./candidates.ts";
import { isPending, planElection, renewedMs, VALID_MS } from "./plan.ts";

const GATES = ["CoordinatedLeaderElection"];
const NEEDS = [optional.LeaseCandidate];

const coordinatedElection = defineController({
  name: "leader-election-controller",
  gates: GATES,
  needs: NEEDS,
  concurrency: 1,
  bind({ cache }) {
    const leases = cache(kinds.Lease);
    const candidatesOf = cache(optional.LeaseCandidate).index("lease", (candidate) => [leaseKey(candidate)]);
    return {
      sources: [
        changesOf(kinds.Lease),
        // Whoever has just been asked is waited for.
        keysFrom(optional.LeaseCandidate, ({ type, object }) =>
          type !== "deleted" && isPending(object) ? [] : [leaseKey(object)],
        ),
      ],
      reconcile(key, now) {
        const slash = key.indexOf("/");
        const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)];
        return planElection({ namespace, name, lease: leases.get(key), candidates: candidatesOf(key) }, now);
      },
    };
  },
});

/** Deletes candidates that have not answered for half an hour. */
const leaseCandidateGc = defineController({
  name: "leasecandidate-gc-controller",
  gates: GATES,
  needs: NEEDS,
  concurrency: 1,
  bind({ cache }) {
    const candidates = cache(optional.LeaseCandidate);
    return {
      sources: [
        keysFrom(optional.LeaseCandidate, ({ type, object }) => (type === "deleted" ? [] : [objectKey(object)])),
      ],
      reconcile(key, now) {
        const object = candidates.get(key);
        if (object === undefined) return undefined;
        const { creationTimestamp = "" } = object.metadata;
        const dueMs = Math.max(renewedMs(object.spec), Date.parse(creationTimestamp)) + VALID_MS;
        if (dueMs >= now) return { againAfterMs: dueMs - now + 1 };
        return { steps: [[{ verb: "delete", resource: optional.LeaseCandidate, object, unchanged: true }]] };
      },
    };
  },
});

export const electionControllers = [coordinatedElection, leaseCandidateGc];

function leaseKey({ metadata: { namespace = "" }, spec }: LeaseCandidate): string {
  return `${namespace}/${spec.leaseName}`;
}
