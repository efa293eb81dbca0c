import { X509Certificate } from "node:crypto";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { kinds, StatusError } from "#api";
import { VirtualClock } from "#base";
import { type Authority, createAuthority, readSigningRequest, signRequest } from "#pki";
import { makeRequest } from "../../pki/testing/request.ts";
import { testControllers } from "../testing/index.ts";
import { kindnesses } from "./approving.ts";
import type { CertificateSigner, RequestedNames, SigningRequest } from "./authority.ts";
import { neededUntil } from "./cleaner.ts";
import { csrCleaner, csrSigning } from "./index.ts";
import { lifetimeOf } from "./lifetime.ts";
import { whyNotSigned } from "./rules.ts";
import { signedStatus } from "./signing.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const YEAR_MS = 365 * 24 * HOUR_MS;
const none = { dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [] };
const node: RequestedNames = { commonName: "system:node:a", organizations: ["system:nodes"], ...none };
type Usages = NonNullable<SigningRequest["spec"]["usages"]>;
const CLIENT: Usages = ["client auth", "digital signature"];
const SERVING = ["server auth", "digital signature", "key encipherment"];

describe("what signers sign", () => {
  it.each([
    { signer: "kube-apiserver-client-kubelet", names: node, usages: CLIENT, want: undefined },
    { signer: "kube-apiserver-client-kubelet", names: node, usages: [...CLIENT, "key encipherment"], want: undefined },
    {
      signer: "kube-apiserver-client-kubelet",
      names: { ...node, organizations: ["system:masters"] },
      usages: CLIENT,
      want: "subject organization is not system:nodes",
    },
    {
      signer: "kube-apiserver-client-kubelet",
      names: { ...node, organizations: ["system:nodes", "system:masters"] },
      usages: CLIENT,
      want: "subject organization is not system:nodes",
    },
    {
      signer: "kube-apiserver-client-kubelet",
      names: { ...node, commonName: "admin" },
      usages: CLIENT,
      want: "subject common name does not begin with system:node:",
    },
    {
      signer: "kube-apiserver-client-kubelet",
      names: { ...node, dnsNames: ["a"] },
      usages: CLIENT,
      want: "DNS subjectAltNames are not allowed",
    },
    {
      signer: "kube-apiserver-client-kubelet",
      names: { ...node, ipAddresses: ["10.0.0.1"] },
      usages: CLIENT,
      want: "IP subjectAltNames are not allowed",
    },
    {
      signer: "kube-apiserver-client-kubelet",
      names: node,
      usages: [...CLIENT, "server auth"],
      want: "usages did not match [client auth digital signature key encipherment]",
    },
    { signer: "kubelet-serving", names: { ...node, dnsNames: ["a"] }, usages: SERVING, want: undefined },
    { signer: "kubelet-serving", names: node, usages: SERVING, want: "DNS or IP subjectAltName is required" },
    {
      signer: "kubelet-serving",
      names: { ...node, dnsNames: ["a"], uris: ["u:a"] },
      usages: SERVING,
      want: "URI subjectAltNames are not allowed",
    },
    {
      signer: "kubelet-serving",
      names: { ...node, dnsNames: ["a"] },
      usages: CLIENT,
      want: "usages did not match [server auth digital signature key encipherment]",
    },
    { signer: "kube-apiserver-client", names: { ...node, commonName: "ann" }, usages: CLIENT, want: undefined },
    {
      signer: "kube-apiserver-client",
      names: node,
      usages: ["server auth", "client auth"],
      want: "invalid usage for client certificate: server auth",
    },
    {
      signer: "kube-apiserver-client",
      names: node,
      usages: ["digital signature"],
      want: "missing required usage for client certificate: client auth",
    },
    { signer: "legacy-unknown", names: { ...node, uris: ["u:a"] }, usages: ["code signing"], want: undefined },
  ])("$signer, $usages, $names.organizations: $want", ({ signer, names, usages, want }) => {
    expect(whyNotSigned(`kubernetes.io/${signer}`, names, usages)).toBe(want);
  });
});

it("signs only for signers that have a key, with that key", () => {
  const request: SigningRequest = {
    metadata: {},
    spec: {
      signerName: "kubernetes.io/legacy-unknown",
      request: Buffer.from("-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----").toString("base64"),
      usages: ["code signing"],
    },
    status: { conditions: [{ type: "Approved", status: "True" }] },
  };
  const signer = (signs: boolean) => ({
    signs: () => signs,
    read: () => node,
    sign: (_: Buffer, { signerName }: { readonly signerName: string }) => `by ${signerName}`,
  });
  expect(signedStatus(request, signer(false), YEAR_MS, 0)).toBeUndefined();
  expect(signedStatus(request, signer(true), YEAR_MS, 0)).toEqual({
    certificate: Buffer.from("by kubernetes.io/legacy-unknown").toString("base64"),
  });
});

describe("how long a certificate is valid", () => {
  it.each([
    { asked: undefined, from: -5 * MINUTE_MS, to: YEAR_MS - 5 * MINUTE_MS },
    { asked: 2 * 365 * 86_400, from: -5 * MINUTE_MS, to: YEAR_MS - 5 * MINUTE_MS },
    { asked: 24 * 3_600, from: -5 * MINUTE_MS, to: 24 * HOUR_MS - 5 * MINUTE_MS },
    { asked: 3_600, from: -5 * MINUTE_MS, to: HOUR_MS },
    { asked: 1, from: -5 * MINUTE_MS, to: 10 * MINUTE_MS },
  ])("$asked seconds", ({ asked, from, to }) => {
    expect(lifetimeOf(asked, YEAR_MS, 0)).toEqual({ notBefore: from, notAfter: to });
  });
});

