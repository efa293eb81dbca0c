/** The flows of the catalogue. One more: one more value here; the page, the index and the test follow from it. */
import type { FlowRecord } from "#flows";
import { autoscaling } from "./autoscaling.ts";
import { leaderElection } from "./leader-election.ts";
import { cniSetUp, networkPolicy } from "./real-nodes.ts";
import { of, ofFrom, type Scenario, step } from "./scenario.ts";
import { volumeAttach, volumeProvisioning } from "./volumes.ts";
import { webhook } from "./webhook.ts";

const IMAGE = "--image=example/app";

function inNamespace(namespace: string, ...resources: readonly string[]) {
  return (all: readonly FlowRecord[]) =>
    all.filter((each) => each.type === "request" && each.namespace === namespace && resources.includes(each.resource));
}

const podCreation: Scenario = {
  id: "pod-creation",
  title: "A Pod is created",
  about:
    "A user's Pod goes through authentication, authorization and admission into the store. Components do not call each other: the scheduler sees it in its watch and binds it, the node's kubelet sees the binding in its own watch, starts the containers and reports.",
  nodes: "simulated",
  act: async ({ kubectl }) => void (await kubectl(["run", "made", IMAGE])),
  flow: of("pods", "default", "made"),
  steps: [
    step("kubectl ──► apiserver", /^POST pods$/, "the user asks for it"),
    step("apiserver ··· apiserver", /admission plugins ✓/, "it is allowed and admitted"),
    step("apiserver ══► store", /^made @/, "it is persisted"),
    step("apiserver --► scheduler", /^ADDED made @/, "the scheduler sees it"),
    step("scheduler ──► apiserver", /^POST pods\/made\/binding$/, "the scheduler binds it to a node"),
    step("apiserver ══► store", /^made @/, "the binding is persisted"),
    step("apiserver --► kubelet/*", /^MODIFIED made @/, "the node's kubelet sees it"),
    step("kubelet/* ··· kubelet/*", /Running/, "its containers run"),
    step("kubelet/* ──► apiserver", /^PATCH pods\/made\/status$/, "the kubelet reports"),
    step("apiserver ══► store", /^made @/, "the report is persisted"),
  ],
};

const token: Scenario = {
  id: "service-account-token",
  title: "A service account gets a token",
  about:
    "A new namespace gets its default service account from a controller. A token is asked for at the account's own subresource: it is signed and handed out, and nothing is persisted.",
  nodes: "simulated",
  act: async ({ kubectl }) => {
    await kubectl(["create", "namespace", "tokens"]);
    await kubectl(["wait", "--for=create", "serviceaccount/default", "-n", "tokens", "--timeout=60s"]);
    await kubectl(["create", "token", "default", "-n", "tokens"]);
  },
  flow: of("serviceaccounts", "tokens", "default"),
  steps: [
    step("kubectl ──► apiserver", /^POST namespaces$/, "a namespace is made"),
    step("apiserver ══► store", /^tokens @/, "and persisted"),
    step("apiserver --► service-account-controller", /^ADDED tokens @/, "the controller sees it"),
    step("service-account-controller ──► apiserver", /^POST serviceaccounts$/, "it makes the default account"),
    step("apiserver ══► store", /^default @/, "which is persisted"),
    step("kubectl ──► apiserver", /^POST serviceaccounts\/default\/token$/, "a token is asked for"),
    step("kubectl ◄── apiserver", /^201$/, "it is handed out, and kept nowhere"),
  ],
};

const strict = { metadata: { name: "admission", labels: { "pod-security.kubernetes.io/enforce": "restricted" } } };

