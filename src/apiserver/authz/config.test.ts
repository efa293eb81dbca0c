import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AuthorizationFlags, DEFAULT_MODES, readAuthorization } from "./config.ts";
import { parseConfigurationFile } from "./configuration-file.ts";

let dir = "";
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "k8ts-authz-"));
  writeFileSync(join(dir, "policies.jsonl"), '{"user":"ann"}\n');
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: "https://authz.example.com/authorize" } }],
    contexts: [{ name: "c", context: { cluster: "c" } }],
    "current-context": "c",
  };
  writeFileSync(join(dir, "hook.yaml"), JSON.stringify(kubeconfig));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const inDir = (flags: AuthorizationFlags): AuthorizationFlags =>
  JSON.parse(JSON.stringify(flags).replaceAll("DIR/", `${dir}/`)) as AuthorizationFlags;

describe("flags", () => {
  it("are Node and RBAC where nobody says otherwise", async () => {
    expect(await readAuthorization({})).toEqual(DEFAULT_MODES);
  });

  it("say the modes in order", async () => {
    const modes = await readAuthorization(
      inDir({
        authorizationMode: ["Webhook", "ABAC", "AlwaysDeny"],
        authorizationPolicyFile: "DIR/policies.jsonl",
        authorizationWebhookConfigFile: "DIR/hook.yaml",
        authorizationWebhookCacheAuthorizedTtlMs: 1_000,
      }),
    );
    expect(modes).toMatchObject([
      {
        type: "Webhook",
        name: "default",
        connection: { server: "https://authz.example.com/authorize" },
        version: "v1",
        timeoutMs: 30_000,
        authorizedTtlMs: 1_000,
        unauthorizedTtlMs: 30_000,
        onFailure: "noOpinion",
      },
      { type: "ABAC", name: "abac", policies: [{ user: "ann", resource: "*" }] },
      { type: "AlwaysDeny", name: "alwaysdeny" },
    ]);
  });

  it.each<[AuthorizationFlags, string]>([
    [{ authorizationMode: ["Rbac"] }, '--authorization-mode: "Rbac" is not one of ABAC, '],
    [{ authorizationMode: [""] }, '--authorization-mode: "" is not one of'],
    [{ authorizationMode: ["RBAC", "RBAC"] }, "--authorization-mode names RBAC twice."],
    [{ authorizationMode: ["ABAC"] }, "The authorization mode ABAC needs --authorization-policy-file."],
    [{ authorizationMode: ["Webhook"] }, "The authorization mode Webhook needs --authorization-webhook-config-file."],
    [{ authorizationPolicyFile: "x" }, "--authorization-policy-file goes with the authorization mode ABAC."],
    [
      { authorizationWebhookConfigFile: "x" },
      "--authorization-webhook-config-file goes with the authorization mode Webhook.",
    ],
    [{ authorizationConfig: "x", authorizationMode: ["RBAC"] }, "--authorization-config says all of it"],
    [{ authorizationConfig: "DIR/absent" }, "--authorization-config: ENOENT"],
    [{ authorizationMode: ["ABAC"], authorizationPolicyFile: "DIR/absent" }, "--authorization-policy-file: ENOENT"],
    [{ authorizationMode: ["Webhook"], authorizationWebhookConfigFile: "DIR/absent" }, "absent does not exist."],
  ])("%j are refused", async (flags, want) => {
    await expect(readAuthorization(inDir(flags))).rejects.toMatchObject({
      name: "AuthorizationConfigError",
      message: expect.stringContaining(want),
    });
  });
});

