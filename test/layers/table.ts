/**
 * Who may import whom: the architecture as two tables. docs/architecture.md is drawn from the first one.
 *
 * 1. `layers`: a folder of src/ may import the folders and packages in its row, and its own files.
 * 2. `rooms`: inside a folder, a room (a subfolder) may import only rooms that stand before it. Files beside the rooms
 *    put them together: they may import every room, and no room imports them.
 *
 * Tests, and folders named `testing`, may import everything.
 */
export interface Layer {
  readonly folders: readonly string[];
  readonly packages: readonly string[];
}

/** What only those who put a cluster together may import. */
const PARTS = [
  "base",
  "api",
  "store",
  "pki",
  "apiserver",
  "client",
  "grpc",
  "controllers",
  "scheduler",
  "kubelet",
  "network",
  "storage",
  "metrics",
  "cloud",
  "flows",
] as const;

export const layers: Record<string, Layer> = {
  base: { folders: [], packages: [] },
  flows: { folders: ["base"], packages: [] },
  api: { folders: ["base"], packages: ["re2js", "yaml"] },
  store: { folders: ["base"], packages: ["lmdb", "@grpc/grpc-js", "@grpc/proto-loader"] },
  pki: { folders: ["base"], packages: ["yaml"] },
  grpc: { folders: ["base"], packages: ["@grpc/grpc-js", "@grpc/proto-loader"] },
  apiserver: {
    folders: ["base", "flows", "api", "store", "pki"],
    packages: ["@grpc/grpc-js", "@noble/ciphers", "jose", "re2js", "yaml"],
  },
  client: { folders: ["base", "flows", "api"], packages: [] },
  storage: { folders: ["base", "api", "grpc", "client"], packages: [] },
  controllers: { folders: ["base", "flows", "api", "client"], packages: [] },
  scheduler: { folders: ["base", "flows", "api", "client"], packages: ["yaml"] },
  kubelet: {
    folders: ["base", "flows", "api", "pki", "grpc", "client", "storage"],
    packages: ["@grpc/grpc-js", "ws", "yaml"],
  },
  network: { folders: ["base", "flows", "api", "client"], packages: ["re2js"] },
  metrics: { folders: ["base", "api", "client"], packages: ["re2js", "yaml"] },
  cloud: { folders: ["base", "flows", "api", "client", "controllers"], packages: [] },
  dashboard: {
    folders: ["base", "flows", "api"],
    packages: ["ws", "preact", "@preact/signals", "@xterm/xterm", "@xterm/addon-fit", "yaml"],
  },
  cluster: { folders: [...PARTS], packages: ["yaml"] },
  cmd: { folders: [...PARTS, "dashboard", "cluster"], packages: ["commander", "re2js", "yaml"] },
};

/**
 * What each folder is for: the words of docs/architecture.md, which scripts/architecture.ts writes from these tables.
 */
export const purposes: Record<string, string> = {
  base: "clock, random, abort, queues, maps, log, metrics: no Kubernetes terms",
  flows: "flow records: what happened, with its causes, and the diagrams of it",
  api: "the kinds: their schemas, facts, defaults and validation, and the machinery that they share",
  store: "keys and bytes under one revision: `memory`, `embedded` (a journal and LMDB), `etcd`",
  pki: "certificate authorities, certificates, kubeconfigs",
  grpc: "gRPC over Unix sockets, with messages and services as tables",
  apiserver: "the request pipeline, the verbs, watch caches, discovery, OpenAPI",
  client: "typed requests over HTTPS or in process, informers, leader election, events",
  storage: "CSI: the protocol, its client, and a driver of our own",
  controllers: "the controller runtime, and a folder for each controller",
  scheduler: "the scheduling queue, the cycle, and a folder for each plugin",
  kubelet: "real nodes on a container runtime (CRI), and simulated nodes",
  network: "kube-proxy, NetworkPolicies, DNS, ingress and Gateway API",
  metrics: "metrics for autoscalers: usage of nodes and Pods, asked of kubelets, and figures of Prometheus",
  cloud: "the cloud controllers: load balancers of this machine",
  dashboard: "the web page, and its server on loopback",
  cluster: "the composition root: puts the parts together into a cluster",
  cmd: "the command line, a file for each command",
};

