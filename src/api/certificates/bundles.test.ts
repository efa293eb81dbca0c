import { describe, expect, it } from "vitest";
import { faults, object } from "../apps/testing/builders.ts";
import { create, update } from "../apps/testing/run-rules.ts";
import { at } from "../machinery/errors/field-error.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import type { PodCertificateRequest as RequestObject } from "../types/certificates-v1beta1.ts";
import { ClusterTrustBundle, PodCertificateRequest } from "./index.ts";
import { AUTHORITY, HEADED, LEAF, LEAF_KEY, LEAF_TIMES, OTHER_AUTHORITY, REQUEST } from "./testing/pem.ts";

describe("ClusterTrustBundle", () => {
  const bundle = (spec: JsonObject, name = "x") =>
    object("certificates.k8s.io/v1beta1", "ClusterTrustBundle", { spec }, { name });

  it.each<{ name: string; spec: JsonObject; as?: string; want: readonly string[] }>([
    { name: "one anchor", spec: { trustBundle: AUTHORITY }, want: [] },
    { name: "two anchors, and text between", spec: { trustBundle: `a\n${AUTHORITY}b\n${OTHER_AUTHORITY}` }, want: [] },
    { name: "a signer", spec: { signerName: "a.example/s", trustBundle: AUTHORITY }, as: "a.example:s:x", want: [] },
    {
      name: "a signer under another name",
      spec: { signerName: "a.example/s", trustBundle: AUTHORITY },
      want: [
        'metadata.name: "x": ClusterTrustBundle for signerName a.example/s must be named with prefix a.example:s:',
      ],
    },
    {
      name: "a name of a signer without one",
      spec: { trustBundle: AUTHORITY },
      as: "a.example:s:x",
      want: ['metadata.name: "a.example:s:x": ClusterTrustBundle without signer name must not have ":" in its name'],
    },
    { name: "nothing", spec: { trustBundle: "" }, want: ["at least one trust anchor must be provided"] },
    { name: "twice", spec: { trustBundle: AUTHORITY + AUTHORITY }, want: ["duplicate trust anchor (indices [0 1])"] },
    { name: "no authority", spec: { trustBundle: LEAF }, want: ["entry 0 does not have the CA bit set"] },
    { name: "headers", spec: { trustBundle: HEADED }, want: ["entry 0 has PEM block headers"] },
    {
      name: "other blocks",
      spec: { trustBundle: AUTHORITY.replaceAll("CERTIFICATE", "KEY") },
      want: ["entry 0 has bad block type: KEY"],
    },
    {
      name: "no certificate",
      spec: { trustBundle: "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n" },
      want: ["entry 0 does not parse as X.509"],
    },
  ])("$name", ({ spec, as, want }) => {
    const shown = (fault: string) =>
      fault.startsWith("metadata")
        ? fault.replace(": ", ": Invalid value: ")
        : `spec.trustBundle: Invalid value: "<value omitted>": ${fault}`;
    expect(faults(create(ClusterTrustBundle, bundle(spec, as)))).toEqual(want.map(shown));
  });

  it("keeps its signer", () => {
    const stored = create(ClusterTrustBundle, bundle({ trustBundle: AUTHORITY })).object ?? {};
    const next = bundle({ trustBundle: AUTHORITY, signerName: "a.example/s" });
    expect(faults(update(ClusterTrustBundle, stored, next))).toContain(
      'spec.signerName: Invalid value: "a.example/s": field is immutable',
    );
  });
});

