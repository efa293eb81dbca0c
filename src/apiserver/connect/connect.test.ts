import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type core, isStatusError, type JsonObject, type policy } from "#api";
import type { TokenIssuer } from "../authn/service-account/issuer.ts";
import { staticTokens } from "../authn/token-file.ts";
import { forApi } from "../authn/verdict.ts";
import { alwaysAllow } from "../authz/always.ts";
import { bootstrap } from "../bootstrap/bootstrap.ts";
import { type TestServer, testServer } from "../bootstrap/testing/server.ts";
import { type ApiResponse, isStream } from "../http/exchange.ts";
import { requestInfo } from "../http/request-info.ts";
import type { UserInfo } from "../identity/user.ts";
import { serverRequest } from "../loopback/server-request.ts";
import { dispatch } from "../pipeline/dispatch.ts";
import type { AnyDraft } from "../rest/draft.ts";
import { change } from "../rest/write/change.ts";
import { mastersOnly } from "../testing/masters-only.ts";
import { connectors } from "./connectors.ts";
import { behindProxy } from "./proxy.ts";

const ADMIN: UserInfo = { name: "admin", uid: "u1", groups: ["system:masters", "system:authenticated"] };
const JANE: UserInfo = { name: "jane", groups: ["dev", "system:authenticated"], extra: { scopes: ["a"] } };

const issuer: TokenIssuer = {
  issuer: "https://issuer",
  audiences: ["api"],
  extendExpiration: true,
  sign: async (claims) => JSON.stringify(claims),
};

