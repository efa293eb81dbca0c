/**
 * Kubelets: each may read what the Pods on its own node need, and write what is its own.
 *
 * 1. A node is a user `system:node:NAME` in the group system:nodes. Of everyone else this mode has no opinion.
 * 2. For objects that concern single nodes the graph decides; whose Node, Pod or Lease a write is about, the admission
 *    plugin NodeRestriction sees where the request alone does not say it. All else is what the role `system:node`
 *    lists.
 * 3. The graph is built when a node first asks: a cluster without nodes pays nothing for it.
 */
import { goQuote, type rbac } from "#api";
import { NODES, type UserInfo } from "../../identity/user.ts";
import type { Attributes } from "../attributes.ts";
import { type Mode, NO_RULES } from "../mode.ts";
import { RuleTable } from "../rbac/rule-table.ts";
import { ALLOW, NO_OPINION, noOpinion, type Verdict } from "../verdict.ts";
import type { NodeGraph, Vertex } from "./graph.ts";

const USER = "system:node:";
const LEASES = "kube-node-lease";
const OWN_VERBS = new Set(["get", "create", "update", "patch", "delete"]);

export interface NodeOptions {
  readonly name?: string;
  /** Called once, when first needed. */
  graph(): NodeGraph;
  /** What every node may do. */
  readonly rules: readonly rbac.PolicyRule[];
}

type Rule = (node: string, attributes: Attributes, graph: () => NodeGraph) => Verdict;

export function nodeAuthorizer({ name = "node", graph: build, rules }: NodeOptions): Mode {
  const uniform = new RuleTable(rules);
  let built: NodeGraph | undefined;
  const graph = () => (built ??= build());
  return {
    type: "Node",
    name,
    authorize: (attributes) => {
      const node = nodeOf(attributes.user);
      if (node === undefined) return NO_OPINION;
      if (node === "") return noOpinion(`unknown node for user ${goQuote(attributes.user.name)}`);
      const { isResourceRequest, apiGroup, resource } = attributes;
      const rule = isResourceRequest ? RULES.get(`${apiGroup}/${resource}`) : undefined;
      if (rule !== undefined) return rule(node, attributes, graph);
      return allowedToAll(uniform, attributes) ? ALLOW : NO_OPINION;
    },
    rulesFor: (user) =>
      nodeOf(user) === undefined
        ? NO_RULES
        : { ...NO_RULES, incomplete: true, evaluationError: "node authorizer does not support user rule resolution" },
  };
}

