import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { fullName, imagesOf, nodesToAsk, type OngoingPull, progressText, pullsOf } from "./images.ts";

it.each([
  ["nginx", "docker.io/library/nginx:latest"],
  ["nginx:1", "docker.io/library/nginx:1"],
  ["example/web", "docker.io/example/web:latest"],
  ["r.example/web:1", "r.example/web:1"],
  ["localhost:5000/web", "localhost:5000/web:latest"],
  ["localhost/web", "localhost/web:latest"],
  ["r.example/web@sha256:abc", "r.example/web@sha256:abc"],
])("%s is %s", (short, full) => {
  expect(fullName(short)).toBe(full);
});

const node = (name: string, images: core.ContainerImage[]) => ({ metadata: { name }, status: { images } });
function pod(
  name: string,
  image: string,
  waiting?: core.ContainerStateWaiting,
  phase: core.PodStatus["phase"] = "Pending",
) {
  return {
    metadata: { name, namespace: "default" },
    spec: { nodeName: "node-1", containers: [{ name: "main", image }] },
    status: {
      phase,
      ...(waiting && { containerStatuses: [{ name: "main", image, state: { waiting } } as core.ContainerStatus] }),
    },
  };
}
const PULL: OngoingPull = {
  image: "r.example/big:1",
  namespace: "default",
  pod: "big",
  tookMs: 14_300,
  receivedBytes: 12 * 2 ** 20,
  totalBytes: 48 * 2 ** 20,
  layers: 3,
  completeLayers: 2,
};

describe("images", () => {
  it("are one row for all nodes, with the containers that use them", () => {
    const web = { names: ["docker.io/library/web@sha256:a", "docker.io/library/web:1"], sizeBytes: 10 };
    const rows = imagesOf(
      [node("node-2", [web]), node("node-1", [web, { names: ["r.example/x@sha256:b"], sizeBytes: 5 }])],
      [pod("a", "web:1"), pod("b", "web:1", undefined, "Running"), pod("c", "web:1", undefined, "Succeeded")],
    );
    expect(rows).toEqual([
      {
        name: "docker.io/library/web:1",
        others: ["docker.io/library/web@sha256:a"],
        sizeBytes: 10,
        nodes: ["node-1", "node-2"],
        containers: 2,
      },
      { name: "r.example/x@sha256:b", others: [], sizeBytes: 5, nodes: ["node-1"], containers: 0 },
    ]);
  });
});

describe("pulls", () => {
  const pods = [
    pod("big", "r.example/big:1", { reason: "ContainerCreating" }),
    pod("bad", "r.example/no:1", { reason: "ErrImagePull", message: "not found" }),
    pod("slow", "web", { reason: "CrashLoopBackOff", message: "back-off" }),
  ];

  it("ask the nodes where containers are created", () => {
    expect(nodesToAsk(pods)).toEqual(["node-1"]);
    expect(nodesToAsk(pods.slice(1))).toEqual([]);
  });

  it("name what failed first, then what goes on", () => {
    expect(pullsOf(pods, [PULL, { ...PULL, pod: "gone" }])).toMatchObject([
      { pod: "bad", tone: "bad", words: "ErrImagePull: not found" },
      { pod: "big", tone: "busy", share: 0.25 },
    ]);
  });

  it("say how far they are", () => {
    expect(progressText(PULL)).toBe("pulling for 14 s: 12 MiB of 48 MiB, 2 of 3 layers complete");
    expect(progressText({ ...PULL, layers: 0 })).toBe("pulling for 14 s, no layer has begun");
  });
});
