/**
 * NodeDeclaredFeatureValidator: refuses a change of a Pod for which its node lacks a feature. Nodes name theirs in
 * `status.declaredFeatures`.
 *
 * 1. Features have the names of their gates. v1.36 has two that a change may need.
 */
import { compareQuantities, type core, equalJson, goQuote, type Json, parseQuantity } from "#api";
import { type AdmissionPlugin, refused, rule } from "../../chain/plugin.ts";

type Resourceful = Pick<core.Container, "resources">;
type Amounts = Readonly<Record<string, string>> | undefined;
type NeededBy = (next: core.PodSpec, old: core.PodSpec) => boolean;

/** In the order of their names, in which they are reported. */
const FEATURES: readonly (readonly [name: string, neededBy: NeededBy])[] = [
  ["InPlacePodLevelResourcesVerticalScaling", (next, old) => !sameResources(next, old)],
  [
    "InPlacePodVerticalScalingInitContainers",
    (next, old) =>
      (old.initContainers ?? []).some(
        (container, i) =>
          container.restartPolicy !== "Always" && !sameResources(next.initContainers?.[i] ?? {}, container),
      ),
  ],
];

export const nodeDeclaredFeatureValidator: AdmissionPlugin = {
  name: "NodeDeclaredFeatureValidator",
  validates: [
    rule("UPDATE", "pods pods/resize", (attributes, cluster) => {
      const [pod, old] = [attributes.object as core.Pod, attributes.old as core.Pod];
      const nodeName = pod.spec?.nodeName ?? "";
      // The generation rises with every change of the spec.
      if (nodeName === "" || pod.metadata.generation === old.metadata.generation) return;
      const none: core.PodSpec = { containers: [] };
      const needed = FEATURES.filter(([, neededBy]) => neededBy(pod.spec ?? none, old.spec ?? none));
      if (needed.length === 0) return;
      const node = cluster.get<core.Node>("", "v1", "nodes", "", nodeName);
      if (node === undefined) throw refused(attributes, `node ${goQuote(nodeName)} not found`);
      const declared = node.status?.declaredFeatures ?? [];
      const lacking = needed.map(([name]) => name).filter((name) => !declared.includes(name));
      if (lacking.length === 0) return;
      const features = lacking.join(", ");
      throw refused(
        attributes,
        `pod update requires features ${features} which are not available on node ${goQuote(nodeName)}`,
      );
    }),
  ],
};

function sameResources({ resources: a }: Resourceful, { resources: b }: Resourceful): boolean {
  const claims = (of: core.ResourceRequirements | undefined) => (of?.claims ?? []) as unknown as Json;
  return sameAmounts(a?.requests, b?.requests) && sameAmounts(a?.limits, b?.limits) && equalJson(claims(a), claims(b));
}

/** By their values: `1000m` is `1`. */
function sameAmounts(a: Amounts = {}, b: Amounts = {}): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const [one, other] = [a[name], b[name]];
      return (
        one !== undefined && other !== undefined && compareQuantities(parseQuantity(one), parseQuantity(other)) === 0
      );
    })
  );
}