const admission: Scenario = {
  id: "admission",
  title: "Admission rejects a Pod, and admits another",
  about:
    "The namespace asks for the restricted Pod Security level. A privileged Pod passes authentication and authorization and is refused by a plugin: nothing is persisted. One that keeps the rules passes all plugins.",
  nodes: "simulated",
  act: async ({ kubectl, refused }) => {
    await kubectl(["apply", "-f", "-"], { apiVersion: "v1", kind: "Namespace", ...strict });
    await kubectl(["wait", "--for=create", "serviceaccount/default", "-n", "admission", "--timeout=60s"]);
    await refused(["run", "free", IMAGE, "--privileged", "-n", "admission"]);
    const security = { allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: { drop: ["ALL"] } };
    const container = {
      name: "c",
      image: "example/app",
      securityContext: { ...security, seccompProfile: { type: "RuntimeDefault" } },
    };
    await kubectl(["create", "-f", "-"], {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "bound", namespace: "admission" },
      spec: { containers: [container] },
    });
  },
  flow: (all) =>
    inNamespace(
      "admission",
      "pods",
    )(all).filter((each) => each.type === "request" && each.actor === "kubectl" && each.verb === "create"),
  steps: [
    step("kubectl ──► apiserver", /^POST pods$/, "a privileged Pod is asked for"),
    step("apiserver ··· apiserver", /PodSecurity ✗/, "a plugin refuses it"),
    step("kubectl ◄── apiserver", /^403 Forbidden$/, "the user is told"),
    step("kubectl ──► apiserver", /^POST pods$/, "one that keeps the rules is asked for"),
    step("apiserver ··· apiserver", /admission plugins ✓/, "all plugins let it in"),
    step("apiserver ══► store", /^bound @/, "it is persisted"),
    step("kubectl ◄── apiserver", /^201$/, "the user is told"),
  ],
};

