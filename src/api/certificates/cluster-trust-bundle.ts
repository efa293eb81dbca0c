/** ClusterTrustBundle: the roots that a signer's certificates are verified with. Pods mount them. */
import { defineKind } from "../definition/define-kind.ts";
import { unchanged } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, tooLong } from "../machinery/errors/field-error.ts";
import { checkDns1123Subdomain } from "../machinery/names/names.ts";
import { encodeBase64 } from "../machinery/scalars/base64.ts";
import type { ClusterTrustBundle as BundleObject } from "../types/certificates-v1beta1.ts";
import { signerNameFaults } from "./signer-name.ts";
import { parseCertificate, pemBlocks } from "./x509.ts";

const maxBundleBytes = 1024 * 1024;
const omitted = "<value omitted>";

export const ClusterTrustBundle = defineKind<BundleObject>("certificates.k8s.io/v1beta1", "ClusterTrustBundle", {
  // Names depend on the signer: see nameFaults.
  validateName: () => [],
  validate: ({ metadata, spec }, at) => {
    const signer = spec.signerName ?? "";
    return [
      ...nameFaults(metadata.name ?? "", signer).map((why) => invalid("metadata.name", metadata.name ?? "", why)),
      ...(signer === "" ? [] : signerNameFaults(signer, at.child("spec", "signerName"))),
    ];
  },
  create: { validate: ({ spec }, at) => bundleFaults(spec.trustBundle ?? "", at.child("spec", "trustBundle")) },
  update: {
    validate: (next, old, at) => [
      // What was accepted before stays accepted.
      ...(next.spec.trustBundle === old.spec.trustBundle
        ? []
        : bundleFaults(next.spec.trustBundle ?? "", at.child("spec", "trustBundle"))),
      ...unchanged(next.spec.signerName ?? "", old.spec.signerName ?? "", at.child("spec", "signerName")),
    ],
    allowUnconditional: false,
  },
  columns: [
    {
      name: "SignerName",
      type: "string",
      doc: "io.k8s.api.certificates.v1beta1.ClusterTrustBundleSpec.signerName",
      cell: ({ spec }) => spec.signerName || "<none>",
    },
  ],
  selectableFields: { names: ["spec.signerName"], valueOf: ({ spec }) => spec.signerName ?? "" },
});

/** `example.com:signer:name` for the signer `example.com/signer`; without a signer, a name without colons. */
function nameFaults(name: string, signer: string): readonly string[] {
  if (signer === "") {
    return name.includes(":")
      ? ['ClusterTrustBundle without signer name must not have ":" in its name']
      : checkDns1123Subdomain(name);
  }
  const prefix = `${signer.replaceAll("/", ":")}:`;
  return name.startsWith(prefix)
    ? checkDns1123Subdomain(name.slice(prefix.length))
    : [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
}

/** Certificates of authorities without headers, none of them twice. */
function bundleFaults(bundle: string, at: FieldPath): readonly FieldError[] {
  if (bundle.length > maxBundleBytes) return [tooLong(at, maxBundleBytes)];
  const blocks = pemBlocks(bundle);
  const faults = blocks.flatMap((block, i) => {
    if (block.type !== "CERTIFICATE") return [`entry ${i} has bad block type: ${block.type}`];
    if (block.hasHeaders) return [`entry ${i} has PEM block headers`];
    const certificate = block.bytes && parseCertificate(block.bytes);
    if (certificate === undefined) return [`entry ${i} does not parse as X.509`];
    return certificate.isCa === true ? [] : [`entry ${i} does not have the CA bit set`];
  });
  if (faults.length === 0 && blocks.length === 0) faults.push("at least one trust anchor must be provided");
  if (faults.length === 0)
    faults.push(...duplicateFaults(blocks.map(({ bytes }) => (bytes === undefined ? "" : encodeBase64(bytes)))));
  return faults.map((why) => invalid(at, omitted, why));
}

function duplicateFaults(anchors: readonly string[]): readonly string[] {
  const indices = Map.groupBy(anchors.keys(), (i) => anchors[i] ?? "");
  return [...indices.values()]
    .filter((same) => same.length > 1)
    .map((same) => `duplicate trust anchor (indices [${same.join(" ")}])`);
}