/** Undefined: not a node. */
function nodeOf({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(USER) && groups.includes(NODES) ? name.slice(USER.length) : undefined;
}

function allowedToAll(rules: RuleTable, attributes: Attributes): boolean {
  const { isResourceRequest, path, verb, apiGroup, resource, subresource, name } = attributes;
  if (!isResourceRequest) return rules.allowsPath(path, verb);
  if (subresource === "") return rules.allowsResource(apiGroup, resource, "", verb, name);
  return rules.allowsResource(apiGroup, `${resource}/${subresource}`, `*/${subresource}`, verb, name);
}

/** The objects of these resources are of concern to single nodes. By `group/plural`. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["/secrets", readRelated("secret")],
  ["/configmaps", readRelated("configmap")],
  ["/persistentvolumeclaims", claims],
  ["/persistentvolumes", getRelated("pv")],
  ["/serviceaccounts", serviceAccounts],
  ["/nodes", nodes],
  ["/pods", pods],
  ["resource.k8s.io/resourceclaims", getRelated("resourceclaim")],
  ["resource.k8s.io/resourceslices", resourceSlices],
  ["storage.k8s.io/volumeattachments", getRelated("volumeattachment")],
  ["storage.k8s.io/csinodes", csiNodes],
  ["coordination.k8s.io/leases", leases],
]);

function related(kind: Vertex, node: string, { namespace, name }: Attributes, graph: () => NodeGraph): Verdict {
  if (name === "") return noOpinion("No Object name found");
  if (graph().concerns(node, kind, namespace, name)) return ALLOW;
  return noOpinion(`no relationship found between node '${node}' and this object`);
}

function readRelated(kind: Vertex): Rule {
  return (node, attributes, graph) => {
    const { verb, subresource, namespace } = attributes;
    if (verb !== "get" && verb !== "list" && verb !== "watch") return noOpinion("can only read resources of this type");
    if (subresource !== "") return noOpinion("cannot read subresource");
    if (namespace === "") return noOpinion("can only read namespaced object of this type");
    return related(kind, node, attributes, graph);
  };
}

function getRelated(kind: Vertex): Rule {
  return (node, attributes, graph) => {
    if (attributes.verb !== "get") return noOpinion("can only get individual resources of this type");
    if (attributes.subresource !== "") return noOpinion("cannot get subresource");
    return related(kind, node, attributes, graph);
  };
}

function claims(node: string, attributes: Attributes, graph: () => NodeGraph): Verdict {
  const { verb, subresource } = attributes;
  if (subresource !== "status") return getRelated("pvc")(node, attributes, graph);
  if (verb !== "update" && verb !== "patch") return noOpinion("can only get/update/patch this type");
  return related("pvc", node, attributes, graph);
}

function serviceAccounts(node: string, attributes: Attributes, graph: () => NodeGraph): Verdict {
  const { verb, name, subresource } = attributes;
  if (verb === "get" && subresource === "") return related("serviceaccount", node, attributes, graph);
  if (verb !== "create" || name === "") return noOpinion("can only create tokens for individual service accounts");
  if (subresource !== "token") return noOpinion("can only create token subresource of serviceaccount");
  return related("serviceaccount", node, attributes, graph);
}

function leases(node: string, { verb, namespace, name }: Attributes): Verdict {
  if (!OWN_VERBS.has(verb)) return noOpinion("can only get, create, update, patch, or delete a node lease");
  if (namespace !== LEASES) return noOpinion(`can only access leases in the ${goQuote(LEASES)} system namespace`);
  // The name of what is created stands in the body, where NodeRestriction looks.
  if (verb === "create" || name === node) return ALLOW;
  return noOpinion("can only access node lease with the same name as the requesting node");
}

function csiNodes(node: string, { verb, subresource, name }: Attributes): Verdict {
  if (!OWN_VERBS.has(verb)) return noOpinion("can only get, create, update, patch, or delete a CSINode");
  if (subresource !== "") return noOpinion("cannot authorize CSINode subresources");
  if (verb === "create" || name === node) return ALLOW;
  return noOpinion("can only access CSINode with the same name as the requesting node");
}

function resourceSlices(node: string, attributes: Attributes, graph: () => NodeGraph): Verdict {
  const { verb, subresource } = attributes;
  if (subresource !== "") return noOpinion("cannot authorize ResourceSlice subresources");
  switch (verb) {
    case "create":
      return ALLOW;
    case "get":
    case "update":
    case "patch":
    case "delete":
      return related("resourceslice", node, attributes, graph);
    case "list":
    case "watch":
    case "deletecollection":
      if (selects(attributes, "spec.nodeName", node)) return ALLOW;
      return noOpinion("can only list/watch/deletecollection resourceslices with nodeName field selector");
    default:
      return noOpinion(
        "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
      );
  }
}

function nodes(node: string, { verb, subresource, name }: Attributes): Verdict {
  if (subresource === "status") return verb === "update" || verb === "patch" ? ALLOW : NO_OPINION;
  if (subresource !== "") return NO_OPINION;
  switch (verb) {
    case "create":
    case "update":
    case "patch":
      return ALLOW;
    case "get":
    case "list":
    case "watch":
      // By name, not by the graph: a kubelet looks for its Node before there is one.
      if (name === node) return ALLOW;
      return noOpinion(
        name === ""
          ? `node '${node}' cannot read all nodes, only its own Node object`
          : `node '${node}' cannot read '${name}', only its own Node object`,
      );
    default:
      return NO_OPINION;
  }
}

function pods(node: string, attributes: Attributes, graph: () => NodeGraph): Verdict {
  const { verb, subresource, name } = attributes;
  if (subresource === "status") return verb === "update" || verb === "patch" ? ALLOW : NO_OPINION;
  if (subresource === "eviction") return verb === "create" ? ALLOW : NO_OPINION;
  if (subresource !== "") return NO_OPINION;
  switch (verb) {
    case "get":
      return related("pod", node, attributes, graph);
    case "list":
    case "watch":
      if (selects(attributes, "spec.nodeName", node)) return ALLOW;
      if (name !== "") return related("pod", node, attributes, graph);
      return noOpinion("can only list/watch pods with spec.nodeName field selector");
    case "create":
    case "delete":
      return ALLOW;
    default:
      return NO_OPINION;
  }
}

function selects({ selectors }: Attributes, field: string, value: string): boolean {
  return selectors.field.some((term) => term.field === field && term.operator === "=" && term.value === value);
}
