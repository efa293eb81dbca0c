import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { realClock, seededRandom, silentLogger } from "#base";
import type { Client } from "#client";
import { createAuthority, makeSigningRequest, readSigningRequest, signRequest } from "#pki";
import { CertificateRefusedError, nodeCertificate, requestCertificate } from "./request-certificate.ts";
import { isExpired, renewalTime } from "./rotation.ts";
import { keepServingCertificate } from "./serving-certificate.ts";

const derOf = (pem: string) => Buffer.from(pem.replace(/-----[^-]+-----/g, ""), "base64");
const { signal } = new AbortController();

/** An API that answers a request with these statuses, one after the other. */
function apiOf(statuses: (request: string) => readonly object[]): { client: Client; asked: object[] } {
  const asked: object[] = [];
  const create = async (object: { readonly spec: { readonly request: string } }) => {
    asked.push(object);
    return { ...object, metadata: { name: "csr-1", resourceVersion: "1" } };
  };
  async function* watch() {
    const { spec } = asked[0] as { readonly spec: { readonly request: string } };
    for (const status of statuses(Buffer.from(spec.request, "base64").toString()))
      yield { type: "MODIFIED", object: { metadata: { name: "csr-1" }, status } };
  }
  return { client: { of: () => ({ create, watch }) } as unknown as Client, asked };
}

describe("a node's certificate", () => {
  it("the request names the node and is signed with its key", () => {
    const { pem } = makeSigningRequest({ commonName: "system:node:a", organizations: ["system:nodes"] });
    expect(readSigningRequest(derOf(pem))).toMatchObject({
      commonName: "system:node:a",
      organizations: ["system:nodes"],
    });
  });

  it("of a server says by which names it is reached, and is signed for them", async () => {
    const names = { dnsNames: ["node-a"], ipAddresses: ["10.0.0.1", "fd00::1:2"] };
    const { pem } = makeSigningRequest({ commonName: "system:node:a", organizations: ["system:nodes"] }, names);
    expect(readSigningRequest(derOf(pem))).toMatchObject(names);
    const ca = await createAuthority({ commonName: "ca", clock: realClock() });
    const now = realClock().now();
    const { client, asked } = apiOf((sent) => {
      const usages = ["server auth", "digital signature"];
      const cert = signRequest(ca, derOf(sent), { usages, notBefore: now - 1000, notAfter: now + 100_000 });
      return [{ certificate: Buffer.from(cert).toString("base64") }];
    });
    const certDir = mkdtempSync(join(tmpdir(), "k8ts-serving-"));
    const stop = new AbortController();
    const options = { client, nodeName: "a", names, certDir, clock: realClock(), random: seededRandom(1) };
    const keeping = keepServingCertificate({ ...options, log: silentLogger }, stop.signal);
    const both = await vi.waitFor(() => readFileSync(join(certDir, "kubelet-server-current.pem"), "utf8"), 60_000);
    stop.abort(new Error("enough"));
    await expect(keeping).rejects.toThrow("enough");
    expect(asked[0]).toMatchObject({
      spec: { signerName: "kubernetes.io/kubelet-serving", usages: ["digital signature", "server auth"] },
    });
    const certificate = new X509Certificate(both);
    expect([certificate.checkIP("10.0.0.1"), certificate.checkHost("node-a")]).toEqual(["10.0.0.1", "node-a"]);
    expect(certificate.checkPrivateKey(createPrivateKey(both))).toBe(true);
    rmSync(certDir, { recursive: true });
  });

  it("is waited for, and belongs to the key", async () => {
    const ca = await createAuthority({ commonName: "ca", clock: realClock() });
    const now = realClock().now();
    const { client, asked } = apiOf((pem) => {
      const usages = ["client auth", "digital signature"];
      const cert = signRequest(ca, derOf(pem), { usages, notBefore: now - 1000, notAfter: now + 100_000 });
      return [{ conditions: [{ type: "Approved" }] }, { certificate: Buffer.from(cert).toString("base64") }];
    });
    const { certPem, keyPem } = await requestCertificate(client, nodeCertificate("a"), signal);
    expect(keyPem).toContain("PRIVATE KEY");
    expect(asked[0]).toMatchObject({
      spec: { signerName: "kubernetes.io/kube-apiserver-client-kubelet", usages: ["digital signature", "client auth"] },
    });
    const dueMs = renewalTime(certPem, seededRandom(1));
    expect(dueMs).toBeGreaterThan(now + 65_000);
    expect(dueMs).toBeLessThan(now + 95_000);
    expect([isExpired(certPem, now), isExpired(certPem, now + 200_000)]).toEqual([false, true]);
  });

  it("may be refused", async () => {
    const { client } = apiOf(() => [{ conditions: [{ type: "Denied", message: "not you" }] }]);
    await expect(requestCertificate(client, nodeCertificate("a"), signal)).rejects.toThrow(
      new CertificateRefusedError("the request csr-1 was denied: not you"),
    );
  });
});
