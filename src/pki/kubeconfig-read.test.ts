import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { realClock } from "#base";
import { PkiError } from "./errors.ts";
import { kubeconfigFor, writeKubeconfig } from "./kubeconfig.ts";
import { mergeKubeconfig } from "./kubeconfig-merge.ts";
import { kubeconfigCluster, readKubeconfig } from "./kubeconfig-read.ts";

const pem = (text: string) => `-----BEGIN ${text}-----\n`;
const data = (text: string) => Buffer.from(pem(text)).toString("base64");
const content = {
  name: "k8ts",
  server: "https://127.0.0.1:6443",
  caPem: pem("CA"),
  client: { certPem: pem("CERT"), keyPem: pem("KEY") },
};

async function folder() {
  const temporary = await mkdtempDisposable(join(tmpdir(), "k8ts-pki-"));
  return {
    file: join(temporary.path, "config"),
    path: temporary.path,
    [Symbol.asyncDispose]: () => temporary.remove(),
  };
}

/** One context `c` with this cluster and user. */
const configOf = (cluster: object, user: object) => ({
  clusters: [{ name: "one", cluster: { server: "https://one", ...cluster } }],
  users: [{ name: "me", user }],
  contexts: [
    { name: "c", context: { cluster: "one", user: "me", namespace: "web" } },
    { name: "anonymous", context: { cluster: "one" } },
    { name: "broken", context: { cluster: "none", user: "me" } },
    { name: "nobody", context: { cluster: "one", user: "none" } },
  ],
  "current-context": "c",
});

describe("reading a kubeconfig", () => {
  it("gives back what was written", async () => {
    await using dir = await folder();
    await writeKubeconfig(dir.file, kubeconfigFor(content));
    expect(await readKubeconfig(dir.file)).toEqual({
      context: "k8ts",
      server: content.server,
      namespace: undefined,
      caPem: content.caPem,
      client: content.client,
      tlsServerName: undefined,
      insecureSkipTlsVerify: false,
    });
  });

  it.each([
    {
      name: "files beside it",
      cluster: { "certificate-authority": "ca.crt" },
      user: { "client-certificate": "./client.crt", "client-key": "client.key" },
      want: { caPem: pem("CA FILE"), client: { certPem: pem("CERT FILE"), keyPem: pem("KEY FILE") } },
    },
    {
      name: "data before files",
      cluster: { "certificate-authority": "none", "certificate-authority-data": data("CA") },
      user: { "client-certificate": "none", "client-certificate-data": data("CERT"), "client-key-data": data("KEY") },
      want: { caPem: pem("CA"), client: { certPem: pem("CERT"), keyPem: pem("KEY") } },
    },
    { name: "a token", cluster: {}, user: { token: "t" }, want: { caPem: undefined, client: { token: "t" } } },
    {
      name: "a token's file before a token",
      cluster: {},
      user: { token: "t", tokenFile: "token" },
      want: { client: { token: "from-file" } },
    },
    {
      name: "how to check the server",
      cluster: { "tls-server-name": "kubernetes", "insecure-skip-tls-verify": true },
      user: {},
      want: { tlsServerName: "kubernetes", insecureSkipTlsVerify: true, client: undefined, namespace: "web" },
    },
  ])("takes $name", async ({ cluster, user, want }) => {
    await using dir = await folder();
    await writeFile(join(dir.path, "ca.crt"), pem("CA FILE"));
    await writeFile(join(dir.path, "client.crt"), pem("CERT FILE"));
    await writeFile(join(dir.path, "client.key"), pem("KEY FILE"));
    await writeFile(join(dir.path, "token"), "from-file\n");
    await writeFile(dir.file, stringify(configOf(cluster, user)));
    expect(await readKubeconfig(dir.file)).toMatchObject(want);
  });

  it("follows aliases and merged fields", async () => {
    await using dir = await folder();
    await writeFile(
      dir.file,
      "x: &base { server: 'https://a' }\nclusters: [{ name: a, cluster: { <<: *base } }]\n" +
        "contexts: [{ name: a, context: { cluster: a } }]\ncurrent-context: a\n",
    );
    expect(await readKubeconfig(dir.file)).toMatchObject({ server: "https://a" });
  });

  it("takes the context asked for", async () => {
    await using dir = await folder();
    await writeFile(dir.file, stringify(configOf({}, { token: "t" })));
    expect(await readKubeconfig(dir.file, { context: "anonymous" })).toMatchObject({ client: undefined });
  });

  it.each([
    { name: "an unknown context", context: "x", want: 'has no context "x".' },
    { name: "a context without cluster", context: "broken", want: 'has no cluster "none".' },
    { name: "a context without user", context: "nobody", want: 'has no user "none".' },
    { name: "a certificate without key", user: { "client-certificate-data": data("CERT") }, want: "has only one of" },
    { name: "a login program", user: { exec: { command: "login" } }, want: 'uses "exec" for the context "c"' },
    { name: "a password", user: { username: "a", password: "b" }, want: 'uses "username"' },
    { name: "a file that is missing", user: { tokenFile: "none" }, want: "as tokenFile, which does not exist." },
    {
      name: "data that is no PEM",
      user: { "client-certificate-data": "AAAA" },
      want: "no PEM in client-certificate-data",
    },
  ])("refuses $name", async ({ context = "c", user = {}, want }) => {
    await using dir = await folder();
    await writeFile(dir.file, stringify(configOf({}, user)));
    const error = await readKubeconfig(dir.file, { context }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PkiError);
    expect(String(error)).toContain(want);
    expect(String(error)).toContain(dir.file);
  });

  it("refuses a missing file, and one without current context", async () => {
    await using dir = await folder();
    await expect(readKubeconfig(dir.file)).rejects.toThrow(`${dir.file} does not exist.`);
    await writeFile(dir.file, 'current-context: ""\n');
    await expect(readKubeconfig(dir.file)).rejects.toThrow("has no current context");
  });
});

describe("the server of a context", () => {
  it("is found, or undefined", async () => {
    await using dir = await folder();
    expect(await kubeconfigCluster(dir.file, "k8ts")).toBeUndefined();
    await writeKubeconfig(dir.file, kubeconfigFor(content));
    expect(await kubeconfigCluster(dir.file, "k8ts")).toEqual({
      server: content.server,
      caPem: content.caPem,
      owner: undefined,
    });
    await mergeKubeconfig(dir.file, kubeconfigFor(content), { clock: realClock(), owner: "/data" });
    expect(await kubeconfigCluster(dir.file, "k8ts")).toMatchObject({ owner: "/data" });
    expect(await kubeconfigCluster(dir.file, "other")).toBeUndefined();
  });
});
