import { expect, it } from "vitest";
import type { Attributes } from "../../../authz/attributes.ts";
import { ALLOW, NO_OPINION } from "../../../authz/verdict.ts";
import { admit, plainKind } from "../../testing/index.ts";
import { clusterTrustBundleAttest } from "./cluster-trust-bundle-attest.ts";

const kinds = [plainKind(["certificates.k8s.io", "v1beta1"], "ClusterTrustBundle", "Cluster")];
const bundle = (signerName: string, trustBundle = "x", metadata: object = {}) => ({
  metadata: { name: "b", ...metadata },
  spec: { ...(signerName !== "" && { signerName }), trustBundle },
});
/** Lets `attest name` pass. */
const allowing =
  (allowed: string) =>
  ({ verb, name, resource, apiGroup }: Attributes) =>
    apiGroup === "certificates.k8s.io" && resource === "signers" && `${verb} ${name}` === allowed ? ALLOW : NO_OPINION;
const SIGNER = "example.com/ca";
const refusal = `user not permitted to attest for signerName "${SIGNER}"`;

it.each([
  { name: "a bundle of a signer", object: bundle(SIGNER), allowed: `attest ${SIGNER}`, why: "" },
  { name: "a bundle of a signer, by its domain", object: bundle(SIGNER), allowed: "attest example.com/*", why: "" },
  { name: "a bundle of a signer for nobody", object: bundle(SIGNER), allowed: `sign ${SIGNER}`, why: refusal },
  { name: "a bundle without a signer", object: bundle(""), allowed: "", why: "" },
  { name: "a change", object: bundle(SIGNER, "y"), old: bundle(SIGNER), allowed: "", why: refusal },
  {
    name: "a change of its finalizers",
    object: bundle(SIGNER, "x", { finalizers: ["example.com/f"] }),
    old: bundle(SIGNER),
    allowed: "",
    why: "",
  },
])("$name", async ({ object, old, allowed, why }) => {
  const attempt = { resource: "clustertrustbundles.certificates.k8s.io", object, kinds, ...(old && { old }) };
  expect(await admit(clusterTrustBundleAttest(allowing(allowed)), attempt)).toMatchObject({ why });
});
