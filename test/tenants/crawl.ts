/** Asks a server for everything that it may show: every resource in every form, and every path beside resources. */
import type { Ask, Client } from "./client.ts";

export interface Route {
  /** `/api/v1`, `/apis/apps/v1`. */
  readonly api: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
}

export interface Crawl {
  readonly routes: readonly Route[];
  readonly namespaces: readonly string[];
  /** Earlier revisions that the crawler has guessed. */
  readonly moments: readonly string[];
  readonly continueToken: string;
  readonly podUids: readonly string[];
}

const FORMS = [
  "application/json",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  "application/vnd.kubernetes.protobuf",
  "application/yaml",
];

/** All resources of all groups and versions, as the user's own discovery lists them. */
export async function discover(client: Client): Promise<readonly Route[]> {
  const { groups } = await client.ok<{ groups: { versions: { groupVersion: string }[] }[] }>("GET", "/apis");
  const apis = ["/api/v1", ...groups.flatMap(({ versions }) => versions.map((each) => `/apis/${each.groupVersion}`))];
  const routes: Route[] = [];
  for (const api of apis) {
    const { resources } = await client.ok<{ resources: { name: string; namespaced: boolean; verbs: string[] }[] }>(
      "GET",
      api,
    );
    for (const { name: plural, namespaced: isNamespaced, verbs } of resources) {
      if (plural.includes("/")) continue;
      const subresources = resources.flatMap(({ name }) =>
        name.startsWith(`${plural}/`) ? [name.slice(plural.length + 1)] : [],
      );
      routes.push({ api, plural, isNamespaced, verbs, subresources });
    }
  }
  return routes;
}

/** Reads of whole collections, and of what is beside them. */
export function* reads(crawl: Crawl): Generator<Ask> {
  for (const path of collections(crawl)) {
    for (const accept of FORMS) yield { path, headers: { accept } };
    yield { path: `${path}?watch=true&timeoutSeconds=1` };
    yield { path: `${path}?limit=1` };
    yield { path: `${path}?limit=5&continue=${encodeURIComponent(crawl.continueToken)}` };
    yield { path: `${path}?fieldSelector=${encodeURIComponent(`metadata.namespace!=nowhere`)}` };
    for (const moment of crawl.moments) {
      yield { path: `${path}?resourceVersion=${moment}&resourceVersionMatch=Exact` };
      yield { path: `${path}?watch=true&timeoutSeconds=1&resourceVersion=${moment}` };
      yield { path: `${path}?k8ts-at=${moment}` };
      yield { path: `/k8ts/at/${moment}${path}`, headers: { accept: FORMS[1] ?? "" } };
    }
  }
  for (const namespace of crawl.namespaces)
    for (const moment of crawl.moments) {
      yield { path: `/api/v1/watch/namespaces/${namespace}?timeoutSeconds=1&resourceVersion=${moment}` };
      yield { path: `/api/v1/namespaces/${namespace}?k8ts-at=${moment}` };
    }
  for (const { api } of crawl.routes) yield { path: api };
  for (const path of BESIDE) yield { path };
  for (const uid of crawl.podUids) yield { path: `/k8ts/scheduling?uid=${uid}` };
  for (const moment of crawl.moments) yield { path: `/k8ts/history?at=${moment}` };
}

function* collections({ routes, namespaces }: Crawl): Generator<string> {
  for (const { api, plural, isNamespaced, verbs } of routes) {
    if (!verbs.includes("list")) continue;
    yield `${api}/${plural}`;
    if (isNamespaced) for (const namespace of namespaces) yield `${api}/namespaces/${namespace}/${plural}`;
  }
}

/** Paths that are not about resources: of Kubernetes, and of k8ts. */
const BESIDE = [
  "/",
  "/api",
  "/apis",
  "/version",
  "/healthz?verbose",
  "/livez?verbose",
  "/readyz?verbose",
  "/metrics",
  "/metrics/slis",
  "/openapi/v2",
  "/openapi/v3",
  "/openapi/v3/api/v1",
  "/openapi/v3/apis/tenants.example.com/v1",
  "/logs",
  "/logs/",
  "/debug",
  "/debug/pprof/",
  "/debug/flags/v",
  "/debug/api_priority_and_fairness/dump_requests",
  "/debug/api_priority_and_fairness/dump_queues",
  "/statusz",
  "/flagz",
  "/configz",
  "/.well-known/openid-configuration",
  "/openid/v1/jwks",
  "/k8ts/flows",
  "/k8ts/flows?reads=true",
  "/k8ts/history",
  "/k8ts/scheduling",
  "/k8ts/snapshot",
  // Other spellings of paths that are refused.
  "//api/v1/secrets",
  "/api/v1/namespaces//secrets",
  "/api/v1/watch/secrets?timeoutSeconds=1",
  "/api%2Fv1/secrets",
  "/apis/metrics.k8s.io/v1beta1//pods",
  "/apis/metrics.k8s.io/v1beta1/namespaces//pods",
  "/apis/metrics%2Ek8s.io/v1beta1/pods",
  "/apis/custom%2Emetrics.k8s.io/v1beta2/namespaces//pods/*/rate",
];

