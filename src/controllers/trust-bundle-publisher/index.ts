/**
 * Publishes the authority of the API server's certificate as a ClusterTrustBundle of its signer.
 *
 * 1. The bundle is named after its content, so that a new authority is a new bundle. Those of earlier authorities are
 *    deleted once it is there: at no time is there none.
 */
import { createHash } from "node:crypto";
import { type certificatesV1beta1, optional } from "#api";
import { type Controller, defineController, keysFrom, type Plan } from "../runtime/index.ts";

const SIGNER = "kubernetes.io/kube-apiserver-serving";
const DIGEST_BYTES = 12;

type Bundle = certificatesV1beta1.ClusterTrustBundle;

export function trustBundlePublisher(caPem: string): Controller {
  return defineController({
    name: "kube-apiserver-serving-clustertrustbundle-publisher-controller",
    account: "kube-apiserver-serving-clustertrustbundle-publisher",
    gates: ["ClusterTrustBundle"],
    needs: [optional.ClusterTrustBundle],
    bind({ cache }) {
      const bundles = cache(optional.ClusterTrustBundle);
      return {
        sources: [
          keysFrom(optional.ClusterTrustBundle, ({ object }) => (object.spec.signerName === SIGNER ? [SIGNER] : [])),
        ],
        reconcile: () => planBundles(bundles.list(), caPem),
        // There may be no bundle yet whose change would call for a reconcile.
        run: async (_signal, enqueue) => enqueue(SIGNER),
      };
    },
  });
}

export function planBundles(bundles: readonly Bundle[], caPem: string): Plan | undefined {
  const resource = optional.ClusterTrustBundle;
  const own = bundles.filter(({ spec }) => spec.signerName === SIGNER);
  const name = bundleName(caPem);
  const current = own.find(({ metadata }) => metadata.name === name);
  const spec = { signerName: SIGNER, trustBundle: caPem };
  const others = own.filter((bundle) => bundle !== current && bundle.metadata.deletionTimestamp === undefined);
  const publish =
    current === undefined
      ? [{ verb: "create", resource, object: { metadata: { name }, spec } as Bundle } as const]
      : current.spec.trustBundle === caPem
        ? []
        : [{ verb: "update", resource, object: { ...current, spec } } as const];
  const remove = others.map((object) => ({ verb: "delete", resource, object }) as const);
  return publish.length + remove.length === 0 ? undefined : { steps: [publish, remove] };
}

function bundleName(caPem: string): string {
  const digest = createHash("sha256").update(caPem).digest().subarray(0, DIGEST_BYTES);
  return `${SIGNER.replaceAll("/", ":")}:${digest.toString("hex")}`;
}
