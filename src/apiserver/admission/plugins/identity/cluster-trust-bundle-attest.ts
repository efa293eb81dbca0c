/**
 * ClusterTrustBundleAttest: who creates or changes a ClusterTrustBundle of a signer must be allowed to attest for it.
 *
 * 1. Changes of owners and finalizers alone need no permission: garbage collection and storage migration go on.
 */
import { goQuote, type KubeObject } from "#api";
import type { Authorizer } from "../../../authz/authorizer.ts";
import { changesOwnersOnly } from "../../../authz/rbac/escalation.ts";
import { type AdmissionPlugin, refused, rule } from "../../chain/plugin.ts";
import { mayForSigner } from "./signer-access.ts";

interface ClusterTrustBundle extends KubeObject {
  readonly spec?: { readonly signerName?: string };
}

export function clusterTrustBundleAttest(authorize: Authorizer): AdmissionPlugin {
  return {
    name: "ClusterTrustBundleAttest",
    validates: [
      rule("CREATE UPDATE", "clustertrustbundles.certificates.k8s.io", async (attributes) => {
        const { object, old, user } = attributes;
        const bundle = object as ClusterTrustBundle;
        // The signer of the new object: validation lets nobody change it.
        const signerName = bundle.spec?.signerName ?? "";
        if (signerName === "" || (old !== undefined && changesOwnersOnly(bundle, old))) return;
        if (await mayForSigner(authorize, user, "attest", signerName)) return;
        throw refused(attributes, `user not permitted to attest for signerName ${goQuote(signerName)}`);
      }),
    ],
  };
}
