import { describe, expect, it } from "vitest";
import { settled, VirtualClock } from "#base";
import { type Attempt, admit, podObject } from "../../testing/index.ts";
import { serviceAccount } from "./service-account.ts";

const tolerant = serviceAccount({ requireDefault: false });
const account = (name: string, more: object = {}, metadata: object = {}) => ({
  kind: "ServiceAccount",
  apiVersion: "v1",
  metadata: { name, namespace: "a", ...metadata },
  ...more,
});
const strict = { annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } };
const sealed = account("bot", { secrets: [{ name: "mine" }], imagePullSecrets: [{ name: "pull" }] }, strict);
const asBot = (spec: object = {}) => podObject({ serviceAccountName: "bot", ...spec });
const NOT = "is not allowed because service account bot does not reference that";
const mirror = (spec: object) => podObject(spec, { annotations: { "kubernetes.io/config.mirror": "x" } });
const secretEnv = { env: [{ name: "E", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] };

const rows: (Attempt & { label: string; why: string })[] = [
  { label: "no account, which is tolerated", object: podObject(), why: "" },
  {
    label: "an account that is not there",
    object: asBot(),
    why: 'error looking up service account a/bot: serviceaccount "bot" not found',
  },
  {
    label: "an account whose name cannot stand in a path",
    object: podObject({ serviceAccountName: "../bot%" }),
    why: `error looking up service account a/../bot%: invalid resource name "../bot%": [may not contain '/' may not contain '%']`,
  },
  {
    label: "its account's secrets",
    object: asBot({ volumes: [{ name: "v", secret: { secretName: "mine" } }] }),
    cluster: [sealed],
    why: "",
  },
  {
    label: "a volume of another secret",
    object: asBot({ volumes: [{ name: "v", secret: { secretName: "s" } }] }),
    cluster: [sealed],
    why: `volume with secret.secretName="s" ${NOT} secret`,
  },
  {
    label: "a variable of another secret",
    object: asBot({ containers: [{ name: "c", image: "x", ...secretEnv }] }),
    cluster: [sealed],
    why: `container c with envVar E referencing secret.secretName="s" ${NOT} secret`,
  },
  {
    label: "variables of another secret, before all else",
    object: asBot({ initContainers: [{ name: "i", image: "x", envFrom: [{ secretRef: { name: "s" } }] }] }),
    cluster: [sealed],
    why: `init container i with envFrom referencing secret.secretName="s" ${NOT} secret`,
  },
  {
    label: "another secret for pulling",
    object: asBot({ imagePullSecrets: [{ name: "pull" }, { name: "s" }] }),
    cluster: [sealed],
    why: `imagePullSecrets[1].name="s" ${NOT} imagePullSecret`,
  },
  {
    label: "an ephemeral container with another secret",
    resource: "pods/ephemeralcontainers",
    object: asBot({ ephemeralContainers: [{ name: "e", image: "x", ...secretEnv }] }),
    old: asBot(),
    cluster: [sealed],
    why: `ephemeral container e with envVar E referencing secret.secretName="s" ${NOT} secret`,
  },
  {
    label: "another secret, where nobody minds",
    object: asBot({ volumes: [{ name: "v", secret: { secretName: "s" } }] }),
    cluster: [account("bot")],
    why: "",
  },
  { label: "a mirror pod", object: mirror({}), why: "" },
  {
    label: "a mirror pod with an account",
    object: mirror({ serviceAccountName: "bot" }),
    why: "a mirror pod may not reference service accounts",
  },
  {
    label: "a mirror pod with a secret",
    object: mirror({ imagePullSecrets: [{ name: "s" }] }),
    why: "a mirror pod may not reference secrets",
  },
  {
    label: "a mirror pod with a token",
    object: mirror({ volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }] }),
    why: "a mirror pod may not use ServiceAccountToken volume projections",
  },
];

describe("ServiceAccount", () => {
  it.each(rows)("judges $label", async ({ label: _, why, ...attempt }) => {
    expect(await admit(tolerant, attempt)).toMatchObject({ why });
  });

  it("mounts one token for all containers, and gives the account's pull secrets", async () => {
    const { object } = await admit(tolerant, {
      object: podObject({ initContainers: [{ name: "i", image: "x" }] }),
      cluster: [account("default", { imagePullSecrets: [{ name: "pull" }] })],
    });
    const { spec } = object as unknown as { spec: { volumes: { name: string }[] } };
    const [{ name } = { name: "" }] = spec.volumes;
    const mount = { name, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" };
    expect(name).toMatch(/^kube-api-access-.{5}$/);
    expect(spec).toMatchObject({
      serviceAccountName: "default",
      serviceAccount: "default",
      imagePullSecrets: [{ name: "pull" }],
      initContainers: [{ volumeMounts: [mount] }],
      containers: [{ volumeMounts: [mount] }],
    });
  });

  it("waits a little for an account that is about to be made, then refuses", async () => {
    const clock = new VirtualClock();
    const outcome = admit(serviceAccount({ requireDefault: true }), { object: podObject(), clock });
    for (let i = 0; i < 10; i++) {
      await settled();
      await clock.advance(100);
    }
    expect(await outcome).toMatchObject({
      why: 'error looking up service account a/default: serviceaccount "default" not found',
    });
    expect(clock.monotonic()).toBeGreaterThanOrEqual(900);
  });
});
