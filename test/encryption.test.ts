/**
 * Encryption at rest on the real command: what is on disk and in snapshots, a file that changes, and mistakes in it.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { kinds } from "#api";
import { realClock } from "#base";
import { Client, https } from "#client";
import { readKubeconfig } from "#pki";
import { Home } from "./support/k8ts.ts";

const VALUE = "a-very-secret-value";
const key = (byte: number) => Buffer.alloc(32, byte).toString("base64");
const configuration = (...keys: readonly (readonly [name: string, byte: number])[]) =>
  JSON.stringify({
    kind: "EncryptionConfiguration",
    apiVersion: "apiserver.config.k8s.io/v1",
    resources: [
      {
        resources: ["secrets"],
        providers: [
          { secretbox: { keys: keys.map(([name, byte]) => ({ name, secret: key(byte) })) } },
          { identity: {} },
        ],
      },
    ],
  });

describe("k8ts up --encryption-provider-config", () => {
  const open: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });
  const newHome = () => {
    const home = new Home();
    open.push(home);
    return home;
  };
  const up = (home: Home, ...flags: string[]) => home.k8ts("up", "--port", "0", "--nodes", "0", "--detach", ...flags);
  const connect = async (home: Home) => {
    const clock = realClock();
    const connection = await readKubeconfig(home.kubeconfig);
    const client = new Client({ transport: https({ ...connection, ...connection.client }, { clock }), clock });
    open.push({ [Symbol.asyncDispose]: () => client.close() });
    return client.of(kinds.Secret).in("default");
  };
  const onDisk = (home: Home) => {
    const dir = join(home.dataDir, "store");
    return readdirSync(dir)
      .map((name) => readFileSync(join(dir, name)).toString("latin1"))
      .join("");
  };

  it("keeps Secrets encrypted on disk and in snapshots, and follows its file", async () => {
    const home = newHome();
    const file = join(home.dir, "encryption.json");
    writeFileSync(file, configuration(["k1", 1]));
    const flags = ["--encryption-provider-config", file, "--encryption-provider-config-automatic-reload"];
    expect(await up(home, ...flags)).toMatchObject({ code: 0 });
    const secrets = await connect(home);
    const created = await secrets.create({ metadata: { name: "s" }, stringData: { v: VALUE } });
    const snapshot = join(home.dir, "snapshot");
    expect(await home.k8ts("snapshot", snapshot)).toMatchObject({ code: 0 });
    for (const bytes of [onDisk(home), readFileSync(snapshot).toString("latin1")]) {
      expect(bytes).not.toContain(VALUE);
      expect(bytes).not.toContain(Buffer.from(VALUE).toString("base64"));
    }
    expect(onDisk(home)).toContain("k8s:enc:secretbox:v1:k1:");
    writeFileSync(file, configuration(["k2", 2], ["k1", 1]));
    await vi.waitFor(() => expect(home.log()).toContainEqual(expect.objectContaining({ file, level: "info" })), 60_000);
    const { resourceVersion: _, ...metadata } = created.metadata;
    await secrets.update({ ...created, metadata });
    expect(onDisk(home)).toContain("k8s:enc:secretbox:v1:k2:");
    expect((await secrets.get("s")).data?.v).toBe(Buffer.from(VALUE).toString("base64"));
  });

  it.each([
    { name: "a file that is not there", text: undefined, says: "--encryption-provider-config" },
    {
      name: "a key that is too short",
      text: configuration().replace("[]", '[{"name":"a","secret":"YQ=="}]'),
      says: "got 1",
    },
  ])(
    "refuses $name in one sentence",
    async ({ text, says }) => {
      const home = newHome();
      const file = join(home.dir, "encryption.json");
      if (text !== undefined) writeFileSync(file, text);
      const { code, stderr } = await up(home, "--encryption-provider-config", file);
      expect([code, stderr]).toEqual([1, expect.stringContaining(says)]);
      expect(stderr.trim().split("\n")).toHaveLength(1);
    },
    60_000,
  );
});