describe("the configuration file", () => {
  const webhook = {
    timeout: "3s",
    subjectAccessReviewVersion: "v1",
    failurePolicy: "Deny",
    connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/etc/hook.yaml" },
  };
  const parse = (authorizers: unknown, apiVersion = "apiserver.config.k8s.io/v1") =>
    parseConfigurationFile(
      JSON.stringify({ apiVersion, kind: "AuthorizationConfiguration", authorizers }),
      "authz.yaml",
    );

  it("lists authorizers in order, with the times that it leaves out", () => {
    expect(
      parse([
        { type: "Webhook", name: "first", webhook: { ...webhook, cacheUnauthorizedRequests: false } },
        { type: "Webhook", name: "second", webhook: { ...webhook, authorizedTTL: "1m", failurePolicy: "NoOpinion" } },
        { type: "RBAC", name: "rbac" },
      ]),
    ).toEqual([
      {
        type: "Webhook",
        name: "first",
        webhook: {
          kubeConfigFile: "/etc/hook.yaml",
          version: "v1",
          timeoutMs: 3_000,
          authorizedTtlMs: 300_000,
          unauthorizedTtlMs: 0,
          onFailure: "deny",
          matchConditions: [],
        },
      },
      {
        type: "Webhook",
        name: "second",
        webhook: expect.objectContaining({
          authorizedTtlMs: 60_000,
          unauthorizedTtlMs: 30_000,
          onFailure: "noOpinion",
        }),
      },
      { type: "RBAC", name: "rbac" },
    ]);
  });

  it("may be YAML", () => {
    const text = [
      "apiVersion: apiserver.config.k8s.io/v1beta1",
      "kind: AuthorizationConfiguration",
      "authorizers:",
      "- {type: Node, name: node}",
    ].join("\n");
    expect(parseConfigurationFile(text, "f")).toEqual([{ type: "Node", name: "node" }]);
  });

  it("is read with its webhooks", async () => {
    const file = join(dir, "authz.json");
    const connectionInfo = { type: "KubeConfigFile", kubeConfigFile: join(dir, "hook.yaml") };
    const authorizers = [{ type: "Webhook", name: "hook", webhook: { ...webhook, connectionInfo } }];
    const document = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthorizationConfiguration", authorizers };
    writeFileSync(file, JSON.stringify(document));
    expect(await readAuthorization({ authorizationConfig: file })).toMatchObject([
      {
        type: "Webhook",
        name: "hook",
        connection: { server: "https://authz.example.com/authorize" },
        onFailure: "deny",
      },
    ]);
  });

  const hook = (more: object) => [{ type: "Webhook", name: "h", webhook: { ...webhook, ...more } }];
  it.each<[string, unknown, string]>([
    ["nothing", [], "authorizers: Required value: at least one authorization mode must be defined"],
    ["no type", [{ name: "x" }], "authorizers[0].type: Required value"],
    [
      "another type",
      [{ type: "X", name: "x" }],
      'authorizers[0].type: Unsupported value: "X": supported values: "ABAC", ',
    ],
    [
      "one type twice",
      [
        { type: "RBAC", name: "a" },
        { type: "RBAC", name: "b" },
      ],
      'authorizers[1].type: Duplicate value: "RBAC"',
    ],
    [
      "one name twice",
      [
        { type: "RBAC", name: "a" },
        { type: "Node", name: "a" },
      ],
      'authorizers[1].name: Duplicate value: "a"',
    ],
    ["no name", [{ type: "RBAC" }], "authorizers[0].name: Required value"],
    [
      "a bad name",
      [{ type: "RBAC", name: "A b" }],
      'authorizers[0].name: Invalid value: "A b": authorizer name is invalid: ',
    ],
    [
      "no webhook",
      [{ type: "Webhook", name: "h" }],
      "authorizers[0].webhook: Required value: required when type=Webhook",
    ],
    [
      "a webhook for nothing",
      [{ type: "RBAC", name: "r", webhook }],
      'authorizers[0].webhook: Invalid value: "non-null": may only be specified when type=Webhook',
    ],
    ["no timeout", hook({ timeout: "" }), "authorizers[0].webhook.timeout: Required value"],
    ["a long timeout", hook({ timeout: "31s" }), 'webhook.timeout: Invalid value: "31s": must be > 0s and <= 30s'],
    ["a negative time", hook({ authorizedTTL: "-1s" }), 'webhook.authorizedTTL: Invalid value: "-1s": must be > 0s'],
    [
      "another version",
      hook({ subjectAccessReviewVersion: "v2" }),
      'subjectAccessReviewVersion: Unsupported value: "v2"',
    ],
    ["no failure policy", hook({ failurePolicy: "" }), "webhook.failurePolicy: Required value"],
    [
      "a relative file",
      hook({ connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "x" } }),
      "must be an absolute path",
    ],
    [
      "the cluster's own",
      hook({ connectionInfo: { type: "InClusterConfig" } }),
      'connectionInfo.type: Unsupported value: "InClusterConfig"',
    ],
    [
      "conditions without a version",
      hook({ matchConditions: [{ expression: "true" }] }),
      "matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified",
    ],
    [
      "one condition twice",
      hook({
        matchConditionSubjectAccessReviewVersion: "v1",
        matchConditions: [{ expression: "true" }, { expression: "true" }],
      }),
      'matchConditions[1].expression: Duplicate value: "true"',
    ],
    ["a field that there is not", [{ type: "RBAC", name: "r", x: 1 }], "authorizers[0].x: Forbidden: unknown field"],
  ])("with %s is refused", (_, authorizers, want) => {
    expect(() => parse(authorizers)).toThrow(want);
  });

  it("of another kind is refused", () => {
    expect(() => parse([], "v1")).toThrow("authz.yaml: an AuthorizationConfiguration of apiserver.config.k8s.io/v1, ");
    expect(() => parseConfigurationFile("- a", "f")).toThrow("f holds no object.");
  });
});
