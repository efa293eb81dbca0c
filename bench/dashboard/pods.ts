/** Pods as a server sends them, with everything that a real one has. */
export function podAt(index: number, revision: number, phase: "Running" | "Pending"): object {
  const name = `web-5d8f9c7b6-${index.toString(36).padStart(5, "0")}`;
  const fields = Object.fromEntries(
    Array.from({ length: 24 }, (_, at) => [`f:field-${at}`, { "f:inner": {}, "f:other": {}, ".": {} }]),
  );
  const ready = phase === "Running";
  return {
    metadata: {
      name,
      generateName: "web-5d8f9c7b6-",
      namespace: `team-${index % 20}`,
      uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
      resourceVersion: String(revision),
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: "web", "pod-template-hash": "5d8f9c7b6", tier: "front" },
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d8f9c7b6", uid: "u", controller: true },
      ],
      managedFields: [{ manager: "kubelet", operation: "Update", apiVersion: "v1", fieldsV1: fields }],
    },
    spec: {
      nodeName: `node-${index % 50}`,
      containers: [{ name: "web", image: "example/web:1", resources: { requests: { cpu: "100m", memory: "64Mi" } } }],
      tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" }],
    },
    status: {
      phase,
      podIP: `10.244.${index >> 8}.${index & 255}`,
      startTime: "2026-01-01T00:00:00Z",
      conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map((type) => ({
        type,
        status: ready ? "True" : "False",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      })),
      containerStatuses: [
        {
          name: "web",
          ready,
          restartCount: revision % 7,
          image: "example/web:1",
          imageID: "x",
          state: { running: {} },
        },
      ],
    },
  };
}
