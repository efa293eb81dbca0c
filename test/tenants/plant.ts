/**
 * Two tenants, and the words of the second one: 500 in all.
 *
 *     tenant A: a-tenant, shared (as it is now)      tenant B: a namespace with an unguessable name, shared (as it was)
 *
 * 1. Both are admin of their namespaces by a RoleBinding. A may also read the past of its namespaces.
 * 2. What B's objects contain was written by B itself, with a field manager and a user agent of its own, except where
 *    only a component could write it.
 * 3. The namespace `shared` was B's, was deleted with all that was in it, and exists again, as A's.
 */
import { expect, vi } from "vitest";
import { type Canaries, randomWord } from "./canaries.ts";
import type { Client } from "./client.ts";
import type { TestCluster } from "./cluster.ts";
import { KINDS, objectOf, type Planted } from "./places.ts";

export const CANARIES = 500;
export const OWN = "a-tenant";
export const SHARED = "shared";
/** A volume that is bound to a claim of B. */
export const VOLUME = "their-volume";
const ACCOUNT = "robot";
/** How many objects of each kind; the rest of the words goes into ConfigMaps. */
const OF_EACH_KIND = 3;
const WAIT = { timeout: 60_000, interval: 50 };

export interface Tenants {
  readonly a: Client;
  readonly b: Client;
  /** B, as it was the admin of `shared`. */
  readonly old: Client;
  /** B's namespace. */
  readonly theirs: string;
  /** A revision at which everything of B existed, in `shared` too. */
  readonly before: string;
  /** B's Pods, by uid. */
  readonly podUids: readonly string[];
  /** B's continue token. */
  readonly continueToken: string;
}

export async function plant(cluster: TestCluster, canaries: Canaries): Promise<Tenants> {
  const { admin } = cluster;
  await defineWidgets(admin);
  const theirs = canaries.word("the namespace's name");
  const a = await tenant(cluster, OWN);
  await mayReadThePast(admin, OWN);
  const b = await tenant(cluster, theirs);
  const old = await tenant(cluster, SHARED);

  await admin.ok("PATCH", `/api/v1/namespaces/${SHARED}`, {
    metadata: {
      labels: { tier: canaries.word("label of a former namespace") },
      annotations: { note: canaries.word("annotation of a former namespace") },
    },
  });
  for (const kind of KINDS) {
    for (let i = 0; i < OF_EACH_KIND; i++) await create(b, admin, canaries, theirs, objectOf(kind, canaries, theirs));
  }
  await nodeAssignments(admin, b, canaries, theirs);
  const deleted: Planted[] = [];
  for (const kind of ["ConfigMap", "Secret", "custom resource"]) deleted.push(objectOf(kind, canaries, theirs));
  const gone: Planted[] = [];
  for (const kind of ["ConfigMap", "Secret", "Pod", "Event", "custom resource"])
    for (let i = 0; i < 2; i++) gone.push(objectOf(kind, canaries, SHARED));
  for (const object of deleted) await create(b, admin, canaries, theirs, object);
  for (const object of gone) await create(old, admin, canaries, SHARED, object);
  while (canaries.size < CANARIES) {
    const data = Object.fromEntries(
      Array.from({ length: Math.min(10, CANARIES - canaries.size) }, (_, i) => [`key-${i}`, canaries.word("data")]),
    );
    await b.ok("POST", `/api/v1/namespaces/${theirs}/configmaps`, { metadata: { generateName: "more-" }, data });
  }

  const pods = await admin.ok<PodList>("GET", `/api/v1/namespaces/${theirs}/pods`);
  const page = await b.ok<PodList>("GET", `/api/v1/namespaces/${theirs}/configmaps?limit=1`);
  const before = page.metadata.resourceVersion;
  for (const { api, plural, body } of deleted)
    await admin.ok("DELETE", `/${api}/namespaces/${theirs}/${plural}/${nameOf(body)}`);
  await replaceNamespace(admin, SHARED);
  await bindAdmin(admin, SHARED, OWN);
  await mayReadThePast(admin, SHARED);
  return {
    a,
    b,
    old,
    theirs,
    before,
    podUids: pods.items.map(({ metadata }) => metadata.uid),
    continueToken: page.metadata.continue ?? "",
  };
}

interface PodList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly { readonly metadata: { readonly name: string; readonly uid: string } }[];
}

