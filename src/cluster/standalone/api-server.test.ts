/** A standalone API server follows the files of its certificates: over loopback, with real TLS. */
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterEach, beforeEach, expect, it } from "vitest";
import { realClock, settled, silentLogger, VirtualClock } from "#base";
import { createAuthority } from "#pki";
import { type StandaloneApiServer, startStandaloneApiServer } from "./api-server.ts";

let dir: string;
let server: StandaloneApiServer;
const clock = new VirtualClock(realClock().now());
const authority = await createAuthority({ commonName: "test", clock });

async function writePair(commonName: string) {
  const { certPem, keyPem } = await authority.issue({ commonName, dnsNames: ["api.test"], usages: ["server"] });
  await writeFile(join(dir, "sni.crt"), certPem);
  await writeFile(join(dir, "sni.key"), keyPem);
}

async function shown(servername: string): Promise<string | undefined> {
  const socket = connect({ host: "127.0.0.1", port: server.port, servername, rejectUnauthorized: false });
  try {
    await once(socket, "secureConnect");
    return /CN=(\S+)/.exec(socket.getPeerX509Certificate()?.subject ?? "")?.[1];
  } finally {
    socket.destroy();
  }
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "k8ts-standalone-"));
  await writePair("first.test");
  const { keyPem } = await authority.issue({ commonName: "key", usages: ["client"] });
  await writeFile(join(dir, "sa.key"), keyPem);
  server = await startStandaloneApiServer(
    {
      bindAddress: "127.0.0.1",
      port: 0,
      certDir: dir,
      store: { kind: "memory" },
      authentication: {
        serviceAccountSigningKeyFile: join(dir, "sa.key"),
        serviceAccountIssuer: ["https://kubernetes.default.svc"],
      },
      authorization: {},
      admission: {},
      serving: {
        namedCertificates: [{ certFile: join(dir, "sni.crt"), keyFile: join(dir, "sni.key"), names: [] }],
      },
    },
    { clock, log: silentLogger, progress: () => {} },
  );
});

afterEach(async () => {
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});

it("shows the certificate for a name, and a renewed one when its files have changed", async () => {
  expect([await shown("api.test"), await shown("other.test")]).toEqual(["first.test", "127.0.0.1"]);
  await writePair("second.test");
  await expect
    .poll(async () => {
      await clock.advance(5_000);
      await settled();
      return shown("api.test");
    })
    .toBe("second.test");
  await writeFile(join(dir, "sni.key"), "no key");
  await clock.advance(5_000);
  await settled();
  expect(await shown("api.test")).toBe("second.test");
});
