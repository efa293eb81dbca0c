/**
 * The discovery documents: /api, /apis and below, in the older and in the aggregated form.
 *
 * 1. A document is rendered on its first request, and kept until a version of its group changes.
 * 2. A change renders only its own version. The lists of all groups join the texts of the groups, sorted on request:
 *    many changes in a row cost no more than their own versions.
 */
import { negotiate, type Wanted } from "./accept.ts";
import { Group } from "./group.ts";
import { PreparedDocument } from "./prepared-document.ts";
import { compareGroups } from "./priority.ts";
import type { ServedVersion } from "./served-version.ts";

export interface DiscoveryOptions {
  /** host:port under which clients from anywhere reach this server. */
  readonly serverAddress: string;
}

export type DiscoveryAnswer =
  /** Other encodings than JSON are made from `document.value()` and its `typeName`. */
  | { readonly outcome: "found"; readonly document: PreparedDocument; readonly wanted: Wanted }
  | { readonly outcome: "notFound" }
  | { readonly outcome: "notAcceptable" };

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const AGGREGATED = "io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList";

export class Discovery {
  readonly #groups = new Map<string, Group>();
  readonly #versions: PreparedDocument;
  #overview: Overview | undefined;

  constructor({ serverAddress }: DiscoveryOptions) {
    this.#versions = new PreparedDocument(`${META}.APIVersions`, () => ({
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress }],
    }));
  }

  /** Adds or replaces a version. */
  set(...versions: readonly ServedVersion[]): void {
    for (const served of versions) {
      const group = this.#groups.get(served.group) ?? new Group(served.group);
      group.set(served);
      this.#groups.set(served.group, group);
    }
    this.#overview = undefined;
  }

  remove(group: string, version: string): void {
    if (this.#groups.get(group)?.remove(version) === "empty") this.#groups.delete(group);
    this.#overview = undefined;
  }

  /** For a path such as /apis/apps/v1, with or without a slash at its end. */
  answer(path: string, accept: string | undefined): DiscoveryAnswer {
    const [root = "", ...rest] = path.replace(/^\//, "").replace(/\/$/, "").split("/");
    const below = root === "api" ? ["", ...rest] : rest;
    const aggregatable = rest.length === 0;
    const document = root === "api" || root === "apis" ? this.#find(root, below) : undefined;
    if (document === undefined) return { outcome: "notFound" };
    const wanted = negotiate(accept, aggregatable);
    if (wanted === undefined) return { outcome: "notAcceptable" };
    if (!wanted.aggregated) return { outcome: "found", document, wanted };
    const { aggregatedCore, aggregatedGroups } = this.#ordered();
    return { outcome: "found", document: root === "api" ? aggregatedCore : aggregatedGroups, wanted };
  }

  /** The paths that have a document, sorted. */
  paths(): string[] {
    const below = this.#ordered().order.flatMap(({ name, versions }) => [
      `/apis/${name}`,
      ...versions.map(({ version }) => `/apis/${name}/${version}`),
    ]);
    const core = this.#groups.get("")?.versions ?? [];
    return ["/api", "/apis", "/apis/", ...core.map(({ version }) => `/api/${version}`), ...below].sort();
  }

  #find(root: string, [group, version, ...rest]: readonly string[]): PreparedDocument | undefined {
    if (rest.length > 0 || (root === "apis" && group === "")) return undefined;
    if (group === undefined) return this.#ordered().groups;
    if (version !== undefined) return this.#groups.get(group)?.resources(version);
    return root === "api" ? this.#versions : this.#groups.get(group)?.document;
  }

  #ordered(): Overview {
    if (this.#overview !== undefined) return this.#overview;
    const order = [...this.#groups.values()]
      .filter(({ name }) => name !== "")
      .sort((a, b) => compareGroups(a.versions, b.versions));
    this.#overview = overviewOf(order, this.#groups.get(""));
    return this.#overview;
  }
}

interface Overview {
  readonly order: readonly Group[];
  readonly groups: PreparedDocument;
  readonly aggregatedCore: PreparedDocument;
  readonly aggregatedGroups: PreparedDocument;
}

function overviewOf(order: readonly Group[], core: Group | undefined): Overview {
  const aggregated = (groups: readonly Group[]) =>
    new PreparedDocument(
      AGGREGATED,
      () =>
        `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[${groups
          .map((group) => group.aggregated)
          .join()}]}`,
    );
  return {
    order,
    groups: new PreparedDocument(
      `${META}.APIGroupList`,
      () => `{"kind":"APIGroupList","apiVersion":"v1","groups":[${order.map((group) => group.listed).join()}]}`,
    ),
    aggregatedCore: aggregated(core === undefined ? [] : [core]),
    aggregatedGroups: aggregated(order),
  };
}

/** What GET / answers: every path of the server. `others`: paths beside the API, such as /healthz and /metrics. */
export function rootPaths(discovered: readonly string[], others: readonly string[]): PreparedDocument {
  return new PreparedDocument(`${META}.RootPaths`, () => ({
    paths: [...new Set([...discovered, ...others])].sort(),
  }));
}
