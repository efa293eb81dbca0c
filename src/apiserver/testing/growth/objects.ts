/** Inputs of creates and updates: lists and maps of objects, in no order, and what validation says of them. */
import { configMap } from "../objects.ts";
import {
  CONFIG_MAPS,
  DRY_RUN,
  type Input,
  keyed,
  named,
  PODS,
  pod,
  scattered,
  times,
  WIDGETS,
  widget,
} from "./input.ts";

const created = (name: string, path: string, size: number, body: (size: number) => object, status = 201): Input => ({
  name: `create: ${name}`,
  size,
  method: "POST",
  path: path + DRY_RUN,
  body,
  status,
});

const updated = (
  name: string,
  path: string,
  size: number,
  object: (size: number, changed: boolean) => object,
  status = 200,
): Input => ({
  name: `update: ${name}`,
  size,
  method: "PUT",
  path: (grown) => `${path}/${named(grown)}${DRY_RUN}`,
  before: (grown) => [{ path, body: object(grown, false) }],
  body: (grown) => object(grown, true),
  status,
});

const finalizers = (size: number) => times(size, (at) => `example.com/f${scattered(at)}`);
const owners = (size: number, controller: boolean) =>
  times(size, (at) => ({ apiVersion: "v1", kind: "Node", name: `n${at}`, uid: `u${scattered(at)}`, controller }));
const env = (size: number, value: string) => times(size, (at) => ({ name: `E${scattered(at)}`, value }));
const entries = (size: number) =>
  times(size, (at) => ({
    manager: `m${scattered(at)}`,
    operation: "Update",
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { [`f:k${at}`]: {} } },
  }));
const list = (size: number, value: string) => times(size, (at) => ({ name: `i${scattered(at)}`, value }));

export const objects: readonly Input[] = [
  created("finalizers", CONFIG_MAPS, 300, (size) => configMap("a", {}, { finalizers: finalizers(size) })),
  created("labels", CONFIG_MAPS, 500, (size) => configMap("a", {}, { labels: keyed(size, () => "v") })),
  created("annotations", CONFIG_MAPS, 300, (size) => configMap("a", {}, { annotations: keyed(size, () => "v") })),
  created("owner references", CONFIG_MAPS, 300, (size) => configMap("a", {}, { ownerReferences: owners(size, false) })),
  created("controllers", CONFIG_MAPS, 30, (size) => configMap("a", {}, { ownerReferences: owners(size, true) }), 422),
  created("bad labels", CONFIG_MAPS, 300, (size) => configMap("a", {}, { labels: keyed(size, () => "!") }), 422),
  created("a long name", CONFIG_MAPS, 50_000, (size) => configMap("a.".repeat(size)), 422),
  created("managedFields of clients", CONFIG_MAPS, 200, (size) => configMap("a", {}, { managedFields: entries(size) })),
  created("data", CONFIG_MAPS, 500, (size) =>
    configMap(
      "a",
      keyed(size, () => "v"),
    ),
  ),
  created("env", PODS, 300, (size) => pod("a", {}, { env: env(size, "v") })),
  created("ports", PODS, 300, (size) => pod("a", {}, { ports: times(size, (at) => ({ containerPort: at + 1 })) })),
  created("tolerations", PODS, 300, (size) => pod("a", { tolerations: times(size, (at) => ({ key: `k${at}` })) })),
  created("scheduling gates", PODS, 300, (size) =>
    pod("a", { schedulingGates: times(size, (at) => ({ name: `g${scattered(at)}` })) }),
  ),
  created("spread constraints", PODS, 200, (size) =>
    pod("a", {
      topologySpreadConstraints: times(size, (at) => ({
        maxSkew: 1,
        topologyKey: `k${at}`,
        whenUnsatisfiable: "DoNotSchedule",
      })),
    }),
  ),
  created("volumes and mounts", PODS, 100, (size) =>
    pod(
      "a",
      { volumes: times(size, (at) => ({ name: `v${at}`, emptyDir: {} })) },
      { volumeMounts: times(size, (at) => ({ name: `v${at}`, mountPath: `/m${at}` })) },
    ),
  ),
  created("equal paths of a volume", PODS, 200, (size) =>
    pod("a", {
      volumes: [{ name: "v", secret: { secretName: "s", items: times(size, (at) => ({ key: `k${at}`, path: "p" })) } }],
    }),
  ),
  created("containers", PODS, 30, (size) =>
    pod("a", { containers: times(size, (at) => ({ name: `c${at}`, image: "registry.example/app:1" })) }),
  ),
  created(
    "claims that do not exist",
    PODS,
    200,
    (size) =>
      pod(
        "a",
        { resourceClaims: times(size, (at) => ({ name: `r${at}`, resourceClaimName: "x" })) },
        { resources: { claims: times(size, (at) => ({ name: `x${at}` })) } },
      ),
    422,
  ),
  created("a quantity of many digits", PODS, 10_000, (size) =>
    pod("a", {}, { resources: { limits: { cpu: "1".repeat(size) } } }),
  ),
  created(
    "equal topologies",
    "/apis/storage.k8s.io/v1/storageclasses",
    50,
    (size) => ({
      metadata: { name: "a" },
      provisioner: "example.com/a",
      allowedTopologies: times(size, () => ({})),
    }),
    422,
  ),
  created("rules of a role", "/apis/rbac.authorization.k8s.io/v1/clusterroles", 200, (size) => ({
    metadata: { name: "a" },
    rules: times(size, (at) => ({ apiGroups: [""], resources: [`r${at}`], verbs: ["get"] })),
  })),
  created("a set of a custom resource", WIDGETS, 300, (size) =>
    widget("a", { set: times(size, (at) => `v${scattered(at)}`) }),
  ),
  created("a keyed list of a custom resource", WIDGETS, 300, (size) => widget("a", { list: list(size, "v") })),
  created("an atomic list of a custom resource", WIDGETS, 3000, (size) =>
    widget("a", { atomic: times(size, scattered) }),
  ),
  created("maps of maps of a custom resource", WIDGETS, 300, (size) =>
    widget("a", { maps: keyed(size, () => ({ a: "b" })) }),
  ),
  created("keys without a schema", WIDGETS, 500, (size) => widget("a", { free: keyed(size, () => 1) })),
  created("unknown fields of a custom resource", WIDGETS, 500, (size) =>
    widget(
      "a",
      keyed(size, () => 1),
    ),
  ),
  created("a list with a rule", WIDGETS, 500, (size) => widget("a", { ruled: times(size, scattered) })),
  updated("finalizers", CONFIG_MAPS, 300, (size, changed) =>
    configMap(named(size), {}, { finalizers: changed ? finalizers(size).reverse() : finalizers(size).slice(1) }),
  ),
  updated("data", CONFIG_MAPS, 500, (size, changed) =>
    configMap(
      named(size),
      keyed(size, () => (changed ? "w" : "v")),
    ),
  ),
];
