import { mkdtempDisposable, readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { kubeconfigFor, kubeconfigText, userKubeconfigPath, writeKubeconfig } from "./kubeconfig.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const content = {
  name: "k8ts",
  server: "https://127.0.0.1:6443",
  caPem: "CA",
  client: { certPem: "CERT", keyPem: "KEY" },
};

describe("a kubeconfig", () => {
  it("embeds certificates, or a token", () => {
    expect(kubeconfigFor(content)).toEqual({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "k8ts", cluster: { server: content.server, "certificate-authority-data": base64("CA") } }],
      users: [{ name: "k8ts", user: { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") } }],
      contexts: [{ name: "k8ts", context: { cluster: "k8ts", user: "k8ts" } }],
      "current-context": "k8ts",
    });
    expect(kubeconfigFor({ ...content, client: { token: "t" } }).users).toEqual([
      { name: "k8ts", user: { token: "t" } },
    ]);
  });

  it.each(["k8ts", "true", "No", "null", "1e3", "a: b", "x:", "#x", "- x", "ü", "a b", '"', "", "x"])(
    "is read as it was written: %j",
    (text) => {
      for (const client of [content.client, { token: text }]) {
        const config = kubeconfigFor({ ...content, name: text, client });
        expect(parse(kubeconfigText(config))).toEqual(config);
      }
    },
  );

  it("is written for its owner alone, long lines in one piece", async () => {
    await using dir = await mkdtempDisposable(join(tmpdir(), "k8ts-pki-"));
    const file = join(dir.path, "deep", "kubeconfig");
    const config = kubeconfigFor({ ...content, caPem: "x".repeat(2000) });
    await writeKubeconfig(file, config);
    const text = await readFile(file, "utf8");
    expect(parse(text)).toEqual(config);
    expect(text).toContain(`certificate-authority-data: ${base64("x".repeat(2000))}\n`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });
});

describe("the user's kubeconfig", () => {
  it.each([
    { name: "no variable", env: undefined, there: [], want: "/home/me/.kube/config" },
    { name: "an empty variable", env: "", there: [], want: "/home/me/.kube/config" },
    { name: "only separators", env: "::", there: [], want: "/home/me/.kube/config" },
    { name: "one file, there or not", env: "/a", there: [], want: "/a" },
    { name: "several, the first there", env: "/a:/b", there: ["/a", "/b"], want: "/a" },
    { name: "several, a later one there", env: "/a:/b:/c", there: ["/b", "/c"], want: "/b" },
    { name: "several, none there", env: "/a:/b", there: [], want: "/b" },
    { name: "empty parts", env: ":/a:", there: [], want: "/a" },
  ])("$name", ({ env, there, want }) => {
    const exists = (file: string) => there.some((known) => known === file);
    expect(userKubeconfigPath(env === undefined ? {} : { KUBECONFIG: env }, "/home/me", exists)).toBe(want);
  });
});
