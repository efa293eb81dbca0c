/** Static Pods: manifests, their mirrors, and a node that runs them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { core } from "#api";
import { testKubelet } from "../../testing/index.ts";
import { podsOfManifest } from "./manifest.ts";
import { mirrorPlan } from "./mirrors.ts";
import { CONFIG_HASH, CONFIG_MIRROR } from "./static-pod.ts";

const origin = { nodeName: "node-1", source: "file", place: "/etc/manifests/web.yaml", seenMs: 0 } as const;
const manifest = (image = "app:1", more = "") =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers: [{name: app, image: "${image}"${more}}]\n`;
const podOf = (text: string): core.Pod => podsOfManifest(text, origin)[0] as core.Pod;

describe("a manifest", () => {
  it("becomes a Pod of this node, with defaults", () => {
    const pod = podOf(manifest());
    expect(pod.metadata).toMatchObject({ name: "web-node-1", namespace: "default" });
    expect(pod.metadata.annotations).toMatchObject({
      "kubernetes.io/config.source": "file",
      "kubernetes.io/config.hash": pod.metadata.uid,
    });
    expect(pod.spec).toMatchObject({ nodeName: "node-1", restartPolicy: "Always", terminationGracePeriodSeconds: 30 });
    expect(pod.spec?.containers[0]).toMatchObject({
      imagePullPolicy: "IfNotPresent",
      terminationMessagePath: "/dev/termination-log",
    });
    expect(pod.spec?.tolerations).toContainEqual({ operator: "Exists", effect: "NoExecute" });
  });

  it("the same text is the same Pod, another is another", () => {
    expect(podOf(manifest()).metadata.uid).toBe(podOf(manifest()).metadata.uid);
    expect(podOf(manifest()).metadata.uid).not.toBe(podOf(manifest("app:2")).metadata.uid);
  });

  it("may be a list", () => {
    const pod = '{"kind":"Pod","metadata":{"name":"NAME"},"spec":{"containers":[{"name":"a","image":"i"}]}}';
    const list = `{"kind":"PodList","apiVersion":"v1","items":[${pod.replace("NAME", "a")},${pod.replace("NAME", "b")}]}`;
    expect(podsOfManifest(list, origin).map(({ metadata }) => metadata.name)).toEqual(["a-node-1", "b-node-1"]);
  });

  it.each([
    ["kind: [", /./],
    ["kind: Service", /it holds no v1 Pod/],
    ["kind: Pod\nspec: {containers: []}", /the Pod has no name/],
    ["kind: Pod\nmetadata: {name: web}\nspec: {containers: []}", /spec\.containers/],
    [manifest("app:1", ', envFrom: [{configMapRef: {name: "x"}}]'), /may not reference/],
  ])("%j is refused", (text, problem) => expect(() => podsOfManifest(text, origin)).toThrow(problem));
});

describe("mirrors", () => {
  const node = { metadata: { name: "node-1", uid: "node-uid" } };
  const pod = podOf(manifest());
  const mirror: core.Pod = {
    ...pod,
    metadata: {
      ...pod.metadata,
      uid: "m1",
      annotations: { ...pod.metadata.annotations, [CONFIG_MIRROR]: pod.metadata.uid ?? "" },
    },
  };
  const changed = podOf(manifest("app:2"));
  const plan = (statics: core.Pod[], mirrors: core.Pod[]) => mirrorPlan(statics, mirrors, node).map(({ type }) => type);

  it.each<[string, core.Pod[], core.Pod[], string[]]>([
    ["missing", [pod], [], ["create"]],
    ["there", [pod], [mirror], []],
    ["of another digest", [changed], [mirror], ["delete", "create"]],
    ["without a static Pod", [], [mirror], ["delete"]],
  ])("%s", (_, statics, mirrors, want) => expect(plan(statics, mirrors)).toEqual(want));

  it("belong to the Node", () => {
    const [created] = mirrorPlan([pod], [], node);
    expect(created?.pod.metadata.ownerReferences).toMatchObject([{ kind: "Node", uid: "node-uid", controller: true }]);
    expect(created?.pod.metadata.uid).toBeUndefined();
    expect(created?.pod.metadata.annotations?.[CONFIG_HASH]).toBe(pod.metadata.uid);
  });
});

describe("a node with static Pods", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "k8ts-manifests-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("runs them, shows them, follows their manifests, and survives one that is broken", async () => {
    const file = join(folder, "web.yaml");
    writeFileSync(file, manifest());
    const test = await testKubelet({ manifests: { path: folder } });
    // Files take real time, whatever the clock says.
    const until = (check: () => Promise<void>) =>
      vi.waitFor(
        async () => {
          await test.clock.advance(1000);
          await check();
        },
        { timeout: 60_000 },
      );
    try {
      await until(async () => expect((await test.get("web-node-1")).status?.phase).toBe("Running"));
      expect(test.runtime.running()).toEqual(["web-node-1/app"]);
      const { uid } = (await test.get("web-node-1")).metadata;
      writeFileSync(file, "kind: [");
      await test.clock.advance(60_000);
      expect(test.runtime.running()).toEqual(["web-node-1/app"]);
      writeFileSync(file, manifest("app:2"));
      await until(async () => {
        const pod = await test.get("web-node-1");
        expect(pod.status?.containerStatuses?.[0]?.image).toBe("app:2");
        expect(pod.metadata.uid).not.toBe(uid);
      });
      expect(test.runtime.running()).toEqual(["web-node-1/app"]);
      rmSync(file);
      await until(async () => expect(test.runtime.running()).toEqual([]));
      await until(async () => await expect(test.get("web-node-1")).rejects.toMatchObject({ reason: "NotFound" }));
    } finally {
      await test.close();
    }
  });
});