describe("PodCertificateRequest", () => {
  const spec = {
    signerName: "a.example/s",
    podName: "p",
    podUID: "1",
    serviceAccountName: "s",
    serviceAccountUID: "2",
    nodeName: "n",
    nodeUID: "3",
    stubPKCS10Request: REQUEST,
  };
  const request = (more: JsonObject, status?: JsonObject) =>
    object("certificates.k8s.io/v1beta1", "PodCertificateRequest", {
      spec: { ...spec, ...more },
      ...(status ? { status } : {}),
    });

  it.each<{ name: string; spec: JsonObject; want: readonly string[] }>([
    { name: "a request", spec: {}, want: [] },
    { name: "a key alone", spec: { stubPKCS10Request: "", pkixPublicKey: LEAF_KEY }, want: [] },
    { name: "no uid", spec: { podUID: "" }, want: ['spec.podUID: Invalid value: "": must not be empty'] },
    {
      name: "too short",
      spec: { maxExpirationSeconds: 60 },
      want: ["spec.maxExpirationSeconds: Invalid value: 60: must be in the range [3600, 7862400]"],
    },
    {
      name: "too long for a signer of Kubernetes",
      spec: { signerName: "kubernetes.io/x", maxExpirationSeconds: 90_000 },
      want: ["spec.maxExpirationSeconds: Invalid value: 90000: must be in the range [3600, 86400]"],
    },
    {
      name: "no key",
      spec: { stubPKCS10Request: "" },
      want: ['spec.pkixPublicKey: Invalid value: "": must be a valid PKIX-serialized public key'],
    },
    {
      name: "annotations without a domain",
      spec: { unverifiedUserAnnotations: { plain: "x" } },
      want: [
        'spec.unverifiedUserAnnotations: Invalid value: "plain": must be a domain-prefixed path (such as "acme.io/foo")',
      ],
    },
  ])("$name", ({ spec, want }) => {
    expect(faults(create(PodCertificateRequest, request(spec)))).toEqual(want);
  });

  const decided = (type: string, status = "True") => ({
    type,
    status,
    reason: "R",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  const issued = { conditions: [decided("Issued")], certificateChain: LEAF, ...LEAF_TIMES };
  it.each<{ name: string; old?: JsonObject; next: JsonObject; want: readonly string[] }>([
    { name: "denied", next: { conditions: [decided("Denied")] }, want: [] },
    { name: "issued", next: issued, want: [] },
    { name: "issued again", old: issued, next: issued, want: [] },
    {
      name: "changed after the decision",
      old: issued,
      next: { conditions: [decided("Denied")] },
      want: ["status: immutable after PodCertificateRequest is issued, denied, or failed"],
    },
    {
      name: "a certificate without a decision",
      next: { certificateChain: LEAF },
      want: ['status: status is immutable unless transitioning to "Issued", "Denied", or "Failed"'],
    },
    {
      name: "denied with a certificate",
      next: { ...issued, conditions: [decided("Denied")] },
      want: ["status: non-condition status fields must be empty when denying or failing the PodCertificateRequest"],
    },
    {
      name: "no times",
      next: { conditions: [decided("Issued")], certificateChain: LEAF },
      want: [
        "status.notBefore: must be present and consistent with the issued certificate",
        "status.notAfter: must be present and consistent with the issued certificate",
        "status.beginRefreshAt: must be present and in the range [notbefore+10min, notafter-10min]",
      ],
    },
    {
      name: "another key",
      next: { ...issued, certificateChain: AUTHORITY },
      want: ["status.certificateChain: leaf certificate was not issued to the requested public key"],
    },
    {
      name: "other times",
      next: { ...issued, notAfter: "2030-01-01T00:00:00Z" },
      want: ["status.notAfter: must be set to the NotAfter time encoded in the leaf certificate"],
    },
    {
      name: "refreshed at once",
      next: { ...issued, beginRefreshAt: LEAF_TIMES.notBefore },
      want: ["status.beginRefreshAt: must be at least 10 minutes after status.notBefore"],
    },
    {
      name: "no certificate",
      next: { ...issued, certificateChain: "x" },
      want: ["status.certificateChain: issued certificate chain must contain at least one certificate"],
    },
    {
      name: "an unknown decision",
      next: { conditions: [decided("Maybe")] },
      want: ['status.conditions.[0].type: supported values: "Issued", "Denied", "Failed"'],
    },
    {
      name: "a decision that is false",
      next: { conditions: [decided("Issued", "False")] },
      want: ['status.conditions.[0].status: supported values: "True"'],
    },
  ])("status: $name", ({ old, next, want }) => {
    const rules = PodCertificateRequest.subresources?.status;
    const key = { stubPKCS10Request: "", pkixPublicKey: LEAF_KEY, maxExpirationSeconds: 90_000 };
    const withStatus = (status?: JsonObject) => request(key, status) as unknown as RequestObject;
    const errors = (typeof rules === "object" && rules.validate?.(withStatus(next), withStatus(old), at())) || [];
    expect(errors.map(({ field, detail }) => `${field}: ${detail}`)).toEqual(want);
  });
});
