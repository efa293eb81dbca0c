import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { bootstrapTokens } from "./bootstrap-token.ts";
import { TestObjects } from "./testing/objects.ts";

const TOKEN = "abcdef.0123456789abcdef";
const good = {
  "token-id": "abcdef",
  "token-secret": "0123456789abcdef",
  "usage-bootstrap-authentication": "true",
};

async function ask(
  token: string,
  data: Record<string, string>,
  { type = "bootstrap.kubernetes.io/token", metadata = {} } = {},
) {
  const clock = new VirtualClock();
  const objects = new TestObjects().put("secrets", {
    metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system", ...metadata },
    type,
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")])),
  });
  return bootstrapTokens({ objects, clock })(token, []);
}

describe("bootstrap tokens", () => {
  it.each([
    { name: "plain", data: good, groups: ["system:bootstrappers"] },
    {
      name: "with groups",
      data: {
        ...good,
        "auth-extra-groups": "system:bootstrappers:zone-b,system:bootstrappers:kubeadm:default-node-token",
      },
      groups: [
        "system:bootstrappers",
        "system:bootstrappers:kubeadm:default-node-token",
        "system:bootstrappers:zone-b",
      ],
    },
    {
      name: "that expire later",
      data: { ...good, expiration: "2030-01-01T00:00:01Z" },
      groups: ["system:bootstrappers"],
    },
  ])("$name", async ({ data, groups }) => {
    expect(await ask(TOKEN, data)).toEqual({ user: { name: "system:bootstrap:abcdef", groups } });
  });

  it.each<{ name: string; token?: string; data?: Record<string, string>; secret?: Parameters<typeof ask>[2] }>([
    { name: "another secret", token: "abcdef.0123456789abcdeX" },
    { name: "a secret that is longer", data: { ...good, "token-secret": "0123456789abcdef0" } },
    { name: "another id", token: "abcdeg.0123456789abcdef" },
    { name: "another id in the Secret", data: { ...good, "token-id": "abcdeg" } },
    { name: "another form", token: "abcdef.0123456789abcdef.x" },
    { name: "a path for an id", token: "../../.0123456789abcdef" },
    { name: "expired", data: { ...good, expiration: "2029-12-31T23:59:59Z" } },
    { name: "expired just now", data: { ...good, expiration: "2030-01-01T00:00:00Z" } },
    { name: "a time that is none", data: { ...good, expiration: "soon" } },
    { name: "not for authentication", data: { ...good, "usage-bootstrap-authentication": "false" } },
    { name: "a group of others", data: { ...good, "auth-extra-groups": "system:masters" } },
    { name: "another type", secret: { type: "Opaque" } },
    { name: "being deleted", secret: { metadata: { deletionTimestamp: "2030-01-01T00:00:00Z" } } },
  ])("has no opinion: $name", async ({ token = TOKEN, data = good, secret }) => {
    expect(await ask(token, data, secret)).toBeUndefined();
  });
});
