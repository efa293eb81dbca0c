/** The whole chain with the client that matters: folder of certificates, kubeconfig, kubectl's own TLS and checks. */

import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { realClock } from "#base";
import { ensureClusterPki } from "./cluster-pki.ts";
import { kubeconfigFor, writeKubeconfig } from "./kubeconfig.ts";

const run = promisify(execFile);
const kubectl = await run("kubectl", ["version", "--client"]).then(
  () => true,
  () => false,
);
const clock = realClock();

async function serving(ipAddress = "127.0.0.1") {
  const serverNames = { dnsNames: ["localhost"], ipAddresses: [ipAddress] };
  const dir = await mkdtempDisposable(join(tmpdir(), "k8ts-pki-"));
  const pki = await ensureClusterPki(join(dir.path, "pki"), { clock, serverNames });
  const { certPem: cert, keyPem: key } = pki.apiserver;
  const options = { cert, key, ca: pki.ca.certPem, requestCert: true, rejectUnauthorized: true };
  const server = createServer(options, ({ socket }, response) => {
    const subject = socket instanceof TLSSocket ? socket.getPeerCertificate().subject : undefined;
    response.end(JSON.stringify({ user: subject?.CN, group: subject?.O }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const file = join(dir.path, "kubeconfig");
  return {
    pki,
    async ask(content: { server: string; caPem: string; client: { certPem: string; keyPem: string } }) {
      await writeKubeconfig(file, kubeconfigFor({ name: "k8ts", ...content }));
      const { stdout } = await run("kubectl", [
        "--kubeconfig",
        file,
        "--request-timeout",
        "20s",
        "get",
        "--raw",
        "/who",
      ]);
      return JSON.parse(stdout);
    },
    url: `https://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await dir.remove();
    },
  };
}

describe.skipIf(!kubectl)("kubectl", () => {
  it("trusts the server's certificate and is known by its own", async () => {
    await using world = await serving();
    const { ca, admin } = world.pki;
    const seen = await world.ask({ server: world.url, caPem: ca.certPem, client: admin });
    expect(seen).toEqual({ user: "kubernetes-admin", group: "system:masters" });
  });

  it("refuses a server of another CA", async () => {
    await using world = await serving();
    const { frontProxyCa, admin } = world.pki;
    const asking = world.ask({ server: world.url, caPem: frontProxyCa.certPem, client: admin });
    await expect(asking).rejects.toThrow("certificate signed by unknown authority");
  });

  it("refuses a server under a name that its certificate lacks", async () => {
    await using world = await serving("10.96.0.1");
    const { ca, admin } = world.pki;
    const asking = world.ask({ server: world.url, caPem: ca.certPem, client: admin });
    await expect(asking).rejects.toThrow("certificate is valid for 10.96.0.1, not 127.0.0.1");
  });
});
