import { describe, expect, it } from "vitest";
import type { Attributes } from "../../../authz/attributes.ts";
import { ALLOW, NO_OPINION } from "../../../authz/verdict.ts";
import { admit, certificateRequest } from "../../testing/index.ts";
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from "./certificates.ts";

const REQUESTS = "certificatesigningrequests.certificates.k8s.io";
const request = (spec: object = {}, status: object = {}) => ({
  metadata: { name: "r" },
  spec: { signerName: "example.com/signer", request: certificateRequest("jane", "a"), usages: [], ...spec },
  status,
});
/** Lets `verb name` pass. */
const allowing =
  (...allowed: string[]) =>
  ({ verb, name, resource, apiGroup }: Attributes) =>
    resource === "signers" && apiGroup === "certificates.k8s.io" && allowed.includes(`${verb} ${name}`)
      ? ALLOW
      : NO_OPINION;
const signed = request({}, { certificate: "x" });

const rows = [
  { name: "approval by name", plugin: certificateApproval(allowing("approve example.com/signer")), part: "approval" },
  { name: "approval by domain", plugin: certificateApproval(allowing("approve example.com/*")), part: "approval" },
  {
    name: "approval by who may only sign",
    plugin: certificateApproval(allowing("sign example.com/*")),
    part: "approval",
    why: 'user not permitted to approve requests with signerName "example.com/signer"',
  },
  { name: "signing", plugin: certificateSigning(allowing("sign example.com/signer")), part: "status", object: signed },
  {
    name: "signing for nobody",
    plugin: certificateSigning(allowing()),
    part: "status",
    object: signed,
    why: 'user not permitted to sign requests with signerName "example.com/signer"',
  },
  { name: "a status that signs nothing", plugin: certificateSigning(allowing()), part: "status" },
];

describe("requests of a signer", () => {
  it.each(rows)("$name", async ({ plugin, part, object = request(), why = "" }) => {
    expect(await admit(plugin, { resource: `${REQUESTS}/${part}`, object, old: request() })).toMatchObject({ why });
  });
});

const CLIENT = "kubernetes.io/kube-apiserver-client";
const subjects = [
  { name: "of somebody", spec: { signerName: CLIENT } },
  {
    name: "of a master",
    spec: { signerName: CLIENT, request: certificateRequest("jane", "a", "system:masters") },
    why: `use of ${CLIENT} signer with system:masters group is not allowed`,
  },
  { name: "of a master, for another signer", spec: { request: certificateRequest("jane", "system:masters") } },
  {
    name: "that cannot be read",
    spec: { signerName: CLIENT, request: "" },
    why: expect.stringContaining("failed to parse CSR") as unknown as string,
  },
];

describe("a subject", () => {
  it.each(subjects)("$name", async ({ spec, why = "" }) => {
    expect(await admit(certificateSubjectRestriction, { resource: REQUESTS, object: request(spec) })).toMatchObject({
      why,
    });
  });
});
