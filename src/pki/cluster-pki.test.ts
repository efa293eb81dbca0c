import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtempDisposable, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { createAuthority, DAY_MS } from "./authority.ts";
import { ensureClusterPki } from "./cluster-pki.ts";
import { PkiError } from "./errors.ts";
import { LEAF_NAMES, leafSpecs, type ServerNames } from "./leaf.ts";

const names: ServerNames = { dnsNames: ["localhost", "kubernetes"], ipAddresses: ["127.0.0.1", "10.96.0.1"] };
const leafFiles = ["admin", "apiserver", "apiserver-kubelet-client", "front-proxy-client"];
const filesOf = (...names: readonly string[]) => names.flatMap((name) => [`${name}.crt`, `${name}.key`]).sort();
const pairs = [...leafFiles, "ca", "front-proxy-ca"];

/** A folder that has been through its first start. */
async function started(clock = new VirtualClock()) {
  const temporary = await mkdtempDisposable(join(tmpdir(), "k8ts-pki-"));
  const dir = join(temporary.path, "pki");
  const file = (name: string) => join(dir, name);
  const log: string[] = [];
  const start = (serverNames = names) =>
    ensureClusterPki(dir, {
      clock,
      serverNames,
      log: { info: (_message, fields) => log.push(`${String(fields?.file).slice(dir.length + 1)} ${fields?.because}`) },
    });
  const first = await start();
  log.length = 0;
  return { dir, file, clock, log, start, first, [Symbol.asyncDispose]: () => temporary.remove() };
}

