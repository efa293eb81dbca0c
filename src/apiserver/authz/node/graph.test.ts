import { beforeEach, describe, expect, it } from "vitest";
import type { KubeObject } from "#api";
import { NodeGraph, type Vertex } from "./graph.ts";

const pod = (name: string, spec: object, more: { status?: object; uid?: string; annotations?: object } = {}) =>
  ({
    metadata: {
      name,
      namespace: "ns",
      uid: more.uid ?? "u1",
      ...(more.annotations && { annotations: more.annotations }),
    },
    spec,
    status: more.status ?? {},
  }) as unknown as KubeObject;

describe("what concerns a node", () => {
  let graph: NodeGraph;
  beforeEach(() => {
    graph = new NodeGraph();
  });
  const set = (object: KubeObject) => graph.pods.set(`ns/${object.metadata.name}`, object);
  const concerns = (what: string, node = "n1") => {
    const [kind = "", key = ""] = what.split(" ");
    const [namespace = "", name = ""] = key.includes("/") ? key.split("/") : ["", key];
    return graph.concerns(node, kind as Vertex, namespace, name);
  };

  it.each<[string, object]>([
    ["serviceaccount ns/sa", { serviceAccountName: "sa" }],
    ["secret ns/pull", { imagePullSecrets: [{ name: "pull" }] }],
    ["secret ns/s", { containers: [{ env: [{ valueFrom: { secretKeyRef: { name: "s" } } }] }] }],
    ["secret ns/s", { initContainers: [{ envFrom: [{ secretRef: { name: "s" } }] }] }],
    ["secret ns/s", { ephemeralContainers: [{ envFrom: [{ secretRef: { name: "s" } }] }] }],
    ["configmap ns/c", { containers: [{ env: [{ valueFrom: { configMapKeyRef: { name: "c" } } }] }] }],
    ["configmap ns/c", { containers: [{ envFrom: [{ configMapRef: { name: "c" } }] }] }],
    ["secret ns/s", { volumes: [{ name: "v", secret: { secretName: "s" } }] }],
    ["secret ns/s", { volumes: [{ name: "v", projected: { sources: [{ secret: { name: "s" } }] } }] }],
    ["configmap ns/c", { volumes: [{ name: "v", projected: { sources: [{ configMap: { name: "c" } }] } }] }],
    ["configmap ns/c", { volumes: [{ name: "v", configMap: { name: "c" } }] }],
    ["secret ns/s", { volumes: [{ name: "v", azureFile: { secretName: "s" } }] }],
    ["secret ns/s", { volumes: [{ name: "v", csi: { nodePublishSecretRef: { name: "s" } } }] }],
    ...["cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"].map((kind): [string, object] => [
      "secret ns/s",
      { volumes: [{ name: "v", [kind]: { secretRef: { name: "s" } } }] },
    ]),
    ["pvc ns/data", { volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] }],
    ["pvc ns/p-v", { volumes: [{ name: "v", ephemeral: {} }] }],
    ["resourceclaim ns/gpu", { resourceClaims: [{ name: "g", resourceClaimName: "gpu" }] }],
    ["pod ns/p", {}],
  ])("%s, by a Pod with %j", (what, spec) => {
    set(pod("p", spec));
    expect(concerns(what)).toBe(false);
    set(pod("p", { ...spec, nodeName: "n1" }));
    expect([concerns(what), concerns(what, "n2"), concerns(what.replace("ns/", "other/"))]).toEqual([
      true,
      false,
      false,
    ]);
    graph.pods.delete("ns/p");
    expect(concerns(what)).toBe(false);
  });

  it("follows claims that are made for a Pod", () => {
    const spec = { nodeName: "n1", resourceClaims: [{ name: "g", resourceClaimTemplateName: "t" }] };
    set(pod("p", spec));
    expect(concerns("resourceclaim ns/p-g-x")).toBe(false);
    set(pod("p", spec, { status: { resourceClaimStatuses: [{ name: "g", resourceClaimName: "p-g-x" }] } }));
    expect(concerns("resourceclaim ns/p-g-x")).toBe(true);
    set(pod("p", spec, { status: { extendedResourceClaimStatus: { resourceClaimName: "ext" } } }));
    expect([concerns("resourceclaim ns/p-g-x"), concerns("resourceclaim ns/ext")]).toEqual([false, true]);
  });

  it("follows containers that are added later", () => {
    set(pod("p", { nodeName: "n1" }));
    set(pod("p", { nodeName: "n1", ephemeralContainers: [{ envFrom: [{ secretRef: { name: "s" } }] }] }));
    expect(concerns("secret ns/s")).toBe(true);
  });

  it("follows a Pod that takes the name of another", () => {
    set(pod("p", { nodeName: "n1", serviceAccountName: "a" }));
    set(pod("p", { nodeName: "n1", serviceAccountName: "b" }, { uid: "u2" }));
    expect([concerns("serviceaccount ns/a"), concerns("serviceaccount ns/b")]).toEqual([false, true]);
  });

  it("counts: what two Pods need stays until both have gone", () => {
    set(pod("p", { nodeName: "n1", serviceAccountName: "a" }));
    set(pod("q", { nodeName: "n1", serviceAccountName: "a" }));
    graph.pods.delete("ns/p");
    expect(concerns("serviceaccount ns/a")).toBe(true);
    graph.pods.clear();
    expect(concerns("serviceaccount ns/a")).toBe(false);
  });

  it("takes nothing from a Pod that a node made itself", () => {
    const annotations = { "kubernetes.io/config.mirror": "x" };
    set(pod("p", { nodeName: "n1", serviceAccountName: "a" }, { annotations }));
    expect([concerns("pod ns/p"), concerns("serviceaccount ns/a")]).toEqual([true, false]);
  });

  it("knows volumes through their claims, and what mounting them takes", () => {
    const volume = (spec: object) => ({ metadata: { name: "pv" }, spec }) as unknown as KubeObject;
    const claimRef = { namespace: "ns", name: "data" };
    const csi = {
      nodeStageSecretRef: { name: "stage", namespace: "sys" },
      nodePublishSecretRef: { name: "publish" },
      controllerPublishSecretRef: { name: "controller", namespace: "sys" },
    };
    const state = () =>
      ["pv pv", "secret sys/stage", "secret ns/publish", "secret sys/controller"].map((what) => concerns(what));
    graph.volumes.set("pv", volume({ claimRef, csi }));
    expect(state()).toEqual([false, false, false, false]);
    set(pod("p", { nodeName: "n1", volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }] }));
    expect(state()).toEqual([true, true, true, false]);
    expect(concerns("pv pv", "n2")).toBe(false);
    graph.volumes.set("pv", volume({ csi }));
    expect(state()).toEqual([false, false, false, false]);
    graph.volumes.set("pv", volume({ claimRef, azureFile: { secretName: "publish" } }));
    expect(state()).toEqual([true, false, true, false]);
    graph.volumes.delete("pv");
    expect(state()).toEqual([false, false, false, false]);
  });

  it.each(["attachments", "slices"] as const)("knows the node of %s", (kind) => {
    const what = kind === "attachments" ? "volumeattachment x" : "resourceslice x";
    const object = (nodeName?: string) => ({ metadata: { name: "x" }, spec: { nodeName } }) as unknown as KubeObject;
    graph[kind].set("x", object("n1"));
    expect([concerns(what), concerns(what, "n2")]).toEqual([true, false]);
    graph[kind].set("x", object("n2"));
    expect(concerns(what)).toBe(false);
    graph[kind].set("x", object());
    expect(concerns(what, "n2")).toBe(false);
  });
});
