import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import type { Json, KubeObject, rbac } from "#api";
import { serverRequest } from "../loopback/server-request.ts";
import type { AnyDraft } from "../rest/draft.ts";
import { change } from "../rest/write/change.ts";
import { bootstrap } from "./bootstrap.ts";
import type { Identity } from "./identity.ts";
import { Membership } from "./membership.ts";
import { type TestServer, testServer } from "./testing/server.ts";

const reference = resolve(import.meta.dirname, "../../../../shared/reference/bootstrap/apiserver-only");
const RBAC = "rbac.authorization.k8s.io";
const FLOW = "flowcontrol.apiserver.k8s.io";

const identity: Identity = {
  hostname: "HOSTNAME",
  port: 46443,
  address: "192.0.2.10",
  uid: "1d89491f-2222-4fab-8d7a-6465a5bafa73",
};
const pem = "-----BEGIN CERTIFICATE-----(pem)-----END CERTIFICATE-----\n";
const facts = {
  clientCa: pem,
  requestHeader: { ca: pem, allowedNames: ["front-proxy-client"] },
  serviceCidrs: ["10.96.0.0/16"],
};

const joinCluster = (server: TestServer) =>
  new Membership({ ...server, identity, serviceCidrs: facts.serviceCidrs }).join();

/** Without what differs from start to start. */
function comparable(object: KubeObject): Json {
  const text = JSON.stringify(object, (key, value: unknown) => {
    if (
      ["uid", "creationTimestamp", "resourceVersion", "renewTime", "time", "since", "lastTransitionTime"].includes(key)
    )
      return undefined;
    if (key === "managedFields" && Array.isArray(value)) {
      return [...(value as { manager: string }[])].sort((a, b) => (a.manager < b.manager ? -1 : 1));
    }
    return typeof value === "string" ? value.replace(/apiserver-[a-z2-7]{26}/g, "apiserver-ID") : value;
  });
  const { kind: _kind, apiVersion: _version, ...rest } = JSON.parse(text) as Record<string, Json>;
  return rest;
}

const byName = (a: Json, b: Json) =>
  JSON.stringify((a as { metadata: Json }).metadata).localeCompare(JSON.stringify((b as { metadata: Json }).metadata));

async function revision({ context }: TestServer): Promise<number> {
  return context.store.revision();
}

describe("a fresh cluster", () => {
  describe.skipIf(!existsSync(reference))("has what the original makes by itself (needs ../shared)", () => {
    it.each([
      ["", "namespaces"],
      ["", "services"],
      ["", "endpoints"],
      ["discovery.k8s.io", "endpointslices"],
      ["networking.k8s.io", "servicecidrs"],
      ["networking.k8s.io", "ipaddresses"],
      ["scheduling.k8s.io", "priorityclasses"],
      [FLOW, "flowschemas"],
      [FLOW, "prioritylevelconfigurations"],
      [RBAC, "clusterroles"],
      [RBAC, "clusterrolebindings"],
      [RBAC, "roles"],
      [RBAC, "rolebindings"],
      ["coordination.k8s.io", "leases"],
      ["", "configmaps"],
    ])("%s %s", async (group, plural) => {
      await using server = await testServer(facts);
      await bootstrap(server.context, server.resources, facts);
      await joinCluster(server);
      const file = JSON.parse(readFileSync(join(reference, `${plural}.json`), "utf8")) as { items: KubeObject[] };
      const wanted = file.items.map(comparable).sort(byName);
      const found = server.all(group, plural).map(comparable).sort(byName);
      expect(found).toEqual(wanted);
    });
  });

  it("is left alone by a second start, apart from the lease", async () => {
    await using server = await testServer(facts);
    await bootstrap(server.context, server.resources, facts);
    const before = await revision(server);
    await bootstrap(server.context, server.resources, facts);
    expect(await revision(server)).toBe(before);
    await joinCluster(server);
    const advertised = await revision(server);
    await joinCluster(server);
    expect((await revision(server)) - advertised).toBeLessThanOrEqual(1);
  });
});

describe("a start on existing data", () => {
  async function edit(
    server: TestServer,
    group: string,
    plural: string,
    name: string,
    edited: (object: Record<string, Json>) => void,
  ) {
    await change(serverRequest(server.context, server.resource(group, plural), { name }), {
      dryRun: false,
      propose: (current) => {
        const draft = structuredClone(current) as unknown as AnyDraft;
        edited(draft as unknown as Record<string, Json>);
        return { draft };
      },
    });
  }
  const role = (server: TestServer, name: string) => server.get(RBAC, "clusterroles", name) as rbac.ClusterRole;

  it("adds missing rules and keeps the rest", async () => {
    await using server = await testServer();
    await bootstrap(server.context, server.resources);
    const own = { verbs: ["get"], apiGroups: ["example.com"], resources: ["things"] };
    await edit(server, RBAC, "clusterroles", "system:basic-user", (object) => {
      object.rules = [own];
    });
    await bootstrap(server.context, server.resources);
    expect(role(server, "system:basic-user").rules).toEqual([
      own,
      {
        verbs: ["create"],
        apiGroups: ["authorization.k8s.io"],
        resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
      },
      { verbs: ["create"], apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"] },
    ]);
  });

  it("leaves roles alone that are not to be updated", async () => {
    await using server = await testServer();
    const only = { verbs: ["get"], apiGroups: ["example.com"], resources: ["things"] };
    await bootstrap(server.context, server.resources);
    await edit(server, RBAC, "clusterroles", "system:basic-user", (object) => {
      object.rules = [only];
      object.metadata = {
        ...(object.metadata as object),
        annotations: { "rbac.authorization.kubernetes.io/autoupdate": "false" },
      };
    });
    await bootstrap(server.context, server.resources);
    expect(role(server, "system:basic-user").rules).toEqual([only]);
  });

  it("puts mandatory flow control right, and suggestions only while nobody has taken them over", async () => {
    await using server = await testServer();
    await bootstrap(server.context, server.resources);
    const shares = (name: string) => {
      const level = server.get(FLOW, "prioritylevelconfigurations", name) as KubeObject & {
        spec: { limited: { nominalConcurrencyShares: number } };
      };
      return level.spec.limited.nominalConcurrencyShares;
    };
    for (const name of ["system", "workload-low"]) {
      await edit(server, FLOW, "prioritylevelconfigurations", name, (object) => {
        (object.spec as { limited: { nominalConcurrencyShares: number } }).limited.nominalConcurrencyShares = 7;
        if (name === "system")
          object.metadata = {
            ...(object.metadata as object),
            annotations: { "apf.kubernetes.io/autoupdate-spec": "false" },
          };
      });
    }
    await bootstrap(server.context, server.resources);
    expect({ system: shares("system"), low: shares("workload-low") }).toEqual({ system: 7, low: 100 });
  });
});
