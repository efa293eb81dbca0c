import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { type certificatesV1beta1, optional, parseFeatures, parseRuntimeConfig, servedKinds } from "#api";
import { VirtualClock } from "#base";
import { createAuthority } from "#pki";
import { testControllers } from "../testing/index.ts";
import { planBundles, trustBundlePublisher } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type Bundle = certificatesV1beta1.ClusterTrustBundle;
const SIGNER = "kubernetes.io/kube-apiserver-serving";
const nameOf = (pem: string) =>
  `kubernetes.io:kube-apiserver-serving:${createHash("sha256").update(pem).digest("hex").slice(0, 24)}`;
const bundle = (pem: string, more: Partial<Bundle["metadata"]> = {}, signerName = SIGNER): Bundle => ({
  metadata: { name: nameOf(pem), uid: pem, ...more },
  spec: { signerName, trustBundle: pem },
});

/** The writes of each step, in words. */
function words(bundles: readonly Bundle[], pem: string) {
  return planBundles(bundles, pem)?.steps?.map((step) =>
    step.map(({ verb, object }) => `${verb} ${object.metadata.uid ?? object.metadata.name}`),
  );
}

describe("the bundle of the API server's signer", () => {
  it.each<{ name: string; bundles: readonly Bundle[]; want: unknown }>([
    { name: "none yet", bundles: [], want: [[`create ${nameOf("new")}`], []] },
    { name: "published", bundles: [bundle("new")], want: undefined },
    {
      name: "changed by somebody",
      bundles: [{ ...bundle("new"), spec: { signerName: SIGNER, trustBundle: "x" } }],
      want: [["update new"], []],
    },
    {
      name: "of an earlier authority: deleted after the new one is there",
      bundles: [bundle("old")],
      want: [[`create ${nameOf("new")}`], ["delete old"]],
    },
    { name: "besides an earlier one", bundles: [bundle("old"), bundle("new")], want: [[], ["delete old"]] },
    {
      name: "besides an earlier one that is on its way",
      bundles: [bundle("old", { deletionTimestamp: "2030-01-01T00:00:00Z" }), bundle("new")],
      want: undefined,
    },
    {
      name: "besides those of others",
      bundles: [bundle("other", { name: "example.com:x:y" }, "example.com/x"), bundle("new")],
      want: undefined,
    },
  ])("$name", ({ bundles, want }) => {
    expect(words(bundles, "new")).toEqual(want);
  });

  it("is published, put right, and replaced with its authority", async () => {
    const clock = new VirtualClock();
    const pem = async (commonName: string) => (await createAuthority({ commonName, clock })).certPem;
    const [first, second] = [await pem("first"), await pem("second")];
    const features = parseFeatures({ gates: "ClusterTrustBundle=true" });
    const runtimeConfig = parseRuntimeConfig("certificates.k8s.io/v1beta1/clustertrustbundles=true");
    const served = servedKinds({ runtimeConfig, enabled: features.enabled });
    const before = await testControllers([trustBundlePublisher(first)], { features, kinds: served });
    open.push(() => before.close());
    const bundles = before.client.of(optional.ClusterTrustBundle);
    const published = async () => (await bundles.list()).items.map(({ metadata, spec }) => [metadata.name, spec]);
    const wanted = (each: string) => [[nameOf(each), { signerName: SIGNER, trustBundle: each }]];
    expect(await published()).toEqual(wanted(first));
    await bundles.delete(nameOf(first));
    await before.settle();
    expect(await published()).toEqual(wanted(first));
    const writes = before.writes();
    await before.clock.advance(3_600_000);
    expect(before.writes()).toBe(writes);
    await before.stop();
    const after = await testControllers([trustBundlePublisher(second)], { features, server: before.server });
    open.push(() => after.close());
    expect(await published()).toEqual(wanted(second));
  });
});
