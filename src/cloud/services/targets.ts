/**
 * The Nodes that a load balancer sends to: as in Kubernetes, whether they are Ready is for its health checks to find
 * out, so that a Node that wavers does not move all load balancers.
 */
import type { core } from "#api";

const EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";
/** Of a cluster autoscaler that is about to remove the Node. */
const TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler";

export function targetsIn(nodes: readonly core.Node[]): readonly core.Node[] {
  return nodes.filter(
    ({ metadata, spec }) =>
      metadata.deletionTimestamp === undefined &&
      metadata.labels?.[EXCLUDED] === undefined &&
      !(spec?.taints ?? []).some(({ key }) => key === TO_BE_DELETED),
  );
}

/** Equal if load balancers need not be told. */
export function signatureOf(targets: readonly core.Node[]): string {
  return JSON.stringify(targets.map(targetFacts).sort());
}

function targetFacts({ metadata: { name = "", uid = "" }, spec, status }: core.Node): string {
  const addresses = (status?.addresses ?? []).map(({ type, address }) => [type, address]);
  return JSON.stringify([name, uid, spec?.providerID ?? "", addresses]);
}