/** Reviews, other identities, and names that are taken: what answers say beside objects. */
export function* probes(own: string, theirs: string, volume: string): Generator<Ask> {
  const reviews = "/apis/authorization.k8s.io/v1";
  const review = (kind: string, spec: object) => ({ apiVersion: "authorization.k8s.io/v1", kind, spec });
  const attributes = { namespace: theirs, verb: "get", resource: "secrets" };
  const user = `system:serviceaccount:${theirs}:robot`;
  const subject = { user, resourceAttributes: attributes };
  for (const [path, body] of [
    [`${reviews}/selfsubjectaccessreviews`, review("SelfSubjectAccessReview", { resourceAttributes: attributes })],
    [`${reviews}/selfsubjectrulesreviews`, review("SelfSubjectRulesReview", { namespace: theirs })],
    [`${reviews}/subjectaccessreviews`, review("SubjectAccessReview", subject)],
    [`${reviews}/namespaces/${theirs}/localsubjectaccessreviews`, review("LocalSubjectAccessReview", subject)],
    [
      `${reviews}/namespaces/${own}/localsubjectaccessreviews`,
      review("LocalSubjectAccessReview", { user, resourceAttributes: { ...attributes, namespace: own } }),
    ],
    ["/apis/authentication.k8s.io/v1/selfsubjectreviews", {}],
    ["/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: "guessed" } }],
    ["/api/v1/namespaces", { metadata: { name: theirs } }],
    [
      `/api/v1/namespaces/${own}/persistentvolumeclaims`,
      {
        metadata: { name: "taken" },
        spec: {
          accessModes: ["ReadWriteOnce"],
          storageClassName: "",
          volumeName: volume,
          resources: { requests: { storage: "1Gi" } },
        },
      },
    ],
  ] as const)
    yield { method: "POST", path, body };
  for (const headers of [
    { "impersonate-user": user },
    { "impersonate-user": "admin", "impersonate-group": "system:masters" },
    { "impersonate-uid": "1" },
  ])
    for (const path of [`/api/v1/namespaces/${theirs}/secrets`, "/k8ts/flows"]) yield { path, headers };
  yield { path: "/k8ts/flows?follow=true", until: '"type":"live"' };
}

/** Everything that can be asked about one object, of each verb and subresource. */
export function* questions({ api, plural, subresources }: Route, namespace: string, name: string): Generator<Ask> {
  const path = `${api}/namespaces/${namespace}/${plural}/${name}`;
  const collection = `${api}/namespaces/${namespace}/${plural}`;
  const body = { metadata: { name } };
  for (const accept of FORMS.slice(0, 4)) yield { path, headers: { accept: accept.replace("List;", ";") } };
  yield { path: `${collection}?fieldSelector=metadata.name%3D${name}` };
  yield { path: `${collection}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3D${name}` };
  yield { path: `${path}?k8ts-at=-1m` };
  yield { method: "POST", path: collection, body };
  for (const each of ["", ...subresources.map((subresource) => `/${subresource}`)]) {
    yield { path: `${path}${each}` };
    yield { method: "POST", path: `${path}${each}`, body: {} };
    yield { method: "PUT", path: `${path}${each}?dryRun=All`, body };
    yield { method: "PATCH", path: `${path}${each}?dryRun=All`, body: {} };
    yield {
      method: "PATCH",
      path: `${path}${each}?dryRun=All&fieldManager=crawler`,
      headers: { "content-type": "application/apply-patch+yaml" },
      body,
    };
    yield { method: "DELETE", path: `${path}${each}?dryRun=All` };
  }
  const resource = plural.split(".")[0];
  yield { path: `/k8ts/flows?resource=${resource}&namespace=${namespace}&name=${name}&reads=true` };
}

const AT_ONCE = 24;
const WATCHES_AT_ONCE = 120;

/** Sends requests, some at a time, and returns their number. Watches only wait: more of them are open at once. */
export async function each(asks: Iterable<Ask>, work: (ask: Ask) => Promise<void>): Promise<number> {
  const all = [...asks];
  const isWatch = ({ path }: Ask) => path.includes("watch");
  await Promise.all([
    inParallel(all.filter(isWatch), WATCHES_AT_ONCE, work),
    inParallel(
      all.filter((ask) => !isWatch(ask)),
      AT_ONCE,
      work,
    ),
  ]);
  return all.length;
}

export async function inParallel<T>(items: Iterable<T>, most: number, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: most }, worker));
}