describe("what is answered without being stored", () => {
  let server: TestServer;
  const stopping = new AbortController();
  beforeEach(async () => {
    server = await testServer();
    await bootstrap(server.context, server.resources);
  });
  afterEach(() => server[Symbol.asyncDispose]());

  async function ask(
    method: string,
    target: string,
    body?: object,
    user = ADMIN,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; body: JsonObject; text: string }> {
    const [path = "", search = ""] = target.split("?");
    const query = new URLSearchParams(search);
    const { context, resources } = server;
    const authenticateToken = forApi(["api"], staticTokens(new Map([["good", JANE]])));
    const { rulesFor } = alwaysAllow();
    const exchange = {
      method,
      path,
      query,
      headers,
      user,
      body: async () => Buffer.from(body === undefined ? "" : JSON.stringify(body)),
      signal: stopping.signal,
    };
    const parts = {
      context,
      resources,
      stopping: stopping.signal,
      connectors: connectors({
        context,
        resources,
        authenticateToken,
        audiences: ["api"],
        authorize: mastersOnly,
        rulesFor,
        tokens: issuer,
      }),
    };
    try {
      const info = requestInfo(method, path, query);
      const response = await dispatch(exchange, info, parts, { warn: () => {}, annotate: () => {} });
      const text = await textOf(response);
      return { status: response.status, text, body: text.startsWith("{") ? (JSON.parse(text) as JsonObject) : {} };
    } catch (error) {
      if (!isStatusError(error)) throw error;
      return { status: error.code, text: error.message, body: { ...error.details } as JsonObject };
    }
  }

  async function textOf(response: ApiResponse): Promise<string> {
    if (!isStream(response)) return Buffer.concat(response.body).toString("utf8");
    const chunks: Buffer[] = [];
    await response.stream({ write: (bytes) => chunks.push(bytes) && 0, drop: () => {}, signal: stopping.signal });
    return Buffer.concat(chunks).toString("utf8");
  }

  async function pod(name: string, spec: object = {}, labels: Record<string, string> = {}): Promise<void> {
    const container = {
      name: "c",
      image: "nginx:1",
      imagePullPolicy: "IfNotPresent",
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      resources: {},
    };
    await server.create("", "pods", {
      metadata: { name, namespace: "default", labels },
      spec: { containers: [container], ...spec },
    });
  }

  async function setStatus(
    group: string,
    plural: string,
    name: string,
    namespace: string,
    status: object,
  ): Promise<void> {
    await change(
      serverRequest(server.context, server.resource(group, plural), { name, namespace, subresource: "status" }),
      {
        dryRun: false,
        propose: (current) => ({ draft: { ...structuredClone(current), status } as unknown as AnyDraft }),
      },
    );
  }

  const podNow = (name: string) => server.get("", "pods", `default/${name}`) as core.Pod | undefined;

  describe("a binding", () => {
    const binding = (name: string, target: object = { kind: "Node", name: "n" }) => ({
      metadata: { name, annotations: { a: "b" } },
      target,
    });

    it("sets the node, the condition and the annotations of a pod, and nobody comes to own them", async () => {
      await pod("p");
      const before = podNow("p")?.metadata.managedFields;
      expect(await ask("POST", "/api/v1/namespaces/default/pods/p/binding?dryRun=All", binding("p"))).toMatchObject({
        status: 201,
      });
      expect(podNow("p")?.spec?.nodeName).toBeUndefined();
      expect((await ask("POST", "/api/v1/namespaces/default/bindings", binding("p"))).body).toMatchObject({
        status: "Success",
        code: 201,
      });
      const { metadata, spec, status } = podNow("p") ?? { metadata: {} };
      expect([spec?.nodeName, metadata.annotations, metadata.managedFields]).toEqual(["n", { a: "b" }, before]);
      expect(status?.conditions).toMatchObject([{ type: "PodScheduled", status: "True", lastProbeTime: null }]);
    });

    it("forgets the node that was promised to the pod, also where it goes elsewhere", async () => {
      await pod("promised");
      const path = "/api/v1/namespaces/default/pods/promised";
      const type = "application/merge-patch+json";
      await ask("PATCH", `${path}/status`, { status: { nominatedNodeName: "m" } }, ADMIN, { "content-type": type });
      expect(podNow("promised")?.status?.nominatedNodeName).toBe("m");
      await ask("POST", `${path}/binding`, binding("promised"));
      const { spec, status } = podNow("promised") ?? {};
      expect([spec?.nodeName, status?.nominatedNodeName]).toEqual(["n", undefined]);
    });

    it.each([
      {
        name: "another pod",
        path: "q",
        body: binding("p"),
        want: "400 name in URL does not match name in Binding object",
      },
      { name: "no pod", path: "none", body: binding("none"), want: '404 pods "none" not found' },
      { name: "no node", path: "p", body: binding("p", { kind: "Node" }), want: "500 target.name: Required value" },
      {
        name: "something else than a node",
        path: "p",
        body: binding("p", { kind: "Pod", name: "x" }),
        want: '500 target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
      },
      {
        name: "a pod that is bound",
        path: "bound",
        body: binding("bound"),
        want: '409 Operation cannot be fulfilled on pods/binding "bound": pod bound is already assigned to node "m"',
      },
      {
        name: "a pod with gates",
        path: "gated",
        body: binding("gated"),
        want: '409 Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates',
      },
    ])("of $name is refused", async ({ path, body, want }) => {
      await pod("p");
      await pod("bound", { nodeName: "m" });
      await pod("gated", { schedulingGates: [{ name: "example.com/g" }] });
      const { status, text } = await ask("POST", `/api/v1/namespaces/default/pods/${path}/binding`, body);
      expect(`${status} ${text}`).toBe(want);
    });

    it("succeeds for one of many schedulers", async () => {
      await pod("p");
      const answers = await Promise.all(
        ["a", "b", "c"].map((name) =>
          ask("POST", "/api/v1/namespaces/default/pods/p/binding", binding("p", { kind: "Node", name })),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    });
  });

  describe("an eviction", () => {
    const eviction = (name: string) => ({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name } });
    const evict = (name: string, query = "") =>
      ask("POST", `/api/v1/namespaces/default/pods/${name}/eviction${query}`, eviction(name));

    async function budget(name: string, status: object): Promise<void> {
      await server.create("policy", "poddisruptionbudgets", {
        metadata: { name, namespace: "default" },
        spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
      });
      await setStatus("policy", "poddisruptionbudgets", name, "default", {
        currentHealthy: 1,
        desiredHealthy: 1,
        expectedPods: 1,
        disruptionsAllowed: 0,
        observedGeneration: 1,
        ...status,
      });
    }

    async function runningPod(name: string): Promise<void> {
      await pod(name, {}, { app: "web" });
      const conditions = [
        { type: "Ready", status: "True", lastProbeTime: null, lastTransitionTime: "2030-01-01T00:00:00Z" },
      ];
      await setStatus("", "pods", name, "default", { phase: "Running", conditions });
    }

    it("deletes a pod that has no budget", async () => {
      await pod("p");
      expect(await evict("p", "?dryRun=All")).toMatchObject({ status: 201 });
      expect(podNow("p")).toBeDefined();
      expect(await evict("p")).toMatchObject({ status: 201 });
      expect(podNow("p")).toBeUndefined();
    });

    it("is refused for another pod than the path's, and for none", async () => {
      await pod("p");
      const wrong = await ask("POST", "/api/v1/namespaces/default/pods/p/eviction", eviction("other"));
      expect(wrong).toMatchObject({ status: 400, text: "name in URL does not match name in Eviction object" });
      expect(await evict("none")).toMatchObject({ status: 404, text: 'pods "none" not found' });
    });

    it("is refused where the budget is spent", async () => {
      await runningPod("p");
      await budget("pdb", {});
      expect(await evict("p")).toMatchObject({
        status: 429,
        text: "Cannot evict pod as it would violate the pod's disruption budget.",
        body: {
          causes: [
            {
              reason: "DisruptionBudget",
              message: "The disruption budget pdb needs 1 healthy pods and has 1 currently",
            },
          ],
        },
      });
    });

    it("spends the budget: of many, as many succeed as it allows", async () => {
      for (const name of ["a", "b", "c"]) await runningPod(name);
      await budget("pdb", { disruptionsAllowed: 2 });
      expect(await evict("a", "?dryRun=All")).toMatchObject({ status: 201 });
      const answers = await Promise.all(["a", "b", "c"].map((name) => evict(name)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 429]);
      const { status } = server.get("policy", "poddisruptionbudgets", "default/pdb") as policy.PodDisruptionBudget;
      expect([status?.disruptionsAllowed, Object.keys(status?.disruptedPods ?? {}).length]).toEqual([0, 2]);
    });

    it("is refused where two budgets speak of the pod", async () => {
      await runningPod("p");
      await budget("one", { disruptionsAllowed: 1 });
      await budget("two", { disruptionsAllowed: 1 });
      expect(await evict("p")).toMatchObject({
        status: 500,
        text: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
      });
    });
  });

  describe("a review", () => {
    const review = (group: string, plural: string, body: object, user = ADMIN) =>
      ask("POST", `/apis/${group}.k8s.io/v1/${plural}`, body, user);
    const pods = { resourceAttributes: { verb: "get", resource: "pods", namespace: "default" } };

    it("of oneself says who one is", async () => {
      const { status, body } = await review("authentication", "selfsubjectreviews", {}, JANE);
      expect([status, body.status]).toEqual([
        201,
        { userInfo: { username: "jane", groups: ["dev", "system:authenticated"], extra: { scopes: ["a"] } } },
      ]);
    });

    it.each([
      { plural: "selfsubjectaccessreviews", spec: pods, user: ADMIN, want: true },
      { plural: "selfsubjectaccessreviews", spec: pods, user: JANE, want: false },
      {
        plural: "selfsubjectaccessreviews",
        spec: { nonResourceAttributes: { verb: "get", path: "/version" } },
        user: JANE,
        want: true,
      },
      { plural: "subjectaccessreviews", spec: { ...pods, user: "jane" }, user: ADMIN, want: false },
      { plural: "subjectaccessreviews", spec: { ...pods, groups: ["system:masters"] }, user: ADMIN, want: true },
    ])("$plural of $user.name: $want", async ({ plural, spec, user, want }) => {
      const { status, body } = await review("authorization", plural, { spec }, user);
      expect([status, body.status]).toEqual([201, { allowed: want }]);
    });

    it("in a namespace speaks of it", async () => {
      const at = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews";
      expect((await ask("POST", at, { spec: { ...pods, user: "jane" } })).body).toMatchObject({
        status: { allowed: false },
      });
      const elsewhere = { resourceAttributes: { verb: "get", resource: "pods", namespace: "other" }, user: "jane" };
      expect(await ask("POST", at, { spec: elsewhere })).toMatchObject({ status: 422 });
    });

    it("of rules lists them, and needs a namespace", async () => {
      const { body } = await review("authorization", "selfsubjectrulesreviews", { spec: { namespace: "default" } });
      expect(body.status).toMatchObject({
        incomplete: false,
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      });
      const without = await review("authorization", "selfsubjectrulesreviews", { spec: {} });
      expect(without).toMatchObject({ status: 400, text: "no namespace on request" });
    });

    it.each([
      {
        token: "good",
        want: {
          authenticated: true,
          audiences: ["api"],
          user: { username: "jane", groups: ["dev", "system:authenticated"], extra: { scopes: ["a"] } },
        },
      },
      { token: "bad", want: { user: {}, error: "invalid bearer token" } },
    ])("of the token $token", async ({ token, want }) => {
      expect((await review("authentication", "tokenreviews", { spec: { token } })).body.status).toEqual(want);
    });

    it("of no token is refused", async () => {
      const answer = await review("authentication", "tokenreviews", { spec: {} });
      expect(answer).toMatchObject({ status: 400, text: "token is required for TokenReview in authentication" });
    });

    it("is only ever created", async () => {
      expect(await ask("GET", "/apis/authentication.k8s.io/v1/tokenreviews")).toMatchObject({ status: 405 });
    });
  });

  describe("a token", () => {
    const at = (name: string) => `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
    beforeEach(async () => {
      await server.create("", "serviceaccounts", { metadata: { name: "sa", namespace: "default" } });
    });

    it("speaks for its account, for a while", async () => {
      const { status, body } = await ask("POST", at("sa"), { spec: {} });
      const { token } = body.status as { token: string };
      const claims = JSON.parse(token) as { sub: string; aud: string[]; exp: number; iat: number };
      expect([status, claims.sub, claims.aud, claims.exp - claims.iat]).toEqual([
        201,
        "system:serviceaccount:default:sa",
        ["api"],
        3600,
      ]);
    });

    it("is bound to objects, and says so", async () => {
      await server.create("", "nodes", { metadata: { name: "n" } });
      await pod("p", { serviceAccountName: "sa", nodeName: "n" });
      const claims = async (boundObjectRef: object, expirationSeconds = 3607) => {
        const { body } = await ask("POST", at("sa"), { spec: { boundObjectRef, expirationSeconds } });
        return JSON.parse((body.status as { token: string }).token);
      };
      const ref = (kind: string, name: string) => ({ kind, apiVersion: "v1", name });
      const uid = expect.any(String);
      const ofPod = await claims(ref("Pod", "p"));
      expect(ofPod["kubernetes.io"]).toEqual({
        namespace: "default",
        pod: { name: "p", uid },
        node: { name: "n", uid },
        serviceaccount: { name: "sa", uid },
        warnafter: ofPod.iat + 3607,
      });
      expect(ofPod.exp - ofPod.iat).toBe(365 * 24 * 3600);
      const ofNode = await claims(ref("Node", "n"));
      expect(ofNode["kubernetes.io"]).toMatchObject({ node: { name: "n", uid } });
      expect(ofNode.exp - ofNode.iat).toBe(3607);
      expect((await claims(ref("Pod", "p"), 3600))["kubernetes.io"]).not.toHaveProperty("warnafter");
    });

    it("is not extended for others than the API server", async () => {
      await pod("p", { serviceAccountName: "sa" });
      const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "p" };
      const spec = { boundObjectRef, expirationSeconds: 3607, audiences: ["vault"] };
      const { body } = await ask("POST", at("sa"), { spec });
      const { exp, iat } = JSON.parse((body.status as { token: string }).token);
      expect(exp - iat).toBe(3607);
    });

    it.each([
      {
        spec: { boundObjectRef: { kind: "ConfigMap", apiVersion: "v1", name: "c" } },
        want: "400 cannot bind token to object of type /v1, Kind=ConfigMap",
      },
      {
        spec: { boundObjectRef: { kind: "Pod", apiVersion: "apps/v1", name: "c" } },
        want: "400 cannot bind token to object of type apps/v1, Kind=Pod",
      },
      { spec: { boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "c" } }, want: '404 secrets "c" not found' },
      {
        spec: { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p", uid: "other" } },
        want: '409 Operation cannot be fulfilled on Pod "p": the UID in the bound object reference (other) does not match the UID in record. The object might have been deleted and then recreated',
      },
      {
        spec: { expirationSeconds: 2 ** 33 },
        want: '422 TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 8589934592: may not specify a duration larger than 2^32 seconds',
      },
    ])("is refused: $want", async ({ spec, want }) => {
      await pod("p", { serviceAccountName: "sa" });
      const { status, text } = await ask("POST", at("sa"), { spec });
      expect(`${status} ${text}`).toBe(want);
    });

    it("is asked for at its own account only", async () => {
      expect(await ask("POST", at("sa"), { metadata: { name: "other" }, spec: {} })).toMatchObject({
        status: 422,
        text: 'TokenRequest.authentication.k8s.io "sa" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
      });
      expect(await ask("POST", at("sa"), { metadata: { namespace: "other" }, spec: {} })).toMatchObject({
        status: 400,
        text: "the namespace of the provided object does not match the namespace sent on the request",
      });
    });

    it("is bound to a pod of the account only", async () => {
      await pod("p", { serviceAccountName: "other" });
      const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "p" };
      expect(await ask("POST", at("sa"), { spec: { boundObjectRef } })).toMatchObject({
        status: 400,
        text: 'cannot bind token for serviceaccount "sa" to pod running with different serviceaccount name.',
      });
    });

    it("is not given for less than ten minutes, nor for no account", async () => {
      expect(await ask("POST", at("sa"), { spec: { expirationSeconds: 60 } })).toMatchObject({ status: 422 });
      expect(await ask("POST", at("none"), { spec: {} })).toMatchObject({
        status: 404,
        text: 'serviceaccounts "none" not found',
      });
    });
  });

  describe("the connection to a pod", () => {
    const at = (name: string, what: string) => `/api/v1/namespaces/default/pods/${name}/${what}`;
    it.each([
      { method: "GET", name: "p", what: "log", want: "204 " },
      { method: "GET", name: "p", what: "log?container=none", want: "400 container none is not valid for pod p" },
      {
        method: "GET",
        name: "p",
        what: "log?tailLines=-1",
        want: '422 PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
      },
      { method: "GET", name: "placed", what: "log", want: '404 nodes "n" not found' },
      { method: "POST", name: "p", what: "exec?command=ls", want: "400 pod p does not have a host assigned" },
      { method: "GET", name: "none", what: "attach", want: '404 pods "none" not found' },
      { method: "GET", name: "p", what: "proxy/", want: "400 address not allowed" },
      {
        method: "DELETE",
        name: "p",
        what: "log",
        want: "405 the server does not allow this method on the requested resource",
      },
    ])("$method $name/$what", async ({ method, name, what, want }) => {
      await pod("p");
      await pod("placed", { nodeName: "n" });
      const { status, text } = await ask(method, at(name, what));
      expect(`${status} ${text}`).toBe(want);
    });

    it("needs a kubelet that answers", async () => {
      await pod("p", { nodeName: "n" });
      await server.create("", "nodes", {
        metadata: { name: "n" },
        status: {
          addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
          daemonEndpoints: { kubeletEndpoint: { Port: 1 } },
        },
      });
      const url = "https://127.0.0.1:1/containerLogs/default/p/c?tailLines=5";
      expect(await ask("GET", at("p", "log?tailLines=5"))).toMatchObject({
        status: 500,
        text: `Get "${url}": dial tcp 127.0.0.1:1: connect: connection refused`,
      });
      expect(await ask("GET", "/api/v1/nodes/n/proxy/healthz")).toMatchObject({
        status: 503,
        text: "error trying to reach service: dial tcp 127.0.0.1:1: connect: connection refused",
      });
      expect(await ask("POST", at("p", "exec?command=ls"))).toMatchObject({
        status: 400,
        text: "Upgrade request required",
      });
      const upgrade = { connection: "upgrade", upgrade: "websocket" };
      expect(await ask("GET", at("p", "exec?command=ls"), undefined, ADMIN, upgrade)).toMatchObject({
        status: 500,
        text: "error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused",
      });
    });
  });

  it.each([
    { path: "/api/v1/namespaces/proxy/pods/p/proxy", namespaced: true, want: "/?a=b" },
    { path: "/api/v1/namespaces/ns/services/https:web:443/proxy/x/proxy/", namespaced: true, want: "/x/proxy/?a=b" },
    { path: "/api/v1/nodes/proxy/proxy/stats", namespaced: false, want: "/stats?a=b" },
  ])("the proxy of $path asks for $want", ({ path, namespaced, want }) => {
    expect(behindProxy(path, new URLSearchParams("a=b"), namespaced)).toBe(want);
  });

  describe("the proxy to a service", () => {
    it("says what it lacks", async () => {
      const at = (name: string) => `/api/v1/namespaces/default/services/${name}/proxy/x`;
      const ports = [{ name: "http", port: 80, targetPort: 80, protocol: "TCP" }];
      await server.create("", "services", { metadata: { name: "web", namespace: "default" }, spec: { ports } });
      expect(await ask("GET", at("none"))).toMatchObject({ status: 404 });
      expect(await ask("GET", at("web"))).toMatchObject({
        status: 503,
        text: 'no endpoints available for service "web"',
      });
      expect(await ask("GET", at("web:99"))).toMatchObject({
        status: 503,
        text: 'no service port 99 found for service "web"',
      });
      expect(await ask("GET", at("ftp:web:99"))).toMatchObject({
        status: 400,
        text: 'invalid service request "ftp:web:99"',
      });
    });
  });
});

describe("forwarding", () => {
  let target: Server;
  let port: number;
  beforeEach(async () => {
    target = createServer((request, response) => {
      response.writeHead(203, { "content-type": "text/plain", "x-own": "yes" });
      request.on("data", (chunk) => response.write(chunk));
      request.on("end", () =>
        response.end(`${request.method} ${request.url} ${request.headers.authorization ?? "nobody"}`),
      );
    }).listen(0, "127.0.0.1");
    await once(target, "listening");
    port = (target.address() as AddressInfo).port;
  });
  afterEach(async () => {
    target.close();
    await once(target, "close");
  });

  it("passes a request on, and its answer back, but not whose it is", async () => {
    const { forward } = await import("./forward.ts");
    const { realClock } = await import("#base");
    const signal = new AbortController().signal;
    const exchange = {
      method: "POST",
      path: "/ignored",
      query: new URLSearchParams(),
      headers: { authorization: "Bearer secret", "content-type": "text/plain" },
      body: async () => Buffer.from("hello "),
      signal,
    };
    const answer = await forward({ secure: false, host: "127.0.0.1", port, path: "/a?b=c" }, exchange, realClock());
    if (!isStream(answer)) throw new Error("not a stream");
    const chunks: Buffer[] = [];
    await answer.stream({ write: (bytes) => chunks.push(bytes) && 0, drop: () => {}, signal });
    expect([answer.status, answer.headers["x-own"], Buffer.concat(chunks).toString()]).toEqual([
      203,
      "yes",
      "hello POST /a?b=c nobody",
    ]);
  });
});