/** The rooms of a folder, lowest first. */
export const rooms: Record<string, readonly string[]> = {
  apiserver: [
    // What a request is made of, and where objects are kept.
    "http2",
    "identity",
    "configuration",
    "http",
    "cache",
    "past",
    "discovery",
    "openapi",
    // The verbs, their answers, and the server as its own client.
    "rest",
    "encode",
    "watch",
    "loopback",
    "outbound",
    // Who may do what, and what else has a say in a write.
    "allocate",
    "authn",
    "authz",
    "impersonation",
    "admission",
    "connect",
    // The pipeline through all of them, and its steps.
    "pipeline",
    "fairness",
    "audit",
    "flows",
    "routes",
    // What is served beyond the kinds that are built in, and what runs beside the requests.
    "custom-resources",
    "aggregation",
    "bootstrap",
    "expire",
    "storage",
    "encryption",
    // All of it, put together.
    "assembly",
  ],
  "apiserver/admission": ["chain", "plugins", "dynamic", "policies", "webhooks"],
  base: ["collections", "system", "tasks", "queues", "log", "metrics", "http-client"],
  api: [
    "machinery",
    "types",
    "facts",
    "features",
    "definition",
    "core",
    "apps",
    "batch",
    "autoscaling",
    "policy",
    "discovery",
    "networking",
    "node",
    "scheduling",
    "resource",
    "storage",
    "coordination",
    "events",
    "authentication",
    "authorization",
    "certificates",
    "rbac",
    "flowcontrol",
    "admissionregistration",
    "apiextensions",
    "apiregistration",
    "apiserverinternal",
    "storagemigration",
  ],
  "api/machinery": ["json", "scalars", "errors", "names", "schema", "cel", "patch", "protobuf", "apply"],
  "api/machinery/cel": ["values", "syntax", "functions", "standard", "check", "data", "program", "libraries"],
  "api/apiextensions": ["schema", "values", "rules", "definition"],
  "api/core": ["resources", "node", "volumes", "endpoints", "service", "pod", "workload", "quota"],
  "api/core/pod": ["fields", "resources", "scheduling", "security", "volumes", "containers", "spec", "update"],
  client: ["transport", "requests", "informer"],
  cluster: ["config", "data", "reasons", "in-process", "images", "nodes", "standalone"],
  "cluster/nodes": ["machine", "site", "isolation", "network", "runtime", "programs"],
  kubelet: [
    // Pure rules, and what runs containers.
    "runtime",
    "cri",
    "lifecycle",
    "pod-status",
    "containers",
    "pleg",
    "admission",
    // What Pods use: objects of the API, the machine, images, probes, plugins, volumes.
    "objects",
    "host",
    "images",
    "probes",
    "plugins",
    "volumes",
    "csi",
    // The Node, its Pods, and which of them have to go.
    "node",
    "pods",
    "eviction",
    // What surrounds a kubelet, and nodes without containers.
    "config",
    "certificates",
    "server",
    "fleet",
  ],
  controllers: [
    "runtime",
    "pods",
    "services",
    "template-hash",
    "controller-history",
    "bootstrap-tokens",
    "certificates",
    "cluster-role-aggregation",
    "cronjob",
    "daemon-set",
    "deployment",
    "disruption",
    "endpoint-slice",
    "endpoints",
    "endpoint-slice-mirroring",
    "ephemeral-volume",
    "garbage-collector",
    "horizontal-pod-autoscaler",
    "job",
    "service-account-tokens",
    "legacy-service-account-tokens",
    "namespace",
    "node-ipam",
    "node-lifecycle",
    "persistent-volume",
    "pod-certificate-cleaner",
    "attach-detach",
    "volume-expander",
    "pod-gc",
    "pv-protection",
    "pvc-protection",
    "vac-protection",
    "replica-set",
    "resource-claim",
    "resource-quota",
    "root-ca",
    "service-account",
    "service-cidr",
    "stateful-set",
    "storage-version-gc",
    "storage-version-migrator",
    "taint-eviction",
    "trust-bundle-publisher",
    "ttl",
    "ttl-after-finished",
    "validating-admission-policy-status",
    "cluster-info",
  ],
  metrics: ["points", "scrape", "api", "adapter"],
  network: ["kernel", "cni", "overlay", "policy", "proxy", "dns", "http", "gateway", "ingress"],
  storage: ["csi"],
  scheduler: ["framework", "configuration", "snapshot", "evaluation", "queue", "extenders", "plugins", "cycle"],
  cmd: ["options", "process", "components", "inspect", "lifecycle", "nodes", "state"],
  flows: ["record", "trace", "diagram", "render"],
  store: ["model", "history", "snapshot", "memory", "embedded", "etcd"],
};

export const MAX_FILES_IN_A_ROOM = 25;
export const MAX_LINES_IN_A_FILE = 350;
export const MAX_COMMENT_WIDTH = 120;
