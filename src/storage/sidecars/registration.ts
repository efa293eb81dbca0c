/**
 * Registers a driver on simulated nodes, as a kubelet does when a driver comes to it: the node's label has its place in
 * the driver's topology, and its CSINode names the driver.
 */
import { type KubeObject, kinds, type storage } from "#api";
import { type Controller, changesOf, defineController, keysFrom, type Plan, type Write } from "#controllers";

export interface RegistrationFacts {
  readonly driverName: string;
  readonly topologyKey: string;
  readonly account: string;
  isSimulated(node: string): boolean;
}

export const simulatedRegistration = ({
  driverName,
  topologyKey,
  account,
  isSimulated,
}: RegistrationFacts): Controller =>
  defineController({
    name: "simulated-driver-registrar",
    account,
    bind({ cache }) {
      const nodes = cache(kinds.Node);
      const csiNodes = cache(kinds.CSINode);
      return {
        sources: [
          changesOf(kinds.Node, ({ type, object, old }) => type !== "updated" || labelOf(object) !== labelOf(old)),
          keysFrom(kinds.CSINode, ({ object }) => [object.metadata.name ?? ""]),
        ],
        reconcile(name): Plan | undefined {
          const node = nodes.get(name);
          if (node === undefined || !isSimulated(name)) return undefined;
          const labels = { metadata: { labels: { [topologyKey]: name } } };
          const write = registrationWrite(name, csiNodes.get(name));
          const writes: Write[] = [
            ...(labelOf(node) === name
              ? []
              : [{ verb: "patch", resource: kinds.Node, type: "merge", object: node, patch: labels } as const]),
            ...(write === undefined ? [] : [write]),
          ];
          return writes.length === 0 ? undefined : { steps: writes.map((each) => [each]) };
        },
      };

      function registrationWrite(name: string, existing: storage.CSINode | undefined): Write | undefined {
        const driver = { name: driverName, nodeID: name, topologyKeys: [topologyKey] };
        const resource = kinds.CSINode;
        if (existing === undefined) {
          const { uid = "" } = nodes.get(name)?.metadata ?? {};
          const ownerReferences = [{ apiVersion: "v1", kind: "Node", name, uid }];
          const object: storage.CSINode = { metadata: { name, ownerReferences }, spec: { drivers: [driver] } };
          return { verb: "create", resource, object };
        }
        if ((existing.spec.drivers ?? []).some((each) => each.name === driverName)) return undefined;
        const object: KubeObject & storage.CSINode = {
          ...existing,
          spec: { ...existing.spec, drivers: [...(existing.spec.drivers ?? []), driver] },
        };
        return { verb: "update", resource, object };
      }

      function labelOf(node: { metadata: { labels?: Readonly<Record<string, string>> } } | undefined) {
        return node?.metadata.labels?.[topologyKey];
      }
    },
  });