const scheduling: Scenario = {
  id: "scheduling",
  title: "The scheduler finds a node",
  about:
    "A Pod without a node waits until one fits: the scheduler looks at it, says why it fits nowhere, and is woken again by a change of a node. `k8ts why pod/…` shows filters and scores of each attempt.",
  nodes: "simulated",
  act: async ({ kubectl }) => {
    const spec = { nodeSelector: { disk: "ssd" }, containers: [{ name: "c", image: "example/app" }] };
    await kubectl(["create", "-f", "-"], { apiVersion: "v1", kind: "Pod", metadata: { name: "placed" }, spec });
    await kubectl(["wait", "--for=condition=PodScheduled=false", "pod/placed", "--timeout=60s"]);
    await kubectl(["label", "nodes", "--all", "disk=ssd"]);
  },
  flow: of("pods", "default", "placed"),
  steps: [
    step("kubectl ──► apiserver", /^POST pods$/, "a Pod is asked for that no node fits"),
    step("apiserver ══► store", /^placed @/, "it is persisted"),
    step("apiserver --► scheduler", /^ADDED placed @/, "the scheduler sees it"),
    step("scheduler ──► apiserver", /^PATCH pods\/placed\/status$/, "the scheduler says that it fits nowhere"),
    step("kubectl ──► apiserver", /^PATCH nodes\//, "the user gives a node the label that the Pod asks for"),
    step("apiserver --► scheduler", /^MODIFIED node-/, "the scheduler sees it"),
    step("scheduler ··· scheduler", /placed on /, "it tries again once a node has changed, and has found one"),
    step("scheduler ──► apiserver", /^POST pods\/placed\/binding$/, "it binds the Pod"),
    step("apiserver ══► store", /^placed @/, "the binding is persisted"),
  ],
};

const rollingUpdate: Scenario = {
  id: "rolling-update",
  title: "A Deployment is updated, Pod by Pod",
  about:
    "A new image makes a new ReplicaSet. The Deployment's controller grows it and shrinks the old one as Pods become available; each ReplicaSet's Pods are made and deleted by another controller, placed by the scheduler, and run by kubelets.",
  nodes: "simulated",
  act: async ({ kubectl }) => {
    await kubectl(["create", "deployment", "rolling", IMAGE, "--replicas=2"]);
    await kubectl(["rollout", "status", "deployment/rolling", "--timeout=60s"]);
    await kubectl(["set", "image", "deployment/rolling", "*=example/app:2"]);
    await kubectl(["rollout", "status", "deployment/rolling", "--timeout=60s"]);
  },
  flow: ofFrom("patch", "apps/deployments", "default", "rolling"),
  steps: [
    step("kubectl ──► apiserver", /^PATCH deployments\/rolling$/, "the user changes the image"),
    step("apiserver ══► store", /^rolling @/, "the change is persisted"),
    step("apiserver --► deployment-controller", /^MODIFIED rolling @/, "the Deployment's controller sees it"),
    step("deployment-controller ──► apiserver", /^POST replicasets$/, "it makes a ReplicaSet for the new template"),
    step("apiserver --► replicaset-controller", /^ADDED rolling-/, "the ReplicaSet's controller sees it"),
    step("replicaset-controller ──► apiserver", /^POST pods$/, "it makes a Pod"),
    step("apiserver --► scheduler", /^ADDED rolling-/, "the scheduler sees it"),
    step("scheduler ──► apiserver", /\/binding$/, "and binds it"),
    step("kubelet/* ──► apiserver", /^PATCH pods\/rolling-.*\/status$/, "a kubelet reports that it runs"),
    step(
      "deployment-controller ──► apiserver",
      /^(PATCH|PUT) replicasets\/rolling-/,
      "the old ReplicaSet is made smaller",
    ),
    step("replicaset-controller ──► apiserver", /^DELETE pods\/rolling-/, "its controller deletes a Pod"),
    step("kubelet/* ──► apiserver", /^DELETE pods\/rolling-/, "its kubelet has stopped it"),
  ],
};

const rbac: Scenario = {
  id: "rbac-decision",
  title: "RBAC forbids, then allows",
  about:
    "Every request is decided by the roles that are bound to its user. No role: 403, and nothing happens. A RoleBinding counts for the next request: the authorizer watches them.",
  nodes: "simulated",
  act: async ({ kubectl, refused }) => {
    await kubectl(["create", "namespace", "rbac"]);
    await refused(["get", "pods", "-n", "rbac", "--as=jane"]);
    await kubectl(["create", "rolebinding", "jane", "--clusterrole=view", "--user=jane", "-n", "rbac"]);
    await kubectl(["get", "pods", "-n", "rbac", "--as=jane"]);
  },
  flow: (all) => inNamespace("rbac", "pods", "rbac.authorization.k8s.io/rolebindings")(all),
  steps: [
    step("kubectl ──► apiserver", /^LIST pods$/, "jane asks for Pods"),
    step("apiserver ··· apiserver", /^jane ✓ .*✗$/, "she is known, and no role lets her"),
    step("kubectl ◄── apiserver", /^403 Forbidden$/, "she is refused"),
    step("kubectl ──► apiserver", /^POST rolebindings$/, "an administrator binds a role to her"),
    step("apiserver ══► store", /^jane @/, "the binding is persisted"),
    step("kubectl ──► apiserver", /^LIST pods$/, "she asks again"),
    step("apiserver ··· apiserver", /^jane ✓ RBAC view ✓/, "the role lets her"),
    step("kubectl ◄── apiserver", /^200$/, "she gets them"),
  ],
};

const garbageCollection: Scenario = {
  id: "garbage-collection",
  title: "Dependents of a deleted object are garbage collected",
  about:
    "A Deployment is deleted in the background: it is gone at once. The garbage collector finds that the owner of its ReplicaSet is gone and deletes it, then the Pods; kubelets stop these before the API forgets them.",
  nodes: "simulated",
  act: async ({ kubectl }) => {
    await kubectl(["create", "deployment", "owner", IMAGE, "--replicas=2"]);
    await kubectl(["rollout", "status", "deployment/owner", "--timeout=60s"]);
    await kubectl(["delete", "deployment", "owner"]);
  },
  flow: ofFrom("delete", "apps/deployments", "default", "owner"),
  steps: [
    step("kubectl ──► apiserver", /^DELETE deployments\/owner$/, "the user deletes the Deployment"),
    step("apiserver ══► store", /^owner @/, "it is gone"),
    step("apiserver --► generic-garbage-collector", /^DELETED owner @/, "the garbage collector sees it"),
    step("generic-garbage-collector ──► apiserver", /^DELETE replicasets\/owner-/, "it deletes what it owned"),
    step("apiserver --► generic-garbage-collector", /^DELETED owner-/, "and sees that go"),
    step("generic-garbage-collector ──► apiserver", /^DELETE pods\/owner-/, "it deletes the Pods"),
    step("apiserver --► kubelet/*", /owner-/, "their kubelets see it"),
    step("kubelet/* ──► apiserver", /^DELETE pods\/owner-/, "and say when they have stopped"),
  ],
};

export const SCENARIOS: readonly Scenario[] = [
  podCreation,
  token,
  admission,
  scheduling,
  rollingUpdate,
  networkPolicy,
  rbac,
  garbageCollection,
  leaderElection,
  webhook,
  cniSetUp,
  autoscaling,
  volumeProvisioning,
  volumeAttach,
];
