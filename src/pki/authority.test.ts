import { execFile } from "node:child_process";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer, type SecureContextOptions, type TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { realClock, VirtualClock } from "#base";
import { createAuthority, DAY_MS, type KeyPair, loadAuthority } from "./authority.ts";
import { PkiError } from "./errors.ts";
import { newKey } from "./keys.ts";

const run = promisify(execFile);
const openssl = await run("openssl", ["version"]).then(
  () => true,
  () => false,
);

const server = {
  commonName: "server",
  dnsNames: ["localhost"],
  ipAddresses: ["127.0.0.1"],
  usages: ["server"],
} as const;
const client = { commonName: "alice", organizations: ["dev", "ops"], usages: ["client"] } as const;
const read = ({ certPem }: { certPem: string }) => new X509Certificate(certPem);

describe("a CA", () => {
  it("says that it is one, for ten years, and that it signed itself", async () => {
    const clock = new VirtualClock();
    const { certificate } = await createAuthority({ commonName: "kubernetes", clock });
    expect(certificate.ca).toBe(true);
    expect(certificate.subject).toBe("CN=kubernetes");
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.validToDate.getTime()).toBe(clock.now() + 3650 * DAY_MS);
  });

  it("keeps a key that it is given", async () => {
    const key = newKey();
    const ca = await createAuthority({ commonName: "ca", clock: new VirtualClock(), key });
    expect(ca.certificate.checkPrivateKey(key)).toBe(true);
  });

  it.each([
    { name: "a certificate that is not PEM", change: { certPem: "nonsense" }, want: "certificate is damaged" },
    { name: "a key that is not PEM", change: { keyPem: "nonsense" }, want: "key is damaged" },
  ])("cannot be loaded from $name", async ({ change, want }) => {
    const clock = new VirtualClock();
    const { certPem, keyPem } = await createAuthority({ commonName: "ca", clock });
    await expect(loadAuthority({ certPem, keyPem, clock, ...change })).rejects.toThrow(want);
  });

  it("cannot be loaded with the key of another, or from a leaf", async () => {
    const clock = new VirtualClock();
    const [one, other] = await Promise.all(["one", "two"].map((commonName) => createAuthority({ commonName, clock })));
    const pair = { certPem: one?.certPem ?? "", keyPem: other?.keyPem ?? "" };
    await expect(loadAuthority({ ...pair, clock })).rejects.toThrow("does not belong");
    const leaf = await one?.issue(client);
    await expect(loadAuthority({ certPem: leaf?.certPem ?? "", keyPem: leaf?.keyPem ?? "", clock })).rejects.toThrow(
      PkiError,
    );
  });
});

