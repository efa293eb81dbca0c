import { afterEach, describe, expect, it } from "vitest";
import { parseFeatures, type rbac, type resource } from "#api";
import { NODE_NAME, type UserInfo } from "../identity/user.ts";
import { type TestServer, testServer } from "../testing/index.ts";
import { binding, role } from "./testing/questions.ts";

const CLAIM = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = ["resource.k8s.io"];
const DRIVER = "gpu.example.com";

const open: TestServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

type Status = resource.ResourceClaimStatus;

const onNode = [{ matchFields: [{ key: "metadata.name", operator: "In" as const, values: ["n1"] }] }];
const result = { request: "r", driver: DRIVER, pool: "n1", device: "gpu-0" };
const allocation: Status["allocation"] = {
  devices: { results: [result] },
  nodeSelector: { nodeSelectorTerms: onNode },
};
const reservedFor: Status["reservedFor"] = [{ resource: "pods", name: "p", uid: "u" }];
const devices = [{ driver: DRIVER, pool: "n1", device: "gpu-0", conditions: [] }];

const rule = (resources: string, verbs: readonly string[], names?: readonly string[]): rbac.PolicyRule => ({
  apiGroups: GROUP,
  resources: [resources],
  verbs: [...verbs],
  ...(names !== undefined && { resourceNames: [...names] }),
});
const STATUS = rule("resourceclaims/status", ["update", "patch"]);
const near = (names?: readonly string[]) => rule("resourceclaims/driver", ["associated-node:update"], names);

/** A user with these rules besides those for the status. */
async function written(
  rules: readonly rbac.PolicyRule[],
  status: Status,
  options: {
    readonly node?: string;
    /** Default: it is allocated. */
    readonly before?: Status;
    readonly patches?: boolean;
    readonly gate?: boolean;
  },
): Promise<string> {
  const features = parseFeatures({ gates: `DRAResourceClaimGranularStatusAuthorization=${options.gate ?? true}` });
  const server = await testServer({ modes: [{ type: "RBAC", name: "rbac" }], features });
  open.push(server);
  const post = async (path: string, body: object) =>
    expect((await server.request("POST", path, { body })).status).toBe(201);
  await post("/api/v1/namespaces", { metadata: { name: "default" } });
  await post(`${RBAC}/clusterroles`, role("writer", [STATUS, ...rules]));
  await post(`${RBAC}/clusterrolebindings`, binding("writer", "ClusterRole writer", ["User ann"]));
  const requests = [{ name: "r", exactly: { deviceClassName: "c" } }];
  await post(CLAIM, { metadata: { name: "c" }, spec: { devices: { requests } } });
  const given = options.before ?? { allocation };
  const claim = (await server.request("GET", `${CLAIM}/c`)).json;
  const allocated = await server.request("PUT", `${CLAIM}/c/status`, { body: { ...claim, status: given } });
  expect(allocated.status).toBe(200);
  const extra = options.node === undefined ? {} : { extra: { [NODE_NAME]: [options.node] } };
  const user: UserInfo = { name: "ann", groups: ["system:authenticated"], ...extra };
  const headers = { "content-type": options.patches === true ? "application/merge-patch+json" : "application/json" };
  const body = options.patches === true ? { status } : { ...allocated.json, status: { ...given, ...status } };
  const answer = await server.request(options.patches === true ? "PATCH" : "PUT", `${CLAIM}/c/status`, {
    ...{ body, headers, user },
  });
  return answer.status === 200 ? "written" : String(answer.json.message);
}

describe("the status of a ResourceClaim", () => {
  it.each([
    {
      name: "an allocation needs binding",
      rules: [],
      status: { allocation },
      before: {},
      want: "status.allocation: Forbidden: changing it requires update of resourceclaims/binding",
    },
    { name: "a reservation, too", rules: [], status: { reservedFor }, want: "status.reservedFor: Forbidden" },
    {
      name: "with it, both are written",
      rules: [rule("resourceclaims/binding", ["update"])],
      status: { reservedFor },
      want: "written",
    },
    {
      name: "a patch needs its own verb",
      rules: [rule("resourceclaims/binding", ["update"])],
      status: { reservedFor },
      patches: true,
      want: "requires patch of resourceclaims/binding",
    },
    {
      name: "devices need their driver",
      rules: [rule("resourceclaims/binding", ["update"])],
      status: { devices },
      want: `status.devices: Forbidden: changing it requires associated-node:update or arbitrary-node:update of resourceclaims/driver named "${DRIVER}"`,
    },
    {
      name: "anybody with arbitrary-node",
      rules: [rule("resourceclaims/driver", ["arbitrary-node:update"])],
      status: { devices },
      want: "written",
    },
    { name: "a driver on the node", rules: [near()], status: { devices }, node: "n1", want: "written" },
    { name: "one that is named", rules: [near([DRIVER])], status: { devices }, node: "n1", want: "written" },
    {
      name: "another driver",
      rules: [near(["other"])],
      status: { devices },
      node: "n1",
      want: "status.devices: Forbidden",
    },
    {
      name: "a driver on another node",
      rules: [near()],
      status: { devices },
      node: "n2",
      want: "status.devices: Forbidden",
    },
    {
      name: "a driver whose token names no node",
      rules: [near()],
      status: { devices },
      want: "status.devices: Forbidden",
    },
    {
      name: "entries of devices that are given back go with the allocation",
      rules: [rule("resourceclaims/binding", ["update"])],
      before: { allocation, devices },
      status: { allocation: undefined, devices: undefined },
      want: "written",
    },
    {
      name: "others do not",
      rules: [rule("resourceclaims/binding", ["update"])],
      before: { allocation, devices },
      status: { devices: undefined },
      want: "status.devices: Forbidden",
    },
    { name: "without the gate the status suffices", rules: [], status: { devices }, gate: false, want: "written" },
  ])("$name", async ({ rules, status, want, ...options }) => {
    expect(await written(rules, status as Status, options)).toContain(want);
  });
});
