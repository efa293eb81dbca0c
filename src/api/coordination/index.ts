/** The public surface of coordination. */
import { sameVersion } from "../definition/other-version.ts";
import type { Kind } from "../machinery/kind.ts";
import { Lease } from "./lease.ts";
import { LeaseCandidate } from "./lease-candidate.ts";

export { compareSemanticVersions, parseSemanticVersion } from "./semantic-version.ts";
export { Lease, LeaseCandidate };

export const coordinationKinds: readonly Kind[] = [
  Lease,
  LeaseCandidate,
  sameVersion("coordination.k8s.io/v1alpha2", LeaseCandidate),
];
