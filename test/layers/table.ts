/**
 * Who may import whom: the architecture as two tables. docs/architecture.md is drawn from the first one.
 *
 * 1. `layers`: a folder of src/ may import the folders and packages in its row, and its own files.
 * 2. `rooms`: inside a folder, a room (a subfolder) may import only rooms that stand before it. Files beside the rooms put them together:
 *    they may import every room, and no room imports them.
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
  "controllers",
  "scheduler",
  "kubelet",
  "network",
  "cloud",
  "flows",
] as const;

export const layers: Record<string, Layer> = {
  base: { folders: [], packages: [] },
  flows: { folders: ["base"], packages: [] },
  api: { folders: ["base"], packages: ["re2js", "yaml"] },
  store: { folders: ["base"], packages: ["lmdb", "@grpc/grpc-js", "@grpc/proto-loader"] },
  pki: { folders: ["base"], packages: ["yaml"] },
  apiserver: { folders: ["base", "flows", "api", "store", "pki"], packages: ["@grpc/grpc-js", "jose", "yaml"] },
  client: { folders: ["base", "flows", "api"], packages: [] },
  controllers: { folders: ["base", "flows", "api", "client"], packages: [] },
  scheduler: { folders: ["base", "flows", "api", "client"], packages: ["yaml"] },
  kubelet: {
    folders: ["base", "flows", "api", "pki", "client"],
    packages: ["@grpc/grpc-js", "@grpc/proto-loader", "ws", "yaml"],
  },
  network: { folders: ["base", "flows", "api", "client"], packages: ["re2js"] },
  cloud: { folders: ["base", "flows", "api", "client", "controllers"], packages: [] },
  dashboard: {
    folders: ["base", "flows", "api"],
    packages: ["ws", "preact", "@preact/signals", "@xterm/xterm", "@xterm/addon-fit", "yaml"],
  },
  cluster: { folders: [...PARTS], packages: ["yaml"] },
  cmd: { folders: [...PARTS, "dashboard", "cluster"], packages: ["commander", "yaml"] },
};

/** The rooms of a folder, lowest first. */
export const rooms: Record<string, readonly string[]> = {
  cluster: ["config", "data", "reasons", "in-process", "images", "nodes", "standalone"],
  network: ["kernel", "cni", "overlay", "policy", "proxy", "dns", "http", "gateway", "ingress"],
  scheduler: ["framework", "configuration", "snapshot", "evaluation", "queue", "extenders", "plugins", "cycle"],
  cmd: ["process", "options", "components", "inspect", "lifecycle", "nodes", "state"],
};

export const MAX_FILES_IN_A_ROOM = 25;
export const MAX_LINES_IN_A_FILE = 350;

/** Over the limits until they are divided: nothing is added here. */
export const OVERSIZE: readonly string[] = [
  "src/base",
  "src/apiserver/rest",
  "src/apiserver/audit",
  "src/api/core",
  "src/api/core/pod",
  "src/kubelet/kubelet.ts",
  "src/apiserver/server.ts",
  "src/apiserver/fairness/fair-queue.ts",
  "src/api/machinery/cel/syntax/parser.ts",
  "src/api/machinery/cel/program/compile.ts",
  "src/api/machinery/cel/check/check.ts",
  "src/api/machinery/cel/check/estimate.ts",
];
