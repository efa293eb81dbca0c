import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { VirtualClock } from "#base";
import type { Image, ImageAuth } from "../runtime/runtime.ts";
import { imagePuller } from "./image-puller.ts";
import { pullProblem } from "./pull-problem.ts";
import { pullProgress } from "./pull-progress.ts";

const { signal } = new AbortController();
const IMAGE: Image = { id: "sha256:1", repoTags: ["r.example/a:1"], repoDigests: [], sizeBytes: 10 };
const pod = {
  metadata: { namespace: "ns", name: "p", uid: "u" },
  spec: { imagePullSecrets: [{ name: "s" }], containers: [] },
};
const secret: core.Secret = {
  metadata: { namespace: "ns", name: "s", uid: "s" },
  type: "kubernetes.io/dockerconfigjson",
  data: { ".dockerconfigjson": btoa(JSON.stringify({ auths: { "r.example": { auth: btoa("team:one") } } })) },
};

function setup(given: {
  present?: boolean;
  mayUse?: boolean;
  refuse?: (auth: ImageAuth | undefined) => string | undefined;
}) {
  const events: string[] = [];
  const pulls: (string | undefined)[] = [];
  const recorded: string[] = [];
  let isPresent = given.present === true;
  const images = {
    status: async () => (isPresent ? IMAGE : undefined),
    pull: async (_: string, { auth }: { auth?: ImageAuth | undefined }) => {
      pulls.push(auth?.username);
      const problem = given.refuse?.(auth);
      if (problem !== undefined) throw new Error(problem);
      isPresent = true;
      return IMAGE.id;
    },
  };
  const puller = imagePuller({
    runtime: { images } as never,
    objects: { secret: async () => secret },
    events: { record: (_, type, reason, note) => void events.push(`${type} ${reason} ${note}`) },
    clock: new VirtualClock(),
    nodeCredentials: async () => [{ auth: { username: "node" }, source: { kind: "node" } }],
    providers: async () => [{ auth: { username: "cloud" }, source: { kind: "node" } }],
    access: {
      intend: async () => void recorded.push("intend"),
      pulled: async (_image, _ref, used) => void recorded.push(`pulled with ${used?.auth.username}`),
      failed: async () => void recorded.push("failed"),
      mayUse: async () => given.mayUse === true,
      prune: async () => {},
    },
  });
  const ensure = (imagePullPolicy: "Always" | "IfNotPresent" | "Never") =>
    puller
      .ensure({ pod, container: { name: "c", image: "r.example/a:1", imagePullPolicy }, sandbox: {} as never }, signal)
      .then(
        ({ id }) => id,
        (error: { reason: string; message: string }) => `${error.reason}: ${error.message}`,
      );
  return { ensure, events, pulls, recorded };
}

describe("the puller", () => {
  it("tries the credentials of Secrets, of the node, and of providers, in this order", async () => {
    const { ensure, pulls, recorded } = setup({ refuse: (auth) => (auth?.username === "cloud" ? undefined : "401") });
    expect(await ensure("IfNotPresent")).toBe(IMAGE.id);
    expect(pulls).toEqual(["team", "node", "cloud"]);
    expect(recorded).toEqual(["intend", "pulled with cloud"]);
  });

  it("says each problem once, waits after a failure, and says the problem meanwhile", async () => {
    const { ensure, events, recorded } = setup({ refuse: (auth) => (auth?.username === "team" ? "no team" : "401") });
    expect(await ensure("Always")).toBe("ErrImagePull: [no team, 401]");
    expect(await ensure("Always")).toBe(
      'ImagePullBackOff: Back-off pulling image "r.example/a:1": ErrImagePull: [no team, 401]',
    );
    expect(events).toEqual([
      'Normal Pulling Pulling image "r.example/a:1"',
      'Warning Failed Failed to pull image "r.example/a:1": [no team, 401]',
      "Warning Failed Error: ErrImagePull",
      'Normal BackOff Back-off pulling image "r.example/a:1"',
      "Warning Failed Error: ImagePullBackOff",
    ]);
    expect(recorded).toEqual(["intend", "failed"]);
  });

  it.each<[string, { present: boolean; mayUse: boolean }, "Always" | "IfNotPresent" | "Never", string, number]>([
    ["is there, and is the Pod's", { present: true, mayUse: true }, "IfNotPresent", IMAGE.id, 0],
    [
      "is there, and is not the Pod's: it shows its credentials",
      { present: true, mayUse: false },
      "IfNotPresent",
      IMAGE.id,
      1,
    ],
    ["is there, and is pulled always", { present: true, mayUse: true }, "Always", IMAGE.id, 1],
    ["is there, and never is pulled", { present: true, mayUse: true }, "Never", IMAGE.id, 0],
    [
      "is there, is not the Pod's, and never is pulled",
      { present: true, mayUse: false },
      "Never",
      'ErrImageNeverPull: Container image "r.example/a:1" is present with pull policy of Never but does not have the proper credentials to access the image',
      0,
    ],
    [
      "is not there, and never is pulled",
      { present: false, mayUse: true },
      "Never",
      'ErrImageNeverPull: Container image "r.example/a:1" is not present with pull policy of Never',
      0,
    ],
  ])("an image that %s", async (_, given, policy, want, count) => {
    const { ensure, pulls } = setup(given);
    expect(await ensure(policy)).toBe(want);
    expect(pulls).toHaveLength(count);
  });

  it.each([
    [
      "RegistryUnavailable: pull QPS exceeded",
      "RegistryUnavailable",
      "image pull failed for a because the registry is unavailable: pull QPS exceeded",
    ],
    [
      "SignatureValidationFailed: no key",
      "SignatureValidationFailed",
      "image pull failed for a because the signature validation failed: no key",
    ],
    ["something else", "ErrImagePull", "something else"],
  ])("%s is %s", (error, reason, message) => expect(pullProblem("a", error)).toEqual({ reason, message }));
});

describe("the progress of a pull", () => {
  it("counts what is being received, and what was", async () => {
    const clock = new VirtualClock();
    let receiving = [
      { ref: "layer-1", receivedBytes: 10, totalBytes: 100 },
      { ref: "layer-2", receivedBytes: 0, totalBytes: 50 },
    ];
    const progress = pullProgress({ images: { receiving: async () => receiving } } as never, clock);
    const done = Promise.withResolvers<void>();
    const pull = progress.during("a", pod, () => done.promise, signal);
    await clock.advance(1500);
    receiving = [{ ref: "layer-2", receivedBytes: 25, totalBytes: 50 }];
    expect(await progress.ongoing()).toEqual([
      {
        image: "a",
        namespace: "ns",
        pod: "p",
        tookMs: 1500,
        receivedBytes: 125,
        totalBytes: 150,
        layers: 2,
        completeLayers: 1,
        others: 0,
      },
    ]);
    done.resolve();
    await pull;
    expect(await progress.ongoing()).toEqual([]);
  });
});
