/**
 * Approves the certificates that nodes of joined machines need besides the kubelet's client certificate. It is not one
 * of kube-controller-manager: clusters that machines can join run it.
 *
 *     request --► whyNotApproved ◄── Nodes, endpoints of `kubernetes` ══► condition Approved
 *
 * It never denies: what it does not approve is left to an administrator.
 */
import { type core, type discovery, kinds } from "#api";
import { approved, type CertificateSigner, isDecided, requestBytes } from "../certificates/index.ts";
import { type Controller, defineController, keysFrom } from "../runtime/index.ts";
import { type AddressFacts, whyNotApproved } from "./rules.ts";

export { PROXY_USER } from "./rules.ts";

const SERVERS = "default/kubernetes";
const CONTROL_PLANE = "node-role.kubernetes.io/control-plane";
/** A Node may give up the address. */
const AGAIN_MS = 10_000;
const MESSAGE = "Auto approving node certificate: its names and addresses are the node's own.";

export function nodeCertificates(signer: Pick<CertificateSigner, "read">): Controller {
  return defineController({
    name: "node-certificate-approving-controller",
    account: "certificate-controller",
    bind({ cache }) {
      const requests = cache(kinds.CertificateSigningRequest);
      const [nodes, slices, services] = [cache(kinds.Node), cache(kinds.EndpointSlice), cache(kinds.Service)];
      return {
        sources: [keysFrom(kinds.CertificateSigningRequest, ({ object }) => [object.metadata.name ?? ""])],
        reconcile(key) {
          const request = requests.get(key);
          if (request === undefined || isDecided(request)) return undefined;
          const names = signer.read(requestBytes(request));
          const facts = addressFacts(nodes.list(), slices.get(SERVERS), services.get(SERVERS));
          const why = whyNotApproved(request, names, facts);
          if (why === null) return undefined;
          return why === undefined ? { steps: [[approved(request, MESSAGE)]] } : { againAfterMs: AGAIN_MS };
        },
      };
    },
  });
}

function addressFacts(
  nodes: readonly core.Node[],
  slice: discovery.EndpointSlice | undefined,
  service: core.Service | undefined,
): AddressFacts {
  const addressesOf = ({ status }: core.Node) => (status?.addresses ?? []).map(({ address }) => address);
  return {
    nodes: new Map(nodes.map((node) => [node.metadata.name ?? "", addressesOf(node)])),
    servers: [...(slice?.endpoints ?? []).flatMap(({ addresses }) => addresses), ...(service?.spec?.clusterIPs ?? [])],
    controlPlanes: new Set(
      nodes.flatMap(({ metadata: { name = "", labels = {} } }) => (CONTROL_PLANE in labels ? [name] : [])),
    ),
  };
}