describe("a certificate", () => {
  it("carries subject, names, usage and period", async () => {
    const clock = new VirtualClock();
    const ca = await createAuthority({ commonName: "ca", clock });
    const pair = await ca.issue({
      ...client,
      dnsNames: ["localhost", "*.example.com"],
      ipAddresses: ["10.96.0.1", "::1", "2001:DB8::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"],
      usages: ["server", "client"],
    });
    const certificate = read(pair);
    expect(certificate.subject).toBe("O=dev\nO=ops\nCN=alice");
    expect(certificate.subjectAltName).toBe(
      "DNS:localhost, DNS:*.example.com, IP Address:10.96.0.1, IP Address:0:0:0:0:0:0:0:1, " +
        "IP Address:2001:DB8:0:0:0:FFFF:102:304, IP Address:1:2:3:4:5:6:7:8",
    );
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
    expect(certificate.ca).toBe(false);
    expect(certificate.checkIssued(ca.certificate)).toBe(true);
    expect(certificate.verify(ca.certificate.publicKey)).toBe(true);
    expect(certificate.validFromDate.getTime()).toBe(clock.now() - 5 * 60_000);
    expect(certificate.validToDate.getTime()).toBe(clock.now() + 365 * DAY_MS);
    expect(pair.keyPem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  });

  it("has a serial number of its own", async () => {
    const ca = await createAuthority({ commonName: "ca", clock: new VirtualClock() });
    const serials = await Promise.all(
      Array.from({ length: 200 }, async () => read(await ca.issue(client)).serialNumber),
    );
    expect(new Set(serials).size).toBe(200);
    expect(serials.filter((serial) => serial.startsWith("-"))).toEqual([]);
    expect(Math.max(...serials.map((serial) => serial.length))).toBe(32);
  });

  it("keeps a key that it is given, and a public key whose owner is elsewhere", async () => {
    const ca = await createAuthority({ commonName: "ca", clock: new VirtualClock() });
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    expect(read(await ca.issue({ ...client, key: privateKey })).checkPrivateKey(privateKey)).toBe(true);
    expect(read({ certPem: await ca.certify(publicKey, client) }).checkPrivateKey(privateKey)).toBe(true);
  });

  it("never outlives its CA, nor precedes it", async () => {
    const clock = new VirtualClock();
    const ca = await createAuthority({ commonName: "ca", clock, validityDays: 100 });
    const certificate = read(await ca.issue(client));
    expect(certificate.validToDate).toEqual(ca.certificate.validToDate);
    expect(certificate.validFromDate).toEqual(ca.certificate.validFromDate);
  });

  it("is not made outside of its CA's time", async () => {
    const clock = new VirtualClock();
    const ca = await createAuthority({ commonName: "ca", clock, validityDays: 100 });
    clock.jump(100 * DAY_MS);
    await expect(ca.issue(client)).rejects.toThrow(/^The CA expired on .* 2030 GMT/);
    clock.jump(-101 * DAY_MS);
    await expect(ca.issue(client)).rejects.toThrow("check the machine's clock");
  });

  it.each([
    { name: "a DNS name with a space", names: { dnsNames: ["a b"] } },
    { name: "an empty DNS name", names: { dnsNames: [""] } },
    { name: "a DNS name outside of ASCII", names: { dnsNames: ["bücher.example"] } },
    { name: "an IP address that is none", names: { ipAddresses: ["10.0.0.256"] } },
    { name: "an IP address with a zone", names: { ipAddresses: ["fe80::1%eth0"] } },
  ])("is refused for $name", async ({ names }) => {
    const ca = await createAuthority({ commonName: "ca", clock: new VirtualClock() });
    await expect(ca.issue({ ...server, ...names })).rejects.toThrow(PkiError);
  });
});

/** What both ends see of a TLS connection with certificates on both sides. */
async function handshake(serving: SecureContextOptions, calling: SecureContextOptions & { servername?: string }) {
  const listener = createServer({ ...serving, requestCert: true, rejectUnauthorized: true });
  const atServer = new Promise<string>((resolve) => {
    listener.once("secureConnection", (socket: TLSSocket) => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.end("hello");
    });
    listener.once("tlsClientError", (error) => resolve(`refused: ${"code" in error ? error.code : error.message}`));
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ host: "127.0.0.1", port, ...calling });
  const atClient = new Promise<string>((resolve) => {
    socket.once("data", (data) => resolve(data.toString()));
    // With TLS 1.3 a client learns that its certificate was refused only after its own part of the handshake.
    socket.once("close", () => resolve("refused: closed"));
    socket.once("error", (error) => resolve(`refused: ${"code" in error ? error.code : error.message}`));
  });
  const seen = { atClient: await atClient, atServer: await atServer };
  socket.destroy();
  listener.close();
  await once(listener, "close");
  return seen;
}

const tls = ({ certPem, keyPem }: KeyPair) => ({ cert: certPem, key: keyPem });

