import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger, VirtualClock } from "#base";
import type { Client } from "#client";
import { credentialProviders } from "./credential-providers.ts";
import { parseProviders } from "./provider-config.ts";

let dir: string;
const { signal } = new AbortController();
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "k8ts-providers-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const V1 = "credentialprovider.kubelet.k8s.io/v1";
const provider = (more: object = {}) => ({
  name: "own",
  matchImages: ["*.example"],
  defaultCacheDuration: "1m",
  apiVersion: V1,
  ...more,
});
const config = (...providers: object[]) =>
  JSON.stringify({ apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig", providers });
const tokens = { serviceAccountTokenAudience: "a", cacheType: "Token", requireServiceAccount: true };

describe("CredentialProviderConfig", () => {
  it.each<[string, string, string]>([
    ["another kind", "kind: Pod", "must be of the kind CredentialProviderConfig"],
    ["none", config(), "at least 1 item in plugins is required"],
    ["a path", config(provider({ name: "a/b" })), 'providers[0].name: Invalid value: "a/b"'],
    ["twice the same", config(provider(), provider()), 'providers.name: Duplicate value: "own"'],
    ["no images", config(provider({ matchImages: [] })), "providers[0].matchImages: Required value"],
    ["another version", config(provider({ apiVersion: "v1" })), 'providers[0].apiVersion: Unsupported value: "v1"'],
    ["no duration", config(provider({ defaultCacheDuration: undefined })), "defaultCacheDuration: Required value"],
    ["a negative duration", config(provider({ defaultCacheDuration: "-1s" })), "defaultCacheDuration: Invalid value"],
    ["an unknown field", config(provider({ arg: [] })), 'unknown field "providers[0].arg"'],
    [
      "tokens without an audience",
      config(provider({ tokenAttributes: { ...tokens, serviceAccountTokenAudience: "" } })),
      "serviceAccountTokenAudience: Required value",
    ],
    [
      "tokens without a cache type",
      config(provider({ tokenAttributes: { ...tokens, cacheType: undefined } })),
      "cacheType",
    ],
    [
      "tokens in v1beta1",
      config(provider({ apiVersion: `${V1}beta1`, tokenAttributes: tokens })),
      "only supported for credentialprovider.kubelet.k8s.io/v1 API version",
    ],
  ])("with %s is refused", (_, text, want) => expect(() => parseProviders([text])).toThrow(want));
});

describe("a credential provider", () => {
  const errors: unknown[] = [];
  const log = {
    ...silentLogger,
    error: (_: string, fields?: { readonly error?: unknown }) => void errors.push(fields?.error),
  };
  const answer = (cacheKeyType: string, more: object = {}) =>
    JSON.stringify({
      kind: "CredentialProviderResponse",
      apiVersion: V1,
      cacheKeyType,
      auth: { "*.example": { username: "u", password: "p" } },
      ...more,
    });
  /** It keeps what it was asked. */
  const program = (output: string, code = 0) => {
    const path = join(dir, "own");
    writeFileSync(join(dir, "answer"), output);
    writeFileSync(
      path,
      `#!/bin/sh\ncat >> "${dir}/asked"\necho " $1 $KEY" >> "${dir}/asked"\ncat "${dir}/answer"\nexit ${code}\n`,
    );
    chmodSync(path, 0o755);
  };
  const asked = () =>
    readFileSync(join(dir, "asked"), "utf8")
      .trim()
      .split("\n")
      .map((line) => line.trim());
  const open = async (clock: VirtualClock, more: object = {}, client = {} as Client) => {
    const file = join(dir, "config.json");
    writeFileSync(file, config(provider(more)));
    return credentialProviders({ config: file, binDir: dir, client, clock, log });
  };
  const pod = {
    metadata: { namespace: "ns", name: "p", uid: "u1" },
    spec: { serviceAccountName: "sa", containers: [] },
  };
  const names = (found: readonly { readonly auth: { readonly username?: string } }[]) =>
    found.map(({ auth }) => auth.username);

  it("is asked with the image, its arguments and variables, and for matching images only", async () => {
    program(answer("Image"));
    const providers = await open(new VirtualClock(), { args: ["get"], env: [{ name: "KEY", value: "v" }] });
    expect(names(await providers("r.example/a:1", pod, signal))).toEqual(["u"]);
    expect(await providers("r.other/a:1", pod, signal)).toEqual([]);
    expect(asked()).toEqual([
      `${JSON.stringify({ kind: "CredentialProviderRequest", apiVersion: V1, image: "r.example/a" })} get v`,
    ]);
  });

  it.each<[string, string, number]>([
    ["one image", "Image", 3],
    ["one registry", "Registry", 2],
    ["all", "Global", 1],
  ])("its answer is kept for %s", async (_, type, want) => {
    program(answer(type));
    const clock = new VirtualClock();
    const providers = await open(clock);
    for (const image of ["r.example/a", "r.example/a", "r.example/b", "s.example/a"])
      await providers(image, pod, signal);
    expect(asked()).toHaveLength(want);
    await clock.advance(61_000);
    await providers("r.example/a", pod, signal);
    expect(asked()).toHaveLength(want + 1);
  });

  it.each<[string, string, number, string]>([
    ["fails", "", 3, "exit code 3"],
    ["answers in another version", answer("Image", { apiVersion: "v9" }), 0, "did not match expected apiVersion"],
    ["names no cache key", answer("None"), 0, "did not return a valid cacheKeyType"],
    ["says nothing", "", 0, "JSON"],
  ])("that %s gives no credentials, and is logged", async (_, output, code, want) => {
    program(output, code);
    const providers = await open(new VirtualClock());
    expect(await providers("r.example/a", pod, signal)).toEqual([]);
    expect(String(errors.at(-1))).toContain(want);
  });

  it("gets a token of the Pod's account and its annotations, and only Pods with that account get its answer", async () => {
    program(answer("Registry"));
    const created: unknown[] = [];
    const client = {
      of: () => ({
        in: () => ({
          get: async (name: string) => ({ metadata: { name, uid: `uid-${name}`, annotations: { a: "1", b: "2" } } }),
          subresource: () => ({
            create: async (request: unknown) => {
              created.push(request);
              return { status: { token: "tok" } };
            },
          }),
        }),
      }),
    } as unknown as Client;
    const attributes = { ...tokens, cacheType: "ServiceAccount", requiredServiceAccountAnnotationKeys: ["a"] };
    const providers = await open(new VirtualClock(), { tokenAttributes: attributes }, client);
    const [found] = await providers("r.example/a", pod, signal);
    expect(found?.source).toEqual({ kind: "serviceAccount", namespace: "ns", name: "sa", uid: "uid-sa" });
    expect(created).toMatchObject([
      { spec: { audiences: ["a"], boundObjectRef: { kind: "Pod", name: "p", uid: "u1" } } },
    ]);
    await providers("r.example/a", pod, signal);
    await providers("r.example/a", { ...pod, spec: { ...pod.spec, serviceAccountName: "other" } }, signal);
    expect(asked()).toHaveLength(2);
    expect(asked()[0]).toContain('"serviceAccountToken":"tok","serviceAccountAnnotations":{"a":"1"}');
    const missing = await open(
      new VirtualClock(),
      { tokenAttributes: { ...attributes, requiredServiceAccountAnnotationKeys: ["c"] } },
      client,
    );
    expect(await missing("r.example/a", pod, signal)).toEqual([]);
  });

  it("whose program is missing is refused", async () => {
    await expect(open(new VirtualClock())).rejects.toThrow("own did not exist");
  });
});
