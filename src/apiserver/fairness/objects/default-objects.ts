/** Flow schemas and priority levels of a fresh cluster. */
import type { flowcontrol } from "#api";

export const AUTO_UPDATE_SPEC = "apf.kubernetes.io/autoupdate-spec";
/** These are as they are in every cluster; the others are suggestions, which may be changed. */
export const MANDATORY: ReadonlySet<string> = new Set(["exempt", "catch-all"]);

const ANYTHING = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] };
const ANY_PATH = { verbs: ["*"], nonResourceURLs: ["*"] };
const EVERYONE = [group("system:unauthenticated"), group("system:authenticated")];
const SYSTEM_ACCOUNTS = { kind: "ServiceAccount", serviceAccount: { namespace: "kube-system", name: "*" } };

/**
 * Shares, percentage that may be lent, and the queues: number, hand size, length; without queues, what is too much is
 * rejected.
 */
const LEVELS: readonly (readonly [
  name: string,
  shares: number,
  lendable: number,
  queues?: readonly [number, number, number],
])[] = [
  ["catch-all", 5, 0],
  ["global-default", 20, 50, [128, 6, 50]],
  ["leader-election", 10, 0, [16, 4, 50]],
  ["node-high", 40, 25, [64, 6, 50]],
  ["system", 30, 33, [64, 6, 50]],
  ["workload-high", 40, 50, [128, 6, 50]],
  ["workload-low", 100, 90, [128, 6, 50]],
];

export const priorityLevels: ReadonlyMap<string, flowcontrol.PriorityLevelConfigurationSpec> = new Map([
  ["exempt", { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }] as const,
  ...LEVELS.map(([name, shares, lendable, queues]) => [name, limited(shares, lendable, queues)] as const),
]);

export const flowSchemas: ReadonlyMap<string, flowcontrol.FlowSchemaSpec> = new Map([
  ["exempt", schema("exempt", 1, undefined, [group("system:masters")], [ANYTHING], [ANY_PATH])],
  [
    "probes",
    schema(
      "exempt",
      2,
      undefined,
      EVERYONE,
      [],
      [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/readyz", "/livez"] }],
    ),
  ],
  [
    "system-leader-election",
    schema(
      "leader-election",
      100,
      "ByUser",
      [user("system:kube-controller-manager"), user("system:kube-scheduler"), SYSTEM_ACCOUNTS],
      [
        {
          verbs: ["get", "create", "update"],
          apiGroups: ["coordination.k8s.io"],
          resources: ["leases"],
          namespaces: ["*"],
        },
      ],
    ),
  ],
  [
    "system-node-high",
    schema(
      "node-high",
      400,
      "ByUser",
      [group("system:nodes")],
      [
        { verbs: ["*"], apiGroups: [""], resources: ["nodes", "nodes/status"], clusterScope: true, namespaces: ["*"] },
        { verbs: ["*"], apiGroups: ["coordination.k8s.io"], resources: ["leases"], namespaces: ["*"] },
      ],
    ),
  ],
  ["system-nodes", schema("system", 500, "ByUser", [group("system:nodes")], [ANYTHING], [ANY_PATH])],
  [
    "kube-controller-manager",
    schema("workload-high", 800, "ByNamespace", [user("system:kube-controller-manager")], [ANYTHING], [ANY_PATH]),
  ],
  [
    "kube-scheduler",
    schema("workload-high", 800, "ByNamespace", [user("system:kube-scheduler")], [ANYTHING], [ANY_PATH]),
  ],
  [
    "kube-system-service-accounts",
    schema("workload-high", 900, "ByNamespace", [SYSTEM_ACCOUNTS], [ANYTHING], [ANY_PATH]),
  ],
  [
    "service-accounts",
    schema("workload-low", 9000, "ByUser", [group("system:serviceaccounts")], [ANYTHING], [ANY_PATH]),
  ],
  ["global-default", schema("global-default", 9900, "ByUser", EVERYONE, [ANYTHING], [ANY_PATH])],
  ["catch-all", schema("catch-all", 10_000, "ByUser", EVERYONE, [ANYTHING], [ANY_PATH])],
]);

function limited(
  shares: number,
  lendable: number,
  queues: readonly [number, number, number] | undefined,
): flowcontrol.PriorityLevelConfigurationSpec {
  const [count = 0, handSize = 0, length = 0] = queues ?? [];
  const limitResponse =
    queues === undefined
      ? { type: "Reject" }
      : { type: "Queue", queuing: { queues: count, handSize, queueLengthLimit: length } };
  return { type: "Limited", limited: { nominalConcurrencyShares: shares, limitResponse, lendablePercent: lendable } };
}

function schema(
  level: string,
  precedence: number,
  distinguisher: "ByUser" | "ByNamespace" | undefined,
  subjects: readonly flowcontrol.Subject[],
  resourceRules: readonly flowcontrol.ResourcePolicyRule[],
  nonResourceRules: readonly flowcontrol.NonResourcePolicyRule[] = [],
): flowcontrol.FlowSchemaSpec {
  return {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(distinguisher !== undefined && { distinguisherMethod: { type: distinguisher } }),
    rules: [
      {
        subjects,
        ...(resourceRules.length > 0 && { resourceRules }),
        ...(nonResourceRules.length > 0 && { nonResourceRules }),
      },
    ],
  };
}

function group(name: string): flowcontrol.Subject {
  return { kind: "Group", group: { name } };
}

function user(name: string): flowcontrol.Subject {
  return { kind: "User", user: { name } };
}