describe("a TLS connection", () => {
  const clock = realClock();

  async function world() {
    const ca = await createAuthority({ commonName: "kubernetes", clock });
    const foreign = await createAuthority({ commonName: "kubernetes", clock });
    const serving = { ...tls(await ca.issue(server)), ca: ca.certPem };
    return { ca, foreign, serving };
  }

  it("works with certificates of one CA, also a reloaded one", async () => {
    const { ca, serving } = await world();
    const again = await loadAuthority({ certPem: ca.certPem, keyPem: ca.keyPem, clock });
    const calling = { ...tls(await again.issue(client)), ca: ca.certPem };
    expect(await handshake(serving, calling)).toEqual({ atClient: "hello", atServer: "alice" });
    expect(await handshake(serving, { ...calling, servername: "localhost" })).toMatchObject({ atServer: "alice" });
  });

  it("fails for a client of another CA of the same name", async () => {
    const { ca, foreign, serving } = await world();
    const seen = await handshake(serving, { ...tls(await foreign.issue(client)), ca: ca.certPem });
    expect(seen.atServer).toMatch(/^refused: /);
    expect(seen.atClient).toMatch(/^refused: /);
  });

  it("fails when the client trusts another CA, or asks for another name", async () => {
    const { ca, foreign, serving } = await world();
    const pair = tls(await ca.issue(client));
    expect((await handshake(serving, { ...pair, ca: foreign.certPem })).atClient).toMatch(/^refused: /);
    const other = await handshake(serving, { ...pair, ca: ca.certPem, servername: "example.com" });
    expect(other.atClient).toBe("refused: ERR_TLS_CERT_ALTNAME_INVALID");
  });

  it("fails when a certificate is used for what it is not meant for", async () => {
    const { ca, serving } = await world();
    const seen = await handshake(serving, {
      ...tls(await ca.issue({ ...client, usages: ["server"] })),
      ca: ca.certPem,
    });
    expect(seen.atServer).toMatch(/^refused: /);
  });
});

describe.skipIf(!openssl)("openssl", () => {
  const clock = realClock();

  it("accepts CA and certificates under its strict rules", async () => {
    await using dir = await mkdtempDisposable(join(tmpdir(), "k8ts-pki-"));
    const file = (name: string) => join(dir.path, name);
    const ca = await createAuthority({ commonName: "kubernetes", clock });
    await writeFile(file("ca.crt"), ca.certPem);
    await writeFile(file("server.crt"), (await ca.issue(server)).certPem);
    await writeFile(file("client.crt"), (await ca.issue(client)).certPem);
    const verify = (purpose: string, leaf: string) =>
      run("openssl", ["verify", "-x509_strict", "-purpose", purpose, "-CAfile", file("ca.crt"), file(leaf)]);
    expect((await verify("sslserver", "server.crt")).stdout).toContain("OK");
    expect((await verify("sslclient", "client.crt")).stdout).toContain("OK");
    await expect(verify("sslclient", "server.crt")).rejects.toThrow();
  });

  it.each([
    { key: "RSA", args: ["rsa:2048"] },
    { key: "P-384", args: ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"] },
  ])("can make the CA, with a $key key and a name of its own spelling", async ({ args }) => {
    await using dir = await mkdtempDisposable(join(tmpdir(), "k8ts-pki-"));
    const file = (name: string) => join(dir.path, name);
    const request = ["req", "-x509", "-nodes", "-days", "30", "-subj", "/C=DE/O=Example/CN=Own CA"];
    await run("openssl", [...request, "-newkey", ...args, "-keyout", file("ca.key"), "-out", file("ca.crt")]);
    const [certPem, keyPem] = await Promise.all([readFile(file("ca.crt"), "utf8"), readFile(file("ca.key"), "utf8")]);
    const ca = await loadAuthority({ certPem, keyPem, clock });
    await writeFile(file("server.crt"), (await ca.issue(server)).certPem);
    const { stdout } = await run("openssl", ["verify", "-CAfile", file("ca.crt"), file("server.crt")]);
    expect(stdout).toContain("OK");
  });

  it("cannot make a CA with a key that is not supported", async () => {
    await using dir = await mkdtempDisposable(join(tmpdir(), "k8ts-pki-"));
    const [key, cert] = [join(dir.path, "ca.key"), join(dir.path, "ca.crt")];
    await run("openssl", [
      "req",
      "-x509",
      "-nodes",
      "-subj",
      "/CN=ed",
      "-newkey",
      "ed25519",
      "-keyout",
      key,
      "-out",
      cert,
    ]);
    const pair = { certPem: await readFile(cert, "utf8"), keyPem: await readFile(key, "utf8") };
    const ca = await loadAuthority({ ...pair, clock });
    await expect(ca.issue(client)).rejects.toThrow("A CA key of type ed25519 is not supported");
  });
});