describe("who is approved", () => {
  const request = (over: Partial<SigningRequest["spec"]>): SigningRequest => ({
    metadata: {},
    spec: {
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      request: Buffer.from("-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----").toString("base64"),
      usages: CLIENT,
      username: "system:bootstrap:abcdef",
      ...over,
    },
  });
  const cases: readonly {
    readonly name: string;
    readonly over: Partial<SigningRequest["spec"]>;
    readonly want: readonly string[];
  }[] = [
    { name: "a new node", over: {}, want: ["nodeclient"] },
    { name: "a node, for itself", over: { username: "system:node:a" }, want: ["selfnodeclient", "nodeclient"] },
    { name: "a node, for another", over: { username: "system:node:b" }, want: ["nodeclient"] },
    { name: "not for serving", over: { signerName: "kubernetes.io/kubelet-serving" }, want: [] },
    { name: "not with other usages", over: { usages: ["any"] }, want: [] },
  ];
  it.each(cases)("$name", ({ over, want }) => {
    expect(kindnesses(request(over), { read: () => node }).map(({ right }) => right)).toEqual(want);
  });
});

describe("how long requests are kept", () => {
  const at = "2030-01-01T00:00:00Z";
  const condition = (type: string) => ({ type, status: "True", reason: "r", message: "m", lastUpdateTime: at });
  it.each([
    { name: "pending", status: {}, hours: 24 },
    { name: "denied", status: { conditions: [condition("Denied")] }, hours: 1 },
    { name: "failed", status: { conditions: [condition("Approved"), condition("Failed")] }, hours: 1 },
    { name: "approved and signed", status: { conditions: [condition("Approved")], certificate: "eA==" }, hours: 1 },
    { name: "approved and not signed", status: { conditions: [condition("Approved")] }, hours: 24 },
  ])("$name", ({ status, hours }) => {
    const request: SigningRequest = {
      metadata: { creationTimestamp: at },
      spec: { signerName: "x/y", request: "" },
      status,
    };
    expect(neededUntil(request)).toBe(Date.parse(at) + hours * HOUR_MS);
  });
});

describe("at work", () => {
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
  const clock = new VirtualClock();
  let ca: Authority;
  beforeAll(async () => {
    ca = await createAuthority({ commonName: "kubernetes", clock });
  });
  const start = async () => {
    const signer: CertificateSigner = {
      read: readSigningRequest,
      sign: (der, options) => signRequest(ca, der, options),
    };
    const running = await testControllers([csrSigning(signer), csrCleaner], { clock: new VirtualClock() });
    open.push(() => running.close());
    const requests = running.client.of(kinds.CertificateSigningRequest);
    const ask = async (name: string, usages: Usages = CLIENT) => {
      const { pem } = makeRequest({ commonName: "system:node:a", organizations: ["system:nodes"] });
      const request = Buffer.from(pem).toString("base64");
      const spec = { signerName: "kubernetes.io/kube-apiserver-client-kubelet", request, usages };
      return requests.create({ metadata: { name }, spec });
    };
    const approve = async (request: SigningRequest) => {
      const condition = { type: "Approved", status: "True", reason: "r", message: "m" };
      await requests
        .subresource(request.metadata?.name ?? "", "approval")
        .update({ ...request, metadata: request.metadata ?? {}, status: { conditions: [condition] } });
      await running.settle();
    };
    return { ...running, requests, ask, approve };
  };

  it("signs what is approved, and nothing before", async () => {
    const { requests, ask, approve, settle } = await start();
    const request = await ask("a");
    await settle();
    expect((await requests.get("a")).status?.certificate).toBeUndefined();
    await approve(request);
    const { status } = await requests.get("a");
    const certificate = new X509Certificate(Buffer.from(status?.certificate ?? "", "base64"));
    expect(certificate.subject).toContain("CN=system:node:a");
    expect(certificate.verify(ca.certificate.publicKey)).toBe(true);
  });

  it("says why it does not sign", async () => {
    const { requests, ask, approve } = await start();
    await approve(await ask("a", ["server auth", "digital signature"]));
    const { status } = await requests.get("a");
    expect(status?.certificate).toBeUndefined();
    expect(status?.conditions?.[1]).toMatchObject({
      type: "Failed",
      reason: "SignerValidationFailure",
      message: expect.stringMatching(/^usages did not match/),
    });
  });

  it("goes on after refusals, and writes nothing once all is done", async () => {
    const { requests, ask, approve, refuse, settle, clock: time, writes } = await start();
    let refusals = 3;
    refuse(({ method }) =>
      method !== "GET" && refusals-- > 0 ? new StatusError("InternalError", "not now", { code: 500 }) : undefined,
    );
    await approve(await ask("a"));
    await time.advance(MINUTE_MS);
    await settle();
    expect((await requests.get("a")).status?.certificate).toBeDefined();
    const before = writes();
    await time.advance(50 * MINUTE_MS);
    await settle();
    expect(writes()).toBe(before);
  });

  it("clears away what is done after an hour, and what nobody decides after a day", async () => {
    const { requests, ask, approve, settle, clock: time } = await start();
    await approve(await ask("done"));
    await ask("pending");
    await time.advance(HOUR_MS + MINUTE_MS);
    await settle();
    expect((await requests.list()).items.map(({ metadata }) => metadata?.name)).toEqual(["pending"]);
    await time.advance(24 * HOUR_MS);
    await settle();
    expect((await requests.list()).items).toEqual([]);
  });
});