async function fingerprints(dir: string): Promise<Record<string, string>> {
  const entries = (await readdir(dir)).map(async (name) => {
    const digest = createHash("sha256").update(await readFile(join(dir, name)));
    return [name, digest.digest("hex")] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function changed(dir: string, act: () => Promise<unknown>): Promise<string[]> {
  const before = await fingerprints(dir);
  await act();
  const after = await fingerprints(dir);
  return Object.keys({ ...before, ...after })
    .filter((name) => before[name] !== after[name])
    .sort();
}

describe("the first start", () => {
  it("makes every file under kubeadm's names, keys private", async () => {
    await using world = await started();
    const files = (await readdir(world.dir)).sort();
    expect(files).toEqual([...filesOf(...pairs), "sa.key", "sa.pub"].sort());
    for (const name of files) {
      const { mode } = await stat(world.file(name));
      expect({ name, mode: (mode & 0o777).toString(8) }).toEqual({ name, mode: name.endsWith(".key") ? "600" : "644" });
    }
    expect((await stat(world.dir)).mode & 0o777).toBe(0o700);
    expect(world.first.created).toBe(true);
  });

  it("makes the certificates that the components expect", async () => {
    await using world = await started();
    const { first } = world;
    const specs = leafSpecs(names);
    const seen = LEAF_NAMES.map((name) => {
      const certificate = new X509Certificate(first[name].certPem);
      expect(certificate.checkIssued(first[specs[name].signedBy].certificate)).toBe(true);
      return [name, certificate.subject, ...certificate.keyUsage];
    });
    const [server, client] = ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"];
    expect(seen).toEqual([
      ["apiserver", "CN=kube-apiserver", server],
      ["apiserverKubeletClient", "O=system:masters\nCN=kube-apiserver-kubelet-client", client],
      ["frontProxyClient", "CN=front-proxy-client", client],
      ["admin", "O=system:masters\nCN=kubernetes-admin", client],
    ]);
    expect(first.ca.certificate.subject).toBe("CN=kubernetes");
    expect(first.frontProxyCa.certificate.subject).toBe("CN=front-proxy-ca");
  });

  it("makes an elliptic service-account key", async () => {
    await using world = await started();
    const { keyPem, publicKeyPem } = world.first.serviceAccount;
    expect(createPrivateKey(keyPem).asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
    expect(createPublicKey(keyPem).equals(createPublicKey(publicKeyPem))).toBe(true);
    expect(await readFile(world.file("sa.pub"), "utf8")).toBe(publicKeyPem);
  });
});

describe("a later start", () => {
  it("uses everything again", async () => {
    await using world = await started();
    await expect(changed(world.dir, world.start)).resolves.toEqual([]);
    const { ca: _, frontProxyCa: __, created, ...again } = await world.start();
    expect(created).toBe(false);
    expect(world.first).toMatchObject(again);
    expect(world.log).toEqual([]);
  });

  it("makes anew what has less than a third of its life left", async () => {
    await using world = await started();
    await world.clock.advance(240 * DAY_MS);
    expect(await changed(world.dir, world.start)).toEqual([]);
    await world.clock.advance(10 * DAY_MS);
    expect(await changed(world.dir, world.start)).toEqual(filesOf(...leafFiles));
    expect(world.log).toContain("admin.crt it expires on Jan  1 00:00:00 2031 GMT");
  });

  it("makes the server's certificate anew for a new name, and keeps it for fewer", async () => {
    await using world = await started();
    const fewer = { ...names, dnsNames: ["localhost"] };
    const more = { ...names, ipAddresses: [...names.ipAddresses, "192.0.2.7"] };
    expect(await changed(world.dir, () => world.start(fewer))).toEqual([]);
    expect(await changed(world.dir, () => world.start(more))).toEqual(["apiserver.crt", "apiserver.key"]);
    expect(world.log).toEqual(["apiserver.crt it is not valid for 192.0.2.7"]);
  });

  it("makes anew what another CA signed", async () => {
    await using world = await started();
    const { certPem, keyPem } = await createAuthority({ commonName: "kubernetes", clock: world.clock });
    await writeFile(world.file("ca.crt"), certPem);
    await writeFile(world.file("ca.key"), keyPem);
    expect(await changed(world.dir, world.start)).toEqual(filesOf("admin", "apiserver", "apiserver-kubelet-client"));
  });

  it.each([
    { name: "a damaged certificate", file: "apiserver.crt", text: "garbage" },
    { name: "an empty certificate", file: "admin.crt", text: "" },
    { name: "a damaged key", file: "front-proxy-client.key", text: "garbage" },
    { name: "a missing certificate", file: "apiserver-kubelet-client.crt", text: undefined },
    { name: "a missing key", file: "admin.key", text: undefined },
  ])("makes a leaf anew for $name", async ({ file, text }) => {
    await using world = await started();
    if (text === undefined) await rm(world.file(file));
    else await writeFile(world.file(file), text);
    const pair = file.replace(/\.(crt|key)$/, "");
    expect(await changed(world.dir, world.start)).toEqual([`${pair}.crt`, `${pair}.key`]);
    expect(await changed(world.dir, world.start)).toEqual([]);
  });

  it("makes the same CA again from its key alone, so that what it signed stays good", async () => {
    await using world = await started();
    await rm(world.file("ca.crt"));
    expect(await changed(world.dir, world.start)).toEqual(["ca.crt"]);
  });

  it.each(["sa.pub missing", "sa.pub damaged"])("writes the public key again: %s", async (damage) => {
    await using world = await started();
    if (damage.endsWith("missing")) await rm(world.file("sa.pub"));
    else await writeFile(world.file("sa.pub"), "garbage");
    expect((await world.start()).serviceAccount).toEqual(world.first.serviceAccount);
    expect(await readFile(world.file("sa.pub"), "utf8")).toBe(world.first.serviceAccount.publicKeyPem);
  });

  it("takes an elliptic service-account key that somebody put there", async () => {
    await using world = await started();
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    await writeFile(world.file("sa.key"), privateKey.export({ type: "sec1", format: "pem" }));
    const { serviceAccount } = await world.start();
    expect(createPublicKey(serviceAccount.publicKeyPem).equals(createPublicKey(privateKey))).toBe(true);
  });
});

describe("what cannot be repaired", () => {
  it.each([
    {
      name: "the CA's key is missing",
      file: "ca.key",
      text: undefined,
      want: /ca\.key is missing beside ca\.crt: put it back/,
    },
    {
      name: "the CA's key is damaged",
      file: "ca.key",
      text: "garbage",
      want: /ca\.crt with ca\.key cannot be used as a CA: .*key is damaged/,
    },
    { name: "the CA's certificate is damaged", file: "ca.crt", text: "garbage", want: /certificate is damaged/ },
    {
      name: "the front proxy's CA key is empty",
      file: "front-proxy-ca.key",
      text: "",
      want: /front-proxy-ca\.key cannot be used/,
    },
    {
      name: "the service-account key is missing",
      file: "sa.key",
      text: undefined,
      want: /sa\.key is missing beside sa\.pub/,
    },
    {
      name: "the service-account key is damaged",
      file: "sa.key",
      text: "garbage",
      want: /sa\.key is damaged or not a private key/,
    },
  ])("$name: an error, and nothing changes", async ({ file, text, want }) => {
    await using world = await started();
    if (text === undefined) await rm(world.file(file));
    else await writeFile(world.file(file), text);
    await rm(world.file("admin.crt"));
    let error: unknown;
    const act = () => world.start().catch((thrown: unknown) => (error = thrown));
    expect(await changed(world.dir, act)).toEqual([]);
    expect(error).toBeInstanceOf(PkiError);
    expect(String(error)).toMatch(want);
  });

  it("a key without certificate that is damaged", async () => {
    await using world = await started();
    await rm(world.file("ca.crt"));
    await writeFile(world.file("ca.key"), "garbage");
    await expect(world.start()).rejects.toThrow("ca.key is damaged or not a private key: put back a copy");
  });

  it("a CA whose time is over", async () => {
    await using world = await started();
    await world.clock.advance(3650 * DAY_MS);
    await expect(world.start()).rejects.toThrow(/ca\.crt expired on Dec 30 00:00:00 2039 GMT: remove/);
  });

  it("a file in the place of the folder", async () => {
    await using temporary = await mkdtempDisposable(join(tmpdir(), "k8ts-pki-"));
    const file = join(temporary.path, "pki");
    await writeFile(file, "");
    const starting = ensureClusterPki(file, { clock: new VirtualClock(), serverNames: names });
    await expect(starting).rejects.toThrow(new PkiError(`Cannot make the folder ${file}: a file is in its place.`));
  });
});
