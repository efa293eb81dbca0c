import { describe, expect, it } from "vitest";
import type { flowcontrol } from "#api";
import { MetricsRegistry, VirtualClock } from "#base";
import { requestInfo } from "../http/request-info.ts";
import { Configuration } from "./configuration.ts";
import { EventLoopBudget } from "./event-loop-budget.ts";
import { CompiledSchema } from "./flow-schema.ts";
import { FairnessMetrics } from "./measures/metrics.ts";
import { flowSchemas, priorityLevels } from "./objects/default-objects.ts";

function info(request: string) {
  const [method = "", url = ""] = request.split(" ");
  const [path = "", query = ""] = url.split("?");
  return requestInfo(method, path, new URLSearchParams(query));
}
const user = (name: string, ...groups: string[]) => ({ name, groups: [...groups, "system:authenticated"] });

describe("which level a request has in a fresh cluster", () => {
  const clock = new VirtualClock();
  const metrics = new FairnessMetrics(new MetricsRegistry());
  const configuration = new Configuration({
    clock,
    total: 600,
    metrics,
    budget: new EventLoopBudget(16, async () => {}),
    onDone: () => {},
  });
  const named = <T>(specs: ReadonlyMap<string, T>) => [...specs].map(([name, spec]) => ({ metadata: { name }, spec }));
  configuration.digest(named(priorityLevels), named(flowSchemas));

  it.each([
    [user("admin", "system:masters"), "GET /api/v1/pods", "exempt", "exempt", ""],
    [user("x"), "GET /healthz", "probes", "exempt", ""],
    [user("x"), "GET /livez/ping", "probes", "exempt", ""],
    [user("x"), "GET /version", "global-default", "global-default", "x"],
    [user("x"), "GET /api/v1/namespaces/a/pods", "global-default", "global-default", "x"],
    [
      { name: "system:anonymous", groups: ["system:unauthenticated"] },
      "GET /api",
      "global-default",
      "global-default",
      "system:anonymous",
    ],
    [user("system:kube-scheduler"), "GET /api/v1/pods", "kube-scheduler", "workload-high", ""],
    [user("system:kube-scheduler"), "GET /api/v1/namespaces/a/pods", "kube-scheduler", "workload-high", "a"],
    [
      user("system:kube-scheduler"),
      "PUT /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x",
      "system-leader-election",
      "leader-election",
      "system:kube-scheduler",
    ],
    [
      user("system:node:a", "system:nodes"),
      "PATCH /api/v1/nodes/a/status",
      "system-node-high",
      "node-high",
      "system:node:a",
    ],
    [user("system:node:a", "system:nodes"), "GET /api/v1/pods", "system-nodes", "system", "system:node:a"],
    [
      user("system:serviceaccount:kube-system:x", "system:serviceaccounts"),
      "GET /api/v1/pods",
      "kube-system-service-accounts",
      "workload-high",
      "",
    ],
    [
      user("system:serviceaccount:kube-system-2:x", "system:serviceaccounts"),
      "GET /api/v1/pods",
      "service-accounts",
      "workload-low",
      "system:serviceaccount:kube-system-2:x",
    ],
  ] as const)("%o %s: %s at %s", (who, request, schema, level, distinguisher) => {
    const route = configuration.classify(who, info(request));
    expect([route.name, route.level.name, route.definition.distinguisher(who, info(request))]).toEqual([
      schema,
      level,
      distinguisher,
    ]);
  });
});

describe("rules", () => {
  const schema = (rule: Partial<flowcontrol.PolicyRulesWithSubjects>) =>
    new CompiledSchema({
      metadata: { name: "s" },
      spec: {
        priorityLevelConfiguration: { name: "l" },
        rules: [{ subjects: [{ kind: "User", user: { name: "*" } }], ...rule }],
      },
    });
  const resources = (rule: Partial<flowcontrol.ResourcePolicyRule>) =>
    schema({ resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], ...rule }] });
  const urls = (...nonResourceURLs: string[]) => schema({ nonResourceRules: [{ verbs: ["get"], nonResourceURLs }] });
  it.each([
    ["namespaced", resources({}), "GET /api/v1/namespaces/a/pods", true],
    ["not cluster scoped", resources({}), "GET /api/v1/pods", false],
    ["cluster scoped", resources({ clusterScope: true }), "GET /api/v1/nodes", true],
    ["a namespace", resources({ namespaces: ["b"] }), "GET /api/v1/namespaces/a/pods", false],
    ["a verb", resources({ verbs: ["list", "watch"] }), "GET /api/v1/namespaces/a/pods?watch=1", true],
    ["another verb", resources({ verbs: ["get"] }), "GET /api/v1/namespaces/a/pods", false],
    ["a group", resources({ apiGroups: ["apps"] }), "GET /api/v1/namespaces/a/pods", false],
    [
      "a resource is not its subresource",
      resources({ resources: ["pods"] }),
      "GET /api/v1/namespaces/a/pods/x/log",
      false,
    ],
    ["a subresource", resources({ resources: ["pods/log"] }), "GET /api/v1/namespaces/a/pods/x/log", true],
    ["resources are no paths", resources({ clusterScope: true }), "GET /metrics", false],
    ["a path", urls("/metrics"), "GET /metrics", true],
    ["what is below it", urls("/healthz"), "GET /healthz/ping", true],
    ["what only begins like it", urls("/health"), "GET /healthz", false],
    ["with a star", urls("/api/*"), "GET /api/v1", true],
    ["of another verb", urls("*"), "POST /metrics", false],
  ] as const)("%s", (_, compiled, request, want) => {
    expect(compiled.matches(user("u"), info(request))).toBe(want);
  });

  it.each<[flowcontrol.Subject, boolean]>([
    [{ kind: "User", user: { name: "system:serviceaccount:ns:sa" } }, true],
    [{ kind: "User", user: { name: "other" } }, false],
    [{ kind: "Group", group: { name: "system:authenticated" } }, true],
    [{ kind: "Group", group: { name: "*" } }, true],
    [{ kind: "Group", group: { name: "devs" } }, false],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "ns", name: "*" } }, true],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "ns", name: "sa" } }, true],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "n", name: "*" } }, false],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "ns", name: "s" } }, false],
  ])("%j", (subject, want) => {
    const compiled = schema({ subjects: [subject], nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }] });
    expect(compiled.matches(user("system:serviceaccount:ns:sa"), info("GET /x"))).toBe(want);
  });
});
