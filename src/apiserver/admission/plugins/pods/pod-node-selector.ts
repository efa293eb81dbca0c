/** PodNodeSelector: Pods get the node selector of their namespace's annotation, or else of the configuration. */
import { isObject, type JsonObject, type KubeObject } from "#api";
import type { AdmissionAttributes } from "../../../rest/server-context.ts";
import { AdmissionConfigError } from "../../chain/configuration.ts";
import { type AdmissionPlugin, type ClusterView, podOf, refused, rule } from "../../chain/plugin.ts";

const ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector";
const DEFAULT = "clusterDefaultNodeSelector";
const NAME = "PodNodeSelector";

type Selector = Readonly<Record<string, string>>;

export function podNodeSelector(configuration: JsonObject | undefined): AdmissionPlugin {
  const section = configuration?.podNodeSelectorPluginConfig ?? {};
  if (!isObject(section))
    throw new AdmissionConfigError(NAME, "podNodeSelectorPluginConfig has to be a map of selectors");
  const configured = new Map(Object.entries(section).map(([name, text]) => [name, parsed(String(text), name)]));

  /** For the namespace, or the default for all. */
  const selectorFor = (namespace: KubeObject | undefined): Selector => {
    const text = namespace?.metadata.annotations?.[ANNOTATION];
    if (text !== undefined) return parsed(text, namespace?.metadata.name ?? "");
    return configured.get(DEFAULT) ?? {};
  };
  const namespaceOf = ({ namespace }: AdmissionAttributes, cluster: ClusterView) =>
    cluster.get("", "v1", "namespaces", "", namespace);
  const checkConflict = (attributes: AdmissionAttributes, wanted: Selector) => {
    const own = podOf(attributes).spec.nodeSelector ?? {};
    if (Object.entries(wanted).some(([key, value]) => own[key] !== undefined && own[key] !== value))
      throw refused(attributes, "pod node label selector conflicts with its namespace node label selector");
  };
  return {
    name: NAME,
    mutates: [
      rule("CREATE", "pods", (attributes, cluster) => {
        const wanted = selectorFor(namespaceOf(attributes, cluster));
        checkConflict(attributes, wanted);
        const { spec } = podOf(attributes);
        const merged = { ...wanted, ...spec.nodeSelector };
        if (Object.keys(merged).length > 0) spec.nodeSelector = merged;
      }),
    ],
    validates: [
      rule("CREATE", "pods", (attributes, cluster) => {
        checkConflict(attributes, selectorFor(namespaceOf(attributes, cluster)));
        const allowed = configured.get(attributes.namespace) ?? {};
        if (Object.keys(allowed).length === 0) return;
        const own = Object.entries(podOf(attributes).spec.nodeSelector ?? {});
        if (own.some(([key, value]) => allowed[key] !== value))
          throw refused(attributes, "pod node label selector labels conflict with its namespace whitelist");
      }),
    ],
  };
}

/** `a=b,c=d`. */
function parsed(text: string, of: string): Selector {
  const parts = text.split(",").filter((part) => part.trim() !== "");
  return Object.fromEntries(
    parts.map((part) => {
      const [key = "", value, ...rest] = part.split("=");
      if (value === undefined || rest.length > 0)
        throw new AdmissionConfigError(NAME, `the selector of ${of}, "${text}", is no list of labels like a=b,c=d`);
      return [key.trim(), value.trim()];
    }),
  );
}
