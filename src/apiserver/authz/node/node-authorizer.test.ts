import { describe, expect, it } from "vitest";
import type { KubeObject } from "#api";
import { nodeRules } from "../../bootstrap/index.ts";
import { answer, asking, user } from "../testing/questions.ts";
import { NodeGraph } from "./graph.ts";
import { nodeAuthorizer } from "./node-authorizer.ts";

const graph = new NodeGraph();
graph.pods.set("ns/p", {
  metadata: { name: "p", namespace: "ns", uid: "u" },
  spec: {
    nodeName: "n1",
    serviceAccountName: "sa",
    volumes: [
      { name: "a", secret: { secretName: "s" } },
      { name: "b", configMap: { name: "c" } },
      { name: "d", persistentVolumeClaim: { claimName: "data" } },
    ],
  },
} as unknown as KubeObject);
graph.slices.set("slice", { metadata: { name: "slice" }, spec: { nodeName: "n1" } } as unknown as KubeObject);
const { authorize, rulesFor } = nodeAuthorizer({ graph: () => graph, rules: nodeRules() });
const node = user("system:node:n1", "system:nodes");
const unrelated = "noOpinion: no relationship found between node 'n1' and this object";

describe("a node", () => {
  it.each([
    ["GET /api/v1/namespaces/ns/secrets/s", "allow"],
    ["GET /api/v1/namespaces/ns/secrets/S", unrelated],
    ["GET /api/v1/namespaces/ns/secrets/other", unrelated],
    ["GET /api/v1/namespaces/other/secrets/s", unrelated],
    ["GET /api/v1/namespaces/ns/secrets?fieldSelector=metadata.name%3Ds", "allow"],
    ["GET /api/v1/namespaces/ns/secrets?watch=1&fieldSelector=metadata.name%3Ds", "allow"],
    ["GET /api/v1/namespaces/ns/secrets", "noOpinion: No Object name found"],
    ["GET /api/v1/secrets?fieldSelector=metadata.name%3Ds", "noOpinion: can only read namespaced object of this type"],
    ["PUT /api/v1/namespaces/ns/secrets/s", "noOpinion: can only read resources of this type"],
    ["GET /api/v1/namespaces/ns/secrets/s/x", "noOpinion: cannot read subresource"],
    ["GET /api/v1/namespaces/ns/configmaps/c", "allow"],
    ["GET /api/v1/namespaces/ns/configmaps/s", unrelated],
    ["GET /api/v1/namespaces/ns/persistentvolumeclaims/data", "allow"],
    ["GET /api/v1/namespaces/ns/persistentvolumeclaims", "noOpinion: can only get individual resources of this type"],
    ["PATCH /api/v1/namespaces/ns/persistentvolumeclaims/data/status", "allow"],
    ["PATCH /api/v1/namespaces/ns/persistentvolumeclaims/other/status", unrelated],
    ["GET /api/v1/namespaces/ns/persistentvolumeclaims/data/status", "noOpinion: can only get/update/patch this type"],
    ["GET /api/v1/persistentvolumes/pv", unrelated],
    ["GET /apis/storage.k8s.io/v1/volumeattachments/x", unrelated],
    ["GET /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/x", unrelated],
    ["POST /api/v1/namespaces/ns/serviceaccounts/sa/token", "allow"],
    ["POST /api/v1/namespaces/ns/serviceaccounts/other/token", unrelated],
    ["GET /api/v1/namespaces/ns/serviceaccounts/sa", "allow"],
    ["POST /api/v1/namespaces/ns/serviceaccounts", "noOpinion: can only create tokens for individual service accounts"],
    [
      "POST /api/v1/namespaces/ns/serviceaccounts/sa/x",
      "noOpinion: can only create token subresource of serviceaccount",
    ],
    ["GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1", "allow"],
    ["POST /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", "allow"],
    [
      "PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n2",
      "noOpinion: can only access node lease with the same name as the requesting node",
    ],
    [
      "GET /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/n1",
      'noOpinion: can only access leases in the "kube-node-lease" system namespace',
    ],
    [
      "GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
      "noOpinion: can only get, create, update, patch, or delete a node lease",
    ],
    ["PUT /apis/storage.k8s.io/v1/csinodes/n1", "allow"],
    [
      "PUT /apis/storage.k8s.io/v1/csinodes/n2",
      "noOpinion: can only access CSINode with the same name as the requesting node",
    ],
    ["GET /api/v1/nodes/n1", "allow"],
    ["GET /api/v1/nodes?fieldSelector=metadata.name%3Dn1", "allow"],
    ["GET /api/v1/nodes", "noOpinion: node 'n1' cannot read all nodes, only its own Node object"],
    ["GET /api/v1/nodes/n2", "noOpinion: node 'n1' cannot read 'n2', only its own Node object"],
    ["PATCH /api/v1/nodes/n1/status", "allow"],
    ["DELETE /api/v1/nodes/n1", "noOpinion"],
    ["GET /api/v1/nodes/n1/proxy", "noOpinion"],
    ["GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1", "allow"],
    ["GET /api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn1,status.phase%3DRunning", "allow"],
    [
      "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn2",
      "noOpinion: can only list/watch pods with spec.nodeName field selector",
    ],
    [
      "GET /api/v1/pods?fieldSelector=spec.nodeName!%3Dn1",
      "noOpinion: can only list/watch pods with spec.nodeName field selector",
    ],
    [
      "GET /api/v1/watch/pods?fieldSelector=spec.nodeName%3Dn1",
      "noOpinion: can only list/watch pods with spec.nodeName field selector",
    ],
    ["GET /api/v1/namespaces/ns/pods/p", "allow"],
    ["GET /api/v1/namespaces/ns/pods/q", unrelated],
    ["GET /api/v1/namespaces/ns/pods/p/log", "noOpinion"],
    ["POST /api/v1/namespaces/ns/pods/p/exec", "noOpinion"],
    ["POST /api/v1/namespaces/ns/pods/p/eviction", "allow"],
    ["DELETE /api/v1/namespaces/ns/pods/p", "allow"],
    ["DELETE /api/v1/namespaces/ns/pods", "noOpinion"],
    ["GET /apis/resource.k8s.io/v1/resourceslices/slice", "allow"],
    ["GET /apis/resource.k8s.io/v1/resourceslices/other", unrelated],
    ["GET /apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1", "allow"],
    [
      "DELETE /apis/resource.k8s.io/v1/resourceslices",
      "noOpinion: can only list/watch/deletecollection resourceslices with nodeName field selector",
    ],
    ["POST /api/v1/namespaces/ns/events", "allow"],
    ["GET /api/v1/services", "allow"],
    ["POST /apis/certificates.k8s.io/v1/certificatesigningrequests", "allow"],
    ["GET /api/v1/namespaces", "noOpinion"],
    ["GET /metrics", "noOpinion"],
  ])("%s: %s", async (request, want) => {
    expect(await answer(authorize, asking(node, request))).toBe(want);
  });

  it.each([
    [user("system:node:n1"), "noOpinion"],
    [user("ann", "system:nodes"), "noOpinion"],
    [user("system:node:", "system:nodes"), 'noOpinion: unknown node for user "system:node:"'],
  ])("is not $name with $groups", async (who, want) => {
    expect(await answer(authorize, asking(who, "GET /api/v1/namespaces/ns/secrets/s"))).toBe(want);
  });

  it("has rules that nobody can list", () => {
    expect(rulesFor(node, "ns")).toMatchObject({ incomplete: true });
    expect(rulesFor(user("ann"), "ns")).toMatchObject({ incomplete: false });
  });

  it("alone makes the graph worth building", () => {
    let built = 0;
    const mode = nodeAuthorizer({
      rules: [],
      graph: () => {
        built++;
        return graph;
      },
    });
    const ask = (who = node) => mode.authorize(asking(who, "GET /api/v1/namespaces/ns/secrets/s"));
    void ask(user("ann"));
    expect(built).toBe(0);
    void ask();
    void ask();
    expect(built).toBe(1);
  });
});
