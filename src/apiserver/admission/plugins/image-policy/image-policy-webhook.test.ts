import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Json, JsonObject } from "#api";
import { realClock, seededRandom, silentLogger, VirtualClock } from "#base";
import { type TestWebhook, testWebhook } from "../../../custom-resources/testing/index.ts";
import { namespace, testServer } from "../../../testing/index.ts";
import type { AdmissionPlugin } from "../../chain/plugin.ts";
import type { PluginServices } from "../../chain/plugin-services.ts";
import { admit, admitting, podObject } from "../../testing/index.ts";
import { imagePolicyWebhook } from "./image-policy-webhook.ts";

let backend: TestWebhook;
let plugin: AdmissionPlugin | undefined;
let dir: string;
let clock: VirtualClock;

beforeEach(async () => {
  backend = await testWebhook();
  dir = mkdtempSync(join(tmpdir(), "k8ts-image-policy-"));
  clock = new VirtualClock();
});
afterEach(async () => {
  plugin?.close?.();
  plugin = undefined;
  await backend.close();
  rmSync(dir, { recursive: true });
});

function kubeconfig(server = backend.url): string {
  const file = join(dir, "backend.yaml");
  const cluster = { server, "certificate-authority-data": backend.caBundle };
  const config = {
    "current-context": "x",
    contexts: [{ name: "x", context: { cluster: "backend", user: "server" } }],
    clusters: [{ name: "backend", cluster }],
    users: [{ name: "server", user: { token: "secret" } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

async function made(settings: JsonObject = {}, time: PluginServices["storage"]["clock"] = clock) {
  const storage = { clock: time, random: seededRandom(1), log: silentLogger } as unknown as PluginServices["storage"];
  plugin = await imagePolicyWebhook({ storage }, { imagePolicy: { kubeConfigFile: kubeconfig(), ...settings } });
  return plugin;
}

const answering = (status: Json) => () =>
  ({ kind: "ImageReview", apiVersion: "imagepolicy.k8s.io/v1alpha1", status }) as JsonObject;
const image = (name: string) => podObject({ containers: [{ name: "c", image: name }] });

describe("the backend is asked about", () => {
  const object = podObject(
    {
      containers: [{ name: "c", image: "a" }],
      initContainers: [{ name: "i", image: "b" }],
      ephemeralContainers: [{ name: "e", image: "c" }],
    },
    { annotations: { "alpha.image-policy.k8s.io/ticket": "1", "example.com/other": "2" } },
  );
  it.each([
    { resource: "pods", images: ["a", "b"] },
    { resource: "pods/ephemeralcontainers", images: ["c"] },
  ])("the images of $resource", async ({ resource, images }) => {
    backend.behave(answering({ allowed: true }));
    expect(await admit(await made(), { resource, object, operation: "UPDATE" })).toMatchObject({ why: "" });
    expect(backend.questions).toEqual([
      {
        kind: "ImageReview",
        apiVersion: "imagepolicy.k8s.io/v1alpha1",
        metadata: {},
        spec: {
          containers: images.map((name) => ({ image: name })),
          annotations: { "alpha.image-policy.k8s.io/ticket": "1" },
          namespace: "a",
        },
        status: { allowed: false },
      },
    ]);
  });

  it("nothing of other subresources and deletions", async () => {
    const asked = await made();
    for (const resource of ["pods/status", "pods/resize"])
      await admit(asked, { resource, object, operation: "UPDATE" });
    await admit(asked, { old: object, operation: "DELETE" });
    expect(backend.questions).toEqual([]);
  });
});

describe("the backend says", () => {
  const denied = "image policy webhook backend denied one or more images: too old";
  it.each<{ name: string; status: Json; why: string; annotations?: object }>([
    { name: "yes", status: { allowed: true }, why: "" },
    { name: "no, and why", status: { allowed: false, reason: "too old" }, why: denied },
    { name: "no", status: { allowed: false }, why: "one or more images rejected by webhook backend" },
    { name: "nothing", status: {}, why: "one or more images rejected by webhook backend" },
    {
      name: "what to note for audit",
      status: { allowed: false, reason: "too old", auditAnnotations: { rule: "7" } },
      why: denied,
      annotations: { "imagepolicywebhook.image-policy.k8s.io/rule": "7" },
    },
    {
      name: "something else",
      status: { allowed: "yes" },
      why: "json: cannot unmarshal string into Go struct field ImageReview.status.allowed of type bool",
    },
  ])("$name", async ({ status, why, annotations = {} }) => {
    backend.behave(answering(status));
    expect(await admit(await made(), { object: image("x") })).toMatchObject({ why, annotations });
  });

  it("something of another kind", async () => {
    backend.behave(() => ({ kind: "Pod", apiVersion: "v1" }));
    expect((await admit(await made(), { object: image("x") })).why).toBe(
      'no kind "Pod" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    );
  });
});

describe("answers are kept", () => {
  it.each([
    { allowed: true, setting: "allowTTL", seconds: 300 },
    { allowed: false, setting: "denyTTL", seconds: 30 },
  ])("allowed $allowed: by $setting", async ({ allowed, setting, seconds }) => {
    backend.behave(answering({ allowed }));
    const ask = async (by: AdmissionPlugin, name = "x") => {
      await admit(by, { object: image(name) });
      return backend.questions.length;
    };
    const usual = await made();
    expect([await ask(usual), await ask(usual), await ask(usual, "y")]).toEqual([1, 1, 2]);
    await clock.advance(seconds * 1000 - 1);
    expect(await ask(usual)).toBe(2);
    await clock.advance(1);
    expect(await ask(usual)).toBe(3);
    usual.close?.();
    const short = await made({ [setting]: 2 });
    expect([await ask(short), await ask(short)]).toEqual([4, 4]);
    await clock.advance(2000);
    expect(await ask(short)).toBe(5);
    short.close?.();
    const none = await made({ [setting]: -1 });
    expect([await ask(none), await ask(none)]).toEqual([6, 7]);
  });
});

describe("a backend that fails", () => {
  it.each([
    { name: "for the moment", status: 500, tries: 5 },
    { name: "under load", status: 429, tries: 5 },
    { name: "for good", status: 403, tries: 1 },
  ])("$name is asked $tries times", async ({ status, tries }) => {
    backend.behave(() => ({ status, text: "no" }));
    const { error } = await admit(await made({ retryBackoff: -1 }, realClock()), { object: image("x") });
    expect(error).toMatchObject({ code: 403, reason: "Forbidden" });
    expect(backend.questions.length).toBe(tries);
  });

  it("and recovers has its say", async () => {
    let times = 0;
    backend.behave(() => (++times < 3 ? { status: 500, text: "" } : answering({ allowed: true })()));
    expect(await admit(await made({ retryBackoff: -1 }, realClock()), { object: image("x") })).toMatchObject({
      why: "",
    });
    expect(times).toBe(3);
  });

  it("lets Pods pass where it may, and says so", async () => {
    backend.behave(() => ({ status: 403, text: "no" }));
    const open = await made({ defaultAllow: true });
    const { object, annotations, why } = await admit(open, { object: image("x") });
    expect(why).toBe("");
    expect(object.metadata.annotations).toEqual({ "alpha.image-policy.k8s.io/failed-open": "true" });
    expect(annotations).toEqual({ "imagepolicywebhook.image-policy.k8s.io/failed-open": "true" });
    await admit(open, { object: image("x") });
    expect(backend.questions.length).toBe(2);
  });

  it("is remembered by the stored Pod", async () => {
    backend.behave(() => ({ status: 403, text: "no" }));
    const imagePolicy = { kubeConfigFile: kubeconfig(), defaultAllow: true };
    const configuration = new Map<string, JsonObject>([["ImagePolicyWebhook", { imagePolicy }]]);
    const server = await testServer({ admission: admitting({ enable: ["ImagePolicyWebhook"], configuration }) });
    await server.request("POST", "/api/v1/namespaces", { body: namespace("a") });
    const path = "/api/v1/namespaces/a/pods";
    expect((await server.request("POST", path, { body: image("x") })).status).toBe(201);
    expect((await server.request("GET", `${path}/p`)).json).toMatchObject({
      metadata: { annotations: { "alpha.image-policy.k8s.io/failed-open": "true" } },
    });
    await server.close();
  });

  it("is named with the words of Go's client", async () => {
    const kubeConfigFile = kubeconfig("https://127.0.0.1:1/review");
    plugin = await imagePolicyWebhook(
      { storage: { clock, random: seededRandom(1), log: silentLogger } as unknown as PluginServices["storage"] },
      { imagePolicy: { kubeConfigFile } },
    );
    expect((await admit(plugin, { object: image("x") })).why).toBe(
      'Post "https://127.0.0.1:1/review?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused',
    );
  });
});

describe("a configuration", () => {
  it.each<{ settings: JsonObject; says: string }>([
    { settings: { allowTTL: 1 }, says: "imagePolicy.allowTTL: valid value is between 1s and 30m0s, got 1s." },
    { settings: { denyTTL: 3600 }, says: "imagePolicy.denyTTL: valid value is between 1s and 30m0s, got 1h0m0s." },
    {
      settings: { retryBackoff: 300_001 },
      says: "imagePolicy.retryBackoff: valid value is between 1ns and 5m0s, got 5m0.001s.",
    },
    {
      settings: { retryBackoff: -2 },
      says: "imagePolicy.retryBackoff: valid value is between 1ns and 5m0s, got -2ms.",
    },
    { settings: { allowTTL: "5m" }, says: "imagePolicy.allowTTL: it has to be a whole number." },
    { settings: { defaultAllow: "no" }, says: "imagePolicy.defaultAllow: it has to be true or false." },
    { settings: { defaultDeny: true }, says: "imagePolicy.defaultDeny: there is no such field." },
    {
      settings: { kubeConfigFile: "" },
      says: "imagePolicy.kubeConfigFile: it has to name the kubeconfig of the backend.",
    },
    { settings: { kubeConfigFile: "/none" }, says: "imagePolicy.kubeConfigFile: /none does not exist." },
  ])("$settings is refused", async ({ settings, says }) => {
    await expect(made(settings)).rejects.toThrow(`ImagePolicyWebhook: ${says}`);
  });

  it("without its section is refused", async () => {
    const services = { storage: {} as PluginServices["storage"] };
    await expect(imagePolicyWebhook(services, { kind: "X" })).rejects.toThrow("needs a section `imagePolicy`");
  });
});
