import { describe, expect, it } from "vitest";
import { parseEncryptionConfiguration } from "./configuration.ts";

const secret = Buffer.alloc(32, 7).toString("base64");
const HEAD = "kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\nresources:\n";
const entry = (resources: string, providers: string) => `- resources: [${resources}]\n  providers: [${providers}]\n`;
const keys = (type: string, name: string, value: string) => `{${type}: {keys: [{name: ${name}, secret: "${value}"}]}}`;
const kms = (rest: string) => `{kms: {name: foo, endpoint: "unix:///tmp/k.sock", ${rest}}}`;

describe("EncryptionConfiguration", () => {
  it("is read", () => {
    const text =
      HEAD + entry("secrets", `${keys("aescbc", "a", secret)}, ${kms("apiVersion: v2, timeout: 5s")}, {identity: {}}`);
    expect(parseEncryptionConfiguration(text, "f")).toEqual([
      {
        resources: ["secrets"],
        providers: [
          { type: "aescbc", keys: [{ name: "a", secret: Buffer.alloc(32, 7) }] },
          { type: "kms", name: "foo", endpoint: "unix:///tmp/k.sock", timeoutMs: 5_000 },
          { type: "identity" },
        ],
      },
    ]);
  });

  const identity = "{identity: {}}";
  const refused = [
    { name: "nothing", text: "", why: 'encryption provider configuration file "f" is empty' },
    { name: "another kind", text: "kind: Secret\napiVersion: v1", why: "an EncryptionConfiguration of" },
    { name: "no resources", text: `${HEAD.trim()} []`, why: "resources: Required value" },
    {
      name: "an unknown field",
      text: `${HEAD}${entry("secrets", identity)}more: 1`,
      why: "more: Forbidden: unknown field",
    },
    {
      name: "a star alone",
      text: HEAD + entry('"*"', identity),
      why: "use '*.' to encrypt all the resources from core",
    },
    { name: "capital letters", text: HEAD + entry("Secrets", identity), why: "should not contain capital letters" },
    { name: "the group of events", text: HEAD + entry("events.events.k8s.io", identity), why: "Use 'events' instead" },
    {
      name: "a resource of all groups",
      text: HEAD + entry('"secrets.*"', identity),
      why: "across groups is not supported",
    },
    {
      name: "resources twice",
      text: HEAD + entry("secrets, secrets", identity),
      why: "cannot be specified multiple times",
    },
    {
      name: "resources that overlap",
      text: HEAD + entry('secrets, "*."', identity),
      why: "using overlapping resources",
    },
    {
      name: "resources that an earlier entry has already",
      text: HEAD + entry('"*.*"', identity) + entry("secrets", identity),
      why: 'resource "secrets" is masked by earlier rule "*.*"',
    },
    { name: "no providers", text: HEAD + entry("secrets", ""), why: "providers: Required value" },
    {
      name: "a provider of no kind",
      text: HEAD + entry("secrets", "{}"),
      why: "does not contain any of the expected providers",
    },
    {
      name: "two providers in one",
      text: HEAD + entry("secrets", `{identity: {}, aescbc: {keys: []}}`),
      why: "more than one provider specified",
    },
    { name: "no keys", text: HEAD + entry("secrets", "{aescbc: {keys: []}}"), why: "at least one keys is required" },
    {
      name: "a short key",
      text: HEAD + entry("secrets", keys("secretbox", "a", "c2hvcnQ=")),
      why: "got 5, expected one of [32]",
    },
    {
      name: "a key that is no base64",
      text: HEAD + entry("secrets", keys("aesgcm", "a", "§")),
      why: "must be base64 encoded",
    },
    { name: "KMS v1", text: HEAD + entry("secrets", kms("apiVersion: v1")), why: "KMSv1 is deprecated" },
    {
      name: "a KMS plugin across the network",
      text: HEAD + entry("secrets", '{kms: {apiVersion: v2, name: a, endpoint: "tcp://a"}}'),
      why: 'unsupported scheme "tcp" for KMS provider, only unix is supported',
    },
    {
      name: "two KMS plugins of one name",
      text: HEAD + entry("secrets", `${kms("apiVersion: v2")}, ${kms("apiVersion: v2")}`),
      why: "duplicate KMS provider name foo",
    },
    {
      name: "no time for KMS",
      text: HEAD + entry("secrets", kms("apiVersion: v2, timeout: 0s")),
      why: "positive value",
    },
  ];
  for (const { name, text, why } of refused) {
    it(`refuses ${name}`, () => expect(() => parseEncryptionConfiguration(text, "f")).toThrow(why));
  }

  it("never shows a key in an error", () => {
    const short = Buffer.from("hunter2").toString("base64");
    const text = HEAD + entry("secrets", keys("aescbc", "a", short));
    expect(() => parseEncryptionConfiguration(text, "f")).toThrow(/REDACTED/);
    expect(() => parseEncryptionConfiguration(text, "f")).not.toThrow(new RegExp(short));
  });
});
