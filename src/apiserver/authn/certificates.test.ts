import { X509Certificate } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { type Authority, createAuthority } from "#pki";
import { elements } from "../../pki/der.ts";
import type { ClientCertificate } from "../http/client-certificate.ts";
import { CertificateAuthorities, clientCertificates } from "./certificates.ts";
import { credentialHeaders, frontProxy } from "./front-proxy.ts";
import { request } from "./testing/requests.ts";

const DAY_MS = 24 * 3600 * 1000;
const clock = new VirtualClock();
let ours: Authority;
let stranger: Authority;
let proxies: Authority;

beforeAll(async () => {
  ours = await createAuthority({ commonName: "kubernetes", clock });
  // The same name, another key.
  stranger = await createAuthority({ commonName: "kubernetes", clock });
  proxies = await createAuthority({ commonName: "front-proxy-ca", clock });
});

async function shown(
  by: Authority,
  commonName: string,
  { organizations = [] as string[], usages = ["client"] as ("client" | "server")[], days = 365, verified = true } = {},
): Promise<ClientCertificate> {
  const { certPem } = await by.issue({ commonName, organizations, usages, validityDays: days });
  return { leaf: new X509Certificate(certPem), intermediates: [by.certificate], verified };
}

describe("a client's certificate", () => {
  const ask = (certificate: ClientCertificate, pem = ours.certPem, at = clock) =>
    clientCertificates(new CertificateAuthorities(pem, at))(request({ certificate }));

  it("names a user and groups, and is itself named by its digest", async () => {
    const certificate = await shown(ours, "ann", { organizations: ["dev", "ops"] });
    const digest = certificate.leaf.fingerprint256.replaceAll(":", "").toLowerCase();
    expect(await ask(certificate)).toEqual({
      user: {
        name: "ann",
        groups: ["dev", "ops", "system:authenticated"],
        extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${digest}`] },
      },
    });
  });

  it.each<{ name: string; given: () => Promise<ClientCertificate>; pem?: () => string; want: string }>([
    { name: "of another authority of the same name", given: () => shown(stranger, "ann"), want: "unknown authority" },
    { name: "of the front proxy's authority", given: () => shown(proxies, "ann"), want: "unknown authority" },
    {
      name: "that TLS could not verify",
      given: () => shown(ours, "ann", { verified: false }),
      want: "unknown authority",
    },
    { name: "of a server", given: () => shown(ours, "ann", { usages: ["server"] }), want: "incompatible key usage" },
    { name: "when there is no authority", given: () => shown(ours, "ann"), pem: () => "", want: "unknown authority" },
    {
      name: "signed by a certificate that may not sign",
      given: async () => {
        // A leaf of ours used as if it were an authority.
        const { certPem } = await ours.issue({ commonName: "kubernetes", usages: ["client"] });
        const leaf = new X509Certificate((await stranger.issue({ commonName: "eve", usages: ["client"] })).certPem);
        return { leaf, intermediates: [new X509Certificate(certPem)], verified: true };
      },
      want: "unknown authority",
    },
  ])("$name is refused", async ({ given, pem = () => ours.certPem, want }) => {
    expect(await ask(await given(), pem())).toEqual({
      refused: [expect.stringMatching(new RegExp(`^verifying certificate SN=\\d+ failed: x509: .*${want}`))],
    });
  });

  it("with a negative serial number is refused", async () => {
    const certificate = await shown(stranger, "ann");
    const bytes = Buffer.from(certificate.leaf.raw);
    const body = elements(elements(bytes)[0]?.content ?? bytes)[0]?.content ?? bytes;
    const serial = elements(body)[1]?.content ?? bytes;
    serial.writeUInt8(serial.readUInt8(0) | 0x80, 0);
    const leaf = new X509Certificate(bytes);
    expect(leaf.serialNumber).toMatch(/^-/);
    expect(await ask({ ...certificate, leaf })).toEqual({
      refused: [expect.stringMatching(/^verifying certificate SN=-\d+ failed: x509: /)],
    });
  });

  it("stands for one user on all connections, and each connection has to show its own way to an authority", async () => {
    const first = await shown(ours, "ann");
    const leaf = new X509Certificate(first.leaf.raw);
    const authenticate = clientCertificates(new CertificateAuthorities(ours.certPem, clock));
    const ask = (certificate: ClientCertificate) => authenticate(request({ certificate }));
    const known = ask(first) as { readonly user: object };
    expect((ask({ ...first, leaf }) as typeof known).user).toBe(known.user);
    expect(ask({ ...first, leaf, verified: false })).toHaveProperty("refused");
    const other = await shown(ours, "ann");
    expect((ask(other) as typeof known).user).not.toBe(known.user);
  });

  it("counts from its first to its last moment, also on a connection that is open", async () => {
    const certificate = await shown(ours, "ann", { days: 1 });
    const later = new VirtualClock(clock.now());
    const authenticate = clientCertificates(new CertificateAuthorities(ours.certPem, later));
    const known = () => "user" in (authenticate(request({ certificate })) as object);
    expect(known()).toBe(true);
    await later.advance(DAY_MS);
    expect(known()).toBe(true);
    await later.advance(1_000);
    expect(known()).toBe(false);
    later.jump(-2 * DAY_MS);
    expect(known()).toBe(false);
  });

  it("counts no more once its authority does not", async () => {
    const certificate = await shown(ours, "ann");
    const authorities = new CertificateAuthorities(ours.certPem, clock);
    const authenticate = clientCertificates(authorities);
    expect(await authenticate(request({ certificate }))).toMatchObject({ user: { name: "ann" } });
    authorities.replace(stranger.certPem);
    expect(await authenticate(request({ certificate }))).toMatchObject({ refused: [expect.any(String)] });
    authorities.replace(stranger.certPem + ours.certPem);
    expect(await authenticate(request({ certificate }))).toMatchObject({ user: { name: "ann" } });
  });

  it("of nobody is nobody's", async () => {
    expect(await ask(await shown(ours, ""))).toBeUndefined();
  });
});

describe("headers that say who somebody is", () => {
  it.each([
    { names: undefined, header: "x-remote-user", want: true },
    { names: undefined, header: "impersonate-extra-a", want: true },
    { names: undefined, header: "authorization", want: true },
    { names: undefined, header: "x-edge-user", want: false },
    { names: ["X-Edge-User"], header: "x-edge-user", want: true },
    { names: ["X-Edge-User"], header: "x-remote-user", want: true },
    { names: ["X-Edge-User"], header: "accept", want: false },
  ])("$header, where proxies name users in $names: $want", ({ names, header, want }) => {
    const headers = names && { username: names, uid: [], group: [], extraPrefixes: [] };
    expect(credentialHeaders(headers)(header)).toBe(want);
  });
});

describe("a front proxy", () => {
  const headers = [
    ["X-Remote-User", "jane"],
    ["X-Remote-Uid", "u-1"],
    ["X-Remote-Group", "dev"],
    ["X-Remote-Group", "CN=ops, OU=system:masters"],
    ["X-Remote-Extra-Acme.com%2FProject", "a"],
    ["X-Remote-Extra-acme.com%2fproject", "b"],
    ["X-Remote-Extra-100%", "c"],
  ] as const;
  const ask = (certificate: ClientCertificate | undefined, given: readonly (readonly [string, string])[] = headers) =>
    frontProxy({
      certificates: new CertificateAuthorities(proxies.certPem, clock),
      allowedNames: ["front-proxy-client"],
    })(request({ headers: given, ...(certificate && { certificate }) }));

  it("says who its user is, each value as it stands", async () => {
    expect(await ask(await shown(proxies, "front-proxy-client"))).toEqual({
      user: {
        name: "jane",
        uid: "u-1",
        groups: ["dev", "CN=ops, OU=system:masters"],
        extra: { "acme.com/project": ["a", "b"], "100%": ["c"] },
      },
    });
  });

  it("may speak UTF-8", async () => {
    const bytes = Buffer.from("jürgen").toString("latin1");
    expect(await ask(await shown(proxies, "front-proxy-client"), [["X-Remote-User", bytes]])).toEqual({
      user: { name: "jürgen", groups: [] },
    });
  });

  it("has no opinion on requests in nobody's name", async () => {
    const proxy = await shown(proxies, "front-proxy-client");
    expect(await ask(proxy, [["X-Remote-Group", "system:masters"]])).toBeUndefined();
    expect(await ask(proxy, [["X-Remote-User", ""]])).toBeUndefined();
  });

  it.each<{ name: string; given: () => Promise<ClientCertificate> | undefined; want: object | undefined }>([
    { name: "no certificate", given: () => undefined, want: undefined },
    {
      name: "a client of the cluster",
      given: () => shown(ours, "front-proxy-client"),
      want: { refused: [expect.any(String)] },
    },
    {
      name: "an administrator",
      given: () => shown(ours, "kubernetes-admin", { organizations: ["system:masters"] }),
      want: { refused: [expect.any(String)] },
    },
    {
      name: "another name",
      given: () => shown(proxies, "kubernetes-admin"),
      want: { refused: ["x509: subject with cn=kubernetes-admin is not in the allowed list"] },
    },
    { name: "a stranger", given: () => shown(stranger, "front-proxy-client"), want: { refused: [expect.any(String)] } },
  ])("is nobody else: $name", async ({ given, want }) => {
    expect(await ask(await given())).toEqual(want);
  });
});