async function create(
  client: Client,
  admin: Client,
  canaries: Canaries,
  namespace: string,
  { api, plural, body, status }: Planted,
): Promise<void> {
  const headers = { "user-agent": `${randomWord()}/1.0` };
  const at = `/${api}/namespaces/${namespace}/${plural}`;
  // Tenants have no right to write these: components do.
  const writer = WRITTEN_BY_COMPONENTS.has(plural) ? admin : client;
  const isSparse = canaries.size < CANARIES - 40;
  const manager = isSparse && plural === "configmaps" ? canaries.word("field manager") : "robot";
  await writer.ok("POST", `${at}?fieldManager=${manager}`, body, { headers });
  if (status !== undefined) await admin.ok("PATCH", `${at}/${nameOf(body)}/status`, status);
}

const WRITTEN_BY_COMPONENTS = new Set([
  "events",
  "endpointslices",
  "widgets",
  "controllerrevisions",
  "leases",
  "resourceclaims",
  "roles",
  "rolebindings",
]);

function nameOf(body: Readonly<Record<string, unknown>>): string {
  return (body.metadata as { readonly name: string }).name;
}

/** A namespace, and its admin. */
async function tenant(cluster: TestCluster, namespace: string): Promise<Client> {
  const { admin } = cluster;
  await admin.ok("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  await admin.ok("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: ACCOUNT } });
  await bindAdmin(admin, namespace, namespace);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${ACCOUNT}/token`;
  const { status } = await admin.ok<{ status: { token: string } }>("POST", path, { spec: {} });
  return cluster.as(status.token);
}

/** Makes the account of the namespace `of` an admin of a namespace. */
async function bindAdmin(admin: Client, namespace: string, of: string): Promise<void> {
  await bind(admin, namespace, "tenant-admin", { kind: "ClusterRole", name: "admin" }, of);
}

async function mayReadThePast(admin: Client, namespace: string): Promise<void> {
  const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch", "past", "past-secrets"] }];
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`;
  await admin.ok("POST", path, { metadata: { name: "historian" }, rules });
  await bind(admin, namespace, "historian", { kind: "Role", name: "historian" }, OWN);
}

async function bind(admin: Client, namespace: string, name: string, role: object, of: string): Promise<void> {
  await admin.ok("POST", `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", ...role },
    subjects: [{ kind: "ServiceAccount", namespace: of, name: ACCOUNT }],
  });
}

async function defineWidgets(admin: Client): Promise<void> {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await admin.ok("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "widgets.tenants.example.com" },
    spec: {
      group: "tenants.example.com",
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema,
          subresources: { status: {} },
          additionalPrinterColumns: [{ name: "Size", type: "string", jsonPath: ".spec.size" }],
        },
      ],
    },
  });
  await vi.waitFor(
    async () => expect((await admin.ask({ path: "/apis/tenants.example.com/v1/widgets" })).status).toBe(200),
    WAIT,
  );
}

/** Nodes that only B's Pods are on, a volume that only B has. */
async function nodeAssignments(admin: Client, b: Client, canaries: Canaries, namespace: string): Promise<void> {
  for (let i = 0; i < 3; i++) {
    const node = canaries.word("node of a Pod");
    await admin.ok("POST", "/api/v1/nodes", { metadata: { name: node } });
    await b.ok("POST", `/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: canaries.word("name of a Pod on a node") },
      spec: { nodeName: node, containers: [{ name: "main", image: "registry.example/app:1" }] },
    });
  }
  const claim = canaries.word("name of a claim with a volume");
  const storage = { accessModes: ["ReadWriteOnce"], storageClassName: "" };
  await b.ok("POST", `/api/v1/namespaces/${namespace}/persistentvolumeclaims`, {
    metadata: { name: claim },
    spec: { ...storage, volumeName: VOLUME, resources: { requests: { storage: "1Gi" } } },
  });
  await admin.ok("POST", "/api/v1/persistentvolumes", {
    metadata: { name: VOLUME },
    spec: {
      ...storage,
      capacity: { storage: "1Gi" },
      hostPath: { path: `/data/${canaries.word("path of a volume")}` },
    },
  });
  const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${claim}`;
  await vi.waitFor(async () => expect((await b.ask({ path })).body).toContain('"phase":"Bound"'), WAIT);
}

/** Deletes a namespace with all that is in it, and makes another one of its name. */
async function replaceNamespace(admin: Client, name: string): Promise<void> {
  const path = `/api/v1/namespaces/${name}`;
  await admin.ok("DELETE", path);
  await vi.waitFor(async () => expect((await admin.ask({ path })).status).toBe(404), WAIT);
  await admin.ok("POST", "/api/v1/namespaces", { metadata: { name } });
}
